/** Deep equality, as `util.isDeepStrictEqual` and `assert` have it. */
'use strict';
const types = require('node:util/types');
// biome-ignore lint/suspicious/noDoubleEquals: that is what loose equality is.
const isLooselyEqual = (a, b) => a == b || (Number.isNaN(a) && Number.isNaN(b));
const same = (a, b, strict) => (strict ? Object.is(a, b) : isLooselyEqual(a, b));
const keysOf = (value) => [
  ...Object.keys(value),
  ...Object.getOwnPropertySymbols(value).filter((key) => Object.prototype.propertyIsEnumerable.call(value, key)),
];
const KINDS = [
  'Date',
  'RegExp',
  'Map',
  'Set',
  'NativeError',
  'AnyArrayBuffer',
  'ArrayBufferView',
  'BoxedPrimitive',
  'Promise',
  'WeakMap',
  'WeakSet',
];
const kindOf = (value) => (Array.isArray(value) ? 'Array' : KINDS.find((kind) => types[`is${kind}`](value)));
const bytesOf = (value) =>
  ArrayBuffer.isView(value) ? new Uint8Array(value.buffer, value.byteOffset, value.byteLength) : new Uint8Array(value);

function equal(a, b, strict, seen) {
  if (same(a, b, strict)) return true;
  const areObjects = typeof a === 'object' && typeof b === 'object' && a !== null && b !== null;
  if (!areObjects) return false;
  if (strict && Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false;
  const kind = kindOf(a);
  if (kind !== kindOf(b)) return false;
  const known = seen.get(a);
  if (known?.has(b)) return true;
  if (known === undefined) seen.set(a, new Set([b]));
  else known.add(b);
  return sameContent(kind, a, b, strict, seen) && sameProperties(kind, a, b, strict, seen);
}

function sameContent(kind, a, b, strict, seen) {
  switch (kind) {
    case 'Date':
      return Object.is(Date.prototype.getTime.call(a), Date.prototype.getTime.call(b));
    case 'RegExp':
      return a.source === b.source && a.flags === b.flags && a.lastIndex === b.lastIndex;
    case 'NativeError':
      return (
        a.message === b.message &&
        a.name === b.name &&
        equal(a.cause, b.cause, strict, seen) &&
        equal(a.errors, b.errors, strict, seen)
      );
    case 'BoxedPrimitive':
      return Object.is(a.valueOf(), b.valueOf());
    case 'Array':
      return a.length === b.length;
    case 'AnyArrayBuffer':
    case 'ArrayBufferView': {
      const [left, right] = [bytesOf(a), bytesOf(b)];
      if (left.length !== right.length) return false;
      return !strict && types.isTypedArray(a)
        ? a.every((value, at) => same(value, b[at], false))
        : left.every((byte, at) => byte === right[at]);
    }
    case 'Map':
      return (
        a.size === b.size &&
        matches([...a], [...b], (x, y) => equal(x[0], y[0], strict, seen) && equal(x[1], y[1], strict, seen))
      );
    case 'Set':
      return a.size === b.size && matches([...a], [...b], (x, y) => equal(x, y, strict, seen));
    case 'Promise':
    case 'WeakMap':
    case 'WeakSet':
      return false;
    default:
      return true;
  }
}

/** Whether each of one list has one of its own in the other; usually at the same place. */
function matches(some, others, isMatch) {
  const left = [...others];
  return some.every((one) => {
    const at = left.findIndex((other) => isMatch(one, other));
    if (at >= 0) left.splice(at, 1);
    return at >= 0;
  });
}

function sameProperties(kind, a, b, strict, seen) {
  if (kind === 'ArrayBufferView' && types.isTypedArray(a)) return true;
  const [left, right] = strict ? [keysOf(a), keysOf(b)] : [Object.keys(a), Object.keys(b)];
  return (
    left.length === right.length &&
    left.every((key) => Object.prototype.propertyIsEnumerable.call(b, key) && equal(a[key], b[key], strict, seen))
  );
}

exports.isDeepStrictEqual = (a, b) => equal(a, b, true, new Map());
exports.isDeepEqual = (a, b) => equal(a, b, false, new Map());
exports.isLooselyEqual = isLooselyEqual;
