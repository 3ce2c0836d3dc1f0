/**
 * Copies the file of one sandbox into a backup, from the address in its row. The copy is kept only when the row names
 * the same address afterwards. The live drawer and the listings of archived sandboxes are local folders: processes open
 * the files in them.
 */
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { Config } from '../base/config.ts';
import { parseCopyPath } from '../base/copy-paths.ts';
import { copyFile, unlinkFile } from '../base/effects.ts';
import type { InstanceId } from '../base/ids.ts';
import type { InstanceRow } from '../registry/types.ts';
import { livePath, MEMORY } from '../sandboxes/engine.ts';
import { type DrawerAccess, findFileAt } from '../sandboxes/files/file-locations.ts';
import { stampAt } from '../sandboxes/files/file-verification.ts';
import { mostBytes, mostOf } from '../sandboxes/moves/live-folder-landing.ts';
import type { RestingFile } from '../storage/drawer.ts';
import { isCode, stampOf } from '../storage/files.ts';
import { sameStamp } from '../storage/stamp.ts';
import type { Readers } from '../vfs/types.ts';
import {
  complaintOf,
  copyOnline,
  copyResting,
  copyWithLog,
  FileMoved,
  MOST_WORDS,
  NOT_THE_FILED,
  objectAt,
  readResting,
} from './copy-file.ts';
import { copyStored, type StoredParts, storedFileOf } from './copy-stored.ts';
import type { BackupRow, ObjectRef } from './manifest.ts';
import type { BackupTarget } from './store.ts';

export interface RowParts extends DrawerAccess, Pick<StoredParts, 'cold'> {
  config: Pick<Config, 'dataFolder' | 'maxSandboxBytes'>;
  target: BackupTarget;
  /** The host whose files are here, where others have theirs on their own disks; null: all are here. */
  onlyOf: string | null;
  /** Who opens files of sandboxes. They can write beside drafts of the target. */
  readers: Readers;
  /** The row as it is now. */
  row(id: InstanceId): Promise<InstanceRow | null>;
  /** What the last backup has of a sandbox. */
  before: ReadonlyMap<string, BackupRow>;
  /** Called with each object that was not there yet. */
  added(object: ObjectRef): void;
}

/** Attempts for a file that moves while it is copied, and the pause before each, in milliseconds. */
const TRIES = 60;
const PAUSE_MS = 50;
/** Attempts that wait for a pending operation. One that a killed server left never ends. */
const PATIENT = 20;

/** Copies the file of a sandbox. Resolves with its row in the manifest. */
export async function copyRow(parts: RowParts, id: InstanceId): Promise<BackupRow> {
  for (let n = 0; ; n += 1) {
    const row = await parts.row(id);
    if (row === null) throw new Error(`The row of ${id} is gone: this is another registry.`);
    if (n < PATIENT && row.pending !== null) {
      await setTimeout(PAUSE_MS);
      continue;
    }
    try {
      const copied = await copyOf(parts, row);
      if (unmoved(row, await parts.row(id))) return copied;
    } catch (error) {
      if (!(error instanceof FileMoved)) throw error;
      if (n >= TRIES) {
        return entry(row, { how: 'missing', wrong: `it did not hold still to be copied: ${error.message}` });
      }
    }
    await setTimeout(n < 3 ? 0 : PAUSE_MS);
  }
}

/** Whether the row is still one whose file did not move and was not opened meanwhile. */
function unmoved(before: InstanceRow, after: InstanceRow | null): boolean {
  return (
    after !== null &&
    before.generation === after.generation &&
    before.state === after.state &&
    before.vfsPath === after.vfsPath &&
    JSON.stringify(before.pending) === JSON.stringify(after.pending)
  );
}

/** What the registry knows against a file whose bytes are those that were filed; null: nothing. */
function heldAgainst(row: InstanceRow): string | null {
  if (row.fault === 'corrupt' || row.fault === 'missing') return row.faultReason ?? `it is ${row.fault}`;
  const structure = row.file?.quickCheck ?? 'ok';
  return structure === 'ok' ? null : `its structure was found damaged: ${structure.slice(0, MOST_WORDS)}`;
}

