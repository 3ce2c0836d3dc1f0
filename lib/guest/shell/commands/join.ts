/** `join`: the lines of two sorted files that have the same field. One character stands for one byte. */

import type { ParsedOptions } from './options.ts';
import { type CommandCall, type OwnCommand, reasonOf } from './own-command.ts';
import { byteLines, printBytes } from './text-inputs.ts';

interface Line {
  text: string;
  fields: string[];
  key: string;
}

interface Side {
  name: string;
  lines: Line[];
  /** Which are printed though the other file has no such line. */
  printsUnpaired: boolean;
  /** A line was found that should have come earlier. */
  isUnsorted: boolean;
}

/** Where a printed field comes from; file 0: the field that was compared. */
type Field = readonly [file: 0 | 1 | 2, at: number];

export const join: OwnCommand = {
  async main(call) {
    const read = call.options({
      letters: 'a:e:i1:2:j:o:t:v:z',
      long: {
        'ignore-case': 'i',
        'zero-terminated': 'z',
        'check-order': 'check',
        'nocheck-order': 'nocheck',
        header: 'header',
      },
    });
    if (read.operands.length < 2)
      call.usage(read.operands.length === 0 ? 'missing operand' : `missing operand after ‘${read.operands[0]}’`);
    if (read.operands.length > 2) call.usage(`extra operand ‘${read.operands[2]}’`);
    return new Joining(call, read).run();
  },
};

class Joining {
  readonly #call: CommandCall;
  readonly #names: readonly string[];
  readonly #separator: string | null;
  readonly #end: string;
  readonly #filler: string;
  readonly #ignoresCase: boolean;
  readonly #keys: readonly [number, number];
  readonly #printsPairs: boolean;
  readonly #unpaired: ReadonlySet<string>;
  readonly #format: string | null;
  readonly #order: 'always' | 'unpaired' | 'never';
  readonly #hasHeader: boolean;
  #fields: readonly Field[] | null = null;
  #hasUnpaired = false;
  readonly #printed: string[] = [];

