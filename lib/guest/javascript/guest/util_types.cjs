/** `util/types`: what kind of object a value is, whatever its prototype says. */
'use strict';
const brand = (value) => Object.prototype.toString.call(value).slice(8, -1);
const getter = (prototype, name) => Object.getOwnPropertyDescriptor(prototype, name).get;
const source = getter(RegExp.prototype, 'source');
const sizeOfMap = getter(Map.prototype, 'size');
const sizeOfSet = getter(Set.prototype, 'size');
const lengthOfBuffer = getter(ArrayBuffer.prototype, 'byteLength');
const runs = (work) => (value) => {
  try {
    work(value);
    return true;
  } catch {
    return false;
  }
};
/** An error takes the longer to make the deeper the calls are, so that few values are tried. */
const branded = (name, work) => {
  const isIt = runs(work);
  return (value) => typeof value === 'object' && value !== null && brand(value) === name && isIt(value);
};
const arrayTag = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag).get;
const arrays = [
  'Uint8Array',
  'Uint8ClampedArray',
  'Uint16Array',
  'Uint32Array',
  'Int8Array',
  'Int16Array',
  'Int32Array',
  'Float32Array',
  'Float64Array',
  'BigInt64Array',
  'BigUint64Array',
];
const functionKind = (name) => (value) => typeof value === 'function' && brand(value) === name;
const boxed = (Type) => branded(Type.name, (value) => Type.prototype.valueOf.call(value));
const isObject = (value) => typeof value === 'object' && value !== null;
const isPromise = (value) => host.promiseState(value)[0] !== 'none';

Object.assign(exports, {
  isDate: branded('Date', (value) => Date.prototype.getTime.call(value)),
  isRegExp: branded('RegExp', (value) => source.call(value)),
  isMap: branded('Map', (value) => sizeOfMap.call(value)),
  isSet: branded('Set', (value) => sizeOfSet.call(value)),
  isWeakMap: branded('WeakMap', (value) => WeakMap.prototype.has.call(value, {})),
  isWeakSet: branded('WeakSet', (value) => WeakSet.prototype.has.call(value, {})),
  isArrayBuffer: branded('ArrayBuffer', (value) => lengthOfBuffer.call(value)),
  isSharedArrayBuffer: (value) => isObject(value) && brand(value) === 'SharedArrayBuffer',
  isAnyArrayBuffer: (value) => isObject(value) && /^(?:Shared)?ArrayBuffer$/.test(brand(value)),
  isArrayBufferView: ArrayBuffer.isView,
  isDataView: (value) => ArrayBuffer.isView(value) && arrayTag.call(value) === undefined,
  isTypedArray: (value) => arrayTag.call(value) !== undefined,
  isPromise: (value) => isObject(value) && isPromise(value),
  isNativeError: (value) => (Error.isError ? Error.isError(value) : value instanceof Error),
  isAsyncFunction: (value) => functionKind('AsyncFunction')(value) || functionKind('AsyncGeneratorFunction')(value),
  isGeneratorFunction: (value) =>
    functionKind('GeneratorFunction')(value) || functionKind('AsyncGeneratorFunction')(value),
  isGeneratorObject: (value) => isObject(value) && brand(value) === 'Generator',
  isNumberObject: boxed(Number),
  isStringObject: boxed(String),
  isBooleanObject: boxed(Boolean),
  isBigIntObject: boxed(BigInt),
  isSymbolObject: boxed(Symbol),
  isMapIterator: (value) => isObject(value) && brand(value) === 'Map Iterator',
  isSetIterator: (value) => isObject(value) && brand(value) === 'Set Iterator',
  isArgumentsObject: (value) => isObject(value) && brand(value) === 'Arguments' && !(Symbol.toStringTag in value),
  isModuleNamespaceObject: (value) => isObject(value) && brand(value) === 'Module',
  isProxy: () => false,
  isExternal: () => false,
});
exports.isBoxedPrimitive = (value) =>
  ['Number', 'String', 'Boolean', 'BigInt', 'Symbol'].some((name) => exports[`is${name}Object`](value));
for (const name of arrays) exports[`is${name}`] = (value) => arrayTag.call(value) === name;
