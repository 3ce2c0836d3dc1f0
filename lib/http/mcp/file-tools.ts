/**
 * Tools on the files of a sandbox. Paths are those of its shell: `/workspace/notes.md`, or `notes.md` for the same.
 * Reads wake nothing; writes wake what sleeps.
 */
import { isUtf8 } from 'node:buffer';
import { z } from 'zod';
import { isWinterdockError, WinterdockError } from '../../base/errors.ts';
import type { InstanceId } from '../../base/ids.ts';
import {
  momentsQuerySchema,
  momentTimeSchema,
  type PastQuery,
  searchQuerySchema,
  sqlSchema,
} from '../../contract/schema.ts';
import type { FileContent } from '../../operations/file-reads.ts';
import { type FilePlace, filePlaceOf, shellPath, throwHinted } from './places.ts';
import { sandboxId } from './sandbox-tools.ts';
import {
  cutInMiddle,
  fitting,
  fittingPage,
  type McpTool,
  mcpTool,
  READ_HINTS,
  SHOWN_TEXT,
  type ToolContext,
} from './tool.ts';

/** The largest file that is read as lines or edited: it is held whole. */
const MAX_TEXT_BYTES = 4 * 1024 * 1024;
const EDIT_ATTEMPTS = 3;

const path = z
  .string()
  .min(1)
  .max(2000)
  .describe('As in the shell: `/workspace/notes.md`, or `notes.md` for the same.');
/** Seconds since the epoch. A time that is none is the caller's mistake, and not the number that it could mean. */
const at = momentTimeSchema.optional().describe('What was there then, in seconds since the epoch, and not what is.');
const content = z
  .string()
  .refine((text) => text.isWellFormed(), 'must be whole characters: half a surrogate pair is none');

/** A file as text. Throws `too_large` for one that is not held whole, and `validation` for bytes that are no text. */
async function textOf(
  context: ToolContext,
  id: InstanceId,
  at: FilePlace,
  past: PastQuery = {},
): Promise<{ text: string; stat: FileContent['stat'] }> {
  const shown = shellPath(at.volume, at.path);
  const range = { start: 0, end: MAX_TEXT_BYTES - 1 };
  const { stat, content: bytes } = await context.operations
    .file(context.caller, id, at.volume, at.path, range, past)
    .catch((error: unknown) => throwHinted(context, id, at, error));
  if (stat.size > MAX_TEXT_BYTES) {
    throw new WinterdockError('too_large', `${shown} has ${stat.size} bytes: too many to be handled as one text.`, {
      hint: `Use winterdock_exec: sed -n '1,200p' ${shown}, grep, head -c or sed -i.`,
      extra: { size: stat.size, limit: MAX_TEXT_BYTES },
    });
  }
  if (!isUtf8(bytes)) {
    throw new WinterdockError('validation', `${shown} is not text in UTF-8: it has ${stat.size} bytes.`, {
      hint: `Use winterdock_exec: file, xxd or base64 ${shown}.`,
    });
  }
  return { text: Buffer.from(bytes).toString('utf8'), stat };
}

/** How often a piece is in a text. */
function countOf(text: string, piece: string): number {
  let found = 0;
  for (let at = text.indexOf(piece); at >= 0; at = text.indexOf(piece, at + piece.length)) found += 1;
  return found;
}

/**
 * The text with the replacement. Throws `conflict` when the old one is not there, or there more than once, and
 * `too_large` before a text is made that could not be read again.
 */
function edited(text: string, { old_text, new_text, all }: { old_text: string; new_text: string; all: boolean }) {
  const found = countOf(text, old_text);
  if (found === 0) {
    throw new WinterdockError('conflict', 'The file does not contain `old_text`.', {
      hint: 'Read the file again and copy the text exactly, with its spaces and line ends.',
    });
  }
  if (found > 1 && !all) {
    throw new WinterdockError('conflict', `The file contains \`old_text\` ${found} times.`, {
      hint: 'Give more of the lines around it, so that it is there once, or `all: true`.',
      extra: { found },
    });
  }
  const size = text.length + found * (new_text.length - old_text.length);
  if (size > MAX_TEXT_BYTES) {
    throw new WinterdockError('too_large', `The file would have ${size} characters: too many for an edit.`, {
      hint: 'Use winterdock_exec with sed -i, or winterdock_write_file.',
      extra: { size, limit: MAX_TEXT_BYTES },
    });
  }
  return { text: text.replaceAll(old_text, () => new_text), replaced: found };
}

/** Lines `from` to `from + count` of a text, as many as one answer shows. */
function linesOf(text: string, from: number, count: number) {
  const lines = text.split('\n');
  const isEnded = lines.at(-1) === '';
  const total = lines.length - (isEnded ? 1 : 0);
  const wanted = lines.slice(from - 1, from - 1 + count);
  let size = 0;
  let shown = 0;
  for (const line of wanted) {
    size += line.length + 1;
    if (size > SHOWN_TEXT && shown > 0) break;
    shown += 1;
  }
  const last = Math.min(from + shown - 1, total);
  const cut = cutInMiddle(wanted.slice(0, shown).join('\n'));
  return { text: cut.text, cut: cut.cut, total, last, next: last < total ? last + 1 : null };
}

