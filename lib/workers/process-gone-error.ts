/** The errors that callers get when the process of a sandbox is gone. */
import { STORAGE_HINT, WinterdockError } from '../base/errors.ts';
import type { Death } from './protocol/instance.ts';

/** For a call or write. `started`: whether it may have begun. `death` is null while the process is being closed. */
export function processGoneError(id: string, death: Death | null, started: boolean): WinterdockError {
  const detail = death?.detail ?? 'It is being closed.';
  if (death?.cause === 'disk') {
    return new WinterdockError('storage_unavailable', `The disk failed under the process of "${id}". ${detail}`, {
      hint: STORAGE_HINT,
      extra: { cause: death.cause, started },
      retryAfterSeconds: 5,
    });
  }
  return new WinterdockError('conflict', `The process of "${id}" is gone. ${detail}`, {
    hint: 'What was answered before is kept; the next request starts another process.',
    extra: { cause: death?.cause ?? 'closed', started },
  });
}

/** For a wake: the process died before its file was open. */
export function openFailedError(id: string, death: Death): WinterdockError {
  return new WinterdockError('capacity', `The process of "${id}" ended before it had its file open. ${death.detail}`, {
    retryAfterSeconds: 1,
    cause: death.stderrTail,
  });
}
