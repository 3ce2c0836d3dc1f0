/**
 * Landing: a live folder comes back to the server once every process of its sandbox has ended. Until then nothing in it
 * is opened by the server, for a process that was taken over may put there what it likes: links, pipes, folders, files
 * of any size and number. First nobody but root may change a name in the folder any more, then what lies there is
 * looked at, and only then is anything opened. What is not a file of the sandbox is removed unread. Decides nothing
 * about rows.
 */
import type { BigIntStats } from 'node:fs';
import { join } from 'node:path';
import { chmodFileNow, makeFolderNow, renameFileNow, syncFolder, unlinkFileNow } from '../../base/effects.ts';
import { giveOpenNow, inFolderNow, isThereNow, lookAtNow } from '../../base/strangers-file.ts';
import { ledgerEntry } from '../../registry/ledger-entry.ts';
import type { InstanceRow } from '../../registry/types.ts';
import type { ReplicaOfFiles } from '../../replication/replica-of-files.ts';
import { fileOnDisk } from '../../storage/disk.ts';
import { namesIn } from '../../storage/inventory.ts';
import {
  bringToLandingNow,
  firstNamesIn,
  isFolderNow,
  LIVE_NAMES,
  landedId,
  landingFolder,
  removeLater,
  SHIPPED_MARK,
  setAsideNow,
} from '../../storage/landing-folder.ts';
import { isUserOfWorkers } from '../../workers/walls/user.ts';
import { type Engine, livePath, systemAudit } from '../engine.ts';
import { moveToOrphans } from '../files/file-locations.ts';

/** The owner of a file in it may pass through the folder of a sandbox at rest: who reads the file runs as its owner. */
const PASSED_BY_OTHERS = 0o711;
const OWNER_ALONE = 0o700;
/** What SQLite may write beyond the most that a sandbox holds: pages of its own, and freed ones. */
const SLACK_BYTES = 64 * 1024 * 1024;
/** A log may be larger than its file: a long reader keeps it from being written over. */
const LOG_FACTOR = 4;

/** What a landed folder may have. */
const KEPT_NAMES = LIVE_NAMES.filter((name) => name !== SHIPPED_MARK);
const LOGS_FIRST = KEPT_NAMES.toReversed();

export type LandingRow = Pick<InstanceRow, 'id' | 'tenant'> & Partial<Pick<InstanceRow, 'bytes'>>;
export type LandingContext = Pick<Engine, 'clock' | 'registry'> & {
  config: Pick<Engine['config'], 'dataFolder' | 'maxSandboxBytes'>;
  replica?: Pick<ReplicaOfFiles, 'secondName'> | null;
};

/** What a sandbox left instead of its file, a clause for people. Null: its file, or nothing. */
export type LeftInstead = string | null;

/** What is wrong with something in a live folder. */
interface Complaint {
  /** In words for people. */
  what: string;
  /** Whether it may be the sandbox's file all the same: it is kept in `orphans/`. Anything else is removed unread. */
  isKept: boolean;
}

/**
 * Takes the live folder of a sandbox back and leaves in it nothing but regular files that are the sandbox's own, each
 * with one name and of a size that it can have. Cheap where there is nothing else; may be repeated, and is finished by
 * the next start when the server is killed in the middle. No process of the sandbox may run. Throws what the disk
 * throws.
 */
export async function land(engine: LandingContext, row: LandingRow): Promise<LeftInstead> {
  const live = join(engine.config.dataFolder, 'live');
  const folder = join(live, row.id);
  openToSelf(folder);
  const owner = inFolderNow(folder, (descriptor, { uid, gid }) => {
    if (process.getuid?.() === 0 && isUserOfWorkers(uid)) giveOpenNow(descriptor, folder, [0, gid], PASSED_BY_OTHERS);
    return uid;
  });
  if (owner === null && !isThereNow(folder)) return null;
  const names = owner === null ? [] : firstNamesIn(folder, LIVE_NAMES.length);
  const complaints = new Map<string, Complaint>();
  if (owner === null) complaints.set('vfs.sqlite', { what: 'in no folder', isKept: false });
  else {
    for (const name of LIVE_NAMES) {
      const stat = lookAtNow(join(folder, name));
      if (stat === null || isShippedLog(engine, row, name, stat)) continue;
      const complaint = complaintOf(stat, name, owner, mostBytes(engine, row));
      if (complaint !== null) complaints.set(name, complaint);
    }
  }
  const removed = [...complaints].filter(([, { isKept }]) => !isKept);
  if (removed.length > 0 || names.some((name) => !LIVE_NAMES.includes(name))) {
    const own = owner === null ? [] : KEPT_NAMES.filter((name) => complaints.get(name)?.isKept !== false);
    const aside = await setApart(engine, row, { live, folder, own });
    const what = removed.map(([name, complaint]) => `${name} was ${complaint.what}`);
    const reason = `${what.join('; ') || 'there was what no sandbox has there'}, in live/${row.id}: removed unread`;
    await engine.registry.ledger.append([
      ledgerEntry(engine, row, systemAudit('reconcile'), 'orphan.removed', { reason }),
    ]);
    removeLater(aside);
  } else if (names.includes(SHIPPED_MARK)) unlinkFileNow(join(folder, SHIPPED_MARK));
  if (removed.length < complaints.size)
    await moveToOrphans(engine, row, fileOnDisk(engine.config.dataFolder, livePath(row.id)));
  return insteadOf(complaints);
}

