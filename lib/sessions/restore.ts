/**
 * Restoring in place: the file of a sandbox becomes a copy of a snapshot, and what was there is kept in `orphans/`.
 * Owns the order of its steps, so that a failure or a kill between any two leaves the file that the row names. Knows
 * nothing of who may do it.
 *
 * The copy is made and verified first, in the live drawer's staging folder. Then a line of the ledger says where what
 * is there will be kept, which also makes the intent durable; it moves there, the copy takes its place in the live
 * drawer, and the row says so. Until then everything can be taken back: see aside.ts.
 */
import { dirname, join } from 'node:path';
import { makeFolder, unlinkFile } from '../base/effects.ts';
import { tellable, WinterdockError } from '../base/errors.ts';
import type { InstanceRow, Intent } from '../registry/types.ts';
import { lastingFolder, moveFile, stagingFor, stampOf } from '../storage/files.ts';
import { bringBack, keptPath, moveAside, ownPath, recordAgain } from './aside.ts';
import { absolute, type Engine, line, livePath, now, rowOf, since, takingBack } from './engine.ts';
import { placeOf } from './file-locations.ts';
import { begin } from './intent.ts';
import { removeListing } from './listing.ts';
import { PREFETCH_SECONDS, type Prefetched } from './prefetch.ts';
import { settleFirst } from './reconcile.ts';
import type { Entry } from './runtimes.ts';
import type { Cause, Restored } from './sessions.ts';
import { recordOf } from './trust.ts';

/**
 * Puts a copy of a snapshot in the place of a sandbox's file; the state stays, a fault is cleared. What is frozen or
 * archived is filed back from the live drawer like anything that was brought home early. The caller holds the verbs
 * lock. Throws `conflict` for one that is awake or lives only in its process, `quota_exceeded`, `missing_file` and
 * `corrupt` of the snapshot, `storage_unavailable`; the file is then where and what it was.
 */
export async function restore(
  engine: Engine,
  prefetched: Prefetched,
  entry: Entry,
  snapshot: Restored,
  cause: Cause,
): Promise<InstanceRow> {
  const started = performance.now();
  const row = await settleFirst(engine, entry, await rowOf(engine, entry.id));
  try {
    await admit(engine, entry, row, snapshot);
  } catch (error) {
    await engine.registry.ledger.append([line(engine, row, cause, 'restore.refused', { error: tellable(error) })]);
    throw error;
  }
  const fromPath = ownPath(engine, row);
  await begin(engine, row, cause, { verb: 'restore', to: row.state, fromPath, toPath: livePath(row.id) });
  entry.began('restore', row);
  try {
    const after = await entry.exclusive(async () => {
      const { pending } = await rowOf(engine, row.id);
      if (pending === null) throw new WinterdockError('conflict', `The sandbox "${row.id}" has moved on.`);
      await replace(engine, row, pending, snapshot, cause);
      return commit(engine, row, pending, snapshot, cause, since(started));
    });
    if (after.state === 'frozen' || after.state === 'archived') prefetched.set(row.id, now(engine) + PREFETCH_SECONDS);
    return after;
  } catch (error) {
    const failed = line(engine, row, cause, 'restore.failed', { error: tellable(error) });
    await takingBack(engine, row.id, () =>
      entry.exclusive(async () => {
        const current = await rowOf(engine, row.id);
        if (current.generation !== row.generation || current.pending?.verb !== 'restore') return;
        await bringBack(engine, row.id, current.pending);
        await engine.registry.instances.commit({
          ...row,
          from: row.state,
          to: row.state,
          file: recordAgain(engine, row),
          fault: undefined,
          now: now(engine),
          ledger: [failed],
        });
      }),
    );
    throw error;
  } finally {
    entry.ended();
  }
}

async function admit(engine: Engine, entry: Entry, row: InstanceRow, snapshot: Restored): Promise<void> {
  if (placeOf(engine, row) === 'memory') {
    throw new WinterdockError('conflict', `The sandbox "${row.id}" lives only in its process: it has no file.`, {
      hint: 'Make a new sandbox of the snapshot.',
    });
  }
  if (row.state === 'active' || entry.process !== null) {
    throw new WinterdockError('conflict', `The sandbox "${row.id}" is awake: its file is in use.`, {
      hint: row.ephemeral ? 'It is ephemeral: make a new sandbox of the snapshot.' : 'Suspend it first.',
    });
  }
  const left = await engine.registry.quotas.bytesLeft(row.tenant);
  const more = snapshot.bytes - (row.bytes ?? 0);
  if (left === null || more <= left) return;
  throw new WinterdockError('quota_exceeded', `The tenant "${row.tenant}" has no room for ${more} bytes more.`, {
    hint: 'Delete files or sandboxes, or have the quota raised.',
    extra: { quota: 'max_bytes', limit: left, used: more },
  });
}

/** The file work between the intent and the commit. */
async function replace(
  engine: Engine,
  row: InstanceRow,
  intent: Intent,
  snapshot: Restored,
  cause: Cause,
): Promise<void> {
  const live = absolute(engine, livePath(row.id));
  const staging = stagingFor(engine.config.dataFolder, live);
  const staged = join(staging, `${row.id}.restore.sqlite`);
  await makeFolder(staging);
  try {
    await (await engine.copies.snapshot.fetch(snapshot.hash, staged)).makeDurable();
    const { sha256 } = await engine.readers.check(staged, { urgent: true });
    if (sha256 !== snapshot.hash) {
      throw new WinterdockError('corrupt', `The file of the snapshot "${snapshot.name}" is not what was kept.`, {
        hint: 'Restore another snapshot.',
      });
    }
    const kept = keptPath(row.id, intent);
    if (kept !== null) {
      const reason = `${intent.fromPath} is kept as ${kept}`;
      await engine.registry.ledger.append([line(engine, row, cause, 'file.kept_aside', { reason })]);
    }
    await moveAside(engine, row.id, intent);
    // It lists what was there; without one the file itself answers.
    if (row.state === 'archived') await removeListing(engine, row.id);
    await lastingFolder(dirname(live));
    await (await moveFile(staged, live, staging)).makeDurable();
  } finally {
    await unlinkFile(staged);
  }
}

async function commit(
  engine: Engine,
  row: InstanceRow,
  intent: Intent,
  snapshot: Restored,
  cause: Cause,
  tookMs: number,
): Promise<InstanceRow> {
  const stamp = stampOf(absolute(engine, livePath(row.id)));
  if (stamp === null)
    throw new WinterdockError('storage_unavailable', `The restored file of "${row.id}" is gone again.`);
  const kept = keptPath(row.id, intent);
  const said = `${snapshot.name}; ${kept === null ? 'there was no file before' : `what was there is kept as ${kept}`}`;
  return engine.registry.instances.commit({
    id: row.id,
    from: row.state,
    to: row.state,
    generation: row.generation,
    vfsPath: livePath(row.id),
    file: recordOf(stamp, { sha256: snapshot.hash, quickCheck: 'ok' }),
    bytes: stamp.size,
    fault: null,
    now: now(engine),
    ledger: [
      line(engine, row, cause, 'file.restored', {
        source: 'snapshot',
        reason: cause.reason === null ? said : `${cause.reason} (${said})`,
        tookMs,
      }),
      ...(row.fault === null ? [] : [line(engine, row, cause, 'fault.cleared', { reason: row.fault })]),
    ],
  });
}
