/** Rows of instances against the files of their keys: missing, elsewhere, changed, with a log beside them, without a row. */
import { join } from 'node:path';
import type { InstanceRow } from '../registry/registry.ts';
import type { RegistryFile } from '../registry/registry-file.ts';
import { livePath, MEMORY } from '../sessions/engine.ts';
import { isRecorded, sameStamp } from '../sessions/trust.ts';
import type { FileStamp } from '../storage/drawer.ts';
import { stampOf } from '../storage/files.ts';
import { type KeptFile, namesIn } from '../storage/inventory.ts';
import type { Readers } from '../vfs/read.ts';
import type { Examined, Finding, Orphan } from './findings.ts';

export interface Files {
  kept: KeptFile[];
  /** Those of sandboxes, by their key. */
  byKey: Map<string, KeptFile[]>;
  /** By the id that they were set aside under, newest first. */
  orphans: Map<string, Orphan[]>;
}

export interface Looking {
  dataFolder: string;
  /** Null: there is none, or it cannot be read. */
  registry: RegistryFile | null;
  files: Files;
  readers: Readers | null;
  examined: Examined;
  find(finding: Finding): void;
}

const PAGE = 500;
const LISTING = '.json';

/** Looks at every row, then at what no row has asked for. */
export async function examineRows(looking: Looking): Promise<void> {
  const { registry, files, examined, find, dataFolder } = looking;
  const archived = new Set<string>();
  const seen = new Set<string>();
  for (let after: string | null = ''; after !== null && registry !== null; ) {
    const rows: InstanceRow[] = registry.rows(after, PAGE);
    for (const row of rows) {
      examined.looked.rows += 1;
      seen.add(row.id);
      if (row.state === 'archived') archived.add(row.id);
      await examineRow(looking, row);
    }
    after = rows.length < PAGE ? null : (rows.at(-1)?.id ?? null);
  }
  const marks = registry?.marks() ?? new Set<string>();
  for (const [key, kept] of files.byKey) {
    if (seen.has(key)) continue;
    const [first, ...others] = kept;
    if (first === undefined) continue;
    if (marks.has(first.path)) {
      find({
        kind: 'file.marked',
        weight: 'note',
        way: null,
        about: key,
        path: first.path,
        says: 'what was landing here got no row: the next start removes it',
      });
      continue;
    }
    examined.adoptable.push(first);
    find({
      kind: 'file.unnamed',
      weight: 'wrong',
      way: 'adopt',
      about: key,
      path: first.path,
      says: `no row names this file${alsoIn(others)}`,
    });
  }
  for (const [id, [newest, ...older]] of files.orphans) {
    if (newest === undefined || seen.has(id) || files.byKey.has(id)) continue;
    examined.adoptable.push(newest);
    find({
      kind: 'orphan.unnamed',
      weight: 'note',
      way: 'adopt',
      about: id,
      path: newest.path,
      says: `set aside ${new Date(newest.setAsideMs).toISOString()}, and no row has that id${alsoIn(older)}`,
    });
  }
  for (const name of namesIn(join(dataFolder, 'archive'))) {
    const id = name.endsWith(LISTING) ? name.slice(0, -LISTING.length) : null;
    if (id === null || archived.has(id) || files.byKey.get(id)?.some(({ drawer }) => drawer === 'archive')) continue;
    find({
      kind: 'listing.left',
      weight: 'note',
      way: null,
      about: id,
      path: `archive/${name}`,
      says: 'a listing of what is not archived: the next start removes it',
    });
  }
}

async function examineRow(looking: Looking, row: InstanceRow): Promise<void> {
  const { dataFolder, files, find } = looking;
  const { id, vfsPath } = row;
  const mine = files.byKey.get(id) ?? [];
  const tell = (kind: string, weight: Finding['weight'], says: string, way: Finding['way'] = null, path = vfsPath) =>
    find({ kind, weight, way, about: id, path, says });
  if (row.pending !== null) {
    return tell('row.pending', 'note', `${row.pending.verb} was under way: a start settles it by looking at the file`);
  }
  if (row.fault !== null) tell('row.fault', 'note', `fault ${row.fault}: ${row.faultReason}`);
  if (vfsPath === MEMORY) return;
  const others = mine.filter(({ path }) => path !== vfsPath);
  if (row.state === 'deleted') {
    for (const { path } of others)
      tell('file.of_deleted', 'note', 'the sandbox was deleted: a start sets this file aside', null, path);
    return;
  }
  const stamp = vfsPath === null ? null : stampOf(join(dataFolder, vfsPath));
  const ofItself = vfsPath !== null && mine.some(({ path }) => path === vfsPath);
  if (row.state === 'created' && !ofItself) {
    // Never resumed, as far as this registry knows: a newer one knew more.
    const [other] = others;
    if (other !== undefined) {
      looking.examined.adoptable.push(other);
      tell('row.elsewhere', 'wrong', `the row was never resumed, but there is a file of it at ${other.path}`, 'adopt');
    }
    if (vfsPath !== null && stamp === null) tell('row.missing', 'wrong', 'the copy that it was made from is not there');
    return;
  }
  if (vfsPath === null) return;
  if (stamp === null) return examineMissing(looking, row, others, tell);
  const isPrefetched = row.state === 'archived' && vfsPath === livePath(id);
  for (const other of others) {
    if (isPrefetched && other.drawer === 'archive') continue;
    tell(
      'file.second',
      'note',
      'the row names another file of this sandbox: a start sets this one aside',
      null,
      other.path,
    );
  }
  if (row.state !== 'active') await examineResting(looking, row, stamp, tell);
}

