/**
 * What `--format` says of room: `%<(10)` and its like, for the placeholder behind them, and `%w(…)`, for all that
 * follows. Knows of placeholders what is between them. Pure.
 */
import { textWidth } from '../../text-width.ts';

const PLACEHOLDER =
  /%(?:(<\||>>\||><\||>\||<|>>|><|>)\(\s*(-?\d+)\s*(?:,\s*(trunc|ltrunc|mtrunc)\s*)?\)|(w\([^)]*\))|(C\([^)]*\)|C(?:red|green|blue|reset)|x[0-9a-fA-F]{2}|\(trailers(?::[^)]*)?\)|[ac][nNeElLdDrtiIs]|[HhTtPpsfbBdDnNem%]))/g;

interface Room {
  kind: string;
  columns: number;
  cut: string | undefined;
}

interface Wrap {
  from: number;
  width: number;
  first: number;
  others: number;
}

/** A template with its placeholders replaced. `valueFor`: of what stands behind `%`; null for what it does not know. */
export function laidOut(template: string, valueFor: (key: string) => string | null): string {
  let text = '';
  let at = 0;
  let room: Room | null = null;
  let wrap: Wrap = { from: 0, width: 0, first: 0, others: 0 };
  const wrapFrom = (next: Omit<Wrap, 'from'>) => {
    text = text.slice(0, wrap.from) + wrapped(text.slice(wrap.from), wrap);
    wrap = { from: text.length, ...next };
  };
  for (const match of template.matchAll(PLACEHOLDER)) {
    const [whole, kind, columns, cut, layout, key] = match;
    text += template.slice(at, match.index);
    at = match.index + whole.length;
    if (kind !== undefined) room = { kind, columns: Number(columns), cut };
    else if (layout !== undefined) {
      const [width = 0, first = 0, others = 0] = layout.slice(2, -1).split(',').map(Number);
      if ([width, first, others].some((number) => !Number.isInteger(number) || number < 0)) text += whole;
      else wrapFrom({ width, first, others });
    } else {
      const value = valueFor(key ?? '') ?? whole;
      text += room === null ? value : placed(value, room, columnOf(text));
      room = null;
    }
  }
  text += template.slice(at);
  wrapFrom({ width: 0, first: 0, others: 0 });
  return text;
}

const columnOf = (text: string) => textWidth(text.slice(text.lastIndexOf('\n') + 1));

function placed(value: string, { kind, columns, cut }: Room, column: number): string {
  // With a bar it is a column of the line, from its right where it is negative (80 columns).
  const upTo = columns < 0 ? 80 + columns : columns;
  const width = kind.endsWith('|') ? Math.max(0, upTo - column) : columns;
  const has = textWidth(value);
  if (has > width) return cut === undefined ? value : shortened(value, width, cut);
  const left = kind.startsWith('<') ? 0 : kind.startsWith('><') ? Math.floor((width - has) / 2) : width - has;
  return ' '.repeat(left) + value + ' '.repeat(width - has - left);
}

function shortened(value: string, width: number, cut: string): string {
  const letters = [...value];
  const kept = Math.max(0, width - 2);
  if (cut === 'trunc') return `${letters.slice(0, kept).join('')}..`;
  if (cut === 'ltrunc') return `..${letters.slice(letters.length - kept).join('')}`;
  const before = Math.floor(width / 2) - 1;
  return `${letters.slice(0, Math.max(0, before)).join('')}..${letters.slice(letters.length - (kept - before)).join('')}`;
}

const isSpace = (letter: string | undefined) => letter !== undefined && /[ \t\n\v\f\r]/.test(letter);

/** As git wraps: words stay whole, and a line that begins with no letter or digit begins anew. */
function wrapped(text: string, { width, first, others }: Wrap): string {
  if (width === 0) return indented(text, first, others);
  let result = '';
  let at = 0;
  let begin = 0;
  let space: number | null = null;
  let [column, indent] = [first, first];
  const newLine = (from: number) => {
    result += '\n';
    begin = isSpace(text[from]) ? from + 1 : from;
    at = begin;
    space = null;
    column = others;
    indent = others;
  };
  for (;;) {
    const letter = text[at];
    if (letter !== undefined && !isSpace(letter)) {
      const whole = String.fromCodePoint(text.codePointAt(at) ?? 0);
      column += textWidth(whole);
      at += whole.length;
      continue;
    }
    if (column > width && space !== null) {
      newLine(space);
      continue;
    }
    if (letter === undefined && at === begin) return result;
    if (space === null) result += ' '.repeat(indent);
    result += text.slice(space ?? begin, at);
    if (letter === undefined) return result;
    space = at;
    if (letter === '\t') column |= 7;
    else if (letter === '\n') {
      space += 1;
      const next = text[space];
      if (next === '\n') {
        result += '\n';
        newLine(space);
        continue;
      }
      if (next === undefined || !/[A-Za-z0-9]/.test(next)) {
        newLine(space);
        continue;
      }
      result += ' ';
    }
    column += 1;
    at += 1;
  }
}

function indented(text: string, first: number, others: number): string {
  if (first === 0 && others === 0) return text;
  return (text.match(/[^\n]*\n|[^\n]+$/g) ?? [])
    .map((line, at) => ' '.repeat(at === 0 ? first : others) + line)
    .join('');
}
