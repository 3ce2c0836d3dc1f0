/** `crypto`: hashes and random bytes, which the server makes. */
'use strict';
const { Buffer } = require('buffer');
const { coded, invalid, outOfRange } = require('argument_errors');
const MAX_RANDOM = 1024 * 1024;
const bytesOf = (data, encoding) => {
  if (typeof data === 'string') return Buffer.from(data, encoding);
  if (!ArrayBuffer.isView(data))
    throw invalid('data', 'of type string or an instance of Buffer, TypedArray, or DataView', data);
  return Buffer.from(data.buffer, data.byteOffset, data.byteLength);
};
const plain = (buffer) => buffer.buffer.slice(buffer.byteOffset, buffer.byteOffset + buffer.byteLength);
const names = () => JSON.parse(host.hashes());
class Hash {
  #algorithm;
  #key;
  #parts = [];
  #isDone = false;
  constructor(algorithm, key) {
    if (typeof algorithm !== 'string') throw invalid('algorithm', 'of type string', algorithm);
    if (!names().includes(algorithm.toLowerCase()))
      throw coded(
        new Error(key === undefined ? 'Digest method not supported' : `Invalid digest: ${algorithm}`),
        key === undefined ? 'ERR_CRYPTO_INVALID_DIGEST' : 'ERR_CRYPTO_INVALID_DIGEST',
      );
    this.#algorithm = algorithm.toLowerCase();
    this.#key = key;
  }
  update(data, encoding) {
    if (this.#isDone) throw coded(new Error('Digest already called'), 'ERR_CRYPTO_HASH_FINALIZED');
    this.#parts.push(Buffer.from(bytesOf(data, encoding)));
    return this;
  }
  digest(encoding) {
    if (this.#isDone) throw coded(new Error('Digest already called'), 'ERR_CRYPTO_HASH_FINALIZED');
    this.#isDone = true;
    const data = this.#parts.length === 1 ? this.#parts[0] : Buffer.concat(this.#parts);
    const digest = Buffer.from(
      host.hash(this.#algorithm, plain(data), this.#key === undefined ? undefined : plain(this.#key)),
    );
    return encoding === undefined || encoding === 'buffer' ? digest : digest.toString(encoding);
  }
  copy() {
    const other = new Hash(this.#algorithm, this.#key);
    for (const part of this.#parts) other.update(part);
    return other;
  }
}
const randomBytes = (size, callback) => {
  if (typeof size !== 'number') throw invalid('size', 'of type number', size);
  if (!(size >= 0 && size <= 2 ** 31 - 1)) throw outOfRange('size', '>= 0 && <= 2147483647', size);
  const parts = [];
  for (let rest = size; rest > 0; rest -= MAX_RANDOM)
    parts.push(Buffer.from(host.random(String(Math.min(rest, MAX_RANDOM)))));
  const bytes = Buffer.concat(parts);
  if (callback === undefined) return bytes;
  process.nextTick(callback, null, bytes);
};
const randomFillSync = (view) => {
  new Uint8Array(view.buffer ?? view, view.byteOffset ?? 0, view.byteLength).set(randomBytes(view.byteLength));
  return view;
};
const randomInt = (min, max, callback) => {
  if (max === undefined || typeof max === 'function') [min, max, callback] = [0, min, max];
  if (!Number.isSafeInteger(min)) throw invalid('min', 'a safe integer', min);
  if (!Number.isSafeInteger(max)) throw invalid('max', 'a safe integer', max);
  const range = max - min;
  if (!(range > 0 && range < 2 ** 48)) throw outOfRange('max', `greater than the value of "min" (${min})`, max);
  const limit = 2 ** 48 - (2 ** 48 % range);
  let value;
  do value = randomBytes(6).readUIntBE(0, 6);
  while (value >= limit);
  const number = min + (value % range);
  if (callback === undefined) return number;
  process.nextTick(callback, null, number);
};
function timingSafeEqual(a, b) {
  if (a.byteLength !== b.byteLength)
    throw coded(new RangeError('Input buffers must have the same byte length'), 'ERR_CRYPTO_TIMING_SAFE_EQUAL_LENGTH');
  const [left, right] = [bytesOf(a), bytesOf(b)];
  let difference = 0;
  for (let at = 0; at < left.length; at += 1) difference |= left[at] ^ right[at];
  return difference === 0;
}
module.exports = {
  createHash: (algorithm) => new Hash(algorithm),
  createHmac: (algorithm, key) => new Hash(algorithm, bytesOf(key)),
  hash: (algorithm, data, encoding = 'hex') => new Hash(algorithm).update(data).digest(encoding),
  getHashes: names,
  randomBytes,
  randomFillSync,
  randomInt,
  timingSafeEqual,
  randomUUID: () => {
    const bytes = randomBytes(16);
    bytes[6] = (bytes[6] & 0x0f) | 0x40;
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  },
  getRandomValues: randomFillSync,
  Hash,
  get webcrypto() {
    return globalThis.crypto;
  },
};
for (const name of [
  'createCipheriv',
  'createDecipheriv',
  'createSign',
  'createVerify',
  'generateKeyPair',
  'generateKeyPairSync',
  'pbkdf2',
  'pbkdf2Sync',
  'scrypt',
  'scryptSync',
  'createPrivateKey',
  'createPublicKey',
  'sign',
  'verify',
]) {
  module.exports[name] = () => {
    throw new Error(`crypto.${name} is not here: there is createHash, createHmac and randomBytes`);
  };
}
