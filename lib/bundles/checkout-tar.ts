/**
 * A checkout: the workspace as a tar, for people and git. No entry or link points outside the folder that it is
 * unpacked in, and git takes no command from it: what stays out is listed in its last file. Reads a VFS file at rest,
 * one file at a time; knows nothing of compression or HTTP.
 */
import type { DatabaseSync } from 'node:sqlite';
import { sqlFor } from '../native/file/presented-rows.ts';
import { contentBytes } from '../vfs/table-reader.ts';
import { rowsOf, surveyWorkspace, type WorkspaceRow, type WorkspaceSurvey } from './checkout-survey.ts';
import { IGNORE_FILE, ignoreFile } from './gitignore.ts';
import { leftOutList, listName } from './left-out.ts';
import { TAR_END, tarEntry } from './tar-records.ts';

/** Entries are joined up to this size. */
const PIECE_BYTES = 128 * 1024;
const FILE_MODE = 0o644;
const DIRECTORY_MODE = 0o755;
const PERMISSIONS = 0o777;
/** Mount point of the workspace in a sandbox. Absolute links into it become relative. */
const MOUNT = '/workspace';

/** Larger contents are read in pieces: only real programs have them. */
const LARGE_BYTES = 64 * 1024 * 1024;
const PART_BYTES = 32 * 1024 * 1024;

interface Content {
  bytes: Buffer | { length: number; pieces: Iterable<Buffer> };
  mtime: number | null;
}

/**
 * The tar of the workspace in pieces, each made when it is asked for. Small entries come together in one piece: 20 000
 * of them would else cross every stream behind this one by themselves. `plain`: no `.gitignore` and no list of what was
 * left out but those that the workspace has.
 */
export function* checkoutTar(
  db: DatabaseSync,
  { survey = surveyWorkspace(db), plain = false }: { survey?: WorkspaceSurvey; plain?: boolean } = {},
): Generator<Buffer> {
  let pieces: Buffer[] = [];
  let size = 0;
  for (const piece of entriesOf(db, survey, plain)) {
    pieces.push(piece);
    size += piece.length;
    if (size < PIECE_BYTES) continue;
    // A large content goes on as it is; what came before it is joined.
    const last = piece.length < PIECE_BYTES ? null : (pieces.pop() ?? null);
    if (pieces.length > 0) yield Buffer.concat(pieces);
    if (last !== null) yield last;
    pieces = [];
    size = 0;
  }
  yield Buffer.concat([...pieces, TAR_END]);
}

function* entriesOf(db: DatabaseSync, survey: WorkspaceSurvey, plain: boolean): Generator<Buffer> {
  const prepared = (columns: string) =>
    db.prepare(sqlFor(db, `SELECT ${columns} FROM vfs WHERE volume = 'workspace' AND path = ?`));
  const size = 'octet_length(content)';
  const file = prepared(`CASE WHEN ${size} <= ${LARGE_BYTES} THEN content END AS content, ${size} AS size, mtime`);
  const part = prepared('substr(CAST(content AS BLOB), ?, ?) AS content');
  const bytesOf = (content: unknown) => {
    const { buffer, byteOffset, byteLength } = contentBytes(content ?? null);
    return Buffer.from(buffer, byteOffset, byteLength);
  };
  const read = (path: string): Content => {
    const { content, size: length, mtime: time } = file.get(path) ?? {};
    const mtime = typeof time === 'number' ? time : null;
    if (typeof length !== 'number' || length <= LARGE_BYTES) return { bytes: bytesOf(content), mtime };
    const pieces = function* () {
      for (let at = 1; at <= length; at += PART_BYTES) yield bytesOf(part.get(at, PART_BYTES, path)?.content);
    };
    return { bytes: { length, pieces: pieces() }, mtime };
  };
  const { leftOut, topFolders } = survey;
  for (const row of rowsOf(db)) {
    if (survey.staysOut(row)) continue;
    if (!plain && row.path === `/${IGNORE_FILE}` && row.kind !== 'dir') continue;
    yield* entryOf(row, read);
  }
  if (plain) return;
  const list = leftOut.size === 0 ? null : listName(survey.top);
  if (!topFolders.has(IGNORE_FILE)) {
    const own = survey.ignores ? wholeOf(read(`/${IGNORE_FILE}`)) : null;
    yield* tarEntry(fileEntry(IGNORE_FILE), ignoreFile(own, topFolders, list));
  }
  if (list !== null) yield* tarEntry(fileEntry(list), leftOutList(leftOut));
}

/** One that is too large to be an ignore file counts as none. */
function wholeOf({ bytes }: Content): Buffer | null {
  return 'pieces' in bytes ? null : bytes;
}

const fileEntry = (name: string) => ({ name, mode: FILE_MODE, mtime: 0, kind: 'file' }) as const;

function* entryOf(row: WorkspaceRow, read: (path: string) => Content): Generator<Buffer> {
  const name = row.path.slice(1);
  const permissions = (fallback: number) => (row.mode ?? fallback) & PERMISSIONS;
  const mtime = seconds(row.mtime);
  if (row.kind === 'dir') {
    if (name !== '') yield* tarEntry({ name: `${name}/`, mode: permissions(DIRECTORY_MODE), mtime, kind: 'directory' });
    return;
  }
  if (row.kind === 'file') {
    const content = read(row.path);
    const entry = { name, mode: permissions(FILE_MODE), mtime: seconds(content.mtime), kind: 'file' } as const;
    yield* tarEntry(entry, content.bytes);
    return;
  }
  const target = safeLinkTarget(row.path, row.target ?? '');
  if (target !== null) yield* tarEntry({ name, mode: PERMISSIONS, mtime, kind: 'link', target });
  // A link out of the tree becomes a file with its target, as git makes one where there are no links.
  else yield* tarEntry({ name, mode: FILE_MODE, mtime, kind: 'file' }, Buffer.from(row.target ?? ''));
}

function seconds(mtime: number | null): number {
  return Math.max(0, Math.floor(mtime ?? 0));
}

/**
 * The target of a link in the checkout, or null when it may point outside. `..` is allowed only at the beginning of a
 * target, and at most up to the top: after a name, which may be another link, `..` can lead anywhere.
 */
export function safeLinkTarget(path: string, target: string): string | null {
  const depth = path.split('/').length - 2;
  if (target === MOUNT || target.startsWith(`${MOUNT}/`)) {
    const inner = target.slice(MOUNT.length + 1);
    return safeLinkTarget(path, `${'../'.repeat(depth)}${inner}` || '.');
  }
  if (target.startsWith('/') || target.includes('\0') || target === '') return null;
  const segments = target.split('/').filter((segment) => segment !== '' && segment !== '.');
  const climbs = segments.findIndex((segment) => segment !== '..');
  const up = climbs === -1 ? segments.length : climbs;
  if (up > depth || segments.slice(up).includes('..')) return null;
  return target;
}
