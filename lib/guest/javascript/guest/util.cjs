/** `util`. */
'use strict';
const inspecting = require('inspect');
const { isDeepStrictEqual } = require('equality');
const types = require('node:util/types');
const { invalid } = require('argument_errors');
const { inspect } = inspecting;
const custom = Symbol.for('nodejs.util.promisify.custom');

function promisify(original) {
  if (typeof original !== 'function') throw invalid('original', 'of type function', original);
  if (typeof original[custom] === 'function') return original[custom];
  const work = function (...args) {
    return new Promise((resolve, reject) => {
      original.call(this, ...args, (error, ...values) => (error ? reject(error) : resolve(values[0])));
    });
  };
  Object.setPrototypeOf(work, Object.getPrototypeOf(original));
  return Object.defineProperties(work, Object.getOwnPropertyDescriptors(original));
}
promisify.custom = custom;

function callbackify(original) {
  return function (...args) {
    const callback = args.pop();
    original.apply(this, args).then(
      (value) => process.nextTick(callback, null, value),
      (error) =>
        process.nextTick(
          callback,
          error ??
            Object.assign(new Error('Promise was rejected with a falsy value'), {
              code: 'ERR_FALSY_VALUE_REJECTION',
              reason: error,
            }),
        ),
    );
  };
}

function inherits(child, parent) {
  Object.defineProperty(child, 'super_', { value: parent, writable: true, configurable: true });
  Object.setPrototypeOf(child.prototype, parent.prototype);
}

const warned = new Set();
function deprecate(work, message, code) {
  return function (...args) {
    if (!warned.has(code ?? message)) process.emitWarning(message, 'DeprecationWarning');
    warned.add(code ?? message);
    return new.target ? Reflect.construct(work, args, new.target) : work.apply(this, args);
  };
}

const STYLES = { reset: [0, 0], bold: [1, 22], dim: [2, 22], italic: [3, 23], underline: [4, 24], ...inspect.colors };
function styleText(format, text, { validateStream = true, stream = process.stdout } = {}) {
  if (validateStream && !stream.isTTY && !process.env.FORCE_COLOR) return text;
  return [format].flat().reduceRight((shown, name) => {
    const [open, close] =
      STYLES[name] ??
      (() => {
        throw invalid('format', `one of: ${Object.keys(STYLES).join(', ')}`, name);
      })();
    return `\u001b[${open}m${shown}\u001b[${close}m`;
  }, text);
}

module.exports = {
  ...inspecting,
  inspect,
  isDeepStrictEqual,
  promisify,
  callbackify,
  inherits,
  deprecate,
  styleText,
  types,
  parseArgs: (config) => require('parse_args').parseArgs(config),
  debuglog: () => Object.assign(() => {}, { enabled: false }),
  toUSVString: (text) => String(text).toWellFormed(),
  stripVTControlCharacters: inspecting.stripVTControlCharacters,
  TextEncoder: globalThis.TextEncoder,
  TextDecoder: globalThis.TextDecoder,
  isArray: Array.isArray,
  getSystemErrorName: (number) => require('system_errors').nameOf(number),
  aborted: (signal) =>
    new Promise((resolve) => (signal.aborted ? resolve() : signal.addEventListener('abort', () => resolve()))),
};
module.exports.debug = module.exports.debuglog;
delete module.exports.Proxy;
