/** `EventTarget` and `Event`. */
'use strict';
class Event {
  #type;
  #isPrevented = false;
  #init;
  isStopped = false;
  target = null;
  constructor(type, init = {}) {
    this.#type = String(type);
    this.#init = init ?? {};
    this.timeStamp = require('./boot').now();
  }
  get type() {
    return this.#type;
  }
  get currentTarget() {
    return this.target;
  }
  get cancelable() {
    return Boolean(this.#init.cancelable);
  }
  get bubbles() {
    return Boolean(this.#init.bubbles);
  }
  get defaultPrevented() {
    return this.#isPrevented;
  }
  preventDefault() {
    if (this.cancelable) this.#isPrevented = true;
  }
  stopPropagation() {}
  stopImmediatePropagation() {
    this.isStopped = true;
  }
}
class EventTarget {
  #works = new Map();
  addEventListener(type, work, options) {
    if (!work) return;
    const works = this.#works.get(type) ?? [];
    this.#works.set(type, works);
    if (!works.some((entry) => entry.work === work)) works.push({ work, once: Boolean(options?.once) });
    options?.signal?.addEventListener('abort', () => this.removeEventListener(type, work));
  }
  removeEventListener(type, work) {
    const works = this.#works.get(type) ?? [];
    const at = works.findIndex((entry) => entry.work === work);
    if (at >= 0) works.splice(at, 1);
  }
  dispatchEvent(event) {
    event.target = this;
    for (const { work, once } of [...(this.#works.get(event.type) ?? [])]) {
      if (once) this.removeEventListener(event.type, work);
      try {
        if (typeof work === 'function') work.call(this, event);
        else work.handleEvent(event);
      } catch (error) {
        process.nextTick(() => {
          throw error;
        });
      }
      if (event.isStopped) break;
    }
    return !event.defaultPrevented;
  }
}
Object.assign(exports, { Event, EventTarget });
