/** `files`: lists, reads and writes the files of a sandbox. Reading wakes nothing; writing does. */
import { openAsBlob, statSync } from 'node:fs';
import { basename } from 'node:path';
import { Readable } from 'node:stream';
import type { Command } from 'commander';
import type { DatabaseCell } from '../../contract/schema.ts';
import { DEFAULT_VOLUME, parseVolume, VOLUMES, type Volume } from '../../vfs/volumes.ts';
import { choice } from '../choice.ts';
import { addCommand } from '../command.ts';
import { comparisonText } from '../comparison-text.ts';
import { CliError } from '../failure.ts';
import { bytesText, printable, table, timeText } from '../format.ts';
import { type ListOptions, listOptions, printList } from '../lists.ts';
import { atOption } from '../moment-time.ts';
import { showProgress } from '../progress.ts';
import { remotePathOf, wholePath } from '../remote-path.ts';
import { refuseOverwrite, saveDownload } from '../save-download.ts';

const progressOption = (command: Command) =>
  command.option('--progress', 'show progress on stderr even when that is no terminal');

/** A cell of a database in one line. */
function cellText(cell: DatabaseCell): string {
  if (cell === null) return 'NULL';
  if (typeof cell !== 'object') return String(cell);
  return 'text' in cell ? `${cell.text}… (${cell.bytes} bytes)` : `x'${cell.hex}' (${cell.bytes} bytes)`;
}

