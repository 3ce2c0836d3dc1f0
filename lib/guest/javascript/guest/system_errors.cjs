/** The errors of the system, as Node's functions throw them. */
'use strict';
const ERRORS = {
  EPERM: [1, 'operation not permitted'],
  ENOENT: [2, 'no such file or directory'],
  EIO: [5, 'i/o error'],
  ENXIO: [6, 'no such device or address'],
  EBADF: [9, 'bad file descriptor'],
  ENOMEM: [12, 'not enough memory'],
  EACCES: [13, 'permission denied'],
  EBUSY: [16, 'resource busy or locked'],
  EEXIST: [17, 'file already exists'],
  EXDEV: [18, 'cross-device link not permitted'],
  ENOTDIR: [20, 'not a directory'],
  EISDIR: [21, 'illegal operation on a directory'],
  EINVAL: [22, 'invalid argument'],
  EMFILE: [24, 'too many open files'],
  EFBIG: [27, 'file too large'],
  ENOSPC: [28, 'no space left on device'],
  ESPIPE: [29, 'invalid seek'],
  EROFS: [30, 'read-only file system'],
  ERANGE: [34, 'result too large'],
  ENAMETOOLONG: [36, 'name too long'],
  ENOSYS: [38, 'function not implemented'],
  ENOTEMPTY: [39, 'directory not empty'],
  ELOOP: [40, 'too many symbolic links encountered'],
  EILSEQ: [84, 'illegal byte sequence'],
  ENOTSUP: [95, 'operation not supported on socket'],
};
exports.nameOf = (number) => Object.keys(ERRORS).find((name) => ERRORS[name][0] === -number);
exports.numbers = Object.fromEntries(Object.entries(ERRORS).map(([name, [number]]) => [name, number]));
/** `path` and `dest` as the program gave them. */
exports.systemError = (code, syscall, path, dest) => {
  const [number, words] = ERRORS[code] ?? [5, code];
  const places = path === undefined ? '' : dest === undefined ? ` '${path}'` : ` '${path}' -> '${dest}'`;
  const error = new Error(`${code}: ${words}, ${syscall}${places}`);
  return Object.assign(error, {
    errno: -number,
    code,
    syscall,
    ...(path !== undefined && { path }),
    ...(dest !== undefined && { dest }),
  });
};
