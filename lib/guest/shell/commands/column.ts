/** `column`: lines of text in columns, filled one after the other or, with `-t`, as a table. As util-linux has it. */

import { textWidth } from '../text-width.ts';
import { type CommandCall, type OwnCommand, reasonOf, textLines } from './own-command.ts';

const WIDTH = 80;
const TAB = 8;

export const column: OwnCommand = {
  like: 'util-linux 2.38.1',
  async main(call) {
    const { options, operands } = call.options({
      letters: 'c:deH:Jl:Ln:N:o:O:R:s:tT:W:x',
      long: {
        'output-width=': 'c',

        'table-noheadings': 'd',
        'keep-empty-lines': 'L',
        fillrows: 'x',
        json: 'J',
        'table-columns-limit=': 'l',
        'table-name=': 'n',
        'table-columns=': 'N',
        'output-separator=': 'o',
        'table-order=': 'O',
        'table-right=': 'R',
        'separator=': 's',
        table: 't',
        'table-truncate=': 'T',
        'table-hide=': 'H',
        'table-wrap=': 'W',
        'table-noextreme=': 'e',
      },
    });
    const value = (key: string) => options.findLast((option) => option.key === key)?.value ?? null;
    const has = (key: string) => options.some((option) => option.key === key);
    const lines: string[] = [];
    for (const name of operands.length === 0 ? ['-'] : operands) {
      try {
        lines.push(...textLines(await call.input(name)));
      } catch (error) {
        call.fail(`${name}: ${reasonOf(error)}`);
      }
    }
    const kept = lines.filter((line) => has('L') || line.trim() !== '');
    if (!has('t') && !has('J')) {
      fill(call, kept, {
        width: value('c') === 'unlimited' ? Number.MAX_SAFE_INTEGER : Number(value('c') ?? WIDTH),
        byRow: has('x'),
      });
      return undefined;
    }
    const table = tableOf(kept, { separators: value('s'), most: Number(value('l') ?? Number.POSITIVE_INFINITY) });
    const names = value('N')?.split(',') ?? null;
    if (has('J') && names === null) call.end('option --table-columns required for --json');
    const shown = chosen(table, names, { order: value('O'), hidden: value('H') });
    const title = names === null || has('d') || has('J') ? [] : [shown.map((at) => names[at] ?? '')];
    const rows = table.map((cells) => shown.map((at) => cells[at] ?? ''));
    if (has('J')) {
      call.print(
        jsonOf(
          rows,
          shown.map((at) => names?.[at]?.toLowerCase() ?? ''),
          value('n') ?? 'table',
        ),
      );
      return undefined;
    }
    const right = numbersOf(value('R'), names, table);
    call.print(aligned([...title, ...rows], { right: shown.map((at) => right.has(at)), between: value('o') ?? '  ' }));
    return undefined;
  },
};

/** Fills columns with lines, from top to bottom or row by row. Columns stand at tabulator stops. */
function fill(call: CommandCall, lines: readonly string[], how: { width: number; byRow: boolean }): void {
  const longest = Math.max(0, ...lines.map(textWidth));
  if (longest >= how.width) {
    call.print(lines.map((line) => `${line}\n`).join(''));
    return;
  }
  const step = (Math.floor(longest / TAB) + 1) * TAB;
  const columns = Math.max(1, Math.floor(how.width / step));
  const height = Math.ceil(lines.length / columns);
  const rows: string[][] = [];
  lines.forEach((line, at) => {
    const row = how.byRow ? Math.floor(at / columns) : at % height;
    rows[row] = [...(rows[row] ?? []), line];
  });
  const tabs = (cell: string) => '\t'.repeat(Math.ceil((step - textWidth(cell)) / TAB));
  const text = (row: readonly string[]) =>
    row.map((cell, at) => (at === row.length - 1 ? cell : cell + tabs(cell))).join('');
  call.print(rows.map((row) => `${text(row)}\n`).join(''));
}

/** Cells a line each. Without separators blanks part them, of which several are one. */
function tableOf(lines: readonly string[], how: { separators: string | null; most: number }): string[][] {
  const { separators, most } = how;
  return lines.map((line) => {
    const text = separators === null ? line.trim() : line;
    const cells: string[] = [];
    let from = 0;
    const isSeparator = (char: string | undefined) =>
      char !== undefined && (separators === null ? char === ' ' || char === '\t' : separators.includes(char));
    while (cells.length < most - 1) {
      let end = from;
      while (end < text.length && !isSeparator(text[end])) end += 1;
      if (end === text.length) break;
      cells.push(text.slice(from, end));
      from = end + 1;
      while (separators === null && isSeparator(text[from])) from += 1;
    }
    cells.push(text.slice(from));
    return cells;
  });
}

/** The columns to show, in order. */
function chosen(
  table: readonly string[][],
  names: readonly string[] | null,
  { order, hidden }: { order: string | null; hidden: string | null },
): number[] {
  const count = Math.max(names?.length ?? 0, ...table.map((cells) => cells.length));
  const all = Array.from({ length: count }, (_, at) => at);
  const first = [...numbersOf(order, names, table)];
  const without = numbersOf(hidden, names, table);
  return [...first, ...all.filter((at) => !first.includes(at))].filter((at) => !without.has(at));
}

/** The columns of a list of names or numbers from 1; `0` and `-` are all of them, or the unnamed ones. */
function numbersOf(list: string | null, names: readonly string[] | null, table: readonly string[][]): Set<number> {
  const count = Math.max(names?.length ?? 0, ...table.map((cells) => cells.length));
  const words = list === null ? [] : list.split(',');
  return new Set(
    words.flatMap((word) => {
      const named = names?.indexOf(word) ?? -1;
      if (named >= 0) return [named];
      if (word === '0') return Array.from({ length: count }, (_, at) => at);
      if (word === '-') return Array.from({ length: count }, (_, at) => at).filter((at) => !names?.[at]);
      return /^\d+$/.test(word) ? [Number(word) - 1] : [];
    }),
  );
}

function aligned(rows: readonly string[][], { right, between }: { right: boolean[]; between: string }): string {
  const widths = right.map((_, at) => Math.max(0, ...rows.map((cells) => textWidth(cells[at] ?? ''))));
  const last = widths.length - 1;
  return rows
    .map((cells) => {
      const padded = cells.map((cell, at) => {
        const blanks = ' '.repeat(Math.max(0, (widths[at] ?? 0) - textWidth(cell)));
        if (right[at]) return blanks + cell;
        return at === last ? cell : cell + blanks;
      });
      return `${padded.join(between)}\n`;
    })
    .join('');
}

function jsonOf(rows: readonly string[][], names: readonly string[], name: string): string {
  const items = rows.map((cells) => {
    const fields = names.map((key, at) => `         ${JSON.stringify(key)}: ${JSON.stringify(cells[at] ?? '')}`);
    return `{\n${fields.join(',\n')}\n      }`;
  });
  return `{\n   ${JSON.stringify(name)}: [\n      ${items.join(',')}\n   ]\n}\n`;
}