function entry(row: InstanceRow, own: Partial<BackupRow> & Pick<BackupRow, 'how'>): BackupRow {
  const holdsFile = own.how === 'whole' || own.how === 'online';
  return {
    id: row.id,
    tenant: row.tenant,
    state: row.state === 'active' && own.how !== 'memory' ? 'suspended' : row.state,
    object: null,
    packed: false,
    expands: null,
    listing: null,
    stamp: null,
    ...own,
    wrong: own.wrong ?? (holdsFile ? heldAgainst(row) : null),
  };
}

async function copyOf(parts: RowParts, row: InstanceRow): Promise<BackupRow> {
  if (row.vfsPath === MEMORY) return entry(row, { how: 'memory' });
  if (row.vfsPath === null && row.pending === null) return entry(row, { how: 'none' });
  if (row.vfsPath !== null && parseCopyPath(row.vfsPath) !== null) return entry(row, { how: 'shared' });
  if (parts.onlyOf !== null && row.ownerHost !== null && row.ownerHost !== parts.onlyOf) {
    return entry(row, { how: 'missing', wrong: `it is on the disk of the host "${row.ownerHost}"` });
  }
  const archived = parts.drawers.archive.at(row.id);
  // What was archived is packed there whole, also when it was brought home to be revived.
  const addresses = [
    ...(row.state === 'archived' ? [archived.address] : []),
    row.vfsPath,
    row.pending?.verb === 'archive' ? null : row.pending?.toPath,
    livePath(row.id),
    parts.drawers.cold.at(row.id).address,
  ];
  const stored = storedFileOf(row);
  const near = await firstThere(parts, row.id, addresses);
  // Another host may have had it since: then what lies here is older than the object.
  const file = stored !== null && parts.onlyOf !== null && !(await isAsFiled(row, near)) ? null : near;
  if (file === null && stored !== null) {
    const copied = await copyStored(parts, row.id, stored);
    if (copied !== null) {
      const { object, packed } = copied;
      const own = { how: 'whole', object, packed, stored: stored.address } as const;
      return entry(row, packed ? { ...own, state: 'archived', expands: stored.sha256 } : own);
    }
  }
  if (file === null) {
    if (row.state === 'created') return entry(row, { how: 'none' });
    // A deletion whose file went first, when it was broken off then.
    if (row.pending?.verb === 'delete') return entry(row, { how: 'none', state: 'deleted' });
    return entry(row, { how: 'missing', wrong: 'there was no file where its row says' });
  }
  if (file.address === archived.address) {
    const packed = await whole(parts, row, file);
    return { ...packed, state: 'archived', expands: row.file?.sha256 ?? null, listing: await listingOf(parts, row) };
  }
  const plain = row.state === 'archived' ? ({ state: 'suspended' } as const) : {};
  // At rest there is no log: one that lies beside such a file is not its own, and is never read with it.
  const mayHaveLog = row.state === 'active' || row.pending !== null || row.file?.unsettled === true;
  const logged = (await file.neighbours()).some(({ part, size }) => part !== '-shm' && (size ?? 0) > 0);
  if (row.state === 'active' || (mayHaveLog && logged)) return { ...(await awake(parts, row, file)), ...plain };
  return { ...(await whole(parts, row, file)), ...plain };
}

/** Whether a file at rest is untouched since the row was written, here. */
async function isAsFiled({ file: filed }: InstanceRow, near: RestingFile | null): Promise<boolean> {
  const stamp = near === null ? null : await stampAt(near);
  return stamp !== null && filed !== null && sameStamp(stamp, filed);
}

/** The first of the files at `addresses` that is there. */
async function firstThere(
  parts: DrawerAccess,
  id: InstanceId,
  addresses: readonly (string | null | undefined)[],
): Promise<RestingFile | null> {
  for (const address of addresses) {
    const file = address == null ? null : findFileAt(parts, id, address);
    if (file !== null && (await file.stat()) !== null) return file;
  }
  return null;
}

