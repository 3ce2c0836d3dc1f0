/** A copy of what a sandbox has, or had at one of its moments. Knows nothing of what becomes of it. */
import type { InstanceId } from '../base/ids.ts';
import type { CopyOutOptions, Sandboxes } from '../sandboxes/sandboxes.ts';
import type { VfsCopy } from '../vfs/types.ts';

/**
 * Copies volumes into a new file at `path` (absolute). `atMs`, in epoch milliseconds: as of the newest moment up to
 * then, of which `momentMs` is the time. Throws what `Sandboxes.copyOut` throws; `moment_gone`, and `conflict` without
 * a replica.
 */
export async function copyAsOf(
  { copyOut, past }: Pick<Sandboxes, 'copyOut' | 'past'>,
  id: InstanceId,
  path: string,
  options: CopyOutOptions,
  atMs: number | null,
): Promise<VfsCopy & { momentMs: number | null }> {
  if (atMs === null) return { ...(await copyOut(id, path, options)), momentMs: null };
  return past.open(id, atMs, async ({ timeMs, copy }) => ({ ...(await copy(path, options)), momentMs: timeMs }));
}
