/** `zlib`: whole contents, which the server packs and unpacks. */
'use strict';
const { Buffer } = require('buffer');
const { coded, requireFunction } = require('argument_errors');
const { Transform } = require('node:stream');
const NAMES = [
  'gzip',
  'gunzip',
  'deflate',
  'inflate',
  'deflateRaw',
  'inflateRaw',
  'unzip',
  'brotliCompress',
  'brotliDecompress',
];
const STREAMS = {
  createGzip: 'gzip',
  createGunzip: 'gunzip',
  createDeflate: 'deflate',
  createInflate: 'inflate',
  createDeflateRaw: 'deflateRaw',
  createInflateRaw: 'inflateRaw',
  createUnzip: 'unzip',
  createBrotliCompress: 'brotliCompress',
  createBrotliDecompress: 'brotliDecompress',
};
const run = (name, data, { level } = {}) => {
  const bytes =
    typeof data === 'string'
      ? Buffer.from(data)
      : Buffer.from(data.buffer ?? data, data.byteOffset ?? 0, data.byteLength);
  try {
    return Buffer.from(
      host.pack(
        name,
        bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength),
        level === undefined ? '' : String(level),
      ),
    );
  } catch (error) {
    throw error.code === undefined
      ? error
      : Object.assign(coded(new Error(error.message), error.code), {
          errno: { Z_DATA_ERROR: -3, Z_BUF_ERROR: -5 }[error.code] ?? -1,
        });
  }
};
for (const name of NAMES) {
  exports[`${name}Sync`] = (data, options) => run(name, data, options);
  exports[name] = (data, options, callback = options) => {
    requireFunction(callback);
    let result;
    try {
      result = run(name, data, typeof options === 'function' ? {} : options);
    } catch (error) {
      return void setImmediate(callback, error);
    }
    setImmediate(callback, null, result);
  };
}
/** Gathers what comes, and gives the whole at its end. */
for (const [name, work] of Object.entries(STREAMS)) {
  exports[name] = (options) => {
    const parts = [];
    return new Transform({
      transform(chunk, _encoding, callback) {
        parts.push(chunk);
        callback();
      },
      flush(callback) {
        try {
          this.push(run(work, Buffer.concat(parts), options));
          callback();
        } catch (error) {
          callback(error);
        }
      },
    });
  };
}
exports.crc32 = (data, start = 0) =>
  Number(
    host.crc32(
      typeof data === 'string' ? { utf8: data } : data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength),
      String(start),
    ),
  );
exports.constants = { Z_NO_COMPRESSION: 0, Z_BEST_SPEED: 1, Z_BEST_COMPRESSION: 9, Z_DEFAULT_COMPRESSION: -1 };