/**
 * A file at rest. One whose stat is as it was recorded, by its row or by the last backup, is not read when its bytes
 * are there.
 */
async function whole(parts: RowParts, row: InstanceRow, file: RestingFile): Promise<BackupRow> {
  const { target, before } = parts;
  const { packed } = file;
  const stamp = await stampAt(file);
  if (stamp === null) throw new FileMoved(file.address);
  const recorded = row.file !== null && sameStamp(stamp, row.file) ? row.file : null;
  const last = before.get(row.id);
  const unverified = !packed && row.file !== null && row.file.sha256 === null && { unverified: true as const };
  const known =
    last?.stamp != null && last.packed === packed && last.wrong === null && sameStamp(stamp, last.stamp)
      ? last.object
      : !packed && recorded?.sha256 != null
        ? { sha256: recorded.sha256, bytes: stamp.size }
        : null;
  if (known !== null && (await target.has(known)))
    return entry(row, { how: 'whole', object: known, packed, stamp, ...unverified });

  const draft = target.draft();
  try {
    const made = await copyResting(file, draft);
    const { object } = made;
    let wrong: string | null = null;
    const filed = row.file?.sha256 ?? null;
    if (packed) wrong = await complaintOf(parts.readers, draft, { packed, filed });
    else if (filed !== null && filed !== object.sha256) wrong = NOT_THE_FILED;
    else if (filed === null) wrong = await complaintOf(parts.readers, draft);
    await keep(parts, draft, object);
    return entry(row, { how: 'whole', object, packed, stamp: made.stamp, wrong, ...unverified });
  } finally {
    await unlinkFile(draft);
  }
}

/** Whether what lies in a live folder is more than a process of ours writes: such a file fills the disk of a backup. */
function holdsMoreThan(path: string, most: number): boolean {
  return ['', '-wal', '-journal'].some((part) => (stampOf(path + part)?.size ?? 0) > mostOf(part, most));
}

/** A file that a process writes, or that one left when it was killed. */
async function awake(parts: RowParts, row: InstanceRow, file: RestingFile): Promise<BackupRow> {
  const draft = parts.target.draft();
  try {
    const most = mostBytes(parts, row);
    const copied = await readResting(file, async (path) => {
      if (holdsMoreThan(path, most)) return null;
      // Without it no process has the file open: SQLite would begin to recover the very file.
      const served = stampOf(`${path}-shm`) !== null && row.state === 'active';
      if (!served) return copyWithLog(parts.readers, path, draft, most);
      return copyOnline(parts.readers, path, draft).catch((error: unknown) => {
        if (!(error instanceof FileMoved)) throw error;
        return copyWithLog(parts.readers, path, draft, most);
      });
    });
    if (copied === null) return entry(row, { how: 'missing', wrong: 'it is larger than a sandbox can be' });
    await keep(parts, draft, copied.object);
    return entry(row, { how: 'online', ...copied });
  } finally {
    await unlinkFile(draft);
  }
}

/** The listing beside an archived file; null when there is none: it can be made from the file. */
async function listingOf(parts: RowParts, row: InstanceRow): Promise<ObjectRef | null> {
  const path = join(parts.config.dataFolder, 'archive', `${row.id}.json`);
  if (stampOf(path) === null) return null;
  const draft = parts.target.draft();
  try {
    await copyFile(path, draft);
    const object = await objectAt(draft);
    await keep(parts, draft, object);
    return object;
  } catch (error) {
    if (isCode(error, 'ENOENT')) throw new FileMoved(path);
    throw error;
  } finally {
    await unlinkFile(draft);
  }
}

/** Takes a draft unless the same bytes are there already. */
export async function keep(
  { target, added }: Pick<RowParts, 'target' | 'added'>,
  draft: string,
  object: ObjectRef,
): Promise<void> {
  if (await target.has(object)) return;
  await target.keep(draft, object);
  added(object);
}
