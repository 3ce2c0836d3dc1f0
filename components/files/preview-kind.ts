/**
 * Chooses how a part of a file is shown, from its bytes and its name: code, Markdown, JSON, table,
 * database, image or hex. Pure.
 */
import papaparse from 'papaparse';
import { extensionOf, languageOf } from './file-language.ts';
import { type JsonNode, jsonTree } from './json-tree.ts';

/** How many bytes of a file a page reads at a time. */
export const PART_BYTES = 64 * 1024;
const HEX_BYTES = 4096;
const HEX_ROW = 16;
const MAX_LINES = 2000;
const MAX_ROWS = 200;
const MAX_COLUMNS = 40;

export interface TablePreview {
  head: string[];
  rows: string[][];
  /** Rows in this part, without the header. */
  rowsThere: number;
  columnsThere: number;
}

type Shown =
  | { kind: 'empty' }
  | { kind: 'image' }
  | { kind: 'database' }
  | { kind: 'code'; text: string; language: string | null }
  | { kind: 'markdown'; text: string }
  | { kind: 'json'; root: JsonNode }
  | ({ kind: 'table' } & TablePreview)
  | { kind: 'hex'; rows: { offset: string; hex: string; text: string }[] };

export type PreviewKind = Shown & {
  /** How many bytes of the part are shown; the next part begins after them. */
  bytes: number;
  /** Whether the visitor can switch between rendered and source. */
  twofold: boolean;
};

export interface PreviewPart {
  path: string;
  bytes: Uint8Array;
  /** The offset of the bytes in the file. */
  from: number;
  /** Bytes of the whole file. */
  size: number;
  /** The visitor asked for the source of a file that would be rendered. */
  source: boolean;
}

/** Image types that cannot run scripts; the API serves the same ones with their own type. */
const IMAGES: readonly string[] = ['avif', 'gif', 'jpeg', 'jpg', 'png', 'webp'];

export function isImage(path: string): boolean {
  return IMAGES.includes(extensionOf(path));
}

/** Whether a file that begins with these bytes is a SQLite database. */
export function isDatabaseFile(bytes: Uint8Array): boolean {
  return new TextDecoder('latin1').decode(bytes.subarray(0, 16)) === 'SQLite format 3\0';
}

/** Bytes at the end that begin a character that the part does not complete. */
function cutSign(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) return 0;
    if (byte >= 0xc0) return back < (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) ? back : 0;
  }
  return 0;
}

/** Bytes at the beginning that end a character of the part before. */
function headless(bytes: Uint8Array): number {
  const start = bytes.subarray(0, 4).findIndex((byte) => byte < 0x80 || byte >= 0xc0);
  return Math.max(0, start);
}

/** The bytes decoded as UTF-8, or null when they are not text. */
export function decodeText(bytes: Uint8Array): string | null {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return /[\0-\x08\x0e-\x1a\x1c-\x1f]/.test(text) ? null : text;
  } catch {
    // Fatal decoding throws when the bytes are not text.
    return null;
  }
}

/** As much of a text as a page shows: not too many lines, and whole ones where the file goes on. */
function wholeLines(text: string, last: boolean): string {
  let end = text.length;
  let at = -1;
  for (let line = 0; line < MAX_LINES; line += 1) {
    at = text.indexOf('\n', at + 1);
    if (at === -1) break;
  }
  if (at !== -1) end = at + 1;
  else if (!last) end = text.lastIndexOf('\n') + 1 || text.length;
  return text.slice(0, end);
}

function hexRows(bytes: Uint8Array, from: number) {
  const rows = [];
  for (let at = 0; at < bytes.length; at += HEX_ROW) {
    const row = [...bytes.subarray(at, at + HEX_ROW)];
    rows.push({
      offset: (from + at).toString(16).padStart(6, '0'),
      hex: row.map((byte) => byte.toString(16).padStart(2, '0')).join(' '),
      text: row.map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '·')).join(''),
    });
  }
  return rows;
}