type Tell = (kind: string, weight: Finding['weight'], says: string, way?: Finding['way'], path?: string | null) => void;

/** The file is not where the row says: where is it? */
function examineMissing(looking: Looking, row: InstanceRow, others: KeptFile[], tell: Tell): void {
  const [other, ...further] = others;
  if (other !== undefined) {
    const stamp = stampOf(join(looking.dataFolder, other.path));
    // Whether it is the one is for its hash or its identity to say, when something is done about it.
    const isSame = stamp !== null && stamp.size === row.file?.size;
    looking.examined.adoptable.push(other);
    const size = isSame ? 'with the size that was recorded' : 'and not with the size that was recorded';
    tell(
      'row.elsewhere',
      'wrong',
      `its file is not there, but one lies at ${other.path}, ${size}${alsoIn(further)}`,
      isSame ? 'fix' : 'adopt',
    );
    return;
  }
  const [newest, ...older] = looking.files.orphans.get(row.id) ?? [];
  if (newest !== undefined) {
    looking.examined.adoptable.push(newest);
    tell(
      'row.elsewhere',
      'wrong',
      `its file is not there, but one was set aside as ${newest.path}${alsoIn(older)}`,
      'adopt',
    );
    return;
  }
  tell(
    'row.missing',
    'wrong',
    'its file is not there, nor under its key in any other drawer: restore it from a backup',
  );
}

async function examineResting(looking: Looking, row: InstanceRow, stamp: FileStamp, tell: Tell): Promise<void> {
  const path = join(looking.dataFolder, row.vfsPath ?? '');
  const { file: recorded } = row;
  for (const suffix of ['-wal', '-journal']) {
    if ((stampOf(path + suffix)?.size ?? 0) === 0 || recorded?.unsettled === true) continue;
    tell(
      'row.log',
      'wrong',
      'a log lies beside a file at rest, where none is: it is not its own',
      'fix',
      `${row.vfsPath}${suffix}`,
    );
  }
  if (recorded === null) return;
  if (recorded.quickCheck !== null && recorded.quickCheck !== 'ok') {
    tell('row.corrupt', 'wrong', `its structure was found damaged: ${recorded.quickCheck.slice(0, 200)}`);
  }
  if (recorded.unsettled === true) return;
  if (looking.readers !== null) return examineBytes(looking, row, path, stamp, tell);
  if (sameStamp(stamp, recorded)) return;
  if (stamp.size !== recorded.size) {
    tell('row.changed', 'wrong', `the file has ${stamp.size} bytes, ${recorded.size} were filed`);
  } else {
    tell(
      'row.touched',
      'note',
      'the file has not the inode or times that were recorded, as after a copy of the folder: the next wake hashes it first; --full does now',
    );
  }
}

async function examineBytes(
  looking: Looking,
  row: InstanceRow,
  path: string,
  stamp: FileStamp,
  tell: Tell,
): Promise<void> {
  const packed = row.vfsPath?.endsWith('.zst') === true;
  const found = await looking.readers?.check(path, { packed });
  if (found === undefined) return;
  looking.examined.looked.hashed += 1;
  if (found.quickCheck !== 'ok')
    tell('row.corrupt', 'wrong', `its structure is damaged: ${found.quickCheck.slice(0, 200)}`);
  else if (row.file !== null && !isRecorded(row.file, stamp, found)) {
    const filed = row.file.sha256 === null ? `${row.file.size} bytes` : `SHA-256 ${row.file.sha256}`;
    tell(
      'row.changed',
      'wrong',
      `it is not the file that was filed: ${filed} then, ${stamp.size} bytes, SHA-256 ${found.sha256} now`,
    );
  }
}

function alsoIn(others: readonly { path: string }[]): string {
  return others.length === 0 ? '' : ` (also ${others.map(({ path }) => path).join(', ')})`;
}
