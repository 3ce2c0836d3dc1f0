/** Folders and trees: what `fs` says of files, lists, makes, copies and removes. */
'use strict';
const { systemError } = require('system_errors');
const { coded } = require('argument_errors');
const { constants, modeOf, pathOf, ask, optionsOf, encoded } = require('fs_calls');

class Stats {
  constructor([mode, size, mtime, ino, nlink], big) {
    const n = big ? (value) => BigInt(Math.trunc(value)) : Number;
    const ms = mtime * 1000;
    Object.assign(this, {
      dev: n(1),
      mode: n(mode),
      nlink: n(nlink),
      uid: n(process.getuid()),
      gid: n(process.getgid()),
      rdev: n(0),
      blksize: n(4096),
      ino: n(ino),
      size: n(size),
      blocks: n(Math.ceil(size / 4096) * 8),
    });
    for (const name of ['atime', 'mtime', 'ctime', 'birthtime']) this[`${name}Ms`] = n(ms);
    if (big) for (const name of ['atime', 'mtime', 'ctime', 'birthtime']) this[`${name}Ns`] = n(ms) * 1000000n;
    for (const name of ['atime', 'mtime', 'ctime', 'birthtime']) this[name] = new Date(ms);
  }
}
class Dirent {
  constructor(name, parentPath, kind) {
    Object.assign(this, { name, parentPath });
    Object.defineProperty(this, 'kind', { value: kind });
    Object.defineProperty(this, 'path', { value: parentPath });
  }
}
const KINDS = {
  isFile: ['file', 0o100000],
  isDirectory: ['dir', 0o040000],
  isSymbolicLink: ['link', 0o120000],
  isCharacterDevice: ['device', 0o020000],
  isBlockDevice: ['', -1],
  isFIFO: ['', -1],
  isSocket: ['', -1],
};
for (const [name, [kind, bits]] of Object.entries(KINDS)) {
  Stats.prototype[name] = function () {
    return (Number(this.mode) & 0o170000) === bits;
  };
  Dirent.prototype[name] = function () {
    return this.kind === kind;
  };
  for (const prototype of [Stats.prototype, Dirent.prototype])
    Object.defineProperty(prototype, name, { enumerable: false });
}
const isMissing = (error) => error.code === 'ENOENT' || error.code === 'ENOTDIR';
const stat =
  (syscall, follows) =>
  (path, options = {}) => {
    try {
      return new Stats(ask(syscall, 'stat', [pathOf(path)], [follows ? 1 : 0]), options?.bigint);
    } catch (error) {
      if (options?.throwIfNoEntry === false && isMissing(error)) return undefined;
      throw error;
    }
  };
const kindAt = (path) => {
  try {
    return ask('stat', 'stat', [path], [1])[0] & 0o170000;
  } catch {
    return null;
  }
};

