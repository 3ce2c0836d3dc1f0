/** `fmt`: paragraphs whose lines are broken where the sum of their costs is least, with the costs of GNU's. */
import { type CommandCall, marked, type OwnCommand } from './own-command.ts';
import { textInputs } from './text-inputs.ts';

const DEFAULT_WIDTH = 75;
const MOST_WIDTH = 2500;
const TAB = 8;
/** A line is meant to be this much shorter than the width, in per cent. */
const LEEWAY = 7;
const square = (value: number) => value * value;
const LINE_COST = square(70);
const shortCost = (value: number) => square(value * 10);
const raggedCost = (value: number) => shortCost(value) / 2;
const SENTENCE_BONUS = square(50);
const NO_BREAK_COST = square(600);
const PARENTHESIS_BONUS = square(40);
const PUNCTUATION_BONUS = square(40);
const widowCost = (length: number) => square(200) / length;
const orphanCost = (length: number) => square(150) / length;

interface Word {
  text: string;
  space: number;
  opens: boolean;
  /** Ends like a sentence. */
  period: boolean;
  punctuated: boolean;
  /** The last one of a sentence. */
  final: boolean;
  cost: number;
  next: number;
  lineLength: number;
}

interface Line {
  indent: number;
  words: Word[];
}

interface Form {
  width: number;
  goal: number;
  isCrown: boolean;
  isTagged: boolean;
  isSplit: boolean;
  isUniform: boolean;
}

export const fmt: OwnCommand = {
  async main(call: CommandCall) {
    const old = /^-(\d+)$/.exec(call.args[0] ?? '');
    if (old) call.args.splice(0, 1, '-w', old[1] ?? '');
    const { options, operands } = call.options({
      letters: 'cg:p:stuw:',
      long: {
        'crown-margin': 'c',
        'goal=': 'g',
        'prefix=': 'p',
        'split-only': 's',
        'tagged-paragraph': 't',
        'uniform-spacing': 'u',
        'width=': 'w',
      },
    });
    const has = (key: string) => options.some((option) => option.key === key);
    const number = (key: string, most: number) => {
      const value = options.findLast((option) => option.key === key)?.value;
      if (typeof value !== 'string') return null;
      if (!/^\d+$/.test(value) || Number(value) > most) call.end(`invalid width: ${marked(value)}`);
      return Number(value);
    };
    if (has('p')) call.end('the option -p is not supported in this sandbox');
    const given = number('w', MOST_WIDTH);
    const goal = number('g', given ?? DEFAULT_WIDTH);
    const width = given ?? (goal === null ? DEFAULT_WIDTH : goal + 10);
    const form = {
      width,
      goal: goal ?? Math.floor((width * (2 * (100 - LEEWAY) + 1)) / 200),
      isCrown: has('c'),
      isTagged: has('t'),
      isSplit: has('s'),
      isUniform: has('u'),
    };
    for await (const { bytes } of textInputs(
      call,
      operands,
      (name, reason) => `cannot open '${name}' for reading: ${reason}`,
    ))
      await printFormatted(call, bytes.toString('latin1'), form);
    return undefined;
  },
};

