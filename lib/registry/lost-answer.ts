/** The error of a write whose answer did not come: it may have happened. A driver on another machine throws it. */
import { STORAGE_HINT, WinterdockError } from '../base/errors.ts';

/** Whether the write happened is not known. */
export function answerLost(cause?: unknown): WinterdockError {
  return new WinterdockError('registry_unavailable', 'The registry did not answer; the change may have been made.', {
    hint: STORAGE_HINT,
    retryAfterSeconds: 1,
    extra: { answer: 'lost' },
    ...(cause === undefined ? {} : { cause }),
  });
}

/** Whether an error leaves open if its write happened. */
export function isAnswerLost(error: unknown): boolean {
  return error instanceof WinterdockError && error.extra.answer === 'lost';
}
