/** Rows of instances against the files of their keys: missing, elsewhere, changed, with a log beside them. */
import type { InstanceRow } from '../registry/types.ts';
import { livePath, MEMORY } from '../sandboxes/engine.ts';
import { findFileAt, localAddressOf } from '../sandboxes/files/file-locations.ts';
import { matchesRecord, stampAt } from '../sandboxes/files/file-verification.ts';
import { storedOfFiling } from '../sandboxes/store/bring.ts';
import type { RestingFile } from '../storage/drawer.ts';
import type { KeptFile } from '../storage/inventory.ts';
import { type FileStamp, sameStamp } from '../storage/stamp.ts';
import type { Examination, ExaminedRows } from './examination.ts';
import { alsoIn, type Finding } from './findings.ts';

const PAGE = 500;
const COPY_CHANGED = 'the cached copy of what is in the store was changed: the next use verifies it, or brings another';

/** Examines every row. Returns all ids, and those of archived sandboxes. */
export async function examineRows(looking: Examination): Promise<ExaminedRows> {
  const { registry, examined, onlyOf } = looking;
  const archived = new Set<string>();
  const seen = new Set<string>();
  for (let after: string | null = ''; after !== null && registry !== null; ) {
    const rows: InstanceRow[] = await registry.rows(after, PAGE);
    for (const row of rows) {
      examined.looked.rows += 1;
      seen.add(row.id);
      if (row.state === 'archived') archived.add(row.id);
      // Its file is on the disk of another host.
      if (onlyOf !== null && row.ownerHost !== null && row.ownerHost !== onlyOf) continue;
      await examineRow(looking, row);
    }
    after = rows.length < PAGE ? null : (rows.at(-1)?.id ?? null);
  }
  return { seen, archived };
}

async function examineRow(looking: Examination, row: InstanceRow): Promise<void> {
  const { files, find } = looking;
  const { id, vfsPath } = row;
  const mine = files.byKey.get(id) ?? [];
  const tell = (kind: string, weight: Finding['weight'], says: string, way: Finding['way'] = null, path = vfsPath) =>
    find({ kind, weight, way, about: id, path, says });
  if (row.pending !== null) {
    return tell('row.pending', 'note', `${row.pending.verb} was under way: a start settles it by looking at the file`);
  }
  if (row.fault !== null) {
    // A damaged or lost file is known to the registry, and nothing that only looks at files may hide it.
    const weight = row.fault === 'corrupt' || row.fault === 'missing' ? 'wrong' : 'note';
    tell('row.fault', weight, `fault ${row.fault}: ${row.faultReason}`);
  }
  if (vfsPath === MEMORY) return;
  // Of a file in the store there may be a cached copy.
  const address = localAddressOf(looking, vfsPath);
  const others = mine.filter(({ path }) => path !== address);
  if (row.state === 'deleted') {
    for (const { path } of others)
      tell('file.of_deleted', 'note', 'the sandbox was deleted: a start sets this file aside', null, path);
    return;
  }
  const file = vfsPath === null ? null : findFileAt(looking, id, vfsPath);
  const stamp = file === null ? null : await stampAt(file);
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
  if (file === null || stamp === null) {
    // The store has it; whether it really does is not asked here.
    if (storedOfFiling(row) !== null && others.length === 0) return;
    return examineMissing(looking, row, others, tell);
  }
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
  if (row.state !== 'active') await examineResting(looking, row, { file, stamp }, tell);
}

type Tell = (kind: string, weight: Finding['weight'], says: string, way?: Finding['way'], path?: string | null) => void;

/** The file is not where the row says: where is it? */
async function examineMissing(looking: Examination, row: InstanceRow, others: KeptFile[], tell: Tell): Promise<void> {
  const [other, ...further] = others;
  if (other !== undefined) {
    const stat = (await findFileAt(looking, row.id, other.path)?.stat()) ?? null;
    // Whether it is the one is for its hash or its identity to say, when something is done about it.
    const isSame = stat !== null && stat.size === row.file?.size;
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

interface FileAtRest {
  file: RestingFile;
  stamp: FileStamp;
}

async function examineResting(
  looking: Examination,
  row: InstanceRow,
  { file, stamp }: FileAtRest,
  tell: Tell,
): Promise<void> {
  const { file: recorded } = row;
  for (const { part, size } of await file.neighbours()) {
    if (part === '-shm' || (size ?? 0) === 0 || recorded?.unsettled === true) continue;
    tell(
      'row.log',
      'wrong',
      'a log lies beside a file at rest, where none is: it is not its own',
      'fix',
      `${file.address}${part}`,
    );
  }
  if (recorded === null) return;
  if (recorded.quickCheck !== null && recorded.quickCheck !== 'ok') {
    tell('row.corrupt', 'wrong', `its structure was found damaged: ${recorded.quickCheck.slice(0, 200)}`);
  }
  if (recorded.unsettled === true) return;
  if (looking.readers !== null) return examineBytes(looking, row, { file, stamp }, tell);
  if (sameStamp(stamp, recorded)) return;
  if (storedOfFiling(row) !== null) {
    tell('row.copy_changed', 'note', COPY_CHANGED);
    return;
  }
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
  looking: Examination,
  row: InstanceRow,
  { file, stamp }: FileAtRest,
  tell: Tell,
): Promise<void> {
  const { readers } = looking;
  if (readers === null) return;
  const found = await file.read((path) => readers.check(path, { packed: file.packed }));
  looking.examined.looked.hashed += 1;
  const stored = storedOfFiling(row);
  if (stored !== null && found.sha256 !== stored.sha256) return tell('row.copy_changed', 'note', COPY_CHANGED);
  if (found.quickCheck !== 'ok')
    tell('row.corrupt', 'wrong', `its structure is damaged: ${found.quickCheck.slice(0, 200)}`);
  else if (row.file !== null && !matchesRecord(row.file, stamp, found)) {
    const filed = row.file.sha256 === null ? `${row.file.size} bytes` : `SHA-256 ${row.file.sha256}`;
    tell(
      'row.changed',
      'wrong',
      `it is not the file that was filed: ${filed} then, ${stamp.size} bytes, SHA-256 ${found.sha256} now`,
    );
  }
}
