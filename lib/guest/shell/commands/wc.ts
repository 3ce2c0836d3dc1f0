/** `wc`: lines, words, characters, bytes and the longest line of inputs. */
import type { CommandContext } from 'just-bash';
import { textOfBytes } from '../../../workers/protocol/byte-text.ts';
import { type CommandCall, type OwnCommand, reasonOf } from './own-command.ts';

const COLUMNS = ['lines', 'words', 'characters', 'bytes', 'longest'] as const;
type Column = (typeof COLUMNS)[number];
type Counts = Record<Column, number>;

const KEYS: Readonly<Record<string, Column>> = { l: 'lines', w: 'words', m: 'characters', c: 'bytes', L: 'longest' };
const TAB = 8;

export const wc: OwnCommand = {
  async main(call) {
    const { options, operands } = call.options({
      letters: 'lwmcL',
      long: {
        lines: 'l',
        words: 'w',
        chars: 'm',
        bytes: 'c',
        'max-line-length': 'L',
        'files0-from=': 'files0',
        'total=': 'total',
      },
    });
    const asked = new Set(options.map(({ key }) => KEYS[key]));
    const list = options.find(({ key }) => key === 'files0')?.value;
    const chosen = COLUMNS.filter((column) =>
      options.some(({ key }) => KEYS[key] !== undefined)
        ? asked.has(column)
        : !['characters', 'longest'].includes(column),
    );
    const when = totalOf(call, options.findLast(({ key }) => key === 'total')?.value ?? 'auto');
    const names =
      list == null
        ? operands
        : (await call.input(list))
            .toString()
            .split('\0')
            .filter((name) => name !== '');
    const counted = await countAll(call, names.length === 0 ? ['-'] : names, chosen);
    const total = sum(counted.flatMap(({ counts }) => (counts === null ? [] : [counts])));
    const width = await widthOf(call, names, chosen, total);
    const line = (counts: Counts, name: string) =>
      `${chosen.map((column) => String(counts[column]).padStart(width)).join(' ')}${name === '' ? '' : ` ${name}`}\n`;
    if (when === 'only') {
      call.print(`${chosen.map((column) => String(total[column])).join(' ')}\n`);
      return undefined;
    }
    for (const { name, counts } of counted) {
      if (counts !== null) call.print(line(counts, names.length === 0 ? '' : name));
    }
    if (when === 'always' || (when === 'auto' && names.length > 1)) call.print(line(total, 'total'));
    return undefined;
  },
};

const TOTALS = ['auto', 'always', 'only', 'never'] as const;

function totalOf(call: CommandCall, given: string): (typeof TOTALS)[number] {
  const found = TOTALS.filter((when) => when.startsWith(given));
  return (found.length === 1 ? found[0] : null) ?? call.usage(`invalid argument ‘${given}’ for ‘--total’`);
}

async function countAll(call: CommandCall, names: readonly string[], chosen: readonly Column[]) {
  const counted: { name: string; counts: Counts | null }[] = [];
  for (const name of names) {
    await call.turn();
    try {
      counted.push({ name, counts: countsOf(await call.input(name), chosen) });
    } catch (error) {
      const reason = reasonOf(error);
      call.fail(`${name}: ${reason}`);
      counted.push({ name, counts: reason === 'Is a directory' ? countsOf(Buffer.alloc(0), chosen) : null });
    }
  }
  return counted;
}

/** As wide as the sum of the sizes of the files, at least 7 when one of the inputs is no file; 1 for one number. */
async function widthOf(
  call: CommandCall,
  names: readonly string[],
  chosen: readonly Column[],
  total: Counts,
): Promise<number> {
  if (chosen.length === 1 && names.length <= 1) return 1;
  const { readsFile = false } = call.context as CommandContext & { readsFile?: boolean };
  if (names.length === 0 && readsFile) return String(total.bytes).length;
  const inputs = names.length === 0 ? ['-'] : names;
  let size = 0;
  for (const name of inputs) {
    if (name === '-') return names.length === 0 && chosen.length === 1 ? 1 : Math.max(7, String(total.bytes).length);
    try {
      const info = call.files.look(call.path(name));
      if (info === null) continue;
      if (info.kind !== 'file') return 7;
      size += info.size;
    } catch {
      // Reported when it was read.
    }
  }
  return String(size).length;
}

function sum(all: readonly Counts[]): Counts {
  const total: Counts = { lines: 0, words: 0, characters: 0, bytes: 0, longest: 0 };
  for (const counts of all) {
    for (const column of COLUMNS) total[column] += counts[column];
    total.longest = Math.max(total.longest - counts.longest, counts.longest);
  }
  total.longest = Math.max(0, ...all.map(({ longest }) => longest));
  return total;
}

function countsOf(bytes: Buffer, chosen: readonly Column[]): Counts {
  const needsText = chosen.some((column) => column !== 'lines' && column !== 'bytes');
  let lines = 0;
  for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) lines += 1;
  const text = needsText ? textOfBytes(bytes) : '';
  return {
    lines,
    words: needsText ? (text.match(/[^\s\0]+/g) ?? []).length : 0,
    characters: needsText ? [...text].filter((character) => !/[\udc80-\udcff]/.test(character)).length : 0,
    bytes: bytes.length,
    longest: chosen.includes('longest') ? Math.max(0, ...text.split(/[\n\r\f]/).map(widthOfLine)) : 0,
  };
}

function widthOfLine(line: string): number {
  let width = 0;
  for (const character of line) {
    if (character === '\t') width += TAB - (width % TAB);
    else if (
      /\p{Extended_Pictographic}|[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\uff00-\uff60]/u.test(character)
    )
      width += 2;
    else if (!/[\p{Cc}\p{Mn}\p{Cf}]/u.test(character)) width += 1;
  }
  return width;
}
