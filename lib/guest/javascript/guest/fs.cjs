/** `fs` over the sandbox's own files: reading, writing, and the three forms in which every function is there. */
'use strict';
const { Buffer } = require('buffer');
const { systemError } = require('system_errors');
const { invalid, outOfRange, requireFunction } = require('argument_errors');
const { constants, flagsOf, modeOf, pathOf, ask, plain, dataOf, optionsOf, encoded } = require('fs_calls');
const { Stats, Dirent, stat, mkdir, readdir, rm, copyFile, cp } = require('fs_trees');

/** Open files: what the host has of each, and where the next read or write is. */
const open = new Map();
const STANDARD = 3;
let nextFd = STANDARD + 14;
const opened = (fd, syscall) => {
  if (typeof fd !== 'number') throw invalid('fd', 'of type number', fd);
  if (!Number.isInteger(fd) || fd < 0 || fd > 2147483647)
    throw outOfRange('fd', Number.isInteger(fd) ? '>= 0 && <= 2147483647' : 'an integer', fd);
  const file = open.get(fd);
  if (file === undefined) throw systemError('EBADF', syscall);
  return file;
};
let stdinAt = 0;
const readStdin = (length) => {
  const all = host.stdin();
  const part = all.slice(stdinAt, length === undefined ? undefined : stdinAt + length);
  stdinAt += part.byteLength;
  return part;
};
const isStdin = (path) => ['/dev/stdin', '/proc/self/fd/0', '/dev/fd/0'].includes(path);
const streamOf = (path) =>
  path === 1 || path === '/dev/stdout' ? 'stdout' : path === 2 || path === '/dev/stderr' ? 'stderr' : null;

function readFile(target, options) {
  const { encoding, flag } = optionsOf(options);
  const isText = typeof encoding === 'string' && /^utf-?8$/i.test(encoding);
  let bytes;
  if (target === 0 || (typeof target === 'string' && isStdin(target))) bytes = readStdin();
  else if (typeof target === 'number') {
    const file = opened(target, 'read');
    bytes = ask('read', 'readRest', [], [file.handle, file.at]);
    file.at += bytes.byteLength;
  } else {
    const path = pathOf(target);
    if (isText) return ask('open', 'readText', [path], [flagsOf(flag, 'r')]);
    bytes = ask('open', 'readFile', [path], [flagsOf(flag, 'r')]);
  }
  const buffer = Buffer.from(bytes);
  return encoding === undefined || encoding === null || encoding === 'buffer' ? buffer : buffer.toString(encoding);
}
function writeFile(target, data, options, otherwise = 'w') {
  const { encoding, flag, mode } = optionsOf(options);
  const content = dataOf(data, encoding);
  const stream = streamOf(target);
  if (stream !== null) return void host.say(stream, content.utf8 ?? content);
  if (typeof target === 'number') {
    const file = opened(target, 'write');
    [, file.at] = ask('write', 'write', [], [file.handle, file.appends ? -1 : file.at], content);
  } else ask('open', 'writeFile', [pathOf(target)], [flagsOf(flag, otherwise), modeOf(mode, 0o666)], content);
}
function openSync(target, flags, mode) {
  const path = pathOf(target);
  const bits = flagsOf(flags, 'r');
  if (isStdin(path.absolute)) return 0;
  const stream = streamOf(path.absolute);
  if (stream !== null) return stream === 'stdout' ? 1 : 2;
  const handle = ask('open', 'open', [path], [bits, modeOf(mode, 0o666)]);
  const fd = nextFd++;
  open.set(fd, { handle, at: 0, appends: (bits & constants.O_APPEND) !== 0, access: bits & 3, path: path.given });
  return fd;
}
function readSync(fd, buffer, offsetOrOptions, length, position) {
  let offset = offsetOrOptions;
  if (offsetOrOptions !== null && typeof offsetOrOptions === 'object') ({ offset, length, position } = offsetOrOptions);
  if (!ArrayBuffer.isView(buffer)) throw invalid('buffer', 'an instance of Buffer, TypedArray, or DataView', buffer);
  offset ??= 0;
  length ??= buffer.byteLength - offset;
  if (!(offset >= 0 && offset <= buffer.byteLength))
    throw outOfRange('offset', `>= 0 && <= ${buffer.byteLength}`, offset);
  if (!(length >= 0 && offset + length <= buffer.byteLength))
    throw outOfRange('length', `<= ${buffer.byteLength - offset}`, length);
  let bytes;
  if (fd === 0) bytes = readStdin(length);
  else {
    const file = opened(fd, 'read');
    if (file.access === 1) throw systemError('EBADF', 'read');
    const hasPlace = typeof position === 'bigint' || (typeof position === 'number' && position >= 0);
    bytes = ask('read', 'read', [], [file.handle, hasPlace ? Number(position) : file.at, length]);
    if (!hasPlace) file.at += bytes.byteLength;
  }
  new Uint8Array(buffer.buffer, buffer.byteOffset + offset, bytes.byteLength).set(new Uint8Array(bytes));
  return bytes.byteLength;
}
function writeSync(fd, data, offsetOrPosition, lengthOrEncoding, position) {
  let view = data;
  if (typeof data === 'string') {
    view = Buffer.from(data, typeof lengthOrEncoding === 'string' ? lengthOrEncoding : 'utf8');
    position = offsetOrPosition;
  } else {
    if (!ArrayBuffer.isView(data))
      throw invalid('buffer', 'of type string or an instance of Buffer, TypedArray, or DataView', data);
    let offset = offsetOrPosition;
    if (offset !== null && typeof offset === 'object') ({ offset, length: lengthOrEncoding, position } = offset);
    const start = offset ?? 0;
    if (!(start >= 0 && start <= data.byteLength)) throw outOfRange('offset', `>= 0 && <= ${data.byteLength}`, start);
    const length = lengthOrEncoding ?? data.byteLength - start;
    if (!(length >= 0 && start + length <= data.byteLength))
      throw outOfRange('length', `>= 0 && <= ${data.byteLength - start}`, length);
    view = new Uint8Array(data.buffer, data.byteOffset + start, length);
  }
  const stream = streamOf(fd);
  if (stream !== null) {
    host.say(stream, plain(view));
    return view.byteLength;
  }
  const file = opened(fd, 'write');
  if (file.access === 0) throw systemError('EBADF', 'write');
  const hasPlace = typeof position === 'number';
  const at = file.appends ? -1 : hasPlace ? position : file.at;
  const [count, end] = ask('write', 'write', [], [file.handle, at], plain(view));
  if (!hasPlace || file.appends) file.at = end;
  return count;
}
const timeOf = (time) =>
  time instanceof Date ? time.getTime() : typeof time === 'string' ? Number(time) * 1000 : time * 1000;
