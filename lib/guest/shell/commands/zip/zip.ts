/** `zip`: puts files and folders into an archive, as Info-ZIP's. */
import { globRegex } from '../glob.ts';
import { type CommandCall, CommandEnd, type OwnCommand, reasonOf } from '../own-command.ts';
import {
  type ArchiveEntry,
  ArchiveError,
  contentOf,
  MOST_ENTRIES,
  packedEntry,
  readArchive,
  writeArchive,
} from './archive.ts';

const BAD_ARGUMENTS = 16;
const NOTHING_TO_DO = 12;
const UNREADABLE = 18;
const BAD_ARCHIVE = 3;
const BAD_TEST = 8;
const KIND = { file: 0o100000, dir: 0o040000, link: 0o120000, device: 0o020000 } as const;
const LETTERS = new Set('rqjyDufdmTXvo@klAh0123456789');
const DEFAULT_LEVEL = 6;
/** Names that have no use for deflation, as the real one's. */
const PACKED_ALREADY = /\.(?:Z|zip|zoo|arc|lzh|arj)$/;

interface Request {
  archive: string;
  names: string[];
  letters: Set<string>;
  level: number;
  excluded: string[];
  included: string[];
  lists: boolean;
}

export const zip: OwnCommand = {
  usageExit: BAD_ARGUMENTS,
  like: 'zip 3.0',
  help: 'Usage: zip [-rqjyDufmdTX@0-9] ARCHIVE[.zip] FILE... [-x PATTERN...] [-i PATTERN...]',
  async main(call: CommandCall) {
    const request = requestOf(call);
    const path = call.path(request.archive);
    const before = await existing(call, request, path);
    if (request.lists) {
      const total = before.reduce((sum, { size }) => sum + size, 0);
      const names = before.map(({ name }) => `  ${name}\n`).join('');
      call.print(`Archive contains:\n${names}Total ${before.length} entries (${total} bytes)\n`);
      return 0;
    }
    if (request.letters.has('d')) return remove(call, request, before, path);
    const names = request.letters.has('@')
      ? [
          ...request.names,
          ...call.stdin
            .toString()
            .split('\n')
            .filter((name) => name !== ''),
        ]
      : request.names;
    const added: string[] = [];
    const entries = new Map(before.map((entry) => [entry.name, entry]));
    for (const name of names) await add(call, request, name, entries, added);
    if (added.length === 0) {
      if (request.letters.has('T') && names.length === 0) return test(call, request.archive, before);
      if (request.letters.has('u') || request.letters.has('f')) return NOTHING_TO_DO;
      call.print(`\nzip error: Nothing to do! (${request.archive})\n`);
      return NOTHING_TO_DO;
    }
    if (entries.size > MOST_ENTRIES)
      call.end(`more than ${MOST_ENTRIES} files in one archive are not supported`, BAD_ARGUMENTS);
    await save(call, path, [...entries.values()]);
    if (request.letters.has('T')) call.print(`test of ${request.archive} OK\n`);
    if (request.letters.has('m'))
      for (const file of added) await call.changes.rm(file, { recursive: false, force: true });
    return call.exitCode;
  },
};

function requestOf(call: CommandCall): Request {
  const request: Request = {
    archive: '',
    names: [],
    letters: new Set(),
    level: DEFAULT_LEVEL,
    excluded: [],
    included: [],
    lists: false,
  };
  const words: string[] = [];
  const error = (text: string): never => {
    call.print(`\nzip error: Invalid command arguments (${text})\n`);
    return call.usage(text);
  };
  const LONG: Readonly<Record<string, string>> = {
    recurse: 'r',
    'recurse-paths': 'r',
    quiet: 'q',
    'junk-paths': 'j',
    symlinks: 'y',
    'no-dir-entries': 'D',
    update: 'u',
    freshen: 'f',
    delete: 'd',
    move: 'm',
    test: 'T',
    exclude: 'x',
    include: 'i',
    'show-files': 'sf',
  };
  let list: string[] | null = null;
  for (let at = 0; at < call.args.length; at += 1) {
    const arg = call.args[at] ?? '';
    if (arg === '--help') call.options({ letters: '' });
    if (!arg.startsWith('-') || arg === '-') {
      if (list && arg === '@') list = null;
      else (list ?? words).push(arg);
      continue;
    }
    list = null;
    const long = arg.startsWith('--') ? LONG[arg.slice(2)] : undefined;
    if (arg.startsWith('--') && long === undefined) error(`long option '${arg.slice(2)}' not supported`);
    let letters = long ?? arg.slice(1);
    if (letters === 'sf') {
      request.lists = true;
      continue;
    }
    while (letters !== '') {
      const letter = letters[0] ?? '';
      letters = letters.slice(1);
      if (letter === 'x' || letter === 'i') {
        list = letter === 'x' ? request.excluded : request.included;
        if (letters !== '') list.push(letters);
        letters = '';
      } else if (!LETTERS.has(letter)) error(`short option '${letter}' not supported`);
      else if (/\d/.test(letter)) request.level = Number(letter);
      else request.letters.add(letter);
    }
  }
  const [archive, ...names] = words;
  if (archive === undefined) call.usage('missing name of the archive');
  if (archive === '-') call.end('an archive on standard output is not supported: name a file', BAD_ARGUMENTS);
  request.archive = /\.[^/]*$/.test(archive) ? archive : `${archive}.zip`;
  request.names = names;
  return request;
}

