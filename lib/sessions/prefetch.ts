/**
 * Prefetch: the file of a sleeping sandbox is brought home without a process, and filed back when nothing comes for it.
 */
import { tellable } from '../base/errors.ts';
import { blocks, type Source } from '../lifecycle/words.ts';
import type { InstanceRow, LedgerEntry } from '../registry/types.ts';
import { stampOf } from '../storage/files.ts';
import { absolute, type Engine, line, livePath, now, rowOf, since, systemCause, takingBack } from './engine.ts';
import { bringHome, clearLive, leaveLive, placeOf, putAway, SOURCE_OF } from './file-locations.ts';
import { begin } from './intent.ts';
import { writeListing } from './listing.ts';
import { putBack, recordPutBack, tidying } from './putting-back.ts';
import { settleFirst } from './reconcile.ts';
import type { Entry } from './runtimes.ts';
import type { Cause } from './sessions.ts';
import { refuseFaulted } from './transition-check.ts';
import { ensurePacked, ensureTrusted, recordOf } from './trust.ts';

/** Seconds after which a prefetched file that nobody came for goes back to its drawer. */
export const PREFETCH_SECONDS = 300;

/** Ids whose file was brought home early, with the epoch second to file it back at. */
export type Prefetched = Map<string, number>;

/** Brings the file home; state and tmp stay. The caller holds the verbs lock. Throws as a wake does. */
export async function prefetch(
  engine: Engine,
  prefetched: Prefetched,
  entry: Entry,
  cause: Cause,
): Promise<{ source: Source; vfsPath: string | null }> {
  const row = await settleFirst(engine, entry, await rowOf(engine, entry.id));
  const place = placeOf(engine, row);
  if (blocks(row.fault)) refuseFaulted(row);
  if (place !== 'cold' && place !== 'archive') return { source: SOURCE_OF[place], vfsPath: row.vfsPath };
  const started = performance.now();
  await begin(engine, row, cause, { verb: 'prefetch', to: row.state, fromPath: row.vfsPath, toPath: livePath(row.id) });
  entry.began('prefetch', row);
  engine.reached('prefetch.intent');
  try {
    return await entry.exclusive(async () => {
      if (place === 'cold') await ensureTrusted(engine, row, absolute(engine, row.vfsPath ?? ''), false);
      else await ensurePacked(engine, row, absolute(engine, row.vfsPath ?? ''), false);
      const { makeDurable } = await bringHome(engine, row, place);
      engine.reached('prefetch.brought');
      await makeDurable();
      await refile(engine, row, livePath(row.id), [
        line(engine, row, cause, 'file.prefetched', { source: SOURCE_OF[place], tookMs: since(started) }),
      ]);
      engine.reached('prefetch.committed');
      prefetched.set(row.id, now(engine) + PREFETCH_SECONDS);
      return { source: SOURCE_OF[place], vfsPath: livePath(row.id) };
    });
  } catch (error) {
    await notDone(engine, entry, row, cause, error);
    throw error;
  } finally {
    entry.ended();
  }
}

/** One that failed: the file goes back to where the row says, and the intent goes. */
async function notDone(engine: Engine, entry: Entry, row: InstanceRow, cause: Cause, error: unknown): Promise<void> {
  const ledger = [line(engine, row, cause, 'prefetch.failed', { error: tellable(error) })];
  await takingBack(engine, row.id, () =>
    entry.exclusive(async () => {
      await putBack(engine, row);
      await engine.registry.instances.abandon(row.id, { file: recordPutBack(engine, row) ?? row.file }, ledger);
    }),
  );
}

/** Records that the file of a row now rests at `vfsPath`, in the same state. What is known of its bytes stays known. */
async function refile(engine: Engine, row: InstanceRow, vfsPath: string, ledger: LedgerEntry[]): Promise<void> {
  const stamp = stampOf(absolute(engine, vfsPath));
  await engine.registry.instances.commit({
    id: row.id,
    from: row.state,
    to: row.state,
    generation: row.generation,
    vfsPath,
    file: stamp === null ? null : recordOf(stamp, row.file),
    now: now(engine),
    ledger,
  });
}

/** Files a prefetched file back. The caller holds the verbs lock. A failure leaves it where it was. */
export async function fileBack(engine: Engine, entry: Entry): Promise<void> {
  const row = await settleFirst(engine, entry, await rowOf(engine, entry.id));
  if ((row.state !== 'frozen' && row.state !== 'archived') || placeOf(engine, row) !== 'live') return;
  const drawer = row.state === 'frozen' ? engine.cold : engine.archive;
  const cause = systemCause('idle', 'ticker');
  await begin(engine, row, cause, {
    verb: 'prefetch',
    to: row.state,
    fromPath: row.vfsPath,
    toPath: drawer.pathOf(row.id),
  });
  const source = absolute(engine, livePath(row.id));
  // One that was laid aside on its way to deletion was never packed.
  const puts = row.state === 'frozen' || drawer.stamp(row.id) === null;
  entry.began('prefetch', row);
  try {
    await entry.exclusive(async () => {
      if (puts && row.state === 'archived') await writeListing(engine, row.id, source);
      if (puts) await putAway(engine, row, source, drawer);
      engine.reached('prefetch.returned');
      await refile(engine, row, drawer.pathOf(row.id), [line(engine, row, cause, 'file.returned')]);
    });
  } catch (error) {
    await notDone(engine, entry, row, cause, error);
    throw error;
  } finally {
    entry.ended();
  }
  await tidying(engine, row.id, () =>
    entry.exclusive(() => (row.state === 'archived' ? clearLive(engine, row.id) : leaveLive(engine, row.id))),
  );
}
