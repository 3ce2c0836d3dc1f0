/**
 * Brings the rows of a restored registry in line with the restored files: each file was copied a moment after the
 * registry. A row moves to the state in which its file was copied, by transitions of the state map with their ledger
 * lines. Does no I/O but in the registry.
 */

import type { CopyKind } from '../base/copy-paths.ts';
import { plan } from '../lifecycle/plan.ts';
import type { State } from '../lifecycle/state-map.ts';
import type { Transition } from '../registry/instances.ts';
import { ledgerEntry } from '../registry/ledger-entry.ts';
import type { Registry } from '../registry/registry.ts';
import type { InstanceRow } from '../registry/types.ts';
import { livePath, systemAudit } from '../sandboxes/engine.ts';
import { type DrawerAccess, fileAt } from '../sandboxes/files/file-locations.ts';
import { fileRecord } from '../sandboxes/files/file-verification.ts';
import type { RestingFile } from '../storage/drawer.ts';
import type { FileStamp } from '../storage/stamp.ts';
import type { BackupRow } from './manifest.ts';

/** The file that a sandbox's own is restored to; null when it has none. */
export function restoredFile(
  files: DrawerAccess,
  { id, state, object }: Pick<BackupRow, 'id' | 'state' | 'object'>,
): RestingFile | null {
  if (object === null) return null;
  if (state === 'archived') return files.drawers.archive.at(id);
  return state === 'frozen' ? files.drawers.cold.at(id) : fileAt(files, id, livePath(id));
}

export interface RestoredRow {
  registry: Pick<Registry, 'instances'>;
  nowMs: number;
  /** What it comes from, in words. */
  from: string;
  row: BackupRow;
  /** Address of its restored file; null when it has none of its own. */
  address: string | null;
  /** Stamp of that file, or of the snapshot or blueprint that it was made from; null without one. */
  stamp: FileStamp | null;
}

export const RESTORING = { ...systemAudit('operator', 'cli'), actor: 'restore' };

/** Brings one row in line with its restored file. */
export async function settleRow({ registry, nowMs, from, row, address, stamp }: RestoredRow): Promise<void> {
  const before = await registry.instances.get(row.id);
  if (before === null) throw new Error(`The backup's registry has no row of ${row.id}.`);
  if (before.state === 'deleted' || row.how === 'memory') return;
  const clock = { now: () => nowMs };
  const now = Math.floor(nowMs / 1000);
  if (before.pending !== null) {
    await registry.instances.abandon(row.id, {}, [
      ledgerEntry({ clock }, before, RESTORING, 'reconcile.rolled_back', {
        reason: `what ${from} has was made during ${before.pending.verb}`,
      }),
    ]);
  }
  const to = row.state;
  const way = before.state === to ? [] : (plan(before.state, to) ?? []);
  const filed = filedAs(before, row, address, stamp);
  if (way.length === 0 && filed === null) return;
  const hops = [before.state, ...way];
  const fault = faultOf(row, stamp);
  const isFound = fault === null && filed?.file != null && isOfFile(before.fault);
  await registry.instances.commit({
    id: row.id,
    from: before.state,
    to,
    through: way.slice(0, -1),
    generation: before.generation,
    ...(filed ?? { vfsPath: null, file: null, bytes: null }),
    ...(fault === null ? {} : { fault }),
    ...(isFound ? { fault: null } : {}),
    now,
    ledger: [
      ...way.map((state, at) =>
        ledgerEntry({ clock }, before, RESTORING, 'transition', { from: hops[at] as State, to: state, reason: from }),
      ),
      ...(fault === null && filed?.file != null
        ? [ledgerEntry({ clock }, before, RESTORING, 'backup.placed', { reason: from })]
        : []),
      ...(isFound ? [ledgerEntry({ clock }, before, RESTORING, 'fault.cleared', { reason: before.fault })] : []),
      ...(fault === null
        ? []
        : [ledgerEntry({ clock }, before, RESTORING, 'fault.raised', { reason: fault.fault, error: fault.reason })]),
    ],
  });
}

/** The new path and file record of a row; null when they do not change. */
function filedAs(
  before: InstanceRow,
  row: BackupRow,
  address: string | null,
  stamp: FileStamp | null,
): Pick<Transition, 'vfsPath' | 'file' | 'bytes'> | null {
  const asBefore = { vfsPath: before.vfsPath, file: before.file };
  if (row.how === 'stored') return null;
  if (row.how === 'missing') return asBefore;
  // Of a copy that is there the record was renewed for all that were made from it.
  if (row.how === 'shared') return stamp === null ? asBefore : null;
  if (address === null || stamp === null || row.object === null) {
    return before.vfsPath === null ? null : { vfsPath: null, file: null, bytes: null };
  }
  const sha256 = row.packed ? row.expands : row.object.sha256;
  const isOfBefore = sha256 === (before.file?.sha256 ?? sha256);
  const checked = isOfBefore ? (before.file?.quickCheck ?? null) : null;
  const quickCheck = row.how === 'online' && row.wrong === null ? 'ok' : checked;
  const bytes = row.packed ? before.bytes : row.object.bytes;
  const identity = before.file?.identity ?? null;
  return { vfsPath: address, file: fileRecord(stamp, { sha256, quickCheck, identity }), bytes };
}

const isOfFile = (fault: InstanceRow['fault']) => fault === 'missing' || fault === 'corrupt';

function faultOf(row: BackupRow, stamp: FileStamp | null): NonNullable<Transition['fault']> | null {
  if (row.how === 'missing' || (row.how === 'shared' && stamp === null)) {
    return {
      fault: 'missing',
      reason: `There is no file of it in what was restored: ${row.wrong ?? 'that of its copy is not in it'}.`,
    };
  }
  return row.wrong === null ? null : { fault: 'corrupt', reason: `As it was backed up: ${row.wrong}.` };
}

/** Forgets the snapshots and blueprints of a file that was deleted while the backup ran. */
export async function forgetCopies(
  registry: Pick<Registry, 'copies'>,
  gone: ReadonlySet<string>,
  nowMs: number,
): Promise<void> {
  if (gone.size === 0) return;
  const { copies } = registry;
  const clock = { now: () => nowMs };
  const is = (kind: CopyKind, hash: string) => gone.has(`${kind} ${hash}`);
  const reason = 'it was deleted while the backup ran';
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await copies.snapshots({}, 500, cursor);
    for (const { id, tenant, source, hash } of page.rows) {
      if (!is('snapshot', hash)) continue;
      const line = ledgerEntry({ clock }, { id: source, tenant }, RESTORING, 'snapshot.deleted', { reason });
      await copies.deleteSnapshot(id, Math.floor(nowMs / 1000), line);
    }
    cursor = page.next;
  }
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await copies.blueprints(500, cursor);
    for (const { name, hash } of page.rows) {
      if (is('blueprint', hash)) {
        await copies.deleteBlueprint(name, ledgerEntry({ clock }, null, RESTORING, 'blueprint.deleted', { reason }));
      }
    }
    cursor = page.next;
  }
}
