/** Files as streams. */
'use strict';
const { Readable, Writable } = require('node:stream');
const { Buffer } = require('buffer');
const { now } = require('node:fs');
const optionsOf = (options) => (typeof options === 'string' ? { encoding: options } : (options ?? {}));
const tell = (callback, work) => {
  let result;
  try {
    result = work();
  } catch (error) {
    return callback(error);
  }
  callback(null, result);
};
/** Opens the file of a stream that has none yet. */
const open = (stream, callback) => {
  if (stream.fd !== null) return callback();
  tell(
    (error) => {
      callback(error);
      if (!error)
        process.nextTick(() => {
          stream.emit('open', stream.fd);
          stream.emit('ready');
        });
    },
    () => {
      stream.fd = now.open(stream.path, stream.flags, stream.mode);
    },
  );
};
class ReadStream extends Readable {
  constructor(path, given) {
    const options = optionsOf(given);
    super({
      highWaterMark: options.highWaterMark ?? 65536,
      encoding: options.encoding,
      autoDestroy: options.autoClose ?? true,
      emitClose: options.emitClose,
      signal: options.signal,
    });
    Object.assign(this, {
      path,
      flags: options.flags ?? 'r',
      mode: options.mode,
      fd: options.fd?.fd ?? options.fd ?? null,
      start: options.start,
      end: options.end ?? Number.POSITIVE_INFINITY,
      bytesRead: 0,
    });
  }
  _construct(callback) {
    open(this, callback);
  }
  _read(size) {
    const rest = this.end === Number.POSITIVE_INFINITY ? size : this.end - (this.start ?? 0) + 1 - this.bytesRead;
    if (rest <= 0) return void this.push(null);
    const buffer = Buffer.allocUnsafe(Math.min(size, rest));
    require('./boot').globals.setImmediate(() =>
      tell(
        (error, count) => {
          if (error) return this.destroy(error);
          this.bytesRead += count;
          this.push(count === 0 ? null : buffer.subarray(0, count));
        },
        () =>
          now.read(this.fd, buffer, 0, buffer.length, this.start === undefined ? null : this.start + this.bytesRead),
      ),
    );
  }
  _destroy(error, callback) {
    close(this, error, callback);
  }
  close(callback) {
    if (callback) this.once('close', callback);
    this.destroy();
  }
}
class WriteStream extends Writable {
  constructor(path, given) {
    const options = optionsOf(given);
    super({
      highWaterMark: options.highWaterMark,
      decodeStrings: true,
      defaultEncoding: options.encoding ?? 'utf8',
      autoDestroy: options.autoClose ?? true,
      emitClose: options.emitClose,
      signal: options.signal,
    });
    Object.assign(this, {
      path,
      flags: options.flags ?? 'w',
      mode: options.mode,
      fd: options.fd?.fd ?? options.fd ?? null,
      at: options.start,
      bytesWritten: 0,
    });
  }
  _construct(callback) {
    open(this, callback);
  }
  _write(chunk, _encoding, callback) {
    tell(
      (error) => require('./boot').globals.setImmediate(callback, error),
      () => {
        const count = now.write(this.fd, chunk, 0, chunk.length, this.at);
        if (this.at !== undefined) this.at += count;
        this.bytesWritten += count;
      },
    );
  }
  _destroy(error, callback) {
    close(this, error, callback);
  }
  close(callback) {
    if (callback) this.once('close', callback);
    this.end();
  }
}
function close(stream, error, callback) {
  const { fd } = stream;
  stream.fd = null;
  if (fd === null) return callback(error);
  tell(
    (other) => callback(error ?? other),
    () => now.close(fd),
  );
}
module.exports = {
  ReadStream,
  WriteStream,
  createReadStream: (path, options) => new ReadStream(path, options),
  createWriteStream: (path, options) => new WriteStream(path, options),
};
