/**
 * Restore in place: the file of a sandbox is replaced by a copy of a snapshot, and the old file is kept in `orphans/`.
 * The order of the steps makes a failure or a kill between any two leave the file that the row names. Knows nothing of
 * who may restore.
 *
 * The copy is made and verified first, in the staging folder of the live drawer. Then a ledger entry says where the old
 * file will be kept, which also makes the intent durable. The old file moves there, the copy takes its place in the
 * live drawer, and the row is committed. Until then everything can be rolled back: see replaced-file.ts.
 */
import { dirname, join } from 'node:path';
import { makeFolder, unlinkFile } from '../../base/effects.ts';
import { isUnavailable, isWinterdockError, publicMessage, WinterdockError } from '../../base/errors.ts';
import { ledgerEntry } from '../../registry/ledger-entry.ts';
import type { InstanceRow, Intent } from '../../registry/types.ts';
import { lastingFolder, moveFile, stagingFor, stampOf } from '../../storage/files.ts';
import { absolutePath, type Engine, elapsedMs, livePath, now, requireOwnInstance, runRollback } from '../engine.ts';
import { locationOf } from '../files/file-locations.ts';
import { fileRecord } from '../files/file-verification.ts';
import { removeListing } from '../files/listing.ts';
import { PREFETCH_SECONDS, type PrefetchDeadlines } from '../files/prefetch.ts';
import { beginOperation } from '../recovery/intent.ts';
import { settleIfInterrupted } from '../recovery/reconcile.ts';
import {
  moveReplacedFile,
  orphanPath,
  ownFilePath,
  recordAfterReturn,
  returnReplacedFile,
} from '../recovery/replaced-file.ts';
import type { SandboxRuntime } from '../runtimes.ts';
import type { AuditContext, SnapshotToRestore } from '../sandboxes.ts';
import { tellReplica } from '../shipping.ts';
import { bringNear } from '../store/bring.ts';

/**
 * Replaces the file of a sandbox by a copy of a snapshot; the state stays, a fault is cleared. The new file of a frozen
 * or archived sandbox goes from the live drawer to its own drawer like any prefetched file. The caller holds the verbs
 * lock. Throws `conflict` for a sandbox that is awake or lives only in its process, `quota_exceeded`, `missing_file`
 * and `corrupt` of the snapshot, `storage_unavailable`; then its file is unchanged.
 */
export async function restore(
  engine: Engine,
  prefetched: PrefetchDeadlines,
  runtime: SandboxRuntime,
  snapshot: SnapshotToRestore,
  audit: AuditContext,
): Promise<InstanceRow> {
  const started = performance.now();
  let row = await settleIfInterrupted(engine, runtime, await requireOwnInstance(engine, runtime.id));
  try {
    await admit(engine, runtime, row, snapshot);
    // It is kept aside, so it has to be here.
    row = await bringToKeep(engine, runtime, row);
  } catch (error) {
    await engine.registry.ledger.append([
      ledgerEntry(engine, row, audit, 'restore.refused', { error: publicMessage(error) }),
    ]);
    throw error;
  }
  const fromPath = await ownFilePath(engine, row);
  await beginOperation(engine, row, audit, { verb: 'restore', to: row.state, fromPath, toPath: livePath(row.id) });
  runtime.startOperation('restore', row);
  try {
    const after = await runtime.exclusive(async () => {
      const { pending } = await requireOwnInstance(engine, row.id);
      if (pending === null) throw new WinterdockError('conflict', `The sandbox "${row.id}" has moved on.`);
      await replace(engine, row, pending, snapshot, audit);
      const restored = await commit(engine, row, pending, snapshot, audit, elapsedMs(started));
      tellReplica(engine, row.id, (replica) => replica.replaced(row.id));
      return restored;
    });
    if (after.state === 'frozen' || after.state === 'archived') prefetched.set(row.id, now(engine) + PREFETCH_SECONDS);
    return after;
  } catch (error) {
    const failed = ledgerEntry(engine, row, audit, 'restore.failed', { error: publicMessage(error) });
    await runRollback(engine, row.id, () =>
      runtime.exclusive(async () => {
        const current = await requireOwnInstance(engine, row.id);
        if (current.generation !== row.generation || current.pending?.verb !== 'restore') return;
        await returnReplacedFile(engine, row.id, current.pending);
        await engine.registry.instances.commit({
          ...row,
          from: row.state,
          to: row.state,
          file: await recordAfterReturn(engine, row),
          fault: undefined,
          now: now(engine),
          ledger: [failed],
        });
      }),
    );
    throw error;
  } finally {
    runtime.endOperation();
  }
}

