/** `sort`: lines in the order of their bytes, or by keys. */
import { type CommandCall, type OwnCommand, reasonOf } from './own-command.ts';
import { rowOrder, type SortKey, type SortRow, type SortRule } from './sort-keys.ts';
import { byteLines, printBytes } from './text-inputs.ts';

const RULES: Readonly<Record<string, Partial<SortRule>>> = {
  b: { skipBlanks: true },
  d: { dictionary: true },
  f: { foldCase: true },
  i: { printable: true },
  g: { kind: 'general' },
  h: { kind: 'human' },
  M: { kind: 'month' },
  n: { kind: 'number' },
  V: { kind: 'version' },
  R: { kind: 'random' },
  r: { reverse: true },
};
const PLAIN: SortRule = {
  kind: 'text',
  reverse: false,
  skipBlanks: false,
  foldCase: false,
  dictionary: false,
  printable: false,
};

export const sort: OwnCommand = {
  usageExit: 2,
  async main(call) {
    // The old form of -o behind operands is what getopt gives anyway.
    const { options, operands } = call.options({
      letters: 'bdfgiMhnRrVcCk:mo:sS:t:T:uz',
      long: {
        'ignore-leading-blanks': 'b',
        'dictionary-order': 'd',
        'ignore-case': 'f',
        'general-numeric-sort': 'g',
        'ignore-nonprinting': 'i',
        'month-sort': 'M',
        'human-numeric-sort': 'h',
        'numeric-sort': 'n',
        'random-sort': 'R',
        reverse: 'r',
        'version-sort': 'V',
        'check=?': 'c',
        'key=': 'k',
        merge: 'm',
        'output=': 'o',
        stable: 's',
        'buffer-size=': 'S',
        'field-separator=': 't',
        'temporary-directory=': 'T',
        'parallel=': 'parallel',
        unique: 'u',
        'zero-terminated': 'z',
        'sort=': 'sort',
      },
    });
    const has = (key: string) => options.some((option) => option.key === key);
    const value = (key: string) => options.findLast((option) => option.key === key)?.value ?? null;
    const rule: SortRule = { ...PLAIN };
    for (const { key } of options) Object.assign(rule, RULES[key] ?? {});
    const word = value('sort');
    if (word !== null) rule.kind = kindOf(call, word);
    const keys = options.filter(({ key }) => key === 'k').map((option) => keyOf(call, option.value ?? '', rule));
    const end = has('z') ? '\0' : '\n';
    const separator = separatorOf(call, value('t'));
    const lines = await readLines(call, operands, end);
    const { rowOf, compare: byKeys } = rowOrder(
      keys.length === 0 ? [{ rule, start: null, stop: null }] : keys,
      separator,
    );
    const isPlain =
      keys.length === 0 &&
      rule.kind === 'text' &&
      !rule.foldCase &&
      !rule.dictionary &&
      !rule.printable &&
      !rule.skipBlanks;
    const lastResort = has('s') || has('u') || isPlain ? () => 0 : byBytes;
    const compare = (a: SortRow, b: SortRow) => {
      const order = byKeys(a, b);
      if (order !== 0) return order;
      return rule.reverse ? lastResort(b.line, a.line) : lastResort(a.line, b.line);
    };
    const rows = lines.map(rowOf);
    if (has('c') || has('C')) return check(call, rows, operands[0] ?? '-', has('C'), has('u'), compare);
    rows.sort(compare);
    const kept = has('u') ? rows.filter((row, at) => at === 0 || byKeys(rows[at - 1] ?? row, row) !== 0) : rows;
    const text = kept.map(({ line }) => line + end).join('');
    const output = value('o');
    if (output === null) printBytes(call, text);
    else {
      try {
        await call.changes.writeFile(call.path(output), Buffer.from(text, 'latin1'));
      } catch (error) {
        call.end(`open failed: ${output}: ${reasonOf(error)}`, 2);
      }
    }
    return undefined;
  },
};

const byBytes = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

function check(
  call: CommandCall,
  rows: readonly SortRow[],
  name: string,
  quiet: boolean,
  unique: boolean,
  compare: (a: SortRow, b: SortRow) => number,
): number {
  const at = rows.findIndex((row, index) => {
    if (index === 0) return false;
    const order = compare(rows[index - 1] ?? row, row);
    return order > 0 || (unique && order === 0);
  });
  if (at === -1) return 0;
  const line = Buffer.from(rows[at]?.line ?? '', 'latin1').toString();
  if (!quiet) call.warn(`sort: ${name}:${at + 1}: disorder: ${line}\n`);
  return 1;
}

async function readLines(call: CommandCall, operands: readonly string[], end: string): Promise<string[]> {
  const lines: string[] = [];
  for (const name of operands.length === 0 ? ['-'] : operands) {
    try {
      for (const line of byteLines(await call.input(name), end))
        lines.push(line.endsWith(end) ? line.slice(0, -1) : line);
    } catch (error) {
      const reason = reasonOf(error);
      call.end(reason === 'Is a directory' ? `read failed: ${name}: ${reason}` : `cannot read: ${name}: ${reason}`, 2);
    }
  }
  return lines;
}

function separatorOf(call: CommandCall, given: string | null): string | null {
  if (given === null) return null;
  if (given === '') call.end('empty tab', 2);
  const separator = given === '\\0' ? '\0' : Buffer.from(given).toString('latin1');
  if (separator.length > 1) call.end(`multi-character tab ‘${given}’`, 2);
  return separator;
}

function kindOf(call: CommandCall, word: string): SortRule['kind'] {
  const kinds: Readonly<Record<string, SortRule['kind']>> = {
    'general-numeric': 'general',
    'human-numeric': 'human',
    month: 'month',
    numeric: 'number',
    random: 'random',
    version: 'version',
  };
  return kinds[word] ?? call.usage(`invalid argument ‘${word}’ for ‘--sort’`, 2);
}

/** `F[.C][OPTS][,F[.C][OPTS]]`. A key without options has those of the whole sort. */
function keyOf(call: CommandCall, text: string, global: SortRule): SortKey {
  const match = /^(\d+)(?:\.(\d+))?([bdfgiMhnRrV]*)(?:,(\d+)(?:\.(\d+))?([bdfgiMhnRrV]*))?$/.exec(text);
  if (!match) call.end(`invalid number at field start: invalid count at start of ‘${text}’`, 2);
  const [, field = '', character, letters = '', stopField, stopCharacter, stopLetters = ''] = match ?? [];
  if (field === '0') call.end(`-: invalid field specification ‘${text}’`.replace('-: ', ''), 2);
  const rule: SortRule = letters + stopLetters === '' ? { ...global } : { ...PLAIN };
  for (const letter of letters + stopLetters) Object.assign(rule, RULES[letter] ?? {});
  if (letters + stopLetters !== '') rule.skipBlanks = letters.includes('b');
  return {
    rule,
    start: { field: Number(field), character: Number(character ?? 1) },
    stop:
      stopField === undefined
        ? null
        : {
            field: Number(stopField),
            character: Number(stopCharacter ?? 0),
            skipBlanks: letters + stopLetters === '' ? global.skipBlanks : stopLetters.includes('b'),
          },
  };
}
