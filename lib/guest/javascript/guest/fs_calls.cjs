/**
 * What each function of `fs` begins with: its arguments as the system takes them, and one question to the sandbox's
 * files.
 */
'use strict';
const { Buffer } = require('buffer');
const { systemError } = require('system_errors');
const { coded, invalid } = require('argument_errors');
const { cwd } = require('./boot');

const constants = {
  F_OK: 0,
  X_OK: 1,
  W_OK: 2,
  R_OK: 4,
  COPYFILE_EXCL: 1,
  COPYFILE_FICLONE: 2,
  COPYFILE_FICLONE_FORCE: 4,
  O_RDONLY: 0,
  O_WRONLY: 1,
  O_RDWR: 2,
  O_CREAT: 0o100,
  O_EXCL: 0o200,
  O_TRUNC: 0o1000,
  O_APPEND: 0o2000,
  O_DIRECTORY: 0o200000,
  O_NOFOLLOW: 0o400000,
  O_SYNC: 0o4010000,
  S_IFMT: 0o170000,
  S_IFREG: 0o100000,
  S_IFDIR: 0o040000,
  S_IFCHR: 0o020000,
  S_IFLNK: 0o120000,
  S_IFIFO: 0o010000,
  S_IFBLK: 0o060000,
  S_IFSOCK: 0o140000,
  S_IRWXU: 0o700,
  S_IRUSR: 0o400,
  S_IWUSR: 0o200,
  S_IXUSR: 0o100,
};
const FLAGS = {
  r: 0,
  'r+': 2,
  rs: 0,
  'rs+': 2,
  w: 0o1101,
  wx: 0o1301,
  'w+': 0o1102,
  'wx+': 0o1302,
  a: 0o2101,
  ax: 0o2301,
  'a+': 0o2102,
  'ax+': 0o2302,
  as: 0o2101,
  'as+': 0o2102,
};
const flagsOf = (flag, otherwise) => {
  if (flag === undefined || flag === null) return FLAGS[otherwise];
  if (typeof flag === 'number') return flag;
  const known = FLAGS[flag.replace(/^xa/, 'ax').replace(/^xw/, 'wx')];
  if (known === undefined)
    throw coded(new TypeError(`The argument 'flags' is invalid. Received '${flag}'`), 'ERR_INVALID_ARG_VALUE');
  return known;
};
const modeOf = (mode, otherwise) =>
  mode === undefined || mode === null ? otherwise : typeof mode === 'string' ? Number.parseInt(mode, 8) : mode;

/** A path as the program gave it, and the absolute one. */
const pathOf = (path, name = 'path') => {
  let text = path;
  if (ArrayBuffer.isView(path)) text = Buffer.from(path.buffer, path.byteOffset, path.byteLength).toString();
  else if (
    path !== null &&
    typeof path === 'object' &&
    typeof path.href === 'string' &&
    typeof path.protocol === 'string'
  )
    text = require('node:url').fileURLToPath(path);
  if (typeof text !== 'string') throw invalid(name, 'of type string or an instance of Buffer or URL', path);
  if (text.includes('\0'))
    throw coded(
      new TypeError(
        `The argument '${name}' must be a string, Uint8Array, or URL without null bytes. Received ${require('inspect').inspect(text)}`,
      ),
      'ERR_INVALID_ARG_VALUE',
    );
  return {
    given: text,
    absolute: text === '' || text.startsWith('/') ? text : `${cwd() === '/' ? '' : cwd()}/${text}`,
  };
};
/** A directory is opened, and cannot be read: Node then names no path. */
const failureOf = (code, syscall, operation, path, dest) =>
  code === 'EISDIR' && /^read(?:File|Text)$/.test(operation)
    ? systemError(code, 'read')
    : systemError(code, syscall, path?.given, dest?.given);
const ask = (syscall, operation, [path, dest], numbers = [], data = undefined) => {
  try {
    const text = dest === undefined ? (path?.absolute ?? '') : `${path.absolute}\0${dest.absolute}`;
    const answer = host.files(operation, text, numbers.join(), data);
    return typeof answer === 'string' && operation !== 'readText' ? JSON.parse(answer) : answer;
  } catch (error) {
    if (error.code === undefined) throw error;
    const failure = failureOf(error.code, syscall, operation, path, dest);
    Error.captureStackTrace(failure, ask);
    throw failure;
  }
};
const plain = (view) =>
  view.byteLength === view.buffer.byteLength
    ? view.buffer
    : view.buffer.slice(view.byteOffset, view.byteOffset + view.byteLength);
const dataOf = (data, encoding) => {
  if (typeof data === 'string')
    return encoding === undefined || encoding === null || /^utf-?8$/i.test(encoding)
      ? { utf8: data.toWellFormed() }
      : plain(Buffer.from(data, encoding));
  if (ArrayBuffer.isView(data)) return plain(data);
  throw invalid('data', 'of type string or an instance of Buffer, TypedArray, or DataView', data);
};
const optionsOf = (options, otherwise = {}) => {
  if (options === undefined || options === null || typeof options === 'function') return otherwise;
  const given = typeof options === 'string' ? { encoding: options } : options;
  if (typeof given !== 'object') throw invalid('options', 'of type string or an instance of Object', options);
  const { encoding } = given;
  if (encoding !== undefined && encoding !== null && encoding !== 'buffer' && !Buffer.isEncoding(encoding))
    throw coded(
      new TypeError(`The argument 'encoding' is invalid encoding. Received ${require('inspect').inspect(encoding)}`),
      'ERR_INVALID_ARG_VALUE',
    );
  return { ...otherwise, ...given };
};
const encoded = (text, { encoding } = {}) =>
  encoding === 'buffer'
    ? Buffer.from(text)
    : encoding === undefined || encoding === null || /^utf-?8$/i.test(encoding)
      ? text
      : Buffer.from(text).toString(encoding);

module.exports = { constants, flagsOf, modeOf, pathOf, ask, plain, dataOf, optionsOf, encoded };
