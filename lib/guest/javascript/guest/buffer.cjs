/** `buffer`: the package, with the server's codecs where its own take long, and what Node has added since. */
'use strict';
const buffer = require('buffer-package');
const { Buffer } = buffer;
const { invalid } = require('argument_errors');
const LONG = 256;
const isUtf8 = (encoding) => encoding === undefined || encoding === null || /^utf-?8$/i.test(encoding);
const isUrl = (encoding) => typeof encoding === 'string' && encoding.toLowerCase() === 'base64url';
const toUrl = (text) => text.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
const hidden = (target, name, value) =>
  Object.defineProperty(target, name, { value, writable: true, configurable: true });

const { from, isEncoding, byteLength } = Buffer;
Buffer.from = (value, encoding, length) => {
  if (typeof value === 'string') {
    if (isUrl(encoding)) return from(value, 'base64');
    if (isUtf8(encoding) && value.length > LONG)
      return wrap(new Uint8Array(host.encode({ utf8: value.toWellFormed() })));
  } else if (value === null || value === undefined || !['object', 'function'].includes(typeof value))
    throw invalid(
      'first argument',
      'of type string or an instance of Buffer, ArrayBuffer, or Array or an Array-like Object',
      value,
    );
  return from(value, encoding, length);
};
const wrap = (bytes) => from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
Buffer.isEncoding = (encoding) => isUrl(encoding) || isEncoding(encoding);
Buffer.byteLength = (value, encoding) =>
  typeof value === 'string' && isUrl(encoding) ? Buffer.from(value, encoding).length : byteLength(value, encoding);
Buffer.copyBytesFrom = (view, offset = 0, length = view.length - offset) => {
  const part = view.subarray(offset, offset + length);
  return wrap(new Uint8Array(part.buffer.slice(part.byteOffset, part.byteOffset + part.byteLength)));
};
Buffer.poolSize = 8192;
const { toString: decode, write } = Buffer.prototype;
hidden(Buffer.prototype, 'toString', function (encoding, start, end) {
  if (isUrl(encoding)) return toUrl(decode.call(this, 'base64', start, end));
  if (isUtf8(encoding) && this.length > LONG) {
    const part = this.subarray(start ?? 0, end ?? this.length);
    return host.decode(part.buffer.slice(part.byteOffset, part.byteOffset + part.byteLength), 'utf-8', '', 'keep');
  }
  return decode.call(this, encoding, start, end);
});
hidden(Buffer.prototype, 'write', function (text, ...rest) {
  return isUrl(rest.at(-1)) ? write.call(this, text, ...rest.slice(0, -1), 'base64') : write.call(this, text, ...rest);
});
for (const name of Object.getOwnPropertyNames(Buffer.prototype)) {
  if (/^(?:read|write)Big?U?Int|^(?:read|write)UInt/.test(name))
    hidden(Buffer.prototype, name.replace('UInt', 'Uint'), Buffer.prototype[name]);
}

const INVALID = () => new DOMException('The string to be decoded is not correctly encoded.', 'InvalidCharacterError');
function atob(text) {
  const plain = String(text).replaceAll(/[\t\n\f\r ]/g, '');
  const whole = plain.length % 4 === 0 ? plain.replace(/={1,2}$/, '') : plain;
  if (whole.length % 4 === 1 || /[^A-Za-z0-9+/]/.test(whole)) throw INVALID();
  return from(whole, 'base64').toString('latin1');
}
function btoa(text) {
  const plain = String(text);
  if (/[^\0-\xff]/.test(plain)) throw new DOMException('Invalid character', 'InvalidCharacterError');
  return from(plain, 'latin1').toString('base64');
}
class Blob {
  #bytes;
  constructor(parts = [], { type = '' } = {}) {
    this.#bytes = Buffer.concat(
      [...parts].map((part) =>
        part instanceof Blob
          ? part.#bytes
          : ArrayBuffer.isView(part)
            ? from(part.buffer, part.byteOffset, part.byteLength)
            : Buffer.from(part instanceof ArrayBuffer ? part : String(part)),
      ),
    );
    this.type = String(type).toLowerCase();
  }
  get size() {
    return this.#bytes.length;
  }
  async arrayBuffer() {
    return this.#bytes.buffer.slice(this.#bytes.byteOffset, this.#bytes.byteOffset + this.#bytes.length);
  }
  async bytes() {
    return new Uint8Array(await this.arrayBuffer());
  }
  async text() {
    return this.#bytes.toString();
  }
  slice(start, end, type) {
    return new Blob([this.#bytes.subarray(start, end)], { type });
  }
}
const isValid = (bytes, encoding) => {
  try {
    new TextDecoder(encoding, { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
};
module.exports = {
  ...buffer,
  Buffer,
  Blob,
  atob,
  btoa,
  isUtf8: (bytes) => isValid(bytes, 'utf-8'),
  isAscii: (bytes) =>
    new Uint8Array(bytes.buffer ?? bytes, bytes.byteOffset ?? 0, bytes.byteLength).every((byte) => byte < 128),
  constants: { MAX_LENGTH: buffer.kMaxLength, MAX_STRING_LENGTH: 2 ** 29 - 24 },
};
