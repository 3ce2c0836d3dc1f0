/** The numbers of errors and flags in CPython's build. Its errors are those of WASI, not of Linux. */

/** A file that is not there: its mode is the mask of new files. */
export const UMASK_PATH = '/dev/.umask';

/** Flags of open(2). */
export const FLAGS = {
  access: 3,
  create: 0o100,
  exclusive: 0o200,
  truncate: 0o1000,
  append: 0o2000,
  directory: 0o200000,
  noFollow: 0o400000,
} as const;

const ERRORS = {
  EACCES: 2,
  EBADF: 8,
  EBUSY: 10,
  EEXIST: 20,
  EFBIG: 22,
  EILSEQ: 25,
  EINVAL: 28,
  EIO: 29,
  EISDIR: 31,
  ELOOP: 32,
  ENAMETOOLONG: 37,
  ENOENT: 44,
  ENOMEM: 48,
  ENOSPC: 51,
  ENOTDIR: 54,
  ENOTEMPTY: 55,
  EMFILE: 33,
  EPERM: 63,
  ERANGE: 68,
  EROFS: 69,
  ESPIPE: 70,
  EXDEV: 75,
  ENOTSUP: 138,
} as const;
export type WasiErrorName = keyof typeof ERRORS;

export function wasiError(name: WasiErrorName): number {
  return ERRORS[name];
}

/** An error that a call of the system answers. */
export class Refused extends Error {
  readonly number: number;

  constructor(name: WasiErrorName) {
    super(name);
    this.number = wasiError(name);
  }
}

/** The number of an error of the shell's files; EIO for any other. */
export function errorNumberOf(error: unknown): number {
  if (error instanceof Refused) return error.number;
  const { code } = error as { code?: unknown };
  return typeof code === 'string' && Object.hasOwn(ERRORS, code) ? ERRORS[code as WasiErrorName] : ERRORS.EIO;
}