async function printFormatted(call: CommandCall, text: string, form: Form): Promise<void> {
  const hasTabs = text.includes('\t');
  const lines = (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n').map((line) => lineOf(line, form));
  if (text === '') return;
  const done: string[] = [];
  for (let at = 0; at < lines.length; ) {
    await call.turn();
    const first = lines[at] as Line;
    at += 1;
    if (first.words.length === 0) {
      done.push('\n');
      continue;
    }
    const words = [...first.words];
    const belongs = (line: Line | undefined) => line !== undefined && line.words.length > 0;
    let other = first.indent;
    const second = belongs(lines[at]) ? (lines[at] as Line).indent : null;
    if (form.isSplit) other = first.indent;
    else if (form.isCrown) other = second ?? first.indent;
    else if (form.isTagged) other = second !== null && second !== first.indent ? second : first.indent === 0 ? 3 : 0;
    const goesOn = !form.isSplit && (form.isCrown || !form.isTagged || (second !== null && second !== first.indent));
    while (goesOn && belongs(lines[at]) && lines[at]?.indent === other) {
      words.push(...(lines[at]?.words ?? []));
      at += 1;
    }
    const last = words.at(-1) as Word;
    last.final = true;
    done.push(paragraph(words, first.indent, other, form, hasTabs));
  }
  call.print(Buffer.from(done.join(''), 'latin1'));
}

function lineOf(line: string, { isUniform }: Form): Line {
  const columnAfter = (text: string, from: number) => {
    let column = from;
    for (const character of text) column += character === '\t' ? TAB - (column % TAB) : 1;
    return column;
  };
  const blanks = /^[ \t]*/.exec(line)?.[0] ?? '';
  const indent = columnAfter(blanks, 0);
  let column = indent;
  const parts = [...line.slice(blanks.length).matchAll(/([^ \t]+)([ \t]*)/g)];
  const words = parts.map(([, text = '', behind = ''], at): Word => {
    column += text.length;
    const start = column;
    column = columnAfter(behind, column);
    const isLast = at === parts.length - 1;
    const closed = text.replace(/(?<=.)[)\]'"]+$/, '');
    const period = /[.?!]$/.test(closed);
    const space = column - start;
    const final = period && (isLast || space > 1);
    return {
      text,
      space: isLast || isUniform ? (final ? 2 : 1) : space,
      opens: /^[('`"[]/.test(text),
      period,
      punctuated: /[!-/:-@[-`{-~]$/.test(text),
      final,
      cost: 0,
      next: 0,
      lineLength: 0,
    };
  });
  return { indent, words };
}

/** The text of a paragraph, broken where it costs least. */
function paragraph(words: readonly Word[], first: number, other: number, form: Form, hasTabs: boolean): string {
  const { width, goal } = form;
  const costBefore = (at: number) => (at === words.length ? 0 : (words[at] as Word).cost);
  for (let start = words.length - 1; start >= 0; start -= 1) {
    const word = words[start] as Word;
    let best = Number.POSITIVE_INFINITY;
    let length = (start === 0 ? first : other) + word.text.length;
    for (let end = start + 1; ; end += 1) {
      const cost = lineCost(words, end, length, goal) + costBefore(end);
      if (cost < best) {
        best = cost;
        word.next = end;
        word.lineLength = length;
      }
      if (end === words.length) break;
      length += (words[end - 1] as Word).space + (words[end] as Word).text.length;
      if (length >= width) break;
    }
    word.cost = best + baseCost(words, start);
  }
  const lines: string[] = [];
  for (let at = 0; at < words.length; at = (words[at] as Word).next) {
    const line = words.slice(at, (words[at] as Word).next);
    const text = line.map((word, index) => word.text + (index === line.length - 1 ? '' : ' '.repeat(word.space)));
    lines.push(`${indentation(at === 0 ? first : other, hasTabs)}${text.join('')}\n`);
  }
  return lines.join('');
}

function indentation(columns: number, hasTabs: boolean): string {
  const tabs = hasTabs && columns > 1 ? Math.floor(columns / TAB) : 0;
  return '\t'.repeat(tabs) + ' '.repeat(columns - tabs * TAB);
}

function lineCost(words: readonly Word[], end: number, length: number, goal: number): number {
  if (end === words.length) return 0;
  const next = words[end] as Word;
  return shortCost(goal - length) + (next.next === words.length ? 0 : raggedCost(length - next.lineLength));
}

function baseCost(words: readonly Word[], at: number): number {
  const word = words[at] as Word;
  let cost = LINE_COST;
  const before = words[at - 1];
  if (before?.period) cost += before.final ? -SENTENCE_BONUS : NO_BREAK_COST;
  else if (before?.punctuated) cost -= PUNCTUATION_BONUS;
  else if (before && words[at - 2]?.final) cost += widowCost(before.text.length);
  if (word.opens) cost -= PARENTHESIS_BONUS;
  else if (word.final) cost += orphanCost(word.text.length);
  return cost;
}
