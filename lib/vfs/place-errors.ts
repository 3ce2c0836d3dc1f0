/** Errors of a file that is not where it should be, or not at rest. Knows nothing of SQLite. */
import { WinterdockError } from '../base/errors.ts';
import { waysOut } from '../lifecycle/ways-out.ts';

/** The file is not there. */
export function missingFile(): WinterdockError {
  return new WinterdockError('missing_file', 'The file of the sandbox is not where its row says.', {
    hint: waysOut('missing'),
  });
}

/** It cannot be put to rest while others have it open. */
export function heldByOthers(): WinterdockError {
  return new WinterdockError(
    'conflict',
    'The file of the sandbox cannot be put to rest: another reader or writer holds it.',
    {
      hint: 'Try again when its readers are done; nothing was lost.',
      retryAfterSeconds: 1,
    },
  );
}

/** The error names what was found, not why: the cause is unknown. */
export function notAtRest(seen: string): WinterdockError {
  return new WinterdockError('conflict', `The file of the sandbox could not be put to rest: ${seen}.`, {
    retryAfterSeconds: 1,
  });
}