export const fileTools: readonly McpTool[] = [
  mcpTool({
    name: 'winterdock_list_moments',
    title: 'List moments',
    description:
      'Lists the moments of the past at which a sandbox can be read, the newest first: each commit of the last day, then coarser, and those with a name. Give one as `at` to the tools that read files. Wakes nothing.',
    input: z.strictObject({
      id: sandboxId,
      around: momentTimeSchema.optional().describe('Those next to this time, in seconds since the epoch.'),
      limit: momentsQuerySchema.shape.limit.default(20).describe('How many, at most: 1 to 500.'),
    }),
    operation: 'moments',
    hints: READ_HINTS,
    async run({ operations, caller }, { id, ...query }) {
      const moments = await operations.moments(caller, id, query);
      const shown = moments.map(({ time_ms: ms, name, ...moment }) => ({
        at: ms / 1000,
        time: new Date(ms).toISOString(),
        ...moment,
        ...(name === null ? {} : { name }),
      }));
      const { items, cut } = fitting(shown);
      return { facts: { moments: items, moments_cut: cut } };
    },
  }),
  mcpTool({
    name: 'winterdock_read_file',
    title: 'Read a file',
    description:
      'Reads a text file, by lines. `next_line` of the answer, when it is not null, is where to go on. Wakes nothing. For bytes that are no text, and for files over 4 MiB, use winterdock_exec.',
    input: z.strictObject({
      id: sandboxId,
      path,
      from_line: z.int().min(1).max(100_000_000).default(1).describe('The first line, counted from 1.'),
      lines: z.int().min(1).max(10_000).default(1000).describe('How many lines, at most.'),
      at,
    }),
    operation: 'file',
    hints: READ_HINTS,
    async run(context, input) {
      const place = filePlaceOf(input.path);
      const { text, stat } = await textOf(context, input.id, place, { at: input.at });
      const { text: shown, cut, total, last, next } = linesOf(text, input.from_line, input.lines);
      return {
        facts: {
          path: shellPath(place.volume, place.path),
          bytes: stat.size,
          lines: total,
          from_line: input.from_line,
          to_line: last,
          next_line: next,
          ...(cut === 0 ? {} : { characters_cut: cut }),
          texts: ['content'],
        },
        texts: [shown],
      };
    },
  }),
  mcpTool({
    name: 'winterdock_write_file',
    title: 'Write a file',
    description:
      'Writes a whole file, and makes the folders above it. What was there is replaced. To change a part of a file use winterdock_edit_file.',
    input: z.strictObject({
      id: sandboxId,
      path,
      content: content.describe('The new content: text, or base64 with `encoding`.'),
      encoding: z.literal('base64').optional().describe('Say so when `content` is base64 of any bytes.'),
    }),
    operation: 'putFile',
    hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
    async run(context, input) {
      const at = filePlaceOf(input.path);
      const { volume, path: inside } = at;
      const bytes = bytesOf(input.content, input.encoding);
      const { created } = await context.operations
        .putFile(context.caller, input.id, volume, inside, bytes)
        .catch((error: unknown) => throwHinted(context, input.id, at, error));
      return { facts: { path: shellPath(volume, inside), bytes: bytes.byteLength, created } };
    },
  }),
  mcpTool({
    name: 'winterdock_edit_file',
    title: 'Edit a file',
    description:
      'Replaces one piece of a text file by another. `old_text` must be there exactly once, character by character, unless `all` says to replace each. A file that somebody else changes meanwhile is read again, so that no change is lost.',
    input: z.strictObject({
      id: sandboxId,
      path,
      old_text: content.min(1).describe('The text to replace, exactly as it is in the file.'),
      new_text: content.describe('What to put in its place; may be empty.'),
      all: z.boolean().default(false).describe('Replace every place where it is.'),
    }),
    operation: 'putFile',
    alsoCalled: { old_string: 'old_text', new_string: 'new_text', replace_all: 'all' },
    hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
    async run(context, input) {
      const at = filePlaceOf(input.path);
      const { operations, caller } = context;
      for (let attempt = 1; ; attempt++) {
        const { text, stat } = await textOf(context, input.id, at);
        const { text: next, replaced } = edited(text, input);
        const bytes = Buffer.from(next);
        try {
          await operations.putFile(caller, input.id, at.volume, at.path, bytes, { ifMatch: stat.etag });
        } catch (error) {
          const isRaced = isWinterdockError(error) && error.code === 'precondition_failed';
          if (isRaced && attempt < EDIT_ATTEMPTS) continue;
          return throwHinted(context, input.id, at, error);
        }
        return { facts: { path: shellPath(at.volume, at.path), replaced, bytes: bytes.byteLength } };
      }
    },
  }),
  mcpTool({
    name: 'winterdock_list_files',
    title: 'List files',
    description:
      'Lists what lies in a folder, folders first; with `recursive` all files below it with their full paths. Wakes nothing.',
    input: z.strictObject({
      id: sandboxId,
      path: path.default('/workspace'),
      recursive: z.boolean().default(false).describe('All files below it, instead of what lies in it.'),
      limit: z.int().min(1).max(500).default(200).describe('How many, at most.'),
      cursor: z.string().max(4096).optional().describe('`next` of the page before.'),
      at,
    }),
    operation: 'files',
    hints: READ_HINTS,
    async run({ operations, caller }, { id, recursive, limit, cursor, at: time, ...input }) {
      const { volume, path: inside } = filePlaceOf(input.path);
      const after = { ...(cursor === undefined ? {} : { cursor }), at: time };
      const folder = shellPath(volume, inside);
      if (!recursive) {
        const ask = (most: number) => operations.folder(caller, id, volume, { path: inside, limit: most, ...after });
        const { page, shown } = await fittingPage(limit, ask, (item) => item).catch((error: unknown) =>
          throwHinted({ operations, caller }, id, { volume, path: inside }, error),
        );
        return { facts: { folder, items: shown, total: page.total, next: page.next } };
      }
      const prefix = inside === '/' ? '/' : `${inside}/`;
      const ask = (most: number) => operations.files(caller, id, volume, { prefix, limit: most, ...after });
      const { page, shown } = await fittingPage(limit, ask, ({ path: file, ...rest }) => ({
        path: shellPath(volume, file),
        ...rest,
      }));
      return { facts: { folder, files: shown, next: page.next } };
    },
  }),
  mcpTool({
    name: 'winterdock_search_files',
    title: 'Search files',
    description:
      'Finds files by a text in their names, or with `in: content` lines by a text in their contents; letter by letter, no pattern. Searches all volumes unless one is named. Wakes nothing. For patterns use grep with winterdock_exec.',
    input: z.strictObject({
      id: sandboxId,
      q: searchQuerySchema.shape.q.describe('The text to find.'),
      in: searchQuerySchema.shape.in.describe('`name` finds files, `content` lines.'),
      volume: searchQuerySchema.shape.volume.describe('Only here: /workspace, /memory or /tmp.'),
      limit: z.int().min(1).max(200).default(50).describe('How many, at most.'),
      at,
    }),
    operation: 'search',
    alsoCalled: { query: 'q' },
    hints: READ_HINTS,
    async run({ operations, caller }, { id, ...query }) {
      const { hits, truncated } = await operations.search(caller, id, query);
      const found = hits.map(({ volume, path: file, ...hit }) => ({
        path: shellPath(volume, file),
        ...hit,
        ...(hit.text === undefined ? {} : { text: cutInMiddle(hit.text, 400).text }),
      }));
      const { items, cut } = fitting(found);
      return { facts: { in: query.in, hits: items, more: truncated || cut > 0 } };
    },
  }),
  mcpTool({
    name: 'winterdock_query_files',
    title: 'Query the files with SQL',
    description:
      'Runs one read-only SQL statement (SQLite) over the table of all files: vfs(volume, path, content, mtime), where volume is workspace, memory or tmp, and path begins with a slash below it. For counts, sizes and joins over many files. Wakes nothing. A SQLite database that is a file in the sandbox is queried with winterdock_exec: sqlite3 store.db "SELECT …".',
    input: z.strictObject({
      id: sandboxId,
      sql: sqlSchema.shape.sql.describe(
        "SELECT path, length(content) FROM vfs WHERE volume = 'workspace' AND path LIKE '/src/%'",
      ),
      params: sqlSchema.shape.params.describe('Values for ? in their order, or for :names.'),
      at,
    }),
    operation: 'query',
    hints: READ_HINTS,
    async run({ operations, caller }, { id, at: time, ...input }) {
      const { columns, rows, truncated } = await operations.query(caller, id, { at: time }, input);
      const cells = rows.map((row) =>
        row.map((cell) => (typeof cell === 'string' ? cutInMiddle(cell, 2000).text : cell)),
      );
      const { items, cut } = fitting(cells);
      const named = fitting(columns.map((column) => cutInMiddle(column, 200).text));
      return {
        facts: {
          columns: named.items,
          ...(named.cut === 0 ? {} : { columns_cut: named.cut }),
          rows: items,
          rows_cut: cut,
          truncated: truncated || cut > 0,
        },
      };
    },
  }),
];

/** Throws `validation` when it says base64 and is none. */
function bytesOf(text: string, encoding: 'base64' | undefined): Uint8Array {
  if (encoding === undefined) return Buffer.from(text);
  if (text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text)) return Buffer.from(text, 'base64');
  throw new WinterdockError('validation', '`content` is not base64 (RFC 4648, padded, without line breaks).', {
    extra: { errors: [{ path: 'content', message: 'must be base64' }] },
  });
}
