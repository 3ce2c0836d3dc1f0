/** `fold`, `nl`, `rev` and `tac`: what is done to each line, or to their order. */
import { textOfBytes } from '../../../workers/protocol/byte-text.ts';
import type { CommandCall, OwnCommand } from './own-command.ts';
import { byteLines, printBytes, textInputs } from './text-inputs.ts';

const TAB = 8;

function numberOf(call: CommandCall, value: string | null, fallback: number, what: string): number {
  if (value === null) return fallback;
  if (!/^-?\d+$/.test(value)) call.end(`invalid ${what}: ‘${value}’`);
  return Number(value);
}

export const tac: OwnCommand = {
  async main(call) {
    const { operands } = call.options({ letters: '', long: {} });
    for await (const { bytes } of textInputs(call, operands, (name, reason) =>
      reason === 'Is a directory'
        ? `${name}: read error: Invalid argument`
        : `failed to open '${name}' for reading: ${reason}`,
    )) {
      printBytes(call, byteLines(bytes).toReversed().join(''));
    }
    return undefined;
  },
};

export const rev: OwnCommand = {
  like: 'util-linux 2.38.1',
  async main(call) {
    const { operands } = call.options({ letters: '', long: {} });
    for await (const { bytes } of textInputs(call, operands, (name, reason) => `cannot open ${name}: ${reason}`)) {
      const text = textOfBytes(bytes);
      call.print(
        text
          .split('\n')
          .map((line) => [...line].toReversed().join(''))
          .join('\n'),
      );
    }
    return undefined;
  },
};

export const fold: OwnCommand = {
  async main(call) {
    const old = /^-(\d+)$/.exec(call.args[0] ?? '');
    if (old) call.args.splice(0, 1, '-w', old[1] ?? '');
    const { options, operands } = call.options({ letters: 'bsw:', long: { bytes: 'b', spaces: 's', 'width=': 'w' } });
    const has = (key: string) => options.some((option) => option.key === key);
    const width = numberOf(call, options.findLast(({ key }) => key === 'w')?.value ?? null, 80, 'number of columns');
    if (width < 1) call.end(`invalid number of columns: ‘${width}’`);
    for await (const { bytes } of textInputs(call, operands)) {
      printBytes(
        call,
        byteLines(bytes)
          .map((line) => folded(line, width, has('b'), has('s')))
          .join(''),
      );
    }
    return undefined;
  },
};

function folded(line: string, width: number, byBytes: boolean, atBlanks: boolean): string {
  let done = '';
  let current = '';
  const columnAfter = (column: number, byte: string) => {
    if (byBytes) return column + 1;
    if (byte === '\t') return column + TAB - (column % TAB);
    if (byte === '\b') return Math.max(0, column - 1);
    return byte === '\r' ? 0 : column + 1;
  };
  let column = 0;
  for (const byte of line) {
    if (byte === '\n') break;
    if (columnAfter(column, byte) > width && current !== '') {
      const blank = atBlanks ? current.search(/[ \t][^ \t]*$/) : -1;
      const kept = blank === -1 ? current : current.slice(0, blank + 1);
      done += `${kept}\n`;
      current = current.slice(kept.length);
      column = [...current].reduce(columnAfter, 0);
    }
    current += byte;
    column = columnAfter(column, byte);
  }
  return `${done}${current}${line.endsWith('\n') ? '\n' : ''}`;
}

export const nl: OwnCommand = {
  async main(call) {
    const { options, operands } = call.options({
      letters: 'b:d:f:h:i:l:n:ps:v:w:',
      long: {
        'body-numbering=': 'b',
        'line-increment=': 'i',
        'number-format=': 'n',
        'number-separator=': 's',
        'starting-line-number=': 'v',
        'number-width=': 'w',
        'no-renumber': 'p',
      },
    });
    const value = (key: string) => options.findLast((option) => option.key === key)?.value ?? null;
    const style = value('b') ?? 't';
    if (!/^[atn]$/.test(style)) call.end(`invalid body numbering style: ‘${style}’`);
    const format = value('n') ?? 'rn';
    if (!/^(ln|rn|rz)$/.test(format)) call.end(`invalid line numbering format: ‘${format}’`);
    const width = numberOf(call, value('w'), 6, 'line number field width');
    const step = numberOf(call, value('i'), 1, 'line number increment');
    const separator = Buffer.from(value('s') ?? '\t').toString('latin1');
    let number = numberOf(call, value('v'), 1, 'starting line number');
    const shown = () => {
      const digits = String(number);
      number += step;
      return format === 'ln' ? digits.padEnd(width) : digits.padStart(width, format === 'rz' ? '0' : ' ');
    };
    for await (const { bytes } of textInputs(call, operands)) {
      for (const line of byteLines(bytes)) {
        const text = line.endsWith('\n') ? line.slice(0, -1) : line;
        const isNumbered = style === 'a' || (style === 't' && text !== '');
        const before = isNumbered ? shown() + separator : ' '.repeat(width + separator.length);
        printBytes(call, `${before}${text}\n`);
      }
    }
    return undefined;
  },
};
