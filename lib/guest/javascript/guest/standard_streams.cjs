/** `process.stdin`, `stdout` and `stderr`. */
'use strict';
const { Readable, Writable } = require('node:stream');
const { now } = require('node:fs');
const output = (fd) => {
  const stream = new Writable({
    decodeStrings: false,
    write(chunk, encoding, callback) {
      now.writeFile(fd, typeof chunk === 'string' ? chunk : chunk, typeof chunk === 'string' ? encoding : undefined);
      callback();
    },
  });
  stream._destroy = (_error, callback) => callback(null);
  Object.assign(stream, { fd, isTTY: undefined, _type: 'pipe' });
  delete stream.isTTY;
  return stream;
};
exports.stdout = output(1);
exports.stderr = output(2);
const CHUNK = 65536;
exports.stdin = new Readable({
  read() {
    const { Buffer } = require('buffer');
    const buffer = Buffer.alloc(CHUNK);
    const count = now.read(0, buffer, 0, CHUNK, null);
    require('./boot').globals.setImmediate(() => this.push(count === 0 ? null : buffer.subarray(0, count)));
  },
});
Object.assign(exports.stdin, {
  fd: 0,
  ref() {
    return this;
  },
  unref() {
    return this;
  },
});
