/** `timers/promises`. */
'use strict';
const { globals } = require('./boot');
const aborted = (signal) =>
  Object.assign(new Error('The operation was aborted', { cause: signal.reason }), {
    name: 'AbortError',
    code: 'ABORT_ERR',
  });
const wait =
  (begin, end) =>
  (value, { signal, ref = true } = {}) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(aborted(signal));
      const cancel = () => {
        end(timer);
        reject(aborted(signal));
      };
      const timer = begin(() => {
        signal?.removeEventListener('abort', cancel);
        resolve(value);
      });
      if (!ref) timer.unref();
      signal?.addEventListener('abort', cancel);
    });
const setTimeout = (ms, value, options) =>
  wait((work) => globals.setTimeout(work, ms), globals.clearTimeout)(value, options);
const setImmediate = (value, options) =>
  wait((work) => globals.setImmediate(work), globals.clearImmediate)(value, options);
async function* setInterval(ms, value, options) {
  for (;;) yield await setTimeout(ms, value, options);
}
module.exports = {
  setTimeout,
  setImmediate,
  setInterval,
  scheduler: { wait: (ms, options) => setTimeout(ms, undefined, options), yield: () => setImmediate() },
};
