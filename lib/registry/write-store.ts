/**
 * The ids of writes. A write that carries one (`Registry.carrying`) notes it in its own transaction, so that after a
 * lost answer it can be asked whether this write happened, and not another with the same outcome.
 */
import { WinterdockError } from '../base/errors.ts';

export interface WriteStore {
  /** Whether a write with this id was committed, and changed something, within the last day. */
  happened(writeId: string): Promise<boolean>;
}

/** The error of a write whose id is noted already: it was made by an earlier attempt, and not again. */
export function madeBefore(cause?: unknown): WinterdockError {
  return new WinterdockError('conflict', 'This change was made already.', {
    extra: { write: 'made' },
    ...(cause === undefined ? {} : { cause }),
  });
}