function mkdir(target, options) {
  const path = pathOf(target);
  const { recursive = false, mode } =
    typeof options === 'number' || typeof options === 'string' ? { mode: options } : (options ?? {});
  const bits = modeOf(mode, 0o777);
  if (!recursive) return void ask('mkdir', 'mkdir', [path], [bits]);
  const normal = require('node:path').resolve(path.absolute);
  let first;
  const parts = normal.split('/').slice(1);
  for (let count = 1; count <= parts.length; count += 1) {
    const above = `/${parts.slice(0, count).join('/')}`;
    const kind = kindAt({ absolute: above });
    if (kind === constants.S_IFDIR) continue;
    if (kind !== null) throw systemError(count === parts.length ? 'EEXIST' : 'ENOTDIR', 'mkdir', path.given);
    ask('mkdir', 'mkdir', [{ absolute: above, given: path.given }], [bits]);
    first ??= above;
  }
  return first;
}
function readdir(target, options) {
  const path = pathOf(target);
  const given = optionsOf(options);
  const { withFileTypes = false, recursive = false } = given;
  const found = [];
  const walk = (folder, inside) => {
    for (const [name, kind] of ask('scandir', 'list', [folder]).sort(([a], [b]) => (a < b ? -1 : 1))) {
      const shown = inside === '' ? name : `${inside}/${name}`;
      const parent = inside === '' ? path.given : `${path.given.replace(/\/$/, '')}/${inside}`;
      found.push(withFileTypes ? new Dirent(encoded(name, given), parent, kind) : encoded(shown, given));
      if (recursive && kind === 'dir') walk({ absolute: `${folder.absolute}/${name}`, given: path.given }, shown);
    }
  };
  walk(path, '');
  return found;
}
function removeTree(path, syscall) {
  const mode = ask(syscall, 'stat', [path], [0])[0] & constants.S_IFMT;
  if (mode !== constants.S_IFDIR) return void ask('unlink', 'unlink', [path]);
  for (const [name] of ask(syscall, 'list', [path]))
    removeTree({ absolute: `${path.absolute}/${name}`, given: `${path.given}/${name}` }, syscall);
  ask('rmdir', 'rmdir', [path]);
}
function rm(target, { recursive = false, force = false } = {}) {
  const path = pathOf(target);
  try {
    const mode = ask('lstat', 'stat', [path], [0])[0] & constants.S_IFMT;
    if (mode === constants.S_IFDIR && !recursive) {
      const [code, errno, syscall, message] = ['EISDIR', 21, 'rm', 'is a directory'];
      const error = coded(
        new Error(`Path is a directory: rm returned EISDIR (is a directory) ${path.given}`),
        'ERR_FS_EISDIR',
      );
      Object.defineProperty(error, 'name', { value: 'SystemError', writable: true, configurable: true });
      throw Object.assign(error, {
        info: { code, message, path: path.given, syscall, errno },
        errno,
        syscall,
        path: path.given,
      });
    }
    removeTree(path, 'rm');
  } catch (error) {
    if (!(force && error.code === 'ENOENT')) throw error;
  }
}
function copyFile(source, target, mode = 0) {
  const [from, to] = [pathOf(source, 'src'), pathOf(target, 'dest')];
  ask('copyfile', 'copyFile', [from, to], [(mode & 1) === 0 ? 0 : 1]);
}
function cp(source, target, options = {}) {
  const [from, to] = [pathOf(source, 'src'), pathOf(target, 'dest')];
  const { recursive = false, force = true, errorOnExist = false, filter, dereference = false } = options;
  if (filter && !filter(from.given, to.given)) return;
  const mode = ask('lstat', 'stat', [from], [dereference ? 1 : 0])[0] & constants.S_IFMT;
  if (mode === constants.S_IFDIR) {
    if (!recursive)
      throw coded(
        new Error(
          `Recursive option not enabled, cannot copy a directory: cp returned EISDIR (${from.given} is a directory (not copied)) ${from.given}`,
        ),
        'ERR_FS_EISDIR',
      );
    const [inner, outer] = [require('node:path').resolve(to.absolute), require('node:path').resolve(from.absolute)];
    if (`${inner}/`.startsWith(`${outer}/`))
      throw coded(new Error(`Cannot copy ${from.given} to a subdirectory of self ${to.given}`), 'ERR_FS_CP_EINVAL');
    mkdir(to.given, { recursive: true });
    for (const [name] of ask('scandir', 'list', [from])) cp(`${from.given}/${name}`, `${to.given}/${name}`, options);
    return;
  }
  mkdir(require('node:path').dirname(to.absolute), { recursive: true });
  const isThere = kindAt(to) !== null;
  if (isThere && !force) {
    if (errorOnExist)
      throw coded(
        new Error(`Target already exists: cp returned EEXIST (${to.given} already exists) ${to.given}`),
        'ERR_FS_CP_EEXIST',
      );
    return;
  }
  if (mode === constants.S_IFLNK) {
    if (isThere) ask('unlink', 'unlink', [to]);
    ask('symlink', 'symlink', [{ absolute: ask('readlink', 'readlink', [from]), given: from.given }, to]);
  } else copyFile(from.given, to.given);
}

module.exports = { Stats, Dirent, stat, kindAt, mkdir, readdir, rm, copyFile, cp };