export function addFileCommands(program: Command): void {
  const files = program
    .command('files')
    .summary('list, read and write the files of a sandbox')
    .description(
      'List, read and write the files of a sandbox. Paths are those of its shell: /workspace/note, /memory/facts, /tmp/scratch; without a leading slash in /workspace. Looking wakes nothing, in any state; writing wakes.',
    );

  addCommand<{ volume: string; limit: number }>(files, 'compare <id> <snapshot>', {
    summary: 'compare a volume with a snapshot',
    description: 'Say what was added, removed and changed since a snapshot. Wakes nothing.',
    options: (command) =>
      command
        .addOption(choice('--volume <volume>', 'which volume', VOLUMES, DEFAULT_VOLUME))
        .option('--limit <count>', 'how many differences to name', Number, 100),
    examples: [['files compare sess-841 snap-7', 'what has happened to its workspace since']],
    async run({ client, print, signal }, { volume, limit }, id: string, snapshot: string) {
      const query = { snapshot, limit };
      const found = await client.compare(id, parseVolume(volume), query, { signal });
      print(found, () => comparisonText(found));
    },
  });

  addCommand<ListOptions & { at?: number }>(files, 'ls <id> [path]', {
    summary: 'list the files below a path, or the three volumes',
    options: (command) => atOption(listOptions(command, 1000)),
    examples: [
      ['files ls sess-841', 'its volumes, and what each promises'],
      ['files ls sess-841 /workspace/src/', 'the files below a folder'],
    ],
    async run(context, options, id: string, path?: string) {
      const { client, print, signal } = context;
      if (path === undefined) {
        const volumes = await client.listVolumes(id, { at: options.at }, { signal });
        const row = (info: (typeof volumes)[number]) => [
          `/${info.volume}`,
          String(info.files),
          bytesText(info.bytes),
          info.survives_resume ? 'survives' : 'gone at the next wake',
          info.ships ? 'travels when shared' : 'stays home',
        ];
        return print(volumes, () => table(['VOLUME', 'FILES', 'SIZE', 'SLEEP', 'SHARING'], volumes.map(row)));
      }
      const target = remotePathOf(path);
      const prefix = target.path === '/' ? undefined : target.path;
      await printList(context, options, {
        read: (limit) => client.listFiles(id, target.volume, { prefix, limit, at: options.at }, { signal }),
        headings: ['SIZE', 'WRITTEN', 'PATH'],
        row: (file) => [bytesText(file.size), timeText(file.mtime), wholePath(target.volume, file.path)],
        none: 'No files.',
      });
    },
  });

  addCommand<{ progress?: boolean; force?: boolean; at?: number }>(files, 'get <id> <path> [file]', {
    summary: 'read a file, to stdout or into a local file',
    options: (command) => atOption(progressOption(command)).option('--force', 'overwrite an existing file'),
    examples: [
      ['files get sess-841 note', 'print it'],
      ['files get sess-841 /memory/facts.json facts.json', 'keep it'],
    ],
    async run(context, options, id: string, path: string, file?: string) {
      const source = remotePathOf(path);
      const target = file ?? '-';
      refuseOverwrite(target, options.force);
      const progress = showProgress(path, target === '-' && options.progress !== true ? false : options.progress);
      const { signal } = context;
      const call = { signal, onProgress: progress.bytes };
      const download = await context.client.getFile(id, source.volume, source.path, { at: options.at }, call);
      const saved = await saveDownload(download, target, { force: options.force, progress });
      if (saved !== null)
        context.print({ ...saved, etag: download.etag }, () => `${saved.file}: ${bytesText(saved.bytes)}\n`);
    },
  });

  addCommand<{ progress?: boolean; new?: boolean; ifMatch?: string }>(files, 'put <id> <file> [path]', {
    summary: 'write a file, from a local file or from stdin',
    description:
      'When the command succeeds, the file is on disk. Without a path it keeps its name, in /workspace. At most 64 MiB.',
    options: (command) =>
      progressOption(command)
        .option('--new', 'refuse to replace one')
        .option('--if-match <etag>', 'refuse to replace another version than this'),
    examples: [
      ['files put sess-841 report.md', 'as /workspace/report.md'],
      ['echo hello | winterdock files put sess-841 - note', 'what comes on stdin'],
    ],
    async run({ client, print, signal }, options, id: string, file: string, path?: string) {
      if (file === '-' && path === undefined) throw new CliError('usage', 'What comes on stdin needs a path.');
      const target = remotePathOf(
        path === undefined ? basename(file) : path.endsWith('/') ? `${path}${basename(file)}` : path,
      );
      if (file !== '-' && !statSync(file).isFile()) throw new CliError('usage', `"${file}" is not a file.`);
      const upload =
        file === '-' ? (Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>) : await openAsBlob(file);
      const progress = showProgress(file, options.progress);
      try {
        const written = await client.putFile(id, target.volume, target.path, upload, {
          signal,
          ifMatch: options.ifMatch,
          ifNoneMatch: options.new === true ? '*' : undefined,
          onProgress: progress.bytes,
        });
        const whole = wholePath(target.volume, target.path);
        progress.end();
        print({ path: whole, ...written }, () => `${whole} is ${written.created ? 'written' : 'replaced'}.\n`);
      } finally {
        progress.end();
      }
    },
  });

  addCommand<object, [string, string[]]>(files, 'rm <id> <path...>', {
    summary: 'delete files',
    examples: [['files rm sess-841 note /tmp/scratch', 'two of them']],
    async run({ client, print, signal }, _options, id, paths) {
      const targets = paths.map(remotePathOf);
      for (const { volume, path } of targets) await client.deleteFile(id, volume, path, { signal });
      const whole = targets.map(({ volume, path }) => wholePath(volume, path));
      print({ deleted: whole }, () => whole.map((path) => `${path} is deleted.\n`).join(''));
    },
  });

  addCommand(files, 'mv <id> <from> <to>', {
    summary: 'move a file within its volume',
    examples: [['files mv sess-841 note old/note', 'into a folder']],
    async run({ client, print, signal }, _options, id: string, from: string, to: string) {
      const [source, target] = [remotePathOf(from), remotePathOf(to)];
      if (source.volume !== target.volume) {
        throw new CliError('usage', 'A file moves within its volume only.', 'Use get, put and rm instead.');
      }
      await client.moveFile(id, source.volume, { from: source.path, to: target.path }, { signal });
      const whole = wholePath(target.volume, target.path);
      print({ path: whole }, () => `Moved to ${whole}.\n`);
    },
  });

  addCommand<{ limit: number; cursor?: string; at?: number }>(files, 'tables <id> <path> [table]', {
    summary: 'look into a SQLite database: its tables, or the rows of one',
    description:
      'List the tables and views of a file that is a SQLite database, or print rows of one. Long text is cut, and of a blob its size is shown. At most 64 MiB. Wakes nothing.',
    options: (command) =>
      atOption(command)
        .option('--limit <count>', 'how many', Number, 100)
        .option('--cursor <text>', 'go on where an earlier page ended'),
    examples: [
      ['files tables sess-841 data/app.db', 'its tables, and how many rows each has'],
      ['files tables sess-841 data/app.db users', 'the first rows of one'],
    ],
    async run({ client, print, signal }, { limit, cursor, at }, id: string, path: string, name?: string) {
      const source = remotePathOf(path);
      const query = { path: source.path, limit, cursor, at };
      const more = (next: string | null) => (next === null ? '' : `There is more: --cursor ${next}\n`);
      if (name === undefined) {
        const found = await client.listTables(id, source.volume, query, { signal });
        const row = (one: (typeof found.tables)[number]) => [
          one.name,
          one.kind,
          one.row_count === null ? '–' : `${one.more_rows ? 'more than ' : ''}${one.row_count}`,
          one.problem ?? one.columns.map((column) => column.name).join(', '),
        ];
        const text = () => table(['NAME', 'KIND', 'ROWS', 'COLUMNS'], found.tables.map(row)) || 'No tables.\n';
        return print(found, () => `${text()}${more(found.next)}`);
      }
      const found = await client.listRows(id, source.volume, { ...query, table: name }, { signal });
      const headings = found.columns.map((column) => printable(column.name));
      const text = () =>
        table(
          headings,
          found.rows.map((row) => row.map(cellText)),
        ) || 'No rows.\n';
      print(found, () => `${text()}${more(found.next)}`);
    },
  });

  addCommand<ListOptions & { content?: boolean; volume?: Volume; at?: number }>(files, 'search <id> <words>', {
    summary: 'find files by their names or their contents',
    options: (command) =>
      listOptions(
        atOption(command)
          .option('--content', 'in contents instead of names')
          .addOption(choice('--volume <volume>', 'in this volume only', VOLUMES)),
        100,
      ),
    examples: [['files search sess-841 invoice --content', 'every line that has it']],
    async run(context, options, id: string, q: string) {
      const { content, volume, at } = options;
      await printList(context, options, {
        read: (limit) =>
          context.client.searchFiles(
            id,
            { q, volume, in: content === true ? 'content' : 'name', limit, at },
            { signal: context.signal },
          ),
        headings: ['PATH', 'LINE', 'TEXT'],
        row: (hit) => [wholePath(hit.volume, hit.path), hit.line === undefined ? '' : String(hit.line), hit.text ?? ''],
        none: 'Nothing found.',
      });
    },
  });
}
