/** `util/types`: what kind of object a value is, whatever its prototype says. */
'use strict';
const brand = (value) => Object.prototype.toString.call(value).slice(8, -1);
const has = (prototype, name) => {
  const { get } = Object.getOwnPropertyDescriptor(prototype, name);
  return (value) => {
    try {
      get.call(value);
      return true;
    } catch {
      return false;
    }
  };
};
const runs = (work) => (value) => {
  try {
    work(value);
    return true;
  } catch {
    return false;
  }
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
const boxed = (_type, method) => (value) => typeof value === 'object' && runs((one) => method.call(one))(value);
const isObject = (value) => typeof value === 'object' && value !== null;
const isPromise = runs((value) => {
  if (host.promiseState(value)[0] === 'none') throw value;
});
Object.assign(exports, {
  isDate: runs((value) => Date.prototype.getTime.call(value)),
  isRegExp: (value) => isObject(value) && has(RegExp.prototype, 'source')(value) && value !== RegExp.prototype,
  isMap: has(Map.prototype, 'size'),
  isSet: has(Set.prototype, 'size'),
  isWeakMap: runs((value) => WeakMap.prototype.has.call(value, {})),
  isWeakSet: runs((value) => WeakSet.prototype.has.call(value, {})),
  isArrayBuffer: has(ArrayBuffer.prototype, 'byteLength'),
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
  isNumberObject: boxed(Number, Number.prototype.valueOf),
  isStringObject: boxed(String, String.prototype.valueOf),
  isBooleanObject: boxed(Boolean, Boolean.prototype.valueOf),
  isBigIntObject: boxed(BigInt, BigInt.prototype.valueOf),
  isSymbolObject: boxed(Symbol, Symbol.prototype.valueOf),
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
