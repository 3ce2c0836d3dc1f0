/** The guest's side of `fetch`: see javascript-fetch-prelude.ts. */
(host) => {
  'use strict';
  const { parse, stringify } = JSON;
  const Bytes = ArrayBuffer;
  const View = Uint8Array;
  const Later = Promise;
  const pending = new Map();
  let next = 1;

  const bytesOf = (value) => {
    if (value === undefined || value === null) return undefined;
    if (value instanceof Bytes) return value.slice(0);
    if (Bytes.isView(value)) return value.buffer.slice(value.byteOffset, value.byteOffset + value.byteLength);
    return host.encode({ utf8: String(value) });
  };
  const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

  class Headers {
    #list = [];
    constructor(init) {
      if (init === undefined || init === null) return;
      const entries = typeof init[Symbol.iterator] === 'function' ? init : Object.entries(init);
      for (const [name, value] of entries) this.append(name, value);
    }
    append(name, value) {
      name = String(name).toLowerCase();
      value = String(value).trim();
      if (!NAME.test(name)) throw new TypeError(`Invalid header name: ${stringify(name)}`);
      if (/[\r\n\0]/.test(value)) throw new TypeError(`Invalid header value of ${name}`);
      this.#list.push([name, value]);
    }
    delete(name) {
      name = String(name).toLowerCase();
      this.#list = this.#list.filter(([one]) => one !== name);
    }
    set(name, value) {
      this.delete(name);
      this.append(name, value);
    }
    get(name) {
      name = String(name).toLowerCase();
      const values = this.#list.filter(([one]) => one === name).map(([, value]) => value);
      return values.length === 0 ? null : values.join(', ');
    }
    getSetCookie() {
      return this.#list.filter(([name]) => name === 'set-cookie').map(([, value]) => value);
    }
    has(name) {
      name = String(name).toLowerCase();
      return this.#list.some(([one]) => one === name);
    }
    forEach(work, self) {
      for (const [name, value] of this) work.call(self, value, name, this);
    }
    *entries() {
      const names = [...new Set(this.#list.map(([name]) => name))].sort();
      for (const name of names) {
        if (name === 'set-cookie') for (const value of this.getSetCookie()) yield [name, value];
        else yield [name, this.get(name)];
      }
    }
    *keys() {
      for (const [name] of this.entries()) yield name;
    }
    *values() {
      for (const [, value] of this.entries()) yield value;
    }
    [Symbol.iterator]() {
      return this.entries();
    }
    static listOf(headers) {
      return headers.#list;
    }
  }
  const { listOf } = Headers;
  delete Headers.listOf;

  class Body {
    #bytes;
    #used = false;
    constructor(bytes) {
      this.#bytes = bytes;
    }
    get bodyUsed() {
      return this.#used;
    }
    async arrayBuffer() {
      if (this.#used) throw new TypeError('Body is unusable: it has already been read');
      this.#used = true;
      return this.#bytes ?? new Bytes(0);
    }
    async bytes() {
      return new View(await this.arrayBuffer());
    }
    async text() {
      return host.decode(await this.arrayBuffer()) ?? '';
    }
    async json() {
      return parse(await this.text());
    }
    static copy(body) {
      if (body.#used) throw new TypeError('Body is unusable: it has already been read');
      return body.#bytes?.slice(0);
    }
  }
  const { copy } = Body;
  delete Body.copy;

  class Request extends Body {
    constructor(input, init = {}) {
      const from = input instanceof Request ? input : null;
      const body = init.body !== undefined ? bytesOf(init.body) : from === null ? undefined : copy(from);
      super(body);
      this.url = from === null ? String(input) : from.url;
      const method = String(init.method ?? from?.method ?? 'GET');
      const upper = method.toUpperCase();
      this.method = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS'].includes(upper) ? upper : method;
      if (body !== undefined && (this.method === 'GET' || this.method === 'HEAD')) {
        throw new TypeError('Request with GET/HEAD method cannot have body');
      }
      this.headers = new Headers(init.headers ?? from?.headers);
      if (typeof init.body === 'string' && !this.headers.has('content-type')) {
        this.headers.set('content-type', 'text/plain;charset=UTF-8');
      }
      this.redirect = String(init.redirect ?? from?.redirect ?? 'follow');
      if (!['follow', 'manual', 'error'].includes(this.redirect))
        throw new TypeError(`Invalid redirect: ${this.redirect}`);
      this.signal = init.signal ?? from?.signal ?? null;
    }
    clone() {
      return new Request(this);
    }
  }

  class Response extends Body {
    constructor(body, init = {}) {
      super(bytesOf(body));
      this.status = init.status ?? 200;
      this.statusText = String(init.statusText ?? '');
      this.headers = new Headers(init.headers);
      this.url = '';
      this.redirected = false;
      this.type = 'default';
    }
    get ok() {
      return this.status >= 200 && this.status <= 299;
    }
    clone() {
      const other = new Response(copy(this), this);
      const { url, redirected, type } = this;
      return Object.assign(other, { url, redirected, type });
    }
    static json(value, init = {}) {
      const response = new Response(stringify(value), init);
      if (!response.headers.has('content-type')) response.headers.set('content-type', 'application/json');
      return response;
    }
  }

  const abortError = () => Object.assign(new Error('This operation was aborted'), { name: 'AbortError' });
  class AbortSignal {
    #listeners = new Set();
    aborted = false;
    reason = undefined;
    onabort = null;
    addEventListener(type, work) {
      if (type === 'abort') this.#listeners.add(work);
    }
    removeEventListener(type, work) {
      if (type === 'abort') this.#listeners.delete(work);
    }
    throwIfAborted() {
      if (this.aborted) throw this.reason;
    }
    static abort(reason = abortError()) {
      const signal = new AbortSignal();
      fire(signal, reason);
      return signal;
    }
    static timeout(ms) {
      const signal = new AbortSignal();
      const error = Object.assign(new Error('The operation was aborted due to timeout'), {
        name: 'TimeoutError',
        code: 23,
      });
      globalThis.setTimeout(() => fire(signal, error), ms)?.unref?.();
      return signal;
    }
    static any(signals) {
      const signal = new AbortSignal();
      for (const one of signals) {
        if (one.aborted) fire(signal, one.reason);
        else one.addEventListener('abort', () => fire(signal, one.reason));
      }
      return signal;
    }
    static fire(signal, reason) {
      if (signal.aborted) return;
      signal.aborted = true;
      signal.reason = reason;
      const event = { type: 'abort', target: signal };
      signal.onabort?.(event);
      for (const work of signal.#listeners) work.call(signal, event);
    }
  }
  const { fire } = AbortSignal;
  delete AbortSignal.fire;
  class AbortController {
    signal = new AbortSignal();
    abort(reason = abortError()) {
      fire(this.signal, reason);
    }
  }

  const fetch = async (input, init) => {
    const request = new Request(input, init);
    const { url, method, redirect, signal } = request;
    if (signal?.aborted) throw signal.reason;
    const id = next++;
    const meta = stringify({ id, url, method, redirect, headers: listOf(request.headers) });
    const body = copy(request);
    return new Later((resolve, reject) => {
      const cancel = () => {
        pending.delete(id);
        host.cancel(String(id));
        reject(signal.reason);
      };
      signal?.addEventListener('abort', cancel);
      pending.set(id, { resolve, reject, done: () => signal?.removeEventListener('abort', cancel) });
      try {
        host.send(meta, body);
      } catch (error) {
        pending.delete(id);
        throw error;
      }
    });
  };
  for (const [name, value] of Object.entries({ fetch, Headers, Request, Response, AbortController, AbortSignal })) {
    // What the guest has put there stays.
    if (Object.getOwnPropertyDescriptor(globalThis, name)?.get) globalThis[name] = value;
  }

  return () => {
    const { id, failure, url, redirected, ...init } = parse(host.answer());
    const waiting = pending.get(id);
    if (waiting === undefined) return;
    pending.delete(id);
    waiting.done();
    if (failure !== undefined) return void waiting.reject(new TypeError(`fetch failed: ${failure}`));
    const empty = init.status === 204 || init.status === 304;
    const response = new Response(empty ? undefined : host.answerBody(), init);
    waiting.resolve(Object.assign(response, { url, redirected, type: 'basic' }));
  };
};
