/** `comm`: what two sorted files have in common. */
import { type CommandCall, marked, type OwnCommand, reasonOf } from './own-command.ts';
import { byteLines, printBytes } from './text-inputs.ts';

export const comm: OwnCommand = {
  async main(call) {
    const { options, operands } = call.options({
      letters: '123z',
      long: {
        'check-order': 'check',
        'nocheck-order': 'nocheck',
        'output-delimiter=': 'd',
        total: 't',
        'zero-terminated': 'z',
      },
    });
    const has = (key: string) => options.some((option) => option.key === key);
    const [first, second, extra] = operands;
    if (first === undefined) return call.usage('missing operand');
    if (second === undefined) return call.usage(`missing operand after ${marked(first)}`);
    if (extra !== undefined) call.usage(`extra operand ${marked(extra)}`);
    const end = has('z') ? '\0' : '\n';
    const delimiter = Buffer.from(options.findLast(({ key }) => key === 'd')?.value ?? '\t').toString('latin1');
    const one = await linesOf(call, first, end);
    const other = await linesOf(call, second, end);
    const merged = merge(call, [one, other], {
      isShown: (column) => !has(String(column + 1)),
      delimiter,
      end,
      checks: has('check') ? 'always' : has('nocheck') ? 'never' : 'unpaired',
    });
    if (has('t')) printBytes(call, `${[...merged.counts, 'total'].join(delimiter)}${end}`);
    if (merged.isUnsorted && call.exitCode === 0) call.fail('input is not in sorted order');
    return undefined;
  },
};

async function linesOf(call: CommandCall, name: string, end: string): Promise<string[]> {
  try {
    return byteLines(await call.input(name), end).map((line) => (line.endsWith(end) ? line.slice(0, -1) : line));
  } catch (error) {
    return call.end(`${name}: ${reasonOf(error)}`);
  }
}

interface Columns {
  isShown: (column: number) => boolean;
  delimiter: string;
  end: string;
  /** The order is complained about always, never, or once a line had no partner. */
  checks: 'always' | 'never' | 'unpaired';
}

/** Prints the lines of one, of the other, and of both, in a column each. */
function merge(call: CommandCall, files: [string[], string[]], columns: Columns) {
  const at = [0, 0];
  const counts = [0, 0, 0];
  const told = [false, false];
  let isUnpaired = false;
  const rows: string[] = [];
  const row = (column: number, line: string) => {
    counts[column] = (counts[column] ?? 0) + 1;
    if (!columns.isShown(column)) return;
    const before = [0, 1].filter((other) => other < column && columns.isShown(other)).length;
    rows.push(columns.delimiter.repeat(before) + line + columns.end);
  };
  const step = (file: 0 | 1) => {
    const before = files[file][at[file] ?? 0];
    at[file] = (at[file] ?? 0) + 1;
    const next = files[file][at[file] ?? 0];
    const isChecked = columns.checks === 'always' || (columns.checks === 'unpaired' && isUnpaired);
    if (!isChecked || told[file] || before === undefined || next === undefined || before <= next) return true;
    told[file] = true;
    call.fail(`file ${file + 1} is not in sorted order`);
    return columns.checks !== 'always';
  };
  for (;;) {
    const [one, other] = [files[0][at[0] ?? 0], files[1][at[1] ?? 0]];
    if (one === undefined && other === undefined) break;
    let goesOn = true;
    if (one !== undefined && one === other) {
      row(2, one);
      goesOn = step(0) && step(1);
    } else if (other === undefined || (one !== undefined && one < other)) {
      isUnpaired = true;
      row(0, one ?? '');
      goesOn = step(0);
    } else {
      isUnpaired = true;
      row(1, other);
      goesOn = step(1);
    }
    if (!goesOn) break;
  }
  printBytes(call, rows.join(''));
  return { counts, isUnsorted: told.includes(true) };
}
