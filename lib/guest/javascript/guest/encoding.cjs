/** `TextEncoder` and `TextDecoder`: the server's codecs. */
'use strict';
const LONG = 64;
const bytesOf = (input) => {
  if (input === undefined) return new Uint8Array(0);
  if (ArrayBuffer.isView(input)) return new Uint8Array(input.buffer, input.byteOffset, input.byteLength);
  if (input instanceof ArrayBuffer) return new Uint8Array(input);
  throw require('argument_errors').invalid(
    'list',
    'an instance of SharedArrayBuffer, ArrayBuffer or ArrayBufferView',
    input,
  );
};
const ASCII = /^[\0-\x7f]*$/;
const encode = (text) => {
  if (text.length > LONG || !ASCII.test(text)) return new Uint8Array(host.encode({ utf8: text.toWellFormed() }));
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at += 1) bytes[at] = text.charCodeAt(at);
  return bytes;
};
exports.TextEncoder = class TextEncoder {
  get encoding() {
    return 'utf-8';
  }
  encode(input = '') {
    return encode(String(input));
  }
  encodeInto(source, target) {
    let [read, written] = [0, 0];
    for (const character of String(source)) {
      const bytes = encode(character);
      if (written + bytes.length > target.length) break;
      target.set(bytes, written);
      written += bytes.length;
      read += character.length;
    }
    return { read, written };
  }
};
/** Bytes at the end that are the beginning of a character. */
const unfinished = (bytes) => {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back];
    if ((byte & 0xc0) === 0x80) continue;
    const needs = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return needs > back ? back : 0;
  }
  return 0;
};
exports.TextDecoder = class TextDecoder {
  #rest = new Uint8Array(0);
  #isBegun = false;
  constructor(label = 'utf-8', { fatal = false, ignoreBOM = false } = {}) {
    const encoding = host.encodingOf(String(label));
    if (encoding === '')
      throw require('argument_errors').coded(
        new RangeError(`The "${label}" encoding is not supported`),
        'ERR_ENCODING_NOT_SUPPORTED',
      );
    Object.defineProperties(this, {
      encoding: { value: encoding },
      fatal: { value: Boolean(fatal) },
      ignoreBOM: { value: Boolean(ignoreBOM) },
    });
  }
  decode(input, { stream = false } = {}) {
    const given = bytesOf(input);
    const whole = new Uint8Array(this.#rest.length + given.length);
    whole.set(this.#rest);
    whole.set(given, this.#rest.length);
    const odd =
      this.encoding === 'utf-8' ? unfinished(whole) : this.encoding.startsWith('utf-16') ? whole.length % 2 : 0;
    const end = whole.length - (stream ? odd : 0);
    this.#rest = whole.slice(end);
    const keepsMark = this.ignoreBOM || this.#isBegun;
    this.#isBegun = stream && (this.#isBegun || end > 0);
    if (!stream) this.#rest = new Uint8Array(0);
    try {
      return host.decode(whole.buffer.slice(0, end), this.encoding, this.fatal ? 'fatal' : '', keepsMark ? 'keep' : '');
    } catch {
      throw require('argument_errors').coded(
        new TypeError(`The encoded data was not valid for encoding ${this.encoding}`),
        'ERR_ENCODING_INVALID_ENCODED_DATA',
      );
    }
  }
};
