/** `diff`: files and folders line by line, in GNU's normal, unified and side-by-side formats. */
import { textOfBytes } from '../../../../workers/protocol/byte-text.ts';
import { globRegex } from '../glob.ts';
import { type CommandCall, type OwnCommand, reasonOf } from '../own-command.ts';
import { type Change, changesOf, linesForDiff, type TextLines } from './diff-lines.ts';
import { contextDiff, normalDiff, sideBySide, unifiedDiff } from './diff-output.ts';

interface Settings {
  format: 'normal' | 'unified' | 'context' | 'side';
  context: number;
  width: number;
  onlyChanges: boolean;
  leftOnly: boolean;
  brief: boolean;
  reportSame: boolean;
  recursive: boolean;
  newFiles: boolean;
  text: boolean;
  blankLines: boolean;
  labels: string[];
  excluded: RegExp[];
  keyOf: (line: string) => string;
  /** The options as they were written, for the line above each pair of files of folders. */
  written: string;
}

interface Side {
  name: string;
  bytes: Buffer;
  mtime: number;
}

export const diffCommand: OwnCommand = {
  usageExit: 2,
  like: 'diffutils 3.8',
  async main(call) {
    const { settings, operands } = settingsOf(call);
    const [one, other, more] = operands;
    if (one === undefined) return call.usage("missing operand after 'diff'", 2);
    if (other === undefined) return call.usage(`missing operand after '${one}'`, 2);
    if (more !== undefined) return call.usage(`extra operand '${more}'`, 2);
    return compare(call, settings, one, other, false);
  },
};

/** The options of `sdiff` as `diff -y` has them. */
const SIDE_OPTIONS: Readonly<Record<string, string>> = {
  i: 'i',
  W: 'w',
  b: 'b',
  B: 'B',
  Z: 'Z',
  a: 'a',
  d: 'd',
  t: 't',
  s: '-suppress-common-lines',
  l: '-left-column',
};

export const sdiff: OwnCommand = {
  usageExit: 2,
  like: 'diffutils 3.8',
  async main(call: CommandCall) {
    const { options, operands } = call.options({
      letters: 'iWbBZadtslw:o:',
      long: {
        'ignore-case': 'i',
        'ignore-all-space': 'W',
        'suppress-common-lines': 's',
        'left-column': 'l',
        'width=': 'w',
      },
    });
    if (options.some(({ key }) => key === 'o'))
      call.end('the option -o asks which side to keep: nobody can be asked', 2);
    const width = options.findLast(({ key }) => key === 'w')?.value ?? '130';
    const others = options.flatMap(({ key }) => (key === 'w' ? [] : [`-${SIDE_OPTIONS[key] ?? key}`]));
    call.args.splice(0, call.args.length, '-y', '-W', width, ...others, '--', ...operands);
    return diffCommand.main(call);
  },
};

function settingsOf(call: CommandCall): { settings: Settings; operands: string[] } {
  const given = [...call.args];
  const { options, operands } = call.options({
    letters: 'abBcC:EiNqrstuU:wW:x:yL:Zd',
    long: {
      brief: 'q',
      'report-identical-files': 's',
      recursive: 'r',
      'new-file': 'N',
      text: 'a',
      'ignore-case': 'i',
      'ignore-space-change': 'b',
      'ignore-all-space': 'w',
      'ignore-blank-lines': 'B',
      'unified=?': 'u',
      'context=?': 'c',
      'suppress-common-lines': 'common',
      'left-column': 'left',
      'label=': 'L',
      'side-by-side': 'y',
      'width=': 'W',
      'exclude=': 'x',
      'ignore-trailing-space': 'Z',
      'strip-trailing-cr': 'cr',
      normal: 'normal',
      'color=?': 'color',
      minimal: 'd',
      'expand-tabs': 't',
    },
  });
  const has = (key: string) => options.some((option) => option.key === key);
  const last = (key: string) => options.findLast((option) => option.key === key)?.value ?? null;
  const context = Number(last('U') ?? last('u') ?? last('C') ?? last('c') ?? 3);
  if (!Number.isInteger(context)) call.end(`invalid context length '${last('U')}'`, 2);
  const keyOf = (line: string) => {
    let key = has('cr') ? line.replace(/\r$/, '') : line;
    if (has('w')) key = key.replace(/\s+/g, '');
    else if (has('b')) key = key.replace(/\s+$/, '').replace(/\s+/g, ' ');
    else if (has('Z')) key = key.replace(/\s+$/, '');
    return has('i') ? key.toLowerCase() : key;
  };
  return {
    operands,
    settings: {
      format: has('u') || has('U') ? 'unified' : has('c') || has('C') ? 'context' : has('y') ? 'side' : 'normal',
      context,
      width: Number(last('W') ?? 130),
      onlyChanges: has('common'),
      leftOnly: has('left'),
      brief: has('q'),
      reportSame: has('s'),
      recursive: has('r'),
      newFiles: has('N'),
      text: has('a'),
      blankLines: !has('B'),
      labels: options.filter(({ key }) => key === 'L').map(({ value }) => value ?? ''),
      excluded: options.filter(({ key }) => key === 'x').map(({ value }) => globRegex(value ?? '')),
      keyOf,
      written: given.filter((arg) => arg.startsWith('-') && arg !== '-').join(' '),
    },
  };
}

