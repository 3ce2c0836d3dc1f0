// biome-ignore-all lint/suspicious/noShadowRestrictedNames: the functions have these names in Node.
/** `querystring`. */
'use strict';
const escape = (text) => encodeURIComponent(String(text).toWellFormed());
const unescape = (text) => {
  try {
    return decodeURIComponent(text);
  } catch {
    return require('buffer')
      .Buffer.from(
        text.replace(/%([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16))),
        'latin1',
      )
      .toString();
  }
};
const primitive = (value) =>
  typeof value === 'string'
    ? value
    : typeof value === 'bigint' || typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))
      ? String(value)
      : '';
function stringify(object, separator = '&', equals = '=', options = {}) {
  const encode = options?.encodeURIComponent ?? exports.escape;
  if (object === null || typeof object !== 'object') return '';
  return Object.keys(object)
    .flatMap((name) =>
      [object[name]].flat().map((value) => encode(primitive(name)) + equals + encode(primitive(value))),
    )
    .join(separator);
}
function parse(text, separator = '&', equals = '=', { maxKeys = 1000, decodeURIComponent: given } = {}) {
  const result = Object.create(null);
  if (typeof text !== 'string' || text === '') return result;
  const decode = (part) => {
    const plain = part.replaceAll('+', ' ');
    try {
      return (given ?? exports.unescape)(plain);
    } catch {
      return unescape(plain);
    }
  };
  const parts = text.split(separator ?? '&').filter((part) => part !== '');
  for (const part of maxKeys > 0 ? parts.slice(0, maxKeys) : parts) {
    const at = part.indexOf(equals ?? '=');
    const name = decode(at < 0 ? part : part.slice(0, at));
    const value = at < 0 ? '' : decode(part.slice(at + (equals ?? '=').length));
    if (!(name in result)) result[name] = value;
    else if (Array.isArray(result[name])) result[name].push(value);
    else result[name] = [result[name], value];
  }
  return result;
}
Object.assign(exports, { escape, unescape, stringify, parse, encode: stringify, decode: parse });