/** Comma- or tab-separated values as a table with a header row; null when it is not one. */
export function parseTable(text: string, tabs: boolean): TablePreview | null {
  const { data } = papaparse.parse<string[]>(text, { delimiter: tabs ? '\t' : '', skipEmptyLines: 'greedy' });
  const columnsThere = Math.max(0, ...data.map((row) => row.length));
  const [head, ...rows] = data;
  if (head === undefined || columnsThere === 0) return null;
  const columns = Math.min(columnsThere, MAX_COLUMNS);
  const even = (row: readonly string[]) => Array.from({ length: columns }, (_, index) => row[index] ?? '');
  return { head: even(head), rows: rows.slice(0, MAX_ROWS).map(even), rowsThere: rows.length, columnsThere };
}

/** The rendered form of a text, or null. Markdown and JSON need the whole file. */
function rendered(path: string, text: string, part: PreviewPart): Shown | null {
  const extension = extensionOf(path);
  const complete = part.from === 0 && part.bytes.length >= part.size;
  if ((extension === 'md' || extension === 'markdown') && part.from === 0) return { kind: 'markdown', text };
  if (extension === 'json' && complete) {
    const root = jsonTree(text);
    return root === null ? null : { kind: 'json', root };
  }
  if ((extension === 'csv' || extension === 'tsv') && part.from === 0) {
    const table = parseTable(text, extension === 'tsv');
    return table === null ? null : { kind: 'table', ...table };
  }
  return null;
}

/** Chooses how to show a part of a file. */
export function previewOf(part: PreviewPart): PreviewKind {
  const { path, from, size, source } = part;
  if (size === 0) return { kind: 'empty', bytes: 0, twofold: false };
  if (isImage(path)) return { kind: 'image', bytes: size, twofold: false };
  const database = from === 0 && isDatabaseFile(part.bytes);
  if (database && !source) return { kind: 'database', bytes: size, twofold: true };
  const last = from + part.bytes.length >= size;
  const skipped = from > 0 ? headless(part.bytes) : 0;
  const bytes = part.bytes.subarray(0, part.bytes.length - (last ? 0 : cutSign(part.bytes)));
  const text = decodeText(bytes.subarray(skipped));
  if (text === null) {
    const seen = part.bytes.subarray(0, HEX_BYTES);
    return { kind: 'hex', rows: hexRows(seen, from), bytes: seen.length, twofold: database };
  }
  const shown = wholeLines(text, last);
  const all = shown.length === text.length;
  const other = rendered(path, all ? text : shown, part);
  const shownBytes = all ? bytes.length : skipped + new TextEncoder().encode(shown).length;
  if (other !== null && !source && (other.kind !== 'json' || all))
    return { ...other, bytes: shownBytes, twofold: true };
  return { kind: 'code', text: shown, language: languageOf(path), bytes: shownBytes, twofold: other !== null };
}

/** The offset of the part before `from`, for a file shown as `kind`. */
export function partBefore(from: number, kind: PreviewKind['kind']): number {
  return Math.max(0, from - (kind === 'hex' ? HEX_BYTES : PART_BYTES));
}

/** The offset of a line (the first is 1); null when there are fewer. */
export function startOfLine(bytes: Uint8Array, line: number): number | null {
  let at = 0;
  for (let passed = 1; passed < line; passed += 1) {
    const end = bytes.indexOf(0x0a, at);
    if (end === -1) return null;
    at = end + 1;
  }
  return at;
}

/** The number of line ends in the bytes. */
export function lineEnds(bytes: Uint8Array): number {
  let count = 0;
  for (let at = bytes.indexOf(0x0a); at !== -1; at = bytes.indexOf(0x0a, at + 1)) count += 1;
  return count;
}

/** Text that can be edited and saved unchanged otherwise: all its line ends are the same. Null where they are mixed. */
export function editable(text: string): { text: string; lineEnd: '\n' | '\r\n' } | null {
  const windows = text.includes('\r\n');
  const plain = text.replaceAll('\r\n', '\n');
  if (plain.includes('\r')) return null;
  if (windows && plain.replaceAll('\n', '\r\n') !== text) return null;
  return { text: plain, lineEnd: windows ? '\r\n' : '\n' };
}
