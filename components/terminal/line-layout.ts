/**
 * The layout of the edited line on a screen: rows, wraps, cursor. Pure; an emulator of the same width wraps in the same
 * way, because both measure by cells.ts.
 */
import { type Cluster, clustersOf } from './cells.ts';

const TAB = '    ';
/** Characters that change the direction of what follows: never drawn. */
const DIRECTION = /[\u202a-\u202e\u2066-\u2069]/gu;

/**
 * A cluster as it is drawn. The text may be somebody else's, or was pasted: a control character would move the cursor,
 * or have the emulator type something, so its picture stands for it.
 */
function drawn({ text, width }: Cluster): Cluster {
  if (text === '\t') return { text: TAB, width: TAB.length };
  const code = text.codePointAt(0) ?? 0;
  if (code < 0x20) return { text: String.fromCodePoint(0x2400 + code), width: 1 };
  if (code === 0x7f) return { text: '\u2421', width: 1 };
  if (code > 0x7f && code < 0xa0) return { text: '\ufffd', width: 1 };
  return { text: text.replace(DIRECTION, ''), width };
}

interface Row {
  text: string;
  /** The row is full and continues on the next one, without a line break. */
  wraps: boolean;
}

export interface LineLayout {
  rows: Row[];
  /** The cursor's position, from 0. */
  row: number;
  column: number;
}

/**
 * Lays out `text` after `prompt` (whose width in cells is `promptWidth`) on rows of `columns` cells, with the cursor at
 * index `at`. Rows after a line break begin with `more`.
 */
export function layOut(
  line: { text: string; at: number },
  prompt: { text: string; width: number },
  more: { text: string; width: number },
  columns: number,
): LineLayout {
  const rows: Row[] = [{ text: prompt.text, wraps: false }];
  let width = prompt.width;
  let index = 0;
  let row = 0;
  let column = width;
  const last = () => rows[rows.length - 1] ?? { text: '', wraps: false };
  const begin = (wraps: boolean, text: string, start: number) => {
    last().wraps = wraps;
    rows.push({ text, wraps: false });
    width = start;
  };
  const look = () => {
    if (index !== line.at) return;
    row = rows.length - 1;
    column = width;
  };
  look();
  for (const cluster of clustersOf(line.text)) {
    if (cluster.text === '\n') {
      begin(false, more.text, more.width);
    } else {
      const sign = drawn(cluster);
      if (width + sign.width > columns) {
        begin(true, '', 0);
        // The cursor before a cluster that did not fit stands on the cluster's row.
        look();
      }
      last().text += sign.text;
      width += sign.width;
    }
    index += cluster.text.length;
    look();
  }
  if (width >= columns) {
    // The last row is full: the cursor stands at the beginning of the next one.
    begin(true, '', 0);
    look();
  }
  return { rows, row, column: Math.min(column, columns - 1) };
}

const up = (rows: number) => (rows > 0 ? `\x1b[${rows}A` : '');
const right = (columns: number) => (columns > 0 ? `\x1b[${columns}C` : '');

/** The output that draws the layout from its first row on, with the cursor in its place. At most `height` rows. */
export function renderLayout(layout: LineLayout, height: number): { text: string; row: number } {
  const start = Math.max(0, Math.min(layout.row - Math.floor(height / 2), layout.rows.length - height));
  const shown = layout.rows.slice(start, start + height);
  const body = shown
    .map(({ text, wraps }, at) => {
      if (at === shown.length - 1) return text;
      // A blank makes a full row wrap when an empty row follows.
      return text + (wraps ? (shown[at + 1]?.text === '' ? ' \r' : '') : '\r\n');
    })
    .join('');
  const row = layout.row - start;
  return { text: `\r\x1b[J${body}\r${up(shown.length - 1 - row)}${right(layout.column)}`, row };
}

/** The output that moves the cursor from `row` back to the beginning of the layout. */
export function cursorToStart(row: number): string {
  return `\r${up(row)}`;
}
