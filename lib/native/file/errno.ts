/** Linux's error numbers, and the error that a request of a guest ends with. Pure. */

export const EPERM = 1;
export const ENOENT = 2;
export const EIO = 5;
export const EEXIST = 17;
export const EXDEV = 18;
export const ENOTDIR = 20;
export const EISDIR = 21;
export const EINVAL = 22;
export const EFBIG = 27;
export const ENOSPC = 28;
export const EMLINK = 31;
export const ERANGE = 34;
export const ENAMETOOLONG = 36;
export const ENOSYS = 38;
export const ENOTEMPTY = 39;
export const ENODATA = 61;
export const E2BIG = 7;
export const EOPNOTSUPP = 95;

/** A request that is refused; nothing of it was done. `errno` is Linux's number. */
export class RequestRefused extends Error {
  readonly errno: number;

  constructor(errno: number) {
    super(`errno ${errno}`);
    this.errno = errno;
  }
}

/** Ends a request with an error number. */
export function endWith(errno: number): never {
  throw new RequestRefused(errno);
}
