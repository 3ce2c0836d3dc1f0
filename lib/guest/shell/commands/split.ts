/** `split`: a file in pieces of lines or bytes, or in a number of chunks, each in a file or given to a command. */
import type { CommandContext } from 'just-bash';
import type { GivenOption } from './options.ts';
import { type CommandCall, inQuotes, marked, type OwnCommand, reasonOf } from './own-command.ts';
import { pieces, type Suffixes, suffixes, type Way } from './split-pieces.ts';

const NUMBERS = '0123456789';
const HEX = `${NUMBERS}abcdef`;
const LETTERS = 'abcdefghijklmnopqrstuvwxyz';
const USUAL_LINES = 1000;
const USUAL_LENGTH = 2;
const LARGEST = 2n ** 64n - 1n;
const OUT_OF_RANGE = 'Numerical result out of range';
const UNITS = 'KMGTPEZY';
const CHUNKS = { '': 'chunks', 'l/': 'lineChunks', 'r/': 'roundRobin' } as const;
type Value = (...keys: string[]) => GivenOption | undefined;

export const split: OwnCommand = {
  like: 'coreutils 9.1',
  async main(call: CommandCall) {
    call.args.splice(0, call.args.length, ...call.args.map((arg) => (/^-\d+$/.test(arg) ? `-l${arg.slice(1)}` : arg)));
    const { options, operands } = call.options({
      letters: 'a:b:C:del:n:t:ux',
      long: {
        'additional-suffix=': 'additional',
        'bytes=': 'b',
        'elide-empty-files': 'e',
        'filter=': 'filter',
        'hex-suffixes=?': 'x',
        'line-bytes=': 'C',
        'lines=': 'l',
        'number=': 'n',
        'numeric-suffixes=?': 'd',
        'separator=': 't',
        'suffix-length=': 'a',
        unbuffered: 'u',
        verbose: 'verbose',
      },
    });
    const value: Value = (...keys) => options.findLast(({ key }) => keys.includes(key));
    const [name = '-', prefix = 'x', extra] = operands;
    const way = wayOf(call, options);
    const named = suffixesOf(call, value, way);
    const additional = value('additional')?.value ?? '';
    if (additional.includes('/')) call.usage(`invalid suffix ${marked(additional)}, contains directory separator`);
    const end = separatorOf(call, value('t')?.value ?? null);
    if (extra !== undefined) call.usage(`extra operand ${marked(extra)}`);
    const filter = value('filter')?.value ?? null;
    const only = 'only' in way ? way.only : null;
    if (filter !== null && only !== null) call.usage('--filter does not process a chunk extracted to stdout');
    const bytes = await inputOf(call, name, way);
    if (only !== null) {
      let at = 0;
      for (const piece of pieces(bytes, way, end)) {
        at += 1;
        if (at === only) call.print(piece);
      }
      return 0;
    }
    const names = suffixes(named);
    for (const piece of pieces(bytes, way, end)) {
      if (piece.length === 0 && value('e')) continue;
      await call.turn();
      const next = names.next();
      if (next.done) call.end('output file suffixes exhausted');
      const file = `${prefix}${next.value}${additional}`;
      if (value('verbose'))
        call.print(filter === null ? `creating file ${inQuotes(file)}\n` : `executing with FILE=${file}\n`);
      if (filter !== null) await give(call, filter, file, piece);
      else await write(call, file, piece);
    }
    return undefined;
  },
};

async function write(call: CommandCall, file: string, piece: Buffer): Promise<void> {
  try {
    await call.changes.writeFile(call.path(file), piece);
  } catch (error) {
    call.end(`${file}: ${reasonOf(error)}`);
  }
}

async function give(call: CommandCall, filter: string, file: string, piece: Buffer): Promise<void> {
  const exitCode = await call.run(['sh', '-c', filter], { stdin: piece, env: { FILE: file } });
  if (exitCode !== 0) call.end(`with FILE=${file}, exit ${exitCode} from command: ${filter}`, exitCode);
}

async function inputOf(call: CommandCall, name: string, way: Way): Promise<Buffer> {
  const { readsFile = false } = call.context as CommandContext & { readsFile?: boolean };
  const needsSize = way.kind === 'chunks' || way.kind === 'lineChunks';
  if (needsSize && name === '-' && !readsFile) call.end('-: cannot determine file size');
  try {
    return await call.input(name);
  } catch (error) {
    const reason = reasonOf(error);
    if (reason === 'Is a directory') return call.end(`${name}: ${reason}`);
    return call.end(`cannot open ${inQuotes(name)} for reading: ${reason}`);
  }
}

