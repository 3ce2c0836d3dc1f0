/** `events`: the package, and what Node has added since. */
'use strict';
const EventEmitter = require('events-package');
const { coded } = require('argument_errors');
EventEmitter.EventEmitter = EventEmitter;
EventEmitter.errorMonitor = Symbol('events.errorMonitor');
EventEmitter.captureRejectionSymbol = Symbol.for('nodejs.rejection');
EventEmitter.captureRejections = false;
const { emit } = EventEmitter.prototype;
EventEmitter.prototype.emit = function (type, ...values) {
  if (type === 'error') {
    if (this._events?.[EventEmitter.errorMonitor] !== undefined) emit.call(this, EventEmitter.errorMonitor, ...values);
    // Not an error: the package's words for it are older.
    if (this._events?.error === undefined && !(values[0] instanceof Error)) {
      const error = coded(
        new Error(
          `Unhandled error. (${typeof values[0] === 'string' ? `'${values[0]}'` : require('inspect').inspect(values[0])})`,
        ),
        'ERR_UNHANDLED_ERROR',
      );
      throw Object.assign(error, { context: values[0] });
    }
  }
  return emit.call(this, type, ...values);
};
EventEmitter.on = (emitter, event, { signal, close = [] } = {}) => {
  const [values, waiting] = [[], []];
  let failure = null;
  let isOver = false;
  const settle = () => {
    while (waiting.length > 0 && (values.length > 0 || failure !== null || isOver)) {
      const { resolve, reject } = waiting.shift();
      if (values.length > 0) resolve({ value: values.shift(), done: false });
      else if (failure !== null) {
        reject(failure);
        failure = null;
        isOver = true;
      } else resolve({ value: undefined, done: true });
    }
  };
  const take = (...args) => {
    values.push(args);
    settle();
  };
  const fail = (error) => {
    failure = error;
    stop();
  };
  const stop = () => {
    emitter.off(event, take);
    emitter.off('error', fail);
    if (failure === null) isOver = true;
    settle();
  };
  emitter.on(event, take);
  if (event !== 'error') emitter.on('error', fail);
  for (const name of close) emitter.once(name, stop);
  signal?.addEventListener('abort', () => fail(signal.reason));
  return {
    next: () =>
      new Promise((resolve, reject) => {
        waiting.push({ resolve, reject });
        settle();
      }),
    return: async () => {
      stop();
      return { value: undefined, done: true };
    },
    throw: async (error) => {
      fail(error);
      return { value: undefined, done: true };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
};
EventEmitter.getEventListeners = (emitter, event) => emitter.listeners(event);
EventEmitter.setMaxListeners = (count, ...emitters) => {
  for (const emitter of emitters) emitter.setMaxListeners?.(count);
};
EventEmitter.addAbortListener = (signal, work) => {
  signal.addEventListener('abort', work);
  return { [Symbol.dispose ?? Symbol.for('dispose')]: () => signal.removeEventListener('abort', work) };
};
module.exports = EventEmitter;
