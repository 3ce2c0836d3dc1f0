/** `unzip` and `zipinfo`: lists, tests and takes files out of an archive, as Info-ZIP's. */
import { globRegex } from '../glob.ts';
import { type CommandCall, CommandEnd, type OwnCommand, reasonOf } from '../own-command.ts';
import { type ArchiveEntry, ArchiveError, contentOf, readArchive } from './archive.ts';

const WARNED = 1;
const DAMAGED = 3;
const NOT_FOUND = 9;
const USAGE = 10;
const NOT_MATCHED = 11;
const KIND_MASK = 0o170000;
const LINK = 0o120000;
const NAME_WIDTH = 22;

interface Request {
  archive: string;
  names: string[];
  excluded: string[];
  letters: Set<string>;
  folder: string;
}

export const unzip: OwnCommand = {
  usageExit: USAGE,
  like: 'unzip 6.00',
  help: 'Usage: unzip [-lvtpqonjZ1] ARCHIVE[.zip] [MEMBER...] [-x PATTERN...] [-d FOLDER]',
  async main(call: CommandCall) {
    return unpack(call, requestOf(call, new Set()));
  },
};

export const zipinfo: OwnCommand = {
  usageExit: USAGE,
  like: 'unzip 6.00',
  async main(call: CommandCall) {
    return unpack(call, requestOf(call, new Set('Z')));
  },
};

async function unpack(call: CommandCall, request: Request): Promise<number> {
  const { letters } = request;
  const entries = await entriesOf(call, request);
  const patterns = request.names.map((name) => ({ name, match: globRegex(name), used: false }));
  const chosen = entries.filter(({ name }) => {
    const isWanted = patterns.length === 0;
    const hits = patterns.filter(({ match }) => match.test(name));
    for (const hit of hits) hit.used = true;
    return (isWanted || hits.length > 0) && !request.excluded.some((pattern) => globRegex(pattern).test(name));
  });
  const has = (letter: string) => letters.has(letter);
  if (has('Z')) listNames(call, chosen);
  else if (has('l') || has('v')) list(call, request, chosen);
  else if (has('t')) await test(call, request, chosen);
  else if (has('p') || has('c')) await print(call, chosen);
  else await extract(call, request, chosen);
  const unused = patterns.filter(({ used }) => !used);
  for (const { name } of unused) call.warn(`caution: filename not matched:  ${name}\n`);
  return unused.length > 0 ? NOT_MATCHED : call.exitCode;
}

function requestOf(call: CommandCall, letters: Set<string>): Request {
  const request: Request = { archive: '', names: [], excluded: [], letters, folder: '' };
  const words: string[] = [];
  let isExcluding = false;
  for (let at = 0; at < call.args.length; at += 1) {
    const arg = call.args[at] ?? '';
    if (arg === '--help') call.options({ letters: '' });
    if (!arg.startsWith('-') || arg === '-') {
      (isExcluding ? request.excluded : words).push(arg);
      continue;
    }
    isExcluding = false;
    for (let index = 1; index < arg.length; index += 1) {
      const letter = arg[index] ?? '';
      if (letter === 'd') {
        request.folder = arg.slice(index + 1) || (call.args[at + 1] ?? '');
        if (arg.slice(index + 1) === '') at += 1;
        break;
      }
      if (letter === 'x') {
        isExcluding = true;
        break;
      }
      if (!/[lvtpcqonjZ1hmsuDaCXfUL]/.test(letter)) {
        call.usage(letter === 'P' ? 'encrypted archives are not supported' : `the option -${letter} is not supported`);
      }
      letters.add(letter);
    }
  }
  const [archive, ...names] = words;
  if (archive === undefined) call.usage('missing name of the archive');
  return Object.assign(request, { archive, names });
}

async function entriesOf(call: CommandCall, request: Request): Promise<ArchiveEntry[]> {
  const { archive, letters } = request;
  const found = [archive, `${archive}.zip`, `${archive}.ZIP`].find((name) => isFile(call, name));
  if (found === undefined) {
    call.warn(`unzip:  cannot find or open ${archive}, ${archive}.zip or ${archive}.ZIP.\n`);
    throw new CommandEnd(NOT_FOUND);
  }
  request.archive = found;
  const isQuiet = ['q', 'p', 'Z'].some((letter) => letters.has(letter));
  if (!isQuiet) call.print(`Archive:  ${found}\n`);
  try {
    return await readArchive(await call.input(found));
  } catch (error) {
    if (!(error instanceof ArchiveError)) return call.end(`${found}: ${reasonOf(error)}`, NOT_FOUND);
    const isNone = /end of central directory/i.test(error.message);
    return call.end(
      isNone ? `cannot find zipfile directory in ${found}: it is no ZIP archive` : error.message,
      isNone ? NOT_FOUND : DAMAGED,
    );
  }
}

function isFile(call: CommandCall, name: string): boolean {
  try {
    const info = call.files.look(call.path(name));
    return info !== null && info.kind !== 'dir';
  } catch {
    return false;
  }
}

function when(mtime: number): string {
  return new Date(mtime * 1000).toISOString().slice(0, 16).replace('T', ' ');
}

const files = (count: number) => `${count} file${count === 1 ? '' : 's'}`;

function listNames(call: CommandCall, entries: readonly ArchiveEntry[]): void {
  call.print(entries.map(({ name }) => `${name}\n`).join(''));
}