function wayOf(call: CommandCall, options: readonly GivenOption[]): Way {
  const given = options.filter(({ key }) => 'bCln'.includes(key));
  let way: Way = { kind: 'lines', size: USUAL_LINES };
  for (const [at, { key, value }] of given.entries()) {
    if (at > 0) call.usage('cannot split in more than one way');
    const text = value ?? '';
    if (key === 'l') way = { kind: 'lines', size: sizeOf(call, text, 'number of lines', false) };
    else if (key === 'n') way = chunksOf(call, text);
    else way = { kind: key === 'b' ? 'bytes' : 'lineBytes', size: sizeOf(call, text, 'number of bytes', true) };
  }
  return way;
}

/** `N`, `K/N`, `l/N`, `l/K/N`, `r/N`, `r/K/N`. */
function chunksOf(call: CommandCall, text: string): Way {
  const [, kind = '', only, count = ''] = /^(l\/|r\/)?(?:([^/]*)\/)?(.*)$/s.exec(text) ?? [];
  const number = sizeOf(call, count, 'number of chunks', false);
  const chunk = only === undefined ? null : sizeOf(call, only, 'chunk number', false);
  if (chunk !== null && chunk > number) call.end(`invalid chunk number: ${marked(only ?? '')}: ${OUT_OF_RANGE}`);
  return { kind: CHUNKS[kind as keyof typeof CHUNKS], count: number, only: chunk };
}

function sizeOf(call: CommandCall, text: string, what: string, hasUnits: boolean): number {
  const [, digits, unit = '', base = ''] = /^\+?(\d+)(?:([bkKmMGTPEZY])(B|iB)?)?$/.exec(text) ?? [];
  if (digits === undefined || (unit !== '' && !hasUnits)) return call.end(`invalid ${what}: ${marked(text)}`);
  const power = UNITS.indexOf(unit.toUpperCase()) + 1;
  const factor = unit === 'b' ? 512n : unit === '' ? 1n : BigInt(base === 'B' ? 1000 : 1024) ** BigInt(power);
  const size = BigInt(digits) * factor;
  if (size > LARGEST) call.end(`invalid ${what}: ${marked(text)}: Value too large for defined data type`);
  if (size === 0n) call.end(`invalid ${what}: ${marked(text)}: ${OUT_OF_RANGE}`);
  return Number(size);
}

function suffixesOf(call: CommandCall, value: Value, way: Way): Suffixes {
  const kind = value('d', 'x');
  const alphabet = kind === undefined ? LETTERS : kind.key === 'd' ? NUMBERS : HEX;
  const start = kind?.value ?? null;
  const isNumber = kind?.key === 'x' ? /^[\da-f]+$/i : /^\d+$/;
  const scale = kind?.key === 'x' ? 'hexadecimal' : 'numerical';
  if (start !== null && !isNumber.test(start)) call.usage(`${marked(start)}: invalid start value for ${scale} suffix`);
  const first = start === null ? 0 : Number.parseInt(start, kind?.key === 'x' ? 16 : 10);
  const given = value('a')?.value ?? null;
  if (given !== null && !/^\+?\d+$/.test(given)) call.end(`invalid suffix length: ${marked(given)}`);
  const asked = Number(given ?? 0);
  let needed = 0;
  if ('count' in way) {
    const last = way.count - 1 + (first < way.count ? first : 0);
    needed = Math.max(1, last).toString(alphabet.length).length;
  }
  if (asked > 0 && asked < needed) call.end(`the suffix length needs to be at least ${needed}`);
  const length = asked > 0 ? asked : Math.max(USUAL_LENGTH, needed);
  if (start !== null && start.length > length)
    call.usage(`${scale} suffix start value is too large for the suffix length`);
  return {
    alphabet,
    length,
    grows: asked === 0 && start === null && needed === 0,
    first,
  };
}

function separatorOf(call: CommandCall, text: string | null): number {
  if (text === null) return 0x0a;
  if (text === '') call.end('empty record separator');
  if (text === '\\0') return 0;
  if (Buffer.byteLength(text) > 1) call.end(`multi-character separator ${marked(text)}`);
  return text.charCodeAt(0);
}
