/** `fs/promises`: the answers of `fs`, as promises. */
'use strict';
const fs = require('node:fs');
const { globals } = require('./boot');
const { now } = fs;
/** Settles as the answer of a disk would: after what is due already. */
const later =
  (work) =>
  (...args) =>
    new Promise((resolve, reject) => {
      let result;
      try {
        result = work(...args);
      } catch (error) {
        return void globals.setImmediate(reject, error);
      }
      globals.setImmediate(resolve, result);
    });
class FileHandle {
  #fd;
  constructor(fd) {
    this.#fd = fd;
  }
  get fd() {
    return this.#fd;
  }
  async close() {
    if (this.#fd >= 0) {
      await later(now.close)(this.#fd);
      this.#fd = -1;
    }
  }
  read(buffer, offset, length, position) {
    const isView = ArrayBuffer.isView(buffer);
    const { buffer: view = require('buffer').Buffer.alloc(16384), ...rest } = isView ? { buffer } : (buffer ?? {});
    return later(() => ({
      bytesRead: now.read(this.#fd, view, isView ? offset : rest, length, position),
      buffer: view,
    }))();
  }
  write(data, ...rest) {
    return later(() => ({ bytesWritten: now.write(this.#fd, data, ...rest), buffer: data }))();
  }
  readFile(options) {
    return later(now.readFile)(this.#fd, options);
  }
  writeFile(data, options) {
    return later(now.writeFile)(this.#fd, data, options);
  }
  appendFile(data, options) {
    return later(now.appendFile)(this.#fd, data, options);
  }
  stat(options) {
    return later(now.fstat)(this.#fd, options);
  }
  truncate(size) {
    return later(now.ftruncate)(this.#fd, size);
  }
  chmod(mode) {
    return later(now.fchmod)(this.#fd, mode);
  }
  utimes(accessed, modified) {
    return later(now.futimes)(this.#fd, accessed, modified);
  }
  sync() {
    return later(now.fsync)(this.#fd);
  }
  datasync() {
    return later(now.fdatasync)(this.#fd);
  }
  readv(views, position) {
    return later(() => ({ bytesRead: now.readv(this.#fd, views, position), buffers: views }))();
  }
  writev(views, position) {
    return later(() => ({ bytesWritten: now.writev(this.#fd, views, position), buffers: views }))();
  }
  readLines(options) {
    return require('node:readline').createInterface({ input: this.createReadStream(), ...options });
  }
  createReadStream(options) {
    return fs.createReadStream('', { fd: this.#fd, ...options });
  }
  createWriteStream(options) {
    return fs.createWriteStream('', { fd: this.#fd, ...options });
  }
  [Symbol.asyncDispose ?? Symbol.for('asyncDispose')]() {
    return this.close();
  }
}
const NAMES = [
  'access',
  'appendFile',
  'chmod',
  'chown',
  'copyFile',
  'cp',
  'link',
  'lstat',
  'lutimes',
  'mkdir',
  'mkdtemp',
  'opendir',
  'readdir',
  'readFile',
  'readlink',
  'realpath',
  'rename',
  'rm',
  'rmdir',
  'stat',
  'statfs',
  'symlink',
  'truncate',
  'unlink',
  'utimes',
  'writeFile',
];
module.exports = {
  constants: fs.constants,
  ...Object.fromEntries(
    NAMES.map((name) => [
      name,
      later((target, ...rest) => now[name](target instanceof FileHandle ? target.fd : target, ...rest)),
    ]),
  ),
};
module.exports.open = later((...args) => new FileHandle(now.open(...args)));
module.exports.writeFile = async (target, data, options) => {
  const isStream =
    data !== null &&
    typeof data === 'object' &&
    !ArrayBuffer.isView(data) &&
    (data[Symbol.asyncIterator] || data[Symbol.iterator]);
  const place = target instanceof FileHandle ? target.fd : target;
  if (!isStream) return later(now.writeFile)(place, data, options);
  const parts = [];
  for await (const part of data) parts.push(require('buffer').Buffer.from(part));
  return later(now.writeFile)(place, require('buffer').Buffer.concat(parts), options);
};
module.exports.glob = async function* (...args) {
  yield* fs.globSync(...args);
};
module.exports.watch = fs.watch;
