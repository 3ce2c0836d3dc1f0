/** The errors of `git`: what goes to stderr, and the exit code. */

export class GitError extends Error {
  readonly exitCode: number;

  /** `message`: what is printed, without the last line break. */
  constructor(message: string, exitCode = 128) {
    super(message);
    this.exitCode = exitCode;
  }
}

export function fatal(message: string): GitError {
  return new GitError(`fatal: ${message}`, 128);
}

export function failure(message: string): GitError {
  return new GitError(`error: ${message}`, 1);
}

/** What the real git does and this one does not: `what` begins the sentence. Nothing was done. */
export function unsupported(what: string): GitError {
  return new GitError(`fatal: ${what} not supported in this sandbox`, 129);
}

/** A wrong use: the exit code of git's usage errors. */
export function usageError(message: string): GitError {
  return new GitError(`error: ${message}`, 129);
}