function mkdtemp(prefix, options) {
  const path = pathOf(prefix, 'prefix');
  for (;;) {
    const suffix = [...new Uint8Array(host.random('6'))]
      .map((byte) => 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'[byte % 62])
      .join('');
    try {
      ask('mkdtemp', 'mkdir', [{ absolute: path.absolute + suffix, given: `${path.given}XXXXXX` }], [0o700]);
      return encoded(path.given + suffix, optionsOf(options));
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
  }
}
class Dir {
  #entries;
  constructor(path, entries) {
    this.path = path;
    this.#entries = entries;
  }
  readSync() {
    return this.#entries.shift() ?? null;
  }
  async read() {
    return this.readSync();
  }
  closeSync() {}
  async close() {}
  async *[Symbol.asyncIterator]() {
    yield* this.#entries;
  }
}

/** The functions that answer at once. */
const now = {
  access(target, mode = 0) {
    ask('access', 'access', [pathOf(target)], [mode]);
  },
  appendFile(target, data, options) {
    writeFile(target, data, options, 'a');
  },
  chmod(target, mode) {
    ask('chmod', 'chmod', [pathOf(target)], [modeOf(mode)]);
  },
  chown(target) {
    ask('chown', 'stat', [pathOf(target)], [1]);
  },
  close(fd) {
    if (fd >= 0 && fd < STANDARD) return;
    ask('close', 'close', [], [opened(fd, 'close').handle]);
    open.delete(fd);
  },
  copyFile,
  cp,
  fchmod(fd, mode) {
    ask('fchmod', 'chmodOpen', [], [opened(fd, 'fchmod').handle, modeOf(mode)]);
  },
  fdatasync(fd) {
    opened(fd, 'fdatasync');
  },
  fstat(fd, options) {
    return new Stats(
      fd >= 0 && fd < STANDARD
        ? [constants.S_IFIFO | 0o600, 0, 0, fd + 1, 1]
        : ask('fstat', 'statOpen', [], [opened(fd, 'fstat').handle]),
      options?.bigint,
    );
  },
  fsync(fd) {
    opened(fd, 'fsync');
  },
  ftruncate(fd, size = 0) {
    ask('ftruncate', 'truncate', [], [opened(fd, 'ftruncate').handle, size]);
  },
  futimes(fd, _accessed, modified) {
    ask('futime', 'utimeOpen', [], [opened(fd, 'futime').handle, timeOf(modified)]);
  },
  link(source, target) {
    throw systemError('EPERM', 'link', pathOf(source).given, pathOf(target).given);
  },
  lstat: stat('lstat', false),
  lutimes(target, _accessed, modified) {
    ask('lutime', 'utime', [pathOf(target)], [timeOf(modified), 0]);
  },
  mkdir,
  mkdtemp,
  open: openSync,
  opendir(target) {
    return new Dir(pathOf(target).given, readdir(target, { withFileTypes: true }));
  },
  read: readSync,
  readdir,
  readFile,
  readlink(target, options) {
    return encoded(ask('readlink', 'readlink', [pathOf(target)]), optionsOf(options));
  },
  readv(fd, views, position) {
    let read = 0;
    for (const view of views) {
      const count = readSync(fd, view, 0, view.byteLength, typeof position === 'number' ? position + read : null);
      read += count;
      if (count < view.byteLength) break;
    }
    return read;
  },
  realpath(target, options) {
    const { absolute } = pathOf(target);
    return encoded(ask('lstat', 'realpath', [{ absolute, given: absolute }]), optionsOf(options));
  },
  rename(source, target) {
    ask('rename', 'rename', [pathOf(source, 'oldPath'), pathOf(target, 'newPath')]);
  },
  rm,
  rmdir(target, options) {
    if (options?.recursive) rm(target, { recursive: true });
    else ask('rmdir', 'rmdir', [pathOf(target)]);
  },
  stat: stat('stat', true),
  statfs() {
    const [blocks, bfree] = ask('statfs', 'room', []);
    return { type: 0xef53, bsize: 4096, blocks, bfree, bavail: bfree, files: 0, ffree: 0 };
  },
  symlink(target, path) {
    ask('symlink', 'symlink', [
      { absolute: pathOf(target, 'target').given, given: pathOf(target, 'target').given },
      pathOf(path),
    ]);
  },
  truncate(target, size = 0) {
    if (typeof target === 'number') now.ftruncate(target, size);
    else ask('open', 'resize', [pathOf(target)], [size]);
  },
  unlink(target) {
    ask('unlink', 'unlink', [pathOf(target)]);
  },
  utimes(target, _accessed, modified) {
    ask('utime', 'utime', [pathOf(target)], [timeOf(modified), 1]);
  },
  write: writeSync,
  writeFile(target, data, options) {
    writeFile(target, data, options);
  },
  writev(fd, views, position) {
    let written = 0;
    for (const view of views)
      written += writeSync(fd, view, 0, view.byteLength, typeof position === 'number' ? position + written : null);
    return written;
  },
};
const fs = {
  constants,
  Stats,
  Dirent,
  Dir,
  ...Object.fromEntries(['F_OK', 'R_OK', 'W_OK', 'X_OK'].map((name) => [name, constants[name]])),
};
for (const [name, work] of Object.entries(now)) {
  const called = {
    [`${name}Sync`]: (...args) => work(...args),
    [name]: (...args) => {
      const callback = args.pop();
      requireFunction(callback, 'cb');
      let result;
      // Wrong arguments are thrown at once; what the system refuses is told to the callback.
      try {
        result = work(...args);
      } catch (error) {
        if (error.syscall === undefined && !/^ERR_FS_/.test(error.code ?? '') && error.code?.startsWith('ERR_'))
          throw error;
        return void globals().setImmediate(() => callback(error));
      }
      globals().setImmediate(() =>
        name === 'read' || name === 'write'
          ? callback(null, result, args[1])
          : result === undefined
            ? callback(null)
            : callback(null, result),
      );
    },
  };
  Object.assign(fs, called);
}
const globals = () => require('./boot').globals;
fs.existsSync = (target) => {
  try {
    now.access(target);
    return true;
  } catch {
    return false;
  }
};
fs.exists = (target, callback) => globals().setImmediate(() => callback(fs.existsSync(target)));
fs.realpathSync.native = fs.realpathSync;
fs.realpath.native = fs.realpath;
fs.globSync = (patterns, options = {}) => {
  const { matchesGlob, resolve } = require('node:path');
  const root = options.cwd ?? '.';
  const names = readdir(resolve(String(root)), { recursive: true });
  return names.filter((name) => [patterns].flat().some((pattern) => matchesGlob(name, pattern)));
};
for (const name of ['watch', 'watchFile', 'unwatchFile']) {
  fs[name] = () => {
    throw new Error(
      `fs.${name} is not here: files change when a command of the shell changes them; look with fs.statSync`,
    );
  };
}
for (const name of ['createReadStream', 'createWriteStream'])
  fs[name] = (...args) => require('fs_streams')[name](...args);
for (const name of ['ReadStream', 'WriteStream'])
  Object.defineProperty(fs, name, { configurable: true, get: () => require('fs_streams')[name] });
Object.defineProperty(fs, 'promises', { configurable: true, enumerable: true, get: () => require('node:fs/promises') });
Object.defineProperty(fs, 'folderOf', { value: (folder) => ask('chdir', 'folder', [pathOf(folder, 'directory')]) });
Object.defineProperty(fs, 'now', { value: now });
module.exports = fs;