/** Compares two operands; returns 0 for the same, 1 for different and 2 for trouble. */
async function compare(
  call: CommandCall,
  settings: Settings,
  one: string,
  other: string,
  inFolder: boolean,
): Promise<number> {
  await call.turn();
  const [oneIsFolder, otherIsFolder] = [one, other].map(
    (name) => name !== '-' && call.files.isDirectory(call.path(name)),
  );
  if (oneIsFolder && otherIsFolder) return compareFolders(call, settings, one, other);
  if (!inFolder && oneIsFolder !== otherIsFolder) {
    const inside = (folder: string, file: string) =>
      `${folder.replace(/\/$/, '')}/${file.slice(file.lastIndexOf('/') + 1)}`;
    return oneIsFolder
      ? compare(call, settings, inside(one, other), other, true)
      : compare(call, settings, one, inside(other, one), true);
  }
  if (inFolder && oneIsFolder !== otherIsFolder) {
    const kind = (isFolder: boolean | undefined) => (isFolder ? 'directory' : 'regular file');
    call.print(`File ${one} is a ${kind(oneIsFolder)} while file ${other} is a ${kind(otherIsFolder)}\n`);
    return 1;
  }
  const sides = [await readSide(call, settings, one), await readSide(call, settings, other)];
  const [left, right] = sides;
  if (left == null || right == null) return 2;
  return compareFiles(call, settings, left, right, inFolder);
}

async function readSide(call: CommandCall, settings: Settings, name: string): Promise<Side | null> {
  try {
    const bytes = await call.input(name);
    const info = name === '-' || name.startsWith('/dev/') ? null : call.files.look(call.path(name));
    return { name, bytes, mtime: info?.mtime ?? Date.now() / 1000 };
  } catch (error) {
    const reason = reasonOf(error);
    if (settings.newFiles && reason === 'No such file or directory') return { name, bytes: Buffer.alloc(0), mtime: 0 };
    call.fail(`${name}: ${reason}`, 2);
    return null;
  }
}

function compareFiles(call: CommandCall, settings: Settings, left: Side, right: Side, inFolder: boolean): number {
  const same = left.bytes.equals(right.bytes);
  const reportSame = () => {
    if (settings.reportSame) call.print(`Files ${left.name} and ${right.name} are identical\n`);
    return 0;
  };
  if (same && settings.format !== 'side') return reportSame();
  const isBinary = !settings.text && [left, right].some(({ bytes }) => bytes.subarray(0, 8000).includes(0));
  if (isBinary && !same) {
    call.print(
      settings.brief
        ? `Files ${left.name} and ${right.name} differ\n`
        : `Binary files ${left.name} and ${right.name} differ\n`,
    );
    return settings.brief ? 1 : 2;
  }
  const [before, after] = [linesForDiff(textOfBytes(left.bytes)), linesForDiff(textOfBytes(right.bytes))];
  const all = changesOf(before, after, settings.keyOf);
  const changes = settings.blankLines ? all : all.filter((change) => !isBlank(change, before, after));
  if (changes.length === 0 && settings.format !== 'side') return reportSame();
  if (settings.brief) {
    if (changes.length > 0) call.print(`Files ${left.name} and ${right.name} differ\n`);
    return changes.length > 0 ? 1 : 0;
  }
  if (inFolder) call.print(`diff ${settings.written} ${left.name} ${right.name}\n`.replace('diff  ', 'diff '));
  call.print(outputOf(settings, left, right, before, after, changes));
  return changes.length > 0 ? 1 : 0;
}

function outputOf(
  settings: Settings,
  left: Side,
  right: Side,
  before: TextLines,
  after: TextLines,
  changes: Change[],
): string {
  if (settings.format === 'side') return sideBySide(before, after, changes, settings);
  if (settings.format === 'normal') return normalDiff(before, after, changes);
  const title = ({ name, mtime }: Side, at: number) => settings.labels[at] ?? `${name}\t${timeOf(mtime)}`;
  if (settings.format === 'context')
    return `*** ${title(left, 0)}\n--- ${title(right, 1)}\n${contextDiff(before, after, changes, settings.context)}`;
  return `--- ${title(left, 0)}\n+++ ${title(right, 1)}\n${unifiedDiff(before, after, changes, settings.context)}`;
}

function timeOf(mtime: number): string {
  const [day, time] = new Date(Math.floor(mtime) * 1000).toISOString().split('T');
  return `${day} ${time?.slice(0, 8)}.${String(Math.round((mtime % 1) * 1e9)).padStart(9, '0')} +0000`;
}

function isBlank({ oldStart, oldEnd, newStart, newEnd }: Change, before: TextLines, after: TextLines): boolean {
  return [...before.lines.slice(oldStart, oldEnd), ...after.lines.slice(newStart, newEnd)].every((line) => line === '');
}

async function compareFolders(call: CommandCall, settings: Settings, one: string, other: string): Promise<number> {
  const namesOf = (folder: string) =>
    new Set(
      call.files
        .children(call.path(folder))
        .map(({ name }) => name)
        .filter((name) => !settings.excluded.some((glob) => glob.test(name))),
    );
  const [left, right] = [namesOf(one), namesOf(other)];
  const join = (folder: string, name: string) => `${folder.replace(/(?<=.)\/$/, '')}/${name}`;
  let exitCode = 0;
  for (const name of [...new Set([...left, ...right])].toSorted((a, b) => (a < b ? -1 : 1))) {
    const [inOne, inOther] = [join(one, name), join(other, name)];
    if (!(left.has(name) && right.has(name)) && !settings.newFiles) {
      call.print(`Only in ${left.has(name) ? one : other}: ${name}\n`);
      exitCode = Math.max(exitCode, 1);
      continue;
    }
    const folders = [inOne, inOther].every((path) => call.files.isDirectory(call.path(path)));
    if (folders && !settings.recursive) {
      call.print(`Common subdirectories: ${inOne} and ${inOther}\n`);
      continue;
    }
    exitCode = Math.max(exitCode, await compare(call, settings, inOne, inOther, true));
  }
  return exitCode;
}