/** A worker with the server's own user can have closed its folder to both. */
function openToSelf(folder: string): void {
  const stat = process.getuid?.() === 0 ? null : lookAtNow(folder);
  if (stat?.isDirectory() && (Number(stat.mode) & OWNER_ALONE) !== OWNER_ALONE) chmodFileNow(folder, OWNER_ALONE);
}

function insteadOf(complaints: ReadonlyMap<string, Complaint>): LeftInstead {
  const own = complaints.get('vfs.sqlite');
  if (own !== undefined) return `${own.what} was in the place of its file`;
  // Its file was kept with the log.
  const [log] = [...complaints].filter(([, { isKept }]) => isKept);
  return log === undefined ? null : `${log[0]} was ${log[1].what}`;
}

/** Whether it is a log that the server has given a second name before it told the processes to end. */
function isShippedLog(engine: LandingContext, { id }: LandingRow, name: string, { dev, ino, nlink }: BigIntStats) {
  const second = name === 'vfs.sqlite-wal' && nlink === 2n ? (engine.replica?.secondName(id) ?? null) : null;
  const stat = second === null ? null : lookAtNow(second);
  return stat?.ino === ino && stat.dev === dev;
}

/** Whether a folder (absolute) is a sandbox's now. */
export function isOfWorkers(folder: string): boolean {
  const stat = lookAtNow(folder);
  return stat?.isDirectory() === true && isUserOfWorkers(Number(stat.uid));
}

/** Makes a live folder with the sandbox's own files alone, durably. Returns where the rest is, to be removed. */
async function setApart(
  engine: LandingContext,
  { id }: LandingRow,
  { live, folder, own }: { live: string; folder: string; own: readonly string[] },
): Promise<string> {
  const { dataFolder } = engine.config;
  const aside = bringToLandingNow(dataFolder, folder, id);
  makeFolderNow(folder);
  inFolderNow(folder, (descriptor, { uid, gid }) => {
    if (uid === 0) giveOpenNow(descriptor, folder, [0, gid], PASSED_BY_OTHERS);
  });
  takeOwn(aside, folder, own);
  // The new names before the old ones: a power cut leaves one of the two folders with the file, and the next start
  // takes it out of either.
  await syncFolder(folder);
  await syncFolder(live);
  await syncFolder(landingFolder(dataFolder));
  return setAsideNow(dataFolder, aside) ?? aside;
}

/** Moves a sandbox's own files. The file itself comes last: where it is, its logs are too. */
function takeOwn(from: string, to: string, names: readonly string[]): void {
  for (const name of LOGS_FIRST) {
    const path = join(from, name);
    if (names.includes(name) && isThereNow(path)) renameFileNow(path, join(to, name));
  }
}

/** The largest that the file of a sandbox can be: a limit that was lowered does not take away what was there. */
export function mostBytes(
  engine: { config: Pick<Engine['config'], 'maxSandboxBytes'> },
  row: Pick<LandingRow, 'bytes'>,
): number {
  return Math.max(engine.config.maxSandboxBytes, row.bytes ?? 0) + SLACK_BYTES;
}

/** The same of its file (`''`) or a log, whose file may have so many bytes. */
export function mostOf(part: string, fileBytes: number): number {
  return part === '' ? fileBytes : LOG_FACTOR * fileBytes;
}

/** What is wrong with what lies in a live folder under the name of a file of the sandbox; null when nothing is. */
function complaintOf(stat: BigIntStats, name: string, folderOwner: number, most: number): Complaint | null {
  if (!stat.isFile()) return { what: kindOf(stat), isKept: false };
  // Removed in any case, and read by nobody.
  if (name === SHIPPED_MARK) return null;
  const owner = Number(stat.uid);
  const isOwn = owner === folderOwner || (folderOwner === 0 && isUserOfWorkers(owner));
  // Whoever has a user of its own makes no file of another's: it linked one.
  if (!isOwn) return { what: 'a file of another user', isKept: !isUserOfWorkers(folderOwner) };
  if (stat.nlink !== 1n) return { what: 'a file with more than one name', isKept: true };
  if (stat.size <= BigInt(mostOf(name.slice('vfs.sqlite'.length), most))) return null;
  return { what: `a file of ${stat.size} bytes, more than a sandbox can have`, isKept: true };
}

function kindOf(stat: BigIntStats): string {
  if (stat.isSymbolicLink()) return 'a link to another file';
  if (stat.isDirectory()) return 'a folder';
  if (stat.isFIFO()) return 'a pipe';
  return stat.isSocket() ? 'a socket' : 'a device';
}

/**
 * At the start, before anything in the live drawer is opened: finishes landings that were killed in the middle.
 * Nothing else may run.
 */
export async function finishLandings(engine: LandingContext): Promise<void> {
  const { dataFolder } = engine.config;
  const landing = landingFolder(dataFolder);
  const found = isFolderNow(landing) ? [...namesIn(landing)] : [];
  for (const name of found) {
    const path = join(landing, name);
    const id = landedId(name);
    if (id !== null) await takeOut(dataFolder, path, id);
    removeLater(path);
  }
}

/** Takes the files of a sandbox out of what was its live folder, where its live folder has none. */
async function takeOut(dataFolder: string, path: string, id: string): Promise<void> {
  const live = join(dataFolder, 'live');
  const folder = join(live, id);
  if (!isFolderNow(path) || isThereNow(join(folder, 'vfs.sqlite'))) return;
  const files = KEPT_NAMES.filter((name) => lookAtNow(join(path, name))?.isFile());
  if (files.length === 0) return;
  makeFolderNow(folder);
  takeOwn(path, folder, files);
  await syncFolder(folder);
  await syncFolder(live);
}
