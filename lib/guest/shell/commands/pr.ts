/** `pr`: pages and columns, as GNU's. */
import { type CommandCall, marked, type OwnCommand, reasonOf } from './own-command.ts';

const PAGE_LINES = 66;
const HEAD_LINES = 5;
const FOOT_LINES = 5;
const WIDTH = 72;
const TAB = 8;

interface Form {
  columns: number;
  across: boolean;
  width: number;
  /** Null: columns are padded. */
  separator: string | null;
  number: { separator: string; digits: number } | null;
  offset: number;
  isDouble: boolean;
}

export const pr: OwnCommand = {
  async main(call: CommandCall) {
    const old = call.args.findIndex((arg) => /^-\d+/.test(arg));
    const columns = old === -1 ? 1 : Number.parseInt((call.args[old] ?? '').slice(1), 10);
    if (old !== -1)
      call.args.splice(old, 1, ...[(call.args[old] ?? '').replace(/^-\d+/, '-')].filter((arg) => arg !== '-'));
    // The value of -n and of -s is optional and stands in the same argument.
    const { options, operands } = call.options({
      letters: 'ade::fFh:i::l:mn::N:o:rs::S::tTW:w:D:Jv',
      long: {
        across: 'a',
        'columns=': 'columns',
        'double-space': 'd',
        'form-feed': 'f',
        'header=': 'h',
        'length=': 'l',
        merge: 'm',
        'number-lines=?': 'n',
        'indent=': 'o',
        'no-file-warnings': 'r',
        'separator=?': 's',
        'sep-string=?': 'S',
        'omit-header': 't',
        'omit-pagination': 'T',
        'width=': 'w',
        'page-width=': 'W',
        'date-format=': 'D',
      },
    });
    const has = (...keys: string[]) => options.some(({ key }) => keys.includes(key));
    const value = (key: string) => options.findLast((option) => option.key === key)?.value ?? null;
    for (const key of ['e', 'i', 'N', 'S', 'J', 'v', 'f', 'F'])
      if (has(key)) call.end(`the option -${key} is not supported in this sandbox`);
    const whole = (key: string, fallback: number) => {
      const text = value(key);
      if (text !== null && !/^\d+$/.test(text)) call.end(`'-${key}' invalid number: ${marked(text)}`);
      return text === null ? fallback : Number(text);
    };
    const count = has('columns') ? whole('columns', 1) : columns;
    if (count < 1) call.end(`invalid number of columns: ${marked(String(count))}`);
    const [, mark = '\t', digits = '5'] = /^(\D?)(\d*)$/.exec(value('n') ?? '') ?? [];
    const form: Form = {
      columns: count,
      across: has('a'),
      width: whole('W', whole('w', WIDTH)),
      separator: has('s') ? (value('s') ?? '\t') : null,
      number: has('n') ? { separator: mark || '\t', digits: Number(digits || 5) } : null,
      offset: whole('o', 0),
      isDouble: has('d'),
    };
    const length = whole('l', PAGE_LINES);
    const isBare = has('t', 'T') || length <= HEAD_LINES + FOOT_LINES;
    const inputs: { name: string; lines: string[]; mtime: number }[] = [];
    for (const name of operands.length === 0 ? ['-'] : operands) {
      await call.turn();
      try {
        const text = (await call.input(name)).toString();
        const lines = text === '' ? [] : (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n');
        const isFile = name !== '-' && !/^\/(?:dev|proc)\//.test(call.path(name));
        inputs.push({ name, lines, mtime: isFile ? call.files.info(call.path(name)).mtime : Date.now() / 1000 });
      } catch (error) {
        call.fail(`${name}: ${reasonOf(error)}`);
      }
    }
    const body = isBare
      ? Number.POSITIVE_INFINITY
      : Math.floor((length - HEAD_LINES - FOOT_LINES) / (form.isDouble ? 2 : 1));
    const documents = has('m')
      ? [
          {
            ...inputs[0],
            name: '',
            rows: merged(
              inputs.map(({ lines }) => lines),
              form,
            ),
          },
        ]
      : inputs.map((input) => ({ ...input, rows: null }));
    for (const { name, lines = [], mtime = Date.now() / 1000, rows } of documents) {
      const pages = rows === null ? pagesOf(lines, form, body) : chunks(rows, body);
      for (const [at, page] of pages.entries()) {
        await call.turn();
        const text = page.flatMap((row) => (form.isDouble ? [row, ''] : [row]));
        if (isBare) {
          call.print(text.map((row) => `${row}\n`).join(''));
          continue;
        }
        const head = headOf(value('h') ?? (name === '-' ? '' : name), mtime, at + 1, form.width);
        const room = length - HEAD_LINES - FOOT_LINES;
        const filled = [...text, ...Array<string>(Math.max(0, room - text.length)).fill('')];
        call.print(['', '', head, '', '', ...filled, '', '', '', '', ''].map((row) => `${row}\n`).join(''));
      }
    }
    return undefined;
  },
};

function headOf(title: string, mtime: number, page: number, width: number): string {
  const date = new Date(mtime * 1000).toISOString().slice(0, 16).replace('T', ' ');
  const number = `Page ${page}`;
  const room = width - date.length - title.length - number.length;
  const left = Math.max(1, Math.floor(room / 2));
  return `${date}${' '.repeat(left)}${title}${' '.repeat(Math.max(1, room - left))}${number}`;
}

function chunks<Item>(items: readonly Item[], size: number): Item[][] {
  if (size === Number.POSITIVE_INFINITY) return items.length === 0 ? [] : [[...items]];
  const parts: Item[][] = [];
  for (let at = 0; at < items.length; at += size) parts.push(items.slice(at, at + size));
  return parts;
}

function pagesOf(given: readonly string[], form: Form, body: number): string[][] {
  const lines = given.map((text, at) => ({ text, number: at + 1 }));
  const { columns } = form;
  return chunks(lines, body === Number.POSITIVE_INFINITY ? body : body * columns).map((page) => {
    const rows = Math.ceil(page.length / columns);
    return Array.from({ length: rows }, (_, row) => {
      const cells = Array.from({ length: columns }, (_cell, column) =>
        form.across ? page[row * columns + column] : page[downIndex(page.length, columns, row, column)],
      );
      return rowOf(
        cells.flatMap((cell) => (cell === undefined ? [] : [numbered(cell.text, cell.number, form)])),
        form,
        columns,
      );
    });
  });
}

/** Where a cell stands when columns are filled one after the other, the first ones with one more. */
function downIndex(length: number, columns: number, row: number, column: number): number {
  const [each, more] = [Math.floor(length / columns), length % columns];
  const height = each + (column < more ? 1 : 0);
  return row < height ? column * each + Math.min(column, more) + row : length;
}

function numbered(text: string, number: number, { number: how }: Form): string {
  return how === null ? text : `${String(number).padStart(how.digits).slice(-how.digits)}${how.separator}${text}`;
}

function merged(files: readonly (readonly string[])[], form: Form): string[] {
  const rows = Math.max(0, ...files.map((lines) => lines.length));
  return Array.from({ length: rows }, (_, row) => {
    const cells = files.map((lines) => lines[row] ?? '');
    const [first = '', ...rest] = cells;
    return rowOf([numbered(first, row + 1, form), ...rest], form, files.length);
  });
}

function rowOf(cells: readonly string[], { width, separator, offset }: Form, columns: number): string {
  const margin = ' '.repeat(offset);
  if (columns === 1) return margin + cells.join('');
  if (separator !== null) return margin + cells.join(separator);
  const each = Math.floor((width - (columns - 1)) / columns);
  let [text, column] = ['', 0];
  for (const [at, cell] of cells.entries()) {
    if (at > 0) {
      const start = at * (each + 1);
      text += blanks(column, start);
      column = start;
    }
    const shown = [...cell].slice(0, each).join('');
    text += shown;
    column += shown.length;
  }
  return margin + text;
}

/** Tabs as far as they reach, and blanks. */
function blanks(from: number, to: number): string {
  let [text, column] = ['', from];
  for (let next = column + TAB - (column % TAB); next <= to && to - column > 1; next = column + TAB - (column % TAB)) {
    text += '\t';
    column = next;
  }
  return text + ' '.repeat(to - column);
}