async function existing(
  call: CommandCall,
  { archive, letters, lists }: Request,
  path: string,
): Promise<ArchiveEntry[]> {
  try {
    if (call.files.look(path) === null) {
      if (letters.has('u') || letters.has('f')) call.print(`\tzip warning: ${archive} not found or empty\n`);
      if (!letters.has('d') && !lists) return [];
      call.print(`\nzip error: Nothing to do! (${archive})\n`);
      throw new CommandEnd(NOTHING_TO_DO);
    }
    return await readArchive(call.files.read(path));
  } catch (error) {
    if (!(error instanceof ArchiveError)) return call.end(`${archive}: ${reasonOf(error)}`, UNREADABLE);
    call.print(`\nzip error: Zip file structure invalid (${archive})\n`);
    return call.end(error.message, BAD_ARCHIVE);
  }
}

function test(call: CommandCall, archive: string, entries: readonly ArchiveEntry[]): number {
  try {
    for (const entry of entries) contentOf(entry);
  } catch (error) {
    if (!(error instanceof ArchiveError)) throw error;
    call.print(`test of ${archive} FAILED\n\nzip error: Zip file invalid (${error.message})\n`);
    return BAD_TEST;
  }
  call.print(`test of ${archive} OK\n`);
  return 0;
}

async function remove(call: CommandCall, request: Request, before: ArchiveEntry[], path: string): Promise<number> {
  const matches = request.names.map((name) => globRegex(name));
  const gone = before.filter(({ name }) => matches.some((match) => match.test(name)));
  if (gone.length === 0) {
    call.print(
      `\tzip warning: name not matched: ${request.names.join(' ')}\n\nzip error: Nothing to do! (${request.archive})\n`,
    );
    return NOTHING_TO_DO;
  }
  if (!request.letters.has('q')) for (const { name } of gone) call.print(`deleting: ${name}\n`);
  const left = before.filter((entry) => !gone.includes(entry));
  if (left.length === 0) await call.changes.rm(path);
  else await save(call, path, left);
  return 0;
}

async function save(call: CommandCall, path: string, entries: readonly ArchiveEntry[]): Promise<void> {
  try {
    await call.changes.writeFile(path, writeArchive(entries));
  } catch (error) {
    call.end(`${path}: ${reasonOf(error)}`, 15);
  }
}

async function add(
  call: CommandCall,
  request: Request,
  name: string,
  entries: Map<string, ArchiveEntry>,
  added: string[],
): Promise<void> {
  await call.turn();
  const { letters } = request;
  if (name === '-') {
    const mtime = Math.floor(Date.now() / 1000);
    put(call, request, packedEntry({ name, mode: 0o010600, mtime }, call.stdin, request.level), entries);
    added.push(call.path(name));
    return;
  }
  const path = call.path(name);
  const info = safely(() => call.files.look(path, !letters.has('y')));
  if (info === null) {
    call.print(`\tzip warning: name not matched: ${name}\n`);
    return;
  }
  const bare = name.replace(/^(?:\.?\/+)+/, '').replace(/\/+$/, '');
  if (info.kind === 'dir') {
    const folder = `${bare}/`;
    const isHere = bare === '' || bare === '.';
    if (!isHere && !letters.has('D') && !letters.has('j') && isTaken(request, folder)) {
      const entry = packedEntry(
        { name: folder, mode: KIND.dir | info.mode, mtime: Math.floor(info.mtime) },
        Buffer.alloc(0),
        0,
      );
      if (!letters.has('u') && !letters.has('f')) {
        put(call, request, entry, entries);
        added.push(path);
      }
    }
    if (letters.has('r'))
      for (const child of call.files.children(path))
        await add(call, request, isHere ? child.name : `${bare}/${child.name}`, entries, added);
    return;
  }
  const inside = letters.has('j') ? bare.slice(bare.lastIndexOf('/') + 1) : bare;
  if (!isTaken(request, inside) || path === call.path(request.archive)) return;
  const old = entries.get(inside);
  const mtime = Math.floor(info.mtime);
  if (letters.has('f') && old === undefined) return;
  if ((letters.has('u') || letters.has('f')) && old !== undefined && old.mtime >= mtime - (mtime % 2)) return;
  const level = PACKED_ALREADY.test(inside) ? 0 : request.level;
  try {
    const isLink = info.kind === 'link';
    const content = isLink ? Buffer.from(info.target ?? '') : await call.input(path);
    put(
      call,
      request,
      packedEntry({ name: inside, mode: KIND[info.kind] | info.mode, mtime }, content, isLink ? 0 : level),
      entries,
    );
    added.push(path);
  } catch (error) {
    call.print(`\tzip warning: could not open for reading: ${name}\n`);
    reasonOf(error);
    call.exitCode = UNREADABLE;
  }
}

function isTaken({ excluded, included }: Request, name: string): boolean {
  if (excluded.some((pattern) => globRegex(pattern).test(name))) return false;
  return included.length === 0 || included.some((pattern) => globRegex(pattern).test(name));
}

function put(call: CommandCall, { letters }: Request, entry: ArchiveEntry, entries: Map<string, ArchiveEntry>): void {
  const isNew = !entries.has(entry.name);
  entries.set(entry.name, entry);
  if (letters.has('q')) return;
  const { size, packed } = entry;
  const saved = size === 0 ? 0 : Math.round(100 * (1 - packed.length / size));
  const how = packed.length < size ? `deflated ${saved}%` : 'stored 0%';
  call.print(`${isNew ? '  adding: ' : 'updating: '}${entry.name} (${how})\n`);
}

function safely<Value>(look: () => Value | null): Value | null {
  try {
    return look();
  } catch {
    return null;
  }
}
