/**
 * The ids of writes. A write that carries one (`Registry.carrying`) notes it in its own transaction, so that after a
 * lost answer it can be asked whether this write happened, and not another with the same outcome.
 */
import { WinterdockError } from '../base/errors.ts';
import type { InstanceId } from '../base/ids.ts';
import type { InstanceRow } from './types.ts';

/**
 * Both answer from where writes are made, and reject with `registry_unavailable` while that is away: a copy that
 * follows it may not have the write yet.
 */
export interface WriteStore {
  /** Whether a write with this id was committed, and changed something, within the last day. */
  happened(writeId: string): Promise<boolean>;
  /** The row of a sandbox when this write was the last that changed it; null otherwise. */
  rowMadeBy(id: InstanceId, writeId: string): Promise<InstanceRow | null>;
}

/** The error of a write whose id is noted already: it was made by an earlier attempt, and not again. */
export function madeBefore(cause?: unknown): WinterdockError {
  return new WinterdockError('conflict', 'This change was made already.', {
    extra: { write: 'made' },
    ...(cause === undefined ? {} : { cause }),
  });
}
