/** Parses sed's scripts, with GNU's additions and its error sentences. Pure. */
import { type Replacement, type SedRegex, sedRegex } from './sed-regex.ts';

export type SedAddress =
  | { kind: 'line'; line: number }
  | { kind: 'last' }
  | { kind: 'step'; first: number; step: number }
  | { kind: 'regex'; regex: SedRegex | null }
  /** The end of a range: so many more lines, or up to a multiple. */
  | { kind: 'more'; count: number }
  | { kind: 'multiple'; of: number };

interface Substitution {
  regex: SedRegex | null;
  replacement: Replacement[];
  /** Which match is replaced first, and whether those behind it are too. */
  first: number;
  all: boolean;
  prints: number;
  file: string | null;
}

export interface SedCommand {
  name: string;
  from: SedAddress | null;
  to: SedAddress | null;
  negated: boolean;
  /** Text, label or file name. */
  text: string;
  number: number | null;
  substitution: Substitution | null;
  map: ReadonlyMap<string, string> | null;
  /** Index of the command behind the end of a block, or of a label. */
  target: number;
}

export class SedError extends Error {}

const ESCAPES: Readonly<Record<string, string>> = { a: '\x07', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' };
const TEXTS = 'aic';
const FILES = 'rRwW';
const LABELS = 'btT';
const NUMBERS = 'qQlL';
const PLAIN = '=dDgGhHnNpPxzF';

export function parseSed(script: string, options: { extended: boolean }): SedCommand[] {
  return new SedParser(script, options.extended).parse();
}

class SedParser {
  readonly #script: string;
  readonly #extended: boolean;
  #at = 0;

  constructor(script: string, extended: boolean) {
    this.#script = script;
    this.#extended = extended;
  }

  parse(): SedCommand[] {
    const commands: SedCommand[] = [];
    const open: number[] = [];
    const labels = new Map<string, number>();
    for (;;) {
      this.#skip(/[\s;]/);
      if (this.#at >= this.#script.length) break;
      const command = this.#command();
      if (command === null) continue;
      if (command.name === ':') labels.set(command.text, commands.length);
      if (command.name === '{') open.push(commands.length);
      if (command.name === '}') {
        const start = commands[open.pop() ?? -1];
        if (start === undefined) this.#fail("unexpected `}'");
        else start.target = commands.length + 1;
      }
      commands.push(command);
    }
    if (open.length > 0) throw new SedError("-e expression #1, char 0: unmatched `{'");
    for (const command of commands) {
      if (!LABELS.includes(command.name)) continue;
      const target = command.text === '' ? commands.length : labels.get(command.text);
      if (target === undefined) throw new SedError(`can't find label for jump to \`${command.text}'`);
      command.target = target;
    }
    return commands;
  }

  #fail(message: string): never {
    throw new SedError(`-e expression #1, char ${Math.min(this.#at, this.#script.length)}: ${message}`);
  }

  #skip(pattern: RegExp): void {
    while (this.#at < this.#script.length && pattern.test(this.#script[this.#at] ?? '')) this.#at += 1;
  }

  #take(): string | undefined {
    const one = this.#script[this.#at];
    this.#at += 1;
    return one;
  }

  #command(): SedCommand | null {
    const from = this.#address();
    let to: SedAddress | null = null;
    this.#skip(/[ \t]/);
    if (from !== null && this.#script[this.#at] === ',') {
      this.#at += 1;
      this.#skip(/[ \t]/);
      to = this.#address(true);
      if (to === null) this.#fail("unexpected `,'");
    }
    this.#skip(/[ \t]/);
    let negated = false;
    while (this.#script[this.#at] === '!') {
      this.#at += 1;
      negated = true;
      this.#skip(/[ \t]/);
    }
    const name = this.#take();
    if (name === undefined || name === '\n' || name === ';') this.#fail('missing command');
    const command: SedCommand = {
      name: name ?? '',
      from,
      to,
      negated,
      text: '',
      number: null,
      substitution: null,
      map: null,
      target: 0,
    };
    return this.#rest(command);
  }

  #rest(command: SedCommand): SedCommand | null {
    const { name } = command;
    if (name === '#') {
      if (command.from !== null) this.#fail("comments don't accept any addresses");
      this.#skip(/[^\n]/);
      return null;
    }
    if (name === '{') return command;
    if (name === '}') {
      if (command.from !== null) this.#fail("`}' doesn't want any addresses");
      this.#end();
    } else if (name === ':') {
      if (command.from !== null) this.#fail(": doesn't want any addresses");
      command.text = this.#word(/[^\s;]/);
      if (command.text === '') this.#fail('":" lacks a label');
    } else if (TEXTS.includes(name)) command.text = this.#text();
    else if (FILES.includes(name)) {
      this.#skip(/[ \t]/);
      command.text = this.#word(/[^\n]/);
      if (command.text === '') this.#fail('missing filename in r/R/w/W commands');
    } else if (LABELS.includes(name)) {
      this.#skip(/[ \t]/);
      command.text = this.#word(/[^\s;}]/);
      this.#end();
    } else if (NUMBERS.includes(name)) {
      this.#skip(/[ \t]/);
      const number = this.#word(/\d/);
      command.number = number === '' ? null : Number(number);
      this.#end();
    } else if (name === 's') command.substitution = this.#substitution();
    else if (name === 'y') command.map = this.#map();
    else if (PLAIN.includes(name)) this.#end();
    else if (name === 'e') this.#fail("`e' is not supported: no command runs from a script");
    else this.#fail(`unknown command: \`${name}'`);
    return command;
  }

  #word(pattern: RegExp): string {
    const start = this.#at;
    this.#skip(pattern);
    return this.#script.slice(start, this.#at);
  }

  /** What may stand behind a command. */
  #end(): void {
    this.#skip(/[ \t]/);
    const next = this.#script[this.#at];
    if (next === undefined || next === '}' || next === '#') return;
    this.#at += 1;
    if (next !== '\n' && next !== ';' && next !== '\r') this.#fail('extra characters after command');
  }

  #address(isEnd = false): SedAddress | null {
    const next = this.#script[this.#at] ?? '';
    if (next === '$') {
      this.#at += 1;
      return { kind: 'last' };
    }
    if (isEnd && (next === '+' || next === '~')) {
      this.#at += 1;
      const count = Number(this.#word(/\d/));
      return next === '+' ? { kind: 'more', count } : { kind: 'multiple', of: count };
    }
    if (/\d/.test(next)) {
      const line = Number(this.#word(/\d/));
      this.#skip(/[ \t]/);
      if (this.#script[this.#at] !== '~') return { kind: 'line', line };
      this.#at += 1;
      return { kind: 'step', first: line, step: Number(this.#word(/\d/)) };
    }
    if (next !== '/' && next !== '\\') return null;
    this.#at += 1;
    const delimiter = next === '/' ? '/' : (this.#take() ?? '');
    const source = this.#delimited(delimiter, true);
    if (source === null) this.#fail('unterminated address regex');
    const flags = this.#word(/[IM]/);
    return { kind: 'regex', regex: this.#regex(source ?? '', flags) };
  }

  #regex(source: string, flags: string): SedRegex | null {
    if (source === '') return null;
    try {
      return sedRegex(source, { extended: this.#extended, ignoreCase: /i/i.test(flags), lines: /m/i.test(flags) });
    } catch (error) {
      return this.#fail(error instanceof Error ? error.message : String(error));
    }
  }

  /** Text up to an unescaped delimiter, which loses its backslash. A regular expression keeps its brackets whole. */
  #delimited(delimiter: string, isRegex: boolean): string | null {
    let text = '';
    let inBracket = false;
    for (;;) {
      const one = this.#take();
      if (one === undefined) return null;
      if (inBracket) {
        if (one === ']' && !/\[\^?$/.test(text)) inBracket = false;
        const isNewline = one === '\\' && this.#script[this.#at] === 'n';
        if (isNewline) this.#at += 1;
        text += isNewline ? '\n' : one;
        continue;
      }
      if (one === delimiter) return text;
      if (one === '\n' && isRegex) return null;
      if (one === '\\') {
        const next = this.#take();
        if (next === undefined) return null;
        if (next === delimiter)
          text += isRegex && /[.*[\]^$+?(){}|]/.test(delimiter) ? `\\${next}` : next === '&' ? '\\&' : next;
        else if (next === '\n' && isRegex) text += '\n';
        else text += `\\${next}`;
        continue;
      }
      if (one === '[' && isRegex) inBracket = true;
      text += one;
    }
  }

  #text(): string {
    this.#skip(/[ \t]/);
    if (this.#at >= this.#script.length) this.#fail("expected \\ after `a', `c' or `i'");
    if (this.#script[this.#at] === '\\') {
      this.#at += /^\\(?:[ \t]*\n)?/.exec(this.#script.slice(this.#at))?.[0].length ?? 0;
    }
    let text = '';
    for (;;) {
      const one = this.#take();
      if (one === undefined || one === '\n') break;
      if (one !== '\\') {
        text += one;
        continue;
      }
      const next = this.#take();
      if (next === undefined) break;
      // The first backslash only keeps blanks, and what follows it stays itself.
      text += text === '' ? next : (ESCAPES[next] ?? next);
    }
    return `${text}\n`;
  }

  #substitution(): Substitution {
    const delimiter = this.#take();
    const unterminated = () => this.#fail("unterminated `s' command");
    if (delimiter === undefined || delimiter === '\n' || delimiter === '\\') return unterminated();
    const source = this.#delimited(delimiter, true);
    if (source === null) return unterminated();
    const replacement = this.#delimited(delimiter, false);
    if (replacement === null) return unterminated();
    const substitution: Substitution = {
      regex: null,
      replacement: replacementOf(replacement),
      first: 1,
      all: false,
      prints: 0,
      file: null,
    };
    let flags = '';
    for (;;) {
      const flag = this.#take();
      if (flag === undefined || flag === '\n' || flag === ';') break;
      if (flag === '}' || flag === '#') {
        this.#at -= 1;
        break;
      }
      if (flag === 'g') substitution.all = true;
      else if (flag === 'p') substitution.prints += 1;
      else if (/[iImM]/.test(flag)) flags += flag;
      else if (flag === 'e') this.#fail("`e' is not supported: no command runs from a script");
      else if (/[1-9]/.test(flag)) substitution.first = Number(flag + this.#word(/\d/));
      else if (flag === '0') this.#fail("number option to `s' command may not be zero");
      else if (flag === 'w') {
        this.#skip(/[ \t]/);
        substitution.file = this.#word(/[^\n]/);
        break;
      } else if (!/[ \t\r]/.test(flag)) this.#fail("unknown option to `s'");
    }
    substitution.regex = this.#regex(source, flags);
    const groups = substitution.regex?.groups ?? 9;
    for (const part of substitution.replacement) {
      if ('group' in part && part.group > groups) this.#fail(`invalid reference \\${part.group} on \`s' command's RHS`);
    }
    return substitution;
  }

  #map(): ReadonlyMap<string, string> {
    const delimiter = this.#take() ?? '';
    const [from, to] = [this.#delimited(delimiter, false), this.#delimited(delimiter, false)];
    if (from === null || to === null) return this.#fail("unterminated `y' command");
    const [one, other] = [charactersOf(from), charactersOf(to)];
    if (one.length !== other.length) this.#fail("strings for `y' command are different lengths");
    this.#end();
    return new Map(one.map((character, at) => [character, other[at] ?? '']));
  }
}

function charactersOf(text: string): string[] {
  return [...text.replace(/\\(.)/gs, (whole, one: string) => ESCAPES[one] ?? (one === '\\' ? '\\' : whole))];
}

function replacementOf(text: string): Replacement[] {
  const parts: Replacement[] = [];
  const add = (piece: string) => {
    const last = parts.at(-1);
    if (last !== undefined && 'text' in last) last.text += piece;
    else parts.push({ text: piece });
  };
  const pattern = /\\(x[0-9a-fA-F]{1,2}|[\s\S])|&|[^\\&]+|\\$/g;
  for (const [piece, escaped] of text.matchAll(pattern)) {
    if (piece === '&') parts.push({ group: 0 });
    else if (escaped === undefined) add(piece);
    else if (/^\d$/.test(escaped)) parts.push({ group: Number(escaped) });
    else if (/^[ULulE]$/.test(escaped)) parts.push({ letterCase: escaped as 'U' });
    else if (/^x./.test(escaped)) add(String.fromCharCode(Number.parseInt(escaped.slice(1), 16)));
    else add(ESCAPES[escaped] ?? escaped);
  }
  return parts;
}