function list(call: CommandCall, { letters }: Request, entries: readonly ArchiveEntry[]): void {
  const total = entries.reduce((sum, { size }) => sum + size, 0);
  const isQuiet = letters.has('q');
  if (!letters.has('v')) {
    if (!isQuiet) call.print('  Length      Date    Time    Name\n---------  ---------- -----   ----\n');
    for (const { name, size, mtime } of entries) call.print(`${String(size).padStart(9)}  ${when(mtime)}   ${name}\n`);
    if (!isQuiet)
      call.print(
        `---------                     -------\n${String(total).padStart(9)}                     ${files(entries.length)}\n`,
      );
    return;
  }
  const packed = entries.reduce((sum, entry) => sum + entry.packed.length, 0);
  const saved = (size: number, less: number) => `${size === 0 ? 0 : Math.round(100 * (1 - less / size))}%`.padStart(4);
  call.print(
    ' Length   Method    Size  Cmpr    Date    Time   CRC-32   Name\n--------  ------  ------- ---- ---------- ----- --------  ----\n',
  );
  for (const { name, size, mtime, method, crc, packed: bytes } of entries) {
    const sum = (crc >>> 0).toString(16).padStart(8, '0');
    const how = method === 0 ? 'Stored' : 'Defl:N';
    call.print(
      `${String(size).padStart(8)}  ${how} ${String(bytes.length).padStart(8)} ${saved(size, bytes.length)} ${when(mtime)} ${sum}  ${name}\n`,
    );
  }
  call.print(
    `--------          -------  ---                            -------\n${String(total).padStart(8)}         ${String(packed).padStart(8)} ${saved(total, packed)}                            ${files(entries.length)}\n`,
  );
}

async function test(call: CommandCall, { archive, letters }: Request, entries: readonly ArchiveEntry[]): Promise<void> {
  for (const entry of entries) {
    await call.turn();
    try {
      contentOf(entry);
      if (!letters.has('q')) call.print(`    testing: ${entry.name.padEnd(NAME_WIDTH)}   OK\n`);
    } catch (error) {
      if (!(error instanceof ArchiveError)) throw error;
      call.fail(error.message, DAMAGED - 1);
    }
  }
  if (call.exitCode === 0) call.print(`No errors detected in compressed data of ${archive}.\n`);
}

async function print(call: CommandCall, entries: readonly ArchiveEntry[]): Promise<void> {
  for (const entry of entries) {
    await call.turn();
    if (!entry.name.endsWith('/')) call.print(content(call, entry) ?? '');
  }
}

/** Null, with a sentence, when it cannot be read. */
function content(call: CommandCall, entry: ArchiveEntry): Buffer | null {
  try {
    return contentOf(entry);
  } catch (error) {
    if (!(error instanceof ArchiveError)) throw error;
    call.fail(error.message, DAMAGED - 1);
    return null;
  }
}

async function extract(call: CommandCall, request: Request, entries: readonly ArchiveEntry[]): Promise<void> {
  const { letters } = request;
  const folder = request.folder.replace(/\/+$/, '');
  const say = (what: string, shown: string) => {
    if (!letters.has('q')) call.print(`${what.padStart(11)}: ${shown}`);
  };
  /** Modes of directories, which are set when nothing more is put into them. */
  const modes = new Map<string, number>();
  for (const entry of entries) {
    await call.turn();
    const inside = letters.has('j') ? entry.name.slice(entry.name.lastIndexOf('/') + 1) : entry.name;
    const shown = folder === '' ? inside : `${folder}/${inside}`;
    const path = call.path(shown);
    try {
      if (entry.name.endsWith('/')) {
        if (letters.has('j') || call.files.isDirectory(path)) continue;
        await call.changes.mkdir(path.replace(/\/$/, ''), { recursive: true });
        if (entry.mode !== null && (entry.mode & 0o777) !== 0) modes.set(path.replace(/\/$/, ''), entry.mode & 0o777);
        say('creating', `${shown}\n`);
        continue;
      }
      const there = call.files.look(path, false);
      if (there !== null && letters.has('n')) continue;
      if (there !== null && !letters.has('o')) {
        call.warn(`replace ${shown}? -n or -o decides here, as nobody can be asked: it is left as it is\n`);
        call.exitCode = WARNED;
        continue;
      }
      const bytes = content(call, entry);
      if (bytes === null) continue;
      const parent = path.slice(0, path.lastIndexOf('/'));
      if (parent !== '') await call.changes.mkdir(parent, { recursive: true });
      // What a link leads to is not written.
      if (there !== null && there.kind !== 'dir') await call.changes.rm(path);
      if (entry.mode !== null && (entry.mode & KIND_MASK) === LINK) {
        await call.changes.symlink(bytes.toString(), path);
        say('linking', `${shown.padEnd(NAME_WIDTH)}  -> ${bytes.toString()} \n`);
        continue;
      }
      await call.changes.writeFile(path, bytes);
      if (entry.mode !== null && (entry.mode & 0o777) !== 0) await call.changes.chmod(path, entry.mode & 0o777);
      call.files.setTime(call.files.info(path), entry.mtime);
      say(entry.method === 0 ? 'extracting' : 'inflating', `${shown.padEnd(NAME_WIDTH)}  \n`);
    } catch (error) {
      call.fail(`cannot create ${shown}: ${reasonOf(error)}`, 50);
    }
  }
  for (const [path, mode] of [...modes].reverse()) await call.changes.chmod(path, mode);
}
