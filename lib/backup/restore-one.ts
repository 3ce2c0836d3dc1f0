/**
 * Restores one sandbox from a backup: in place, as a new sandbox, or as a plain file. The server must be stopped for
 * the first two. An existing file is set aside, never overwritten. Knows nothing of whole restores.
 */
import { randomUUID } from 'node:crypto';
import { dirname, join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import type { Config } from '../base/config.ts';
import { parseCopyPath } from '../base/copy-paths.ts';
import { copyFile, makeFolder, renameFile, syncFile, syncFolder, unlinkFile } from '../base/effects.ts';
import { isWinterdockError, WinterdockError } from '../base/errors.ts';
import type { InstanceId } from '../base/ids.ts';
import { isThere } from '../base/is-there.ts';
import { createFromFile } from '../bundles/create-from-file.ts';
import { plan } from '../lifecycle/plan.ts';
import type { RegistryDriver } from '../registry/driver.ts';
import { registryDriver } from '../registry/drivers.ts';
import { ledgerEntry } from '../registry/ledger-entry.ts';
import type { Registry } from '../registry/registry.ts';
import type { InstanceRow, NewInstance } from '../registry/types.ts';
import { livePath, MEMORY } from '../sandboxes/engine.ts';
import { findFileAt, moveToOrphans } from '../sandboxes/files/file-locations.ts';
import { fileRecord } from '../sandboxes/files/file-verification.ts';
import type { Drawers } from '../storage/drawer.ts';
import { removeFile, sha256Of, stagingFor, stampOf } from '../storage/files.ts';
import type { Readers } from '../vfs/types.ts';
import { VOLUMES } from '../vfs/volumes.ts';
import { INSTALLATION } from './backup-settings.ts';
import { complaintOf } from './copy-file.ts';
import type { BackupRow, ObjectRef } from './manifest.ts';
import { type OpenedBackup, removeDatabase, requireRestorable, restoredFrom } from './open-backup.ts';
import { expandTo } from './place-file.ts';
import { RESTORING } from './settle-row.ts';

export interface RestoreOneOptions {
  config: Config;
  driver: RegistryDriver;
  drawers: Drawers;
  backup: OpenedBackup;
  /** Who opens the file of the sandbox. */
  readers: Readers;
  clock: Clock;
  /** Id of the sandbox in the backup. */
  id: InstanceId;
  /** Id of the restored sandbox; null: the same. */
  as: InstanceId | null;
  /** Sets aside the present file of the sandbox. */
  force: boolean;
}

/**
 * The object of a sandbox in a backup, and whether it is packed. Throws `not_found` when there is none.
 */
export function findInBackup(
  backup: OpenedBackup,
  id: string,
): { row: BackupRow; object: ObjectRef; packed: boolean } | null {
  const row = backup.manifest.rows.find((one) => one.id === id);
  if (row === undefined) {
    throw new WinterdockError('not_found', `There is no sandbox "${id}" in the backup ${backup.manifest.id}.`);
  }
  if (row.object !== null) return { row, object: row.object, packed: row.packed };
  if (row.how === 'shared') return null;
  const why =
    row.how === 'memory' ? 'it lived in its process alone' : (row.wrong ?? `it was ${row.state}, without a file`);
  throw new WinterdockError('not_found', `The backup ${backup.manifest.id} has no file of "${id}": ${why}.`);
}

/**
 * Writes the plain SQLite file of a sandbox to `to` (absolute), which must not be there. Needs no lock. Throws
 * `conflict`, `corrupt`.
 */
export async function writeFileOf({ backup, id }: Pick<RestoreOneOptions, 'backup' | 'id'>, to: string): Promise<void> {
  if (isThere(to)) throw new WinterdockError('conflict', `${to} is there already, and was kept.`);
  const row = await rowIn(backup, id, `${to}.registry`);
  const { object, packed } = await objectOf(backup, row);
  await backup.prepare([object]);
  const draft = `${to}.${process.pid}`;
  try {
    await expandTo(backup, object, draft, { label: `the sandbox "${id}"`, packed });
    await syncFile(draft);
    await renameFile(draft, to);
    await syncFolder(dirname(to));
  } finally {
    await unlinkFile(draft);
  }
}

/**
 * Restores one sandbox into a data folder whose lock the caller holds. Resolves with its row. Throws `conflict` when it
 * is there and `force` is not given, `gone` for an id that was deleted, `not_found`, `corrupt`.
 */
export async function restoreOne(options: RestoreOneOptions): Promise<InstanceRow> {
  const { config, driver, backup, readers, clock, id, as } = options;
  const draft = join(stagingFor(config.dataFolder, join(config.dataFolder, livePath(id))), `${randomUUID()}.sqlite`);
  const rebuilt = `${draft}.rebuilt`;
  await makeFolder(dirname(draft));
  const was = await rowIn(backup, id, `${draft}.registry`);
  const { object, packed } = await objectOf(backup, was);
  await backup.prepare([object]);
  const registry = await driver.open({ clock, thresholds: config });
  try {
    const name = as ?? id;
    const there = await registry.instances.get(name);
    refuse(options, there, name);
    await requireOwn(options, registry);
    await expandTo(backup, object, draft, { label: `the sandbox "${id}"`, packed });
    const complaint = await complaintOf(readers, draft);
    if (complaint !== null) {
      throw new WinterdockError('corrupt', `The backup's file of "${id}" is damaged: ${complaint}.`, {
        hint: 'Take the file itself with --to FILE, and salvage what can be read of it.',
      });
    }
    await syncFile(draft);
    if (there !== null) return await replace(options, registry, { there, draft, sha256: await sha256Of(draft) });
    if (as === null) return await landNew(options, registry, { was, name, draft, sha256: await sha256Of(draft) });
    // A new sandbox gets a rebuilt file without the identity of its source.
    const { sha256 } = await readers.copy({ path: draft, mode: 'rest' }, rebuilt, { volumes: VOLUMES });
    return await landNew(options, registry, { was, name, draft: rebuilt, sha256 });
  } finally {
    await registry.close();
    await unlinkFile(draft);
    await unlinkFile(rebuilt);
  }
}

function refuse({ force, as }: RestoreOneOptions, there: InstanceRow | null, name: string): void {
  if (there === null) return;
  if (there.state === 'deleted') {
    throw new WinterdockError('gone', `The sandbox "${name}" was deleted, and an id is never used again.`, {
      hint: 'Restore it under a new one with --as.',
    });
  }
  if (as !== null) throw new WinterdockError('conflict', `There is a sandbox "${name}" already.`);
  if (there.state === 'active' || there.pending !== null) {
    throw new WinterdockError('conflict', `The server was killed during an operation on "${name}".`, {
      hint: 'Start the server once, so that it settles interrupted operations, stop it, and restore then.',
    });
  }
  if (force) return;
  throw new WinterdockError('conflict', `The sandbox "${name}" is there, ${there.state}.`, {
    hint: 'Restore it under another id with --as, or with --force: what it has is then set aside in orphans/.',
  });
}

/** A replica of another installation replaces nothing here: its sandboxes have ids of their own. */
async function requireOwn({ backup, as }: RestoreOneOptions, registry: Registry): Promise<void> {
  const own = await registry.facts.read(INSTALLATION);
  if (as !== null || backup.replica === null || own === null || own === backup.replica.installation) return;
  throw new WinterdockError('conflict', `The replica in ${backup.replica.url} is that of another installation.`, {
    hint: 'Restore the sandbox as a new one with --as.',
  });
}

/** The row as the backup's registry has it. */
export async function rowIn(backup: OpenedBackup, id: InstanceId, draft: string): Promise<InstanceRow> {
  findInBackup(backup, id);
  const { registry } = backup.manifest;
  await backup.prepare([registry]);
  try {
    await requireRestorable(backup);
    await copyFile(await backup.path(registry, 'the registry'), draft);
    const file = await registryDriver({ driver: 'sqlite', path: draft }).readLive();
    try {
      const row = await file.row(id);
      if (row === null) throw new WinterdockError('corrupt', `The backup's registry has no row of "${id}".`);
      return row;
    } finally {
      await file.close();
    }
  } finally {
    await removeDatabase(draft);
  }
}

/** Its own object, or that of the copy that it was made from and that it was never resumed from. */
export async function objectOf(
  backup: OpenedBackup,
  row: InstanceRow,
): Promise<{ object: ObjectRef; packed: boolean }> {
  const own = findInBackup(backup, row.id);
  if (own !== null) return own;
  const copy = parseCopyPath(row.vfsPath ?? '');
  const kept = backup.manifest.copies.find(({ kind, hash }) => kind === copy?.kind && hash === copy.hash);
  if (kept?.object != null) return { object: kept.object, packed: false };
  throw new WinterdockError('not_found', `The backup has no file of "${row.id}": that of its copy is not in it.`);
}

/** The row that a sandbox of a backup comes as, where there is none. `isNew`: it is another one than it was. */
export function rowFromBackup(
  was: InstanceRow,
  { id, isNew }: { id: InstanceId; isNew: boolean },
): Omit<NewInstance, 'vfsPath' | 'file' | 'bytes'> {
  const { tenant, ephemeral, policy, keepHot, labels, workbook, workbookVersion } = was;
  const { hotToWarmSeconds, idleToSuspendSeconds, idleToFreezeSeconds, replicate } = was;
  const { lineageBlueprint, lineageSnapshot, lineageParent } = was;
  return {
    id,
    tenant,
    // A name is its tenant's own: the one that has it may be there.
    name: isNew ? null : was.name,
    ephemeral,
    policy,
    keepHot,
    hotToWarmSeconds,
    idleToSuspendSeconds,
    idleToFreezeSeconds,
    replicate,
    labels,
    workbook,
    workbookVersion,
    lineageBlueprint,
    lineageSnapshot,
    lineageParent,
  };
}

/** A row that is not there comes as one in state `created` whose file lies there already. */
async function landNew(
  { config, backup, clock, as }: RestoreOneOptions,
  registry: Registry,
  { was, name, draft, sha256 }: { was: InstanceRow; name: InstanceId; draft: string; sha256: string },
): Promise<InstanceRow> {
  const { tenant } = was;
  const instance = rowFromBackup(was, { id: name, isNew: as !== null });
  const line = ledgerEntry({ clock }, { id: name, tenant }, RESTORING, 'backup.placed', {
    to: 'created',
    reason: `${restoredFrom(backup, was.id)}${as === null ? '' : `, where it was "${was.id}"`}`,
  });
  try {
    return await createFromFile({ dataFolder: config.dataFolder, clock, registry }, draft, sha256, instance, line);
  } catch (error) {
    if (isWinterdockError(error) && error.field === 'name') {
      throw new WinterdockError('conflict', error.message, {
        hint: 'Restore it with --as: it then has no name.',
        cause: error,
      });
    }
    throw error;
  }
}

/** Replaces the file of an existing sandbox, which is suspended then. Its present file is set aside. */
async function replace(
  { config, drawers, backup, clock }: RestoreOneOptions,
  registry: Registry,
  { there, draft, sha256 }: { there: InstanceRow; draft: string; sha256: string },
): Promise<InstanceRow> {
  const { id, vfsPath } = there;
  const { dataFolder } = config;
  const own = vfsPath !== null && vfsPath !== MEMORY && parseCopyPath(vfsPath) === null ? [vfsPath] : [];
  for (const path of new Set([...own, livePath(id)])) {
    const file = findFileAt({ config, drawers }, id, path);
    if (file !== null && (await file.stat()) !== null) await moveToOrphans({ clock, registry, config }, there, file);
  }
  const target = join(dataFolder, livePath(id));
  await makeFolder(dirname(target));
  await renameFile(draft, target);
  await Promise.all([dirname(target), dirname(dirname(target))].map(syncFolder));
  const stamp = stampOf(target);
  if (stamp === null) throw new WinterdockError('storage_unavailable', `The restored file of "${id}" is missing.`);
  const way = there.state === 'suspended' ? [] : (plan(there.state, 'suspended') ?? []);
  const reason = restoredFrom(backup, id);
  const hops = [there.state, ...way];
  const row = await registry.instances.commit({
    id,
    from: there.state,
    to: 'suspended',
    through: way.slice(0, -1),
    generation: there.generation,
    vfsPath: livePath(id),
    file: fileRecord(stamp, { sha256, quickCheck: 'ok' }),
    bytes: stamp.size,
    fault: null,
    now: Math.floor(clock.now() / 1000),
    ledger: [
      ...way.map((to, at) =>
        ledgerEntry({ clock }, there, RESTORING, 'transition', { from: hops[at] ?? null, to, reason }),
      ),
      ledgerEntry({ clock }, there, RESTORING, 'backup.placed', { reason }),
      ...(there.fault === null
        ? []
        : [ledgerEntry({ clock }, there, RESTORING, 'fault.cleared', { reason: there.fault })]),
    ],
  });
  await removeFile(join(dataFolder, 'archive', `${id}.json`));
  return row;
}
