/** The errors of wrong arguments, in Node's words. */
'use strict';
const received = (value) => {
  if (value === null || value === undefined) return ` Received ${value}`;
  if (typeof value === 'function') return ` Received function ${value.name}`;
  if (typeof value === 'object')
    return value.constructor?.name
      ? ` Received an instance of ${value.constructor.name}`
      : ` Received ${require('inspect').inspect(value, { depth: -1 })}`;
  const shown = require('inspect').inspect(value, { colors: false });
  return ` Received type ${typeof value} (${shown.length > 28 ? `${shown.slice(0, 25)}...` : shown})`;
};
const coded = (error, code) => {
  Object.defineProperty(error, 'code', { value: code, writable: true, enumerable: true, configurable: true });
  return error;
};
exports.coded = coded;
exports.invalid = (name, expected, value) =>
  coded(
    new TypeError(
      `The ${name.includes('.') ? 'property' : name.endsWith(' argument') ? name : `"${name}" argument`} must be ${expected}.${received(value)}`,
    ),
    'ERR_INVALID_ARG_TYPE',
  );
exports.outOfRange = (name, range, value) =>
  coded(
    new RangeError(
      `The value of "${name}" is out of range. It must be ${range}. Received ${typeof value === 'number' ? String(value) : require('inspect').inspect(value)}`,
    ),
    'ERR_OUT_OF_RANGE',
  );
exports.requireFunction = (work, name = 'callback') => {
  if (typeof work !== 'function') throw exports.invalid(name, 'of type function', work);
};
