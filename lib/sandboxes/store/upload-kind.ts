/** Which rows are to be uploaded: what rests in a drawer on disk that the store is below. */
import { CLOUD_KINDS } from '../../base/cloud-address.ts';
import { WinterdockError } from '../../base/errors.ts';
import type { InstanceId } from '../../base/ids.ts';
import type { InstanceRow } from '../../registry/types.ts';
import type { Engine } from '../engine.ts';

/** The drawer that the file of a row rests in on disk, where it is not in the store; else null. */
export function uploadKindOf(
  { drawers }: Pick<Engine, 'drawers'>,
  { id, state, vfsPath }: Pick<InstanceRow, 'id' | 'state' | 'vfsPath'>,
): (typeof CLOUD_KINDS)[number] | null {
  if (state !== 'frozen' && state !== 'archived') return null;
  return CLOUD_KINDS.find((kind) => drawers[kind].at(id).address === vfsPath) ?? null;
}

/** The error for who waits for an upload that a verb has ended. */
export function movedOn(id: InstanceId): WinterdockError {
  return new WinterdockError('conflict', `The sandbox "${id}" moved on before its file was stored.`, {
    hint: 'It was filed on this machine. Look at it again, then decide.',
  });
}