/** Brings the file that is to be replaced, as far as there is one. */
async function bringToKeep(engine: Engine, runtime: SandboxRuntime, row: InstanceRow): Promise<InstanceRow> {
  try {
    return (await runtime.exclusive(() => bringNear(engine, row))).row;
  } catch (error) {
    if (!isWinterdockError(error) || isUnavailable(error)) throw error;
    return row;
  }
}

async function admit(
  engine: Engine,
  runtime: SandboxRuntime,
  row: InstanceRow,
  snapshot: SnapshotToRestore,
): Promise<void> {
  if (locationOf(engine, row) === 'memory') {
    throw new WinterdockError('conflict', `The sandbox "${row.id}" lives only in its process: it has no file.`, {
      hint: 'Make a new sandbox instead.',
    });
  }
  if (row.state === 'active' || runtime.process !== null) throw awake(row);
  if (snapshot.generation !== undefined && row.generation !== snapshot.generation) {
    throw new WinterdockError('conflict', `The sandbox "${row.id}" has moved on meanwhile.`, { hint: 'Try again.' });
  }
  const left = await engine.registry.quotas.bytesLeft(row.tenant);
  const more = snapshot.bytes - (row.bytes ?? 0);
  if (left === null || more <= left) return;
  throw new WinterdockError('quota_exceeded', `The tenant "${row.tenant}" has no room for ${more} bytes more.`, {
    hint: 'Delete files or sandboxes, or have the quota raised.',
    extra: { quota: 'max_bytes', limit: left, used: more },
  });
}

/** The error for who would replace a file that is in use. */
export function awake({ id, ephemeral }: Pick<InstanceRow, 'id' | 'ephemeral'>): WinterdockError {
  return new WinterdockError('conflict', `The sandbox "${id}" is awake: its file is in use.`, {
    hint: ephemeral ? 'It is ephemeral: make a new sandbox instead.' : 'Suspend it first.',
  });
}

/** The file work between the intent and the commit. */
async function replace(
  engine: Engine,
  row: InstanceRow,
  intent: Intent,
  snapshot: SnapshotToRestore,
  audit: AuditContext,
): Promise<void> {
  const live = absolutePath(engine, livePath(row.id));
  const staging = stagingFor(engine.config.dataFolder, live);
  const staged = join(staging, `${row.id}.restore.sqlite`);
  await makeFolder(staging);
  try {
    if (snapshot.file === undefined) await (await engine.drawers.snapshot.fetch(snapshot.hash, staged)).makeDurable();
    else await (await moveFile(snapshot.file, staged, staging)).makeDurable();
    const { sha256 } = await engine.readers.check(staged, { urgent: true });
    if (sha256 !== snapshot.hash) {
      const what = snapshot.file === undefined ? `the snapshot "${snapshot.name}"` : `the ${snapshot.name}`;
      throw new WinterdockError('corrupt', `The file of ${what} is not what was kept.`, {
        hint: 'Restore another one.',
      });
    }
    const kept = orphanPath(row.id, intent);
    if (kept !== null) {
      const reason = `${intent.fromPath} is kept as ${kept}`;
      await engine.registry.ledger.append([ledgerEntry(engine, row, audit, 'file.kept_aside', { reason })]);
    }
    await moveReplacedFile(engine, row.id, intent);
    // The listing is of the old file; without a listing the file itself answers.
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
  snapshot: SnapshotToRestore,
  audit: AuditContext,
  tookMs: number,
): Promise<InstanceRow> {
  const stamp = stampOf(absolutePath(engine, livePath(row.id)));
  if (stamp === null)
    throw new WinterdockError('storage_unavailable', `The restored file of "${row.id}" is gone again.`);
  const kept = orphanPath(row.id, intent);
  const summary = `${snapshot.name}; ${kept === null ? 'there was no file before' : `what was there is kept as ${kept}`}`;
  return engine.registry.instances.commit({
    id: row.id,
    from: row.state,
    to: row.state,
    generation: row.generation,
    vfsPath: livePath(row.id),
    file: fileRecord(stamp, { sha256: snapshot.hash, quickCheck: 'ok' }),
    bytes: stamp.size,
    fault: null,
    now: now(engine),
    ledger: [
      ledgerEntry(engine, row, audit, 'file.restored', {
        source: snapshot.file === undefined ? 'snapshot' : null,
        reason: audit.reason === null ? summary : `${audit.reason} (${summary})`,
        tookMs,
      }),
      ...(row.fault === null ? [] : [ledgerEntry(engine, row, audit, 'fault.cleared', { reason: row.fault })]),
    ],
  });
}
