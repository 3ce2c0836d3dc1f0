/** Timers and immediates: what is due when. The order among those of one moment is that in which they were set. */
'use strict';
const define = Object.defineProperty;
const hidden = (target, name, value) => define(target, name, { value, writable: true, configurable: true });
const { now: clock } = Date;
const began = clock();
/** Milliseconds since the program began. */
const now = () => clock() - began;
const timers = { heap: [], byId: new Map(), next: 1, immediates: [], refs: 0 };
/** What is known of a timer, which shows nothing of it. */
let stateOf;

class Timeout {
  #state;
  static {
    stateOf = (timer) => timer.#state;
  }
  constructor(work, ms, args, repeats) {
    this.#state = {
      timer: this,
      work,
      args,
      repeats,
      ms: Math.trunc(ms >= 1 && ms <= 2147483647 ? ms : 1),
      id: timers.next++,
      isRef: true,
      isActive: false,
      isCleared: false,
      entry: null,
    };
    start(this.#state);
  }
  ref() {
    if (!this.#state.isRef && this.#state.isActive) timers.refs += 1;
    this.#state.isRef = true;
    return this;
  }
  unref() {
    if (this.#state.isRef && this.#state.isActive) timers.refs -= 1;
    this.#state.isRef = false;
    return this;
  }
  hasRef() {
    return this.#state.isRef;
  }
  refresh() {
    if (this.#state.isActive) {
      stop(this.#state);
      start(this.#state);
    }
    return this;
  }
  close() {
    stop(this.#state);
    return this;
  }
  [Symbol.toPrimitive]() {
    return this.#state.id;
  }
}
const before = (a, b) => a.due < b.due || (a.due === b.due && a.order < b.order);
let order = 0;
/** Timers from this number on wait for the immediates that are there. */
let phase = Number.POSITIVE_INFINITY;
const start = (state) => {
  const entry = { state, due: now() + state.ms, order: order++ };
  Object.assign(state, { entry, isActive: true, isCleared: false });
  if (state.isRef) timers.refs += 1;
  timers.byId.set(state.id, state);
  const { heap } = timers;
  let at = heap.length;
  heap[at] = entry;
  while (at > 0) {
    const above = (at - 1) >> 1;
    if (!before(entry, heap[above])) break;
    heap[at] = heap[above];
    heap[above] = entry;
    at = above;
  }
};
/** Its entry stays until its time comes. */
const stop = (state) => {
  state.isCleared = true;
  if (!state.isActive) return;
  state.isActive = false;
  state.entry = null;
  if (state.isRef) timers.refs -= 1;
  timers.byId.delete(state.id);
};
const takeFirst = () => {
  const { heap } = timers;
  const last = heap.pop();
  if (heap.length === 0) return;
  let at = 0;
  for (;;) {
    let below = 2 * at + 1;
    if (below >= heap.length) break;
    if (below + 1 < heap.length && before(heap[below + 1], heap[below])) below += 1;
    if (!before(heap[below], last)) break;
    heap[at] = heap[below];
    at = below;
  }
  heap[at] = last;
};
const requireFunction = (work) => {
  if (typeof work !== 'function') require('argument_errors').requireFunction(work);
};
const clear = (timer) => {
  const found =
    timer instanceof Timeout
      ? stateOf(timer)
      : typeof timer === 'number' || typeof timer === 'string'
        ? timers.byId.get(Number(timer))
        : undefined;
  if (found !== undefined) stop(found);
};
class Immediate {
  constructor(work, args) {
    hidden(this, '_work', work);
    hidden(this, '_args', args);
    hidden(this, '_isRef', true);
  }
  ref() {
    this._isRef = true;
    return this;
  }
  unref() {
    this._isRef = false;
    return this;
  }
  hasRef() {
    return this._isRef;
  }
}
const globals = {
  setTimeout: function setTimeout(work, ms, ...args) {
    requireFunction(work);
    return new Timeout(work, Number(ms), args, false);
  },
  setInterval: function setInterval(work, ms, ...args) {
    requireFunction(work);
    return new Timeout(work, Number(ms), args, true);
  },
  setImmediate: function setImmediate(work, ...args) {
    requireFunction(work);
    const immediate = new Immediate(work, args);
    timers.immediates.push(immediate);
    return immediate;
  },
  clearTimeout: function clearTimeout(timer) {
    clear(timer);
  },
  clearInterval: function clearInterval(timer) {
    clear(timer);
  },
  clearImmediate: function clearImmediate(immediate) {
    if (immediate instanceof Immediate) immediate._work = null;
  },
  queueMicrotask: function queueMicrotask(work) {
    requireFunction(work);
    void Promise.resolve().then(() => {
      try {
        work();
      } catch (error) {
        require('./boot').fatal(error);
      }
    });
  },
};

/**
 * Runs one timer or immediate that is due and returns 0. Else: the milliseconds until the next one, -1 without one that
 * is waited for.
 */
const runDue = (fail) => {
  const { heap, immediates } = timers;
  while (heap.length > 0 && heap[0].state.entry !== heap[0]) takeFirst();
  const [first] = heap;
  const wait = first === undefined ? Number.POSITIVE_INFINITY : first.due - now();
  if (wait <= 0 && (first.order < phase || immediates.length === 0)) {
    const { state } = first;
    takeFirst();
    stop(state);
    state.isCleared = false;
    try {
      state.work.apply(state.timer, state.args);
    } catch (error) {
      fail(error);
    }
    if (state.repeats && !state.isActive && !state.isCleared) start(state);
    return 0;
  }
  phase = order;
  const immediate = immediates.shift();
  if (immediate !== undefined) {
    try {
      immediate._work?.(...immediate._args);
    } catch (error) {
      fail(error);
    }
    return 0;
  }
  return timers.refs > 0 ? wait : -1;
};

module.exports = { timers, globals, requireFunction, runDue, now };
