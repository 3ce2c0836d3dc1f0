/** `structuredClone` and `DOMException`. */
'use strict';
const CODES = {
  InvalidCharacterError: 5,
  NotSupportedError: 9,
  SyntaxError: 12,
  AbortError: 20,
  TimeoutError: 23,
  DataCloneError: 25,
};
class DOMException extends Error {
  #name;
  constructor(message = '', options = 'Error') {
    super(message, typeof options === 'object' && 'cause' in options ? { cause: options.cause } : undefined);
    this.#name = typeof options === 'object' ? (options.name ?? 'Error') : String(options);
  }
  get name() {
    return this.#name;
  }
  get code() {
    return CODES[this.#name] ?? 0;
  }
}
const ERRORS = { Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError };
const shown = (value) =>
  typeof value === 'function' ? String(value) : typeof value === 'symbol' ? String(value) : '#<Object>';
const refuse = (value) => {
  throw new DOMException(`${shown(value)} could not be cloned.`, 'DataCloneError');
};
function clone(value, seen) {
  if (typeof value === 'function' || typeof value === 'symbol') refuse(value);
  if (typeof value !== 'object' || value === null) return value;
  const known = seen.get(value);
  if (known !== undefined) return known;
  const types = require('node:util/types');
  const keep = (copy) => {
    seen.set(value, copy);
    return copy;
  };
  if (types.isDate(value)) return keep(new Date(value.getTime()));
  if (types.isRegExp(value)) return keep(new RegExp(value.source, value.flags));
  if (types.isBoxedPrimitive(value)) return keep(Object(value.valueOf()));
  if (types.isAnyArrayBuffer(value)) return keep(value.slice(0));
  if (ArrayBuffer.isView(value)) {
    const Kind = value instanceof DataView ? DataView : globalThis[Object.prototype.toString.call(value).slice(8, -1)];
    const buffer = clone(value.buffer, seen);
    return keep(new Kind(buffer, value.byteOffset, value instanceof DataView ? value.byteLength : value.length));
  }
  if (types.isMap(value)) {
    const copy = keep(new Map());
    for (const [key, one] of [...value]) copy.set(clone(key, seen), clone(one, seen));
    return copy;
  }
  if (types.isSet(value)) {
    const copy = keep(new Set());
    for (const one of [...value]) copy.add(clone(one, seen));
    return copy;
  }
  if (types.isNativeError(value)) {
    const error = keep(new (ERRORS[value.name] ?? Error)(value.message));
    error.stack = value.stack;
    if (Object.hasOwn(value, 'cause'))
      Object.defineProperty(error, 'cause', { value: clone(value.cause, seen), writable: true, configurable: true });
    return error;
  }
  if (types.isPromise(value) || types.isWeakMap(value) || types.isWeakSet(value)) refuse(value);
  const copy = keep(Array.isArray(value) ? new Array(value.length) : {});
  for (const key of Object.keys(value)) {
    Object.defineProperty(copy, key, {
      value: clone(value[key], seen),
      writable: true,
      enumerable: true,
      configurable: true,
    });
  }
  return copy;
}
exports.structuredClone = function structuredClone(value) {
  return clone(value, new Map());
};
exports.DOMException = DOMException;
