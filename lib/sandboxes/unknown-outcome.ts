/**
 * Errors of calls that were done, or may have been: their process had committed what they did when something beside it
 * failed, as the wake that they were sent behind, whose rollback takes back the wake and not what is in the file.
 */
import { isWinterdockError, storageFailure, WinterdockError } from '../base/errors.ts';

/** What a caller can do who does not know. */
const UNKNOWN = 'It may have been done all the same: look before you send it again.';

/**
 * The error of a wake that failed after its process was handed a message, whose `answer` ends with that process. It has
 * `started: true` when the message was carried out, or may have been; without it nothing was done.
 */
export async function wakeFailedBehind(error: unknown, answer: Promise<unknown>): Promise<unknown> {
  const mayBeDone = await answer.then(
    () => true,
    // What the process itself refused was not done; of one that is gone it is known whether it had begun.
    (failure: unknown) => !isWinterdockError(failure) || failure.extra.started === true,
  );
  return mayBeDone ? asBegun(error) : error;
}

/** The error of a call that was begun, and may have been done. */
export function asBegun(error: unknown): unknown {
  const known = isWinterdockError(error) ? error : storageFailure(error);
  if (known === null) return error;
  const { code, message, hint, extra, retryAfterSeconds } = known;
  return new WinterdockError(code, message, {
    hint: hint === undefined ? UNKNOWN : `${hint} ${UNKNOWN}`,
    extra: { ...extra, started: true },
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    cause: error,
  });
}
