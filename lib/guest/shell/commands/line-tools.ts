/** `fold`, `nl`, `rev` and `tac`: what is done to each line, or to their order. */
import { textOfBytes } from '../../../workers/protocol/byte-text.ts';
import type { CommandCall, OwnCommand } from './own-command.ts';
import { translateRegex } from './posix-regex.ts';
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
        'footer-numbering=': 'f',
        'header-numbering=': 'h',
        'join-blank-lines=': 'l',
        'section-delimiter=': 'd',
        'line-increment=': 'i',
        'number-format=': 'n',
        'number-separator=': 's',
        'starting-line-number=': 'v',
        'number-width=': 'w',
        'no-renumber': 'p',
      },
    });
    const value = (key: string) => options.findLast((option) => option.key === key)?.value ?? null;
    const styles = {
      header: styleOf(call, value('h') ?? 'n', 'header'),
      body: styleOf(call, value('b') ?? 't', 'body'),
      footer: styleOf(call, value('f') ?? 'n', 'footer'),
    };
    const joined = numberOf(call, value('l'), 1, 'line number of blank lines');
    const delimiter = Buffer.from(delimiterOf(value('d') ?? '\\:')).toString('latin1');
    const starts = new Map(
      (['footer', 'body', 'header'] as const).map((part, at) => [delimiter.repeat(at + 1), part] as const),
    );
    const format = value('n') ?? 'rn';
    if (!/^(ln|rn|rz)$/.test(format)) call.end(`invalid line numbering format: ‘${format}’`);
    const width = numberOf(call, value('w'), 6, 'line number field width');
    const step = numberOf(call, value('i'), 1, 'line number increment');
    const separator = Buffer.from(value('s') ?? '\t').toString('latin1');
    const first = numberOf(call, value('v'), 1, 'starting line number');
    const renumbers = !options.some(({ key }) => key === 'p');
    let number = first;
    const shown = () => {
      const digits = String(number);
      number += step;
      return format === 'ln' ? digits.padEnd(width) : digits.padStart(width, format === 'rz' ? '0' : ' ');
    };
    let style = styles.body;
    let blanks = 0;
    for await (const { bytes } of textInputs(call, operands)) {
      for (const line of byteLines(bytes)) {
        const text = line.endsWith('\n') ? line.slice(0, -1) : line;
        const part = delimiter === '' ? undefined : starts.get(text);
        if (part !== undefined) {
          style = styles[part];
          if (renumbers) number = first;
          blanks = 0;
          printBytes(call, '\n');
          continue;
        }
        blanks = text === '' ? blanks + 1 : 0;
        const isNumbered = style === 'all' ? text !== '' || blanks % joined === 0 : style(text);
        const before = isNumbered ? shown() + separator : ' '.repeat(width + separator.length);
        printBytes(call, `${before}${text}\n`);
      }
    }
    return undefined;
  },
};

/** Which lines of a part are numbered: `all`, also blank ones, or by their text (a byte a character). */
type NumberedLines = 'all' | ((text: string) => boolean);

function styleOf(call: CommandCall, given: string, part: string): NumberedLines {
  if (given === 'a') return 'all';
  if (given === 't') return (text) => text !== '';
  if (given === 'n') return () => false;
  if (!given.startsWith('p')) call.end(`invalid ${part} numbering style: ‘${given}’`);
  try {
    const { source } = translateRegex(given.slice(1), { syntax: 'basic', unicode: true, lineEnd: '' });
    const pattern = new RegExp(source, 'u');
    return (text) => pattern.test(textOfBytes(Buffer.from(text, 'latin1')));
  } catch {
    return call.end(`invalid ${part} numbering style: ‘${given}’`);
  }
}

/** One character stands for itself and a colon. */
const delimiterOf = (given: string) => ([...given].length === 1 ? `${given}:` : given);