  constructor(call: CommandCall, { options, operands }: Pick<ParsedOptions, 'options' | 'operands'>) {
    const last = (key: string) => options.findLast((option) => option.key === key)?.value ?? null;
    const all = (key: string) => options.filter((option) => option.key === key).map(({ value }) => value ?? '');
    const has = (key: string) => options.some((option) => option.key === key);
    this.#call = call;
    this.#names = operands;
    const separator = last('t');
    if (separator !== null && separator !== '\\0' && Buffer.from(separator).byteLength > 1)
      call.end(`multi-character tab ‘${separator}’`);
    this.#separator = separator === '\\0' ? '\0' : separator === '' ? '\n' : separator;
    this.#end = has('z') ? '\0' : '\n';
    this.#filler = Buffer.from(last('e') ?? '').toString('latin1');
    this.#ignoresCase = has('i');
    this.#keys = [numberOf(call, last('1') ?? last('j') ?? '1'), numberOf(call, last('2') ?? last('j') ?? '1')];
    this.#printsPairs = !has('v');
    this.#unpaired = new Set([...all('a'), ...all('v')]);
    for (const file of this.#unpaired) if (file !== '1' && file !== '2') call.end(`invalid file number: ‘${file}’`);
    this.#format = all('o').join(',') || null;
    this.#order = has('nocheck') ? 'never' : has('check') ? 'always' : 'unpaired';
    this.#hasHeader = has('header');
  }

  async run(): Promise<number> {
    const [one, two] = [await this.#side(0), await this.#side(1)];
    this.#fields = this.#fieldsOf(one, two);
    const at = [0, 0] as [number, number];
    if (this.#hasHeader) {
      const [first, second] = [one.lines[0] ?? null, two.lines[0] ?? null];
      if (first !== null || second !== null) this.#print(first, second);
      at.fill(1);
    }
    await this.#merge(one, two, at);
    printBytes(this.#call, this.#printed.join(''));
    if (!one.isUnsorted && !two.isUnsorted) return 0;
    this.#call.warn('join: input is not in sorted order\n');
    return 1;
  }

  async #side(index: 0 | 1): Promise<Side> {
    const name = this.#names[index] ?? '-';
    let bytes: Buffer;
    try {
      bytes = await this.#call.input(name);
    } catch (error) {
      return this.#call.end(`${name}: ${reasonOf(error)}`);
    }
    const lines = byteLines(bytes, this.#end).map((raw) => {
      const text = raw.endsWith(this.#end) ? raw.slice(0, -1) : raw;
      const fields = this.#separator === null ? (text.match(/[^ \t\n]+/g) ?? []) : text.split(this.#separator);
      const key = fields[this.#keys[index] - 1] ?? '';
      return { text, fields: [...fields], key: this.#ignoresCase ? key.toLowerCase() : key };
    });
    return { name, lines, printsUnpaired: this.#unpaired.has(String(index + 1)), isUnsorted: false };
  }

  async #merge(one: Side, two: Side, [left, right]: [number, number]): Promise<void> {
    for (let rounds = 0; left < one.lines.length && right < two.lines.length; rounds += 1) {
      if (rounds % 4096 === 0) await this.#call.turn();
      const [first, second] = [one.lines[left], two.lines[right]];
      if (first === undefined || second === undefined) return;
      if (first.key !== second.key) {
        const isFirst = first.key < second.key;
        if (isFirst && one.printsUnpaired) this.#print(first, null);
        if (!isFirst && two.printsUnpaired) this.#print(null, second);
        if (isFirst) this.#arrive(one, ++left);
        else this.#arrive(two, ++right);
        this.#hasUnpaired = true;
        continue;
      }
      const [beginLeft, beginRight] = [left, right];
      while (one.lines[left]?.key === second.key) this.#arrive(one, ++left);
      while (two.lines[right]?.key === first.key) this.#arrive(two, ++right);
      if (!this.#printsPairs) continue;
      for (const mine of one.lines.slice(beginLeft, left)) {
        await this.#call.turn();
        for (const theirs of two.lines.slice(beginRight, right)) this.#print(mine, theirs);
      }
    }
    const isBoth = left < one.lines.length || right < two.lines.length;
    this.#hasUnpaired ||= isBoth && one.lines.length > 0 && two.lines.length > 0;
    for (; left < one.lines.length; this.#arrive(one, ++left))
      if (one.printsUnpaired) this.#print(one.lines[left] ?? null, null);
    for (; right < two.lines.length; this.#arrive(two, ++right))
      if (two.printsUnpaired) this.#print(null, two.lines[right] ?? null);
  }

  /** A line is read: it has to follow the one before. */
  #arrive(side: Side, at: number): void {
    const [before, line] = [side.lines[at - 1], side.lines[at]];
    if (before === undefined || line === undefined || side.isUnsorted || before.key <= line.key) return;
    if (this.#order === 'never' || (this.#order === 'unpaired' && !this.#hasUnpaired)) return;
    if (this.#hasHeader && at === 1) return;
    side.isUnsorted = true;
    const text = Buffer.from(line.text, 'latin1').toString();
    const sentence = `${side.name}:${at + 1}: is not sorted: ${text}`;
    if (this.#order === 'always') {
      printBytes(this.#call, this.#printed.join(''));
      this.#call.end(sentence);
    }
    this.#call.warn(`join: ${sentence}\n`);
  }

  #fieldsOf(one: Side, two: Side): readonly Field[] | null {
    if (this.#format === null) return null;
    if (this.#format === 'auto') {
      const rest = (side: Side, file: 1 | 2): Field[] =>
        (side.lines[0]?.fields ?? []).flatMap((_, at): Field[] =>
          at + 1 === this.#keys[file - 1] ? [] : [[file, at + 1]],
        );
      return [[0, 0], ...rest(one, 1), ...rest(two, 2)];
    }
    return this.#format
      .split(/[, \t]+/)
      .filter((spec) => spec !== '')
      .map((spec): Field => {
        if (spec === '0') return [0, 0];
        const match = /^([12])\.([1-9]\d*)$/.exec(spec);
        if (match === null)
          return this.#call.end(
            /^[12]/.test(spec) ? `invalid field specifier: ‘${spec}’` : `invalid file number in field spec: ‘${spec}’`,
          );
        return [match[1] === '1' ? 1 : 2, Number(match[2])];
      });
  }

  #print(one: Line | null, two: Line | null): void {
    const key = one === null ? (two?.fields[this.#keys[1] - 1] ?? '') : (one.fields[this.#keys[0] - 1] ?? '');
    const rest = (line: Line | null, at: number) => line?.fields.filter((_, index) => index !== at - 1) ?? [];
    const filled = (field: string | undefined) => (field === undefined || field === '' ? this.#filler : field);
    const fields =
      this.#fields === null
        ? [filled(key), ...rest(one, this.#keys[0]).map(filled), ...rest(two, this.#keys[1]).map(filled)]
        : this.#fields.map(([file, at]) => filled(file === 0 ? key : (file === 1 ? one : two)?.fields[at - 1]));
    this.#printed.push(`${fields.join(this.#separator ?? ' ')}${this.#end}`);
  }
}

function numberOf(call: CommandCall, text: string): number {
  return /^[1-9]\d*$/.test(text) ? Number(text) : call.end(`invalid field number: ‘${text}’`);
}
