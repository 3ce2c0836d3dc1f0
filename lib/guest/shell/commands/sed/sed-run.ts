/** Runs sed's commands over the lines of its inputs. Knows nothing of files but their texts. */
import { matchesRegex, type SedRegex, substitute } from './sed-regex.ts';
import { type SedAddress, type SedCommand, SedError } from './sed-script.ts';

export interface SedInput {
  name: string;
  text: string;
}

export interface SedSettings {
  quiet: boolean;
  end: string;
  lineLength: number;
}

/** What a script does outside of its own memory. */
export interface SedOutside {
  print(text: string): void;
  /** The text of a file; empty when it cannot be read. */
  read(name: string): Promise<string>;
  write(name: string, text: string): void;
  turn(): Promise<void>;
  /** Called when a command ends the script before its input. */
  /** `lines`: how many it has read. */
  ended(lines: number): void;
}

interface Line {
  text: string;
  /** Whether the line has an end. */
  ended: boolean;
  input: string;
}

const TURN_STEPS = 2000;

export class SedRun {
  readonly #commands: readonly SedCommand[];
  readonly #settings: SedSettings;
  readonly #outside: SedOutside;
  readonly #lines: Line[];
  readonly #readLines = new Map<string, string[]>();
  /** For each command with a range: the line where it ends, or that its end is searched for. */
  readonly #ranges = new Map<SedCommand, number | 'open'>();
  #next = 0;
  #lineNumber = 0;
  #pattern = '';
  #ended = true;
  #hold = '';
  #lacksEnd = false;
  #appended: (() => Promise<void>)[] = [];
  #lastRegex: SedRegex | null = null;
  #exitCode: number | null = null;
  #steps = 0;

  constructor(
    commands: readonly SedCommand[],
    inputs: readonly SedInput[],
    settings: SedSettings,
    outside: SedOutside,
    firstLine = 0,
  ) {
    this.#commands = commands;
    this.#settings = settings;
    this.#outside = outside;
    this.#lineNumber = firstLine;
    this.#lines = inputs.flatMap(({ name, text }) =>
      linesOf(text, settings.end).map((line) => ({ ...line, input: name })),
    );
  }

  /** The exit code that the script gave; null when it came to the end of its input. */
  async run(): Promise<number | null> {
    let restarts = false;
    while (restarts || this.#load()) {
      restarts = await this.#cycle();
      if (this.#exitCode !== null) break;
    }
    return this.#exitCode;
  }

  #load(): boolean {
    const line = this.#lines[this.#next];
    if (line === undefined) return false;
    this.#next += 1;
    this.#lineNumber += 1;
    this.#pattern = line.text;
    this.#ended = line.ended;
    return true;
  }

  get #isLast(): boolean {
    return this.#next >= this.#lines.length;
  }

  /** Runs the script once; true when it begins again without reading a line. */
  async #cycle(): Promise<boolean> {
    let substituted = false;
    let at = 0;
    while (at < this.#commands.length) {
      this.#steps += 1;
      if (this.#steps % TURN_STEPS === 0) await this.#outside.turn();
      const command = this.#commands[at];
      if (command === undefined) break;
      if (!this.#selects(command)) {
        at = command.name === '{' ? command.target : at + 1;
        continue;
      }
      at += 1;
      switch (command.name) {
        case 'b':
          at = command.target;
          break;
        case 't':
        case 'T':
          if (substituted === (command.name === 't')) at = command.target;
          substituted = false;
          break;
        case 's':
          if (this.#substitute(command)) substituted = true;
          break;
        case 'd':
          await this.#finish(false);
          return false;
        case 'D': {
          const newline = this.#pattern.indexOf('\n');
          await this.#finish(false);
          if (newline === -1) return false;
          this.#pattern = this.#pattern.slice(newline + 1);
          return true;
        }
        case 'n':
          if (this.#isLast) return this.#quit(0, true);
          await this.#finish(!this.#settings.quiet);
          this.#load();
          break;
        case 'N': {
          // GNU prints the pattern space when there is no next line.
          if (this.#isLast) return this.#quit(0, true);
          const before = this.#pattern;
          await this.#flushAppended();
          this.#load();
          this.#pattern = `${before}\n${this.#pattern}`;
          break;
        }
        case 'q':
        case 'Q':
          this.#outside.ended(this.#next);
          return this.#quit(command.number ?? 0, command.name === 'q', true);
        case 'c':
          if (command.to === null || command.negated || !this.#ranges.has(command))
            this.#print(command.text.slice(0, -1), true);
          await this.#finish(false);
          return false;
        default:
          this.#simple(command);
      }
    }
    await this.#finish(!this.#settings.quiet);
    return false;
  }

  async #quit(exitCode: number, prints: boolean, always = false): Promise<boolean> {
    await this.#finish(prints && !this.#settings.quiet);
    if (always || this.#isLast) this.#exitCode = exitCode;
    return false;
  }

  #simple(command: SedCommand): void {
    switch (command.name) {
      case 'p':
        this.#print(this.#pattern, this.#ended);
        break;
      case 'P':
        this.#print(this.#pattern.split('\n')[0] ?? '', true);
        break;
      case '=':
        this.#print(String(this.#lineNumber), true);
        break;
      case 'l':
        this.#print(unambiguous(this.#pattern, command.number ?? this.#settings.lineLength), true);
        break;
      case 'i':
        this.#print(command.text.slice(0, -1), true);
        break;
      case 'F':
        this.#print(this.#lines[this.#next - 1]?.input ?? '-', true);
        break;
      case 'g':
        this.#pattern = this.#hold;
        break;
      case 'G':
        this.#pattern += `\n${this.#hold}`;
        break;
      case 'h':
        this.#hold = this.#pattern;
        break;
      case 'H':
        this.#hold += `\n${this.#pattern}`;
        break;
      case 'x':
        [this.#pattern, this.#hold] = [this.#hold, this.#pattern];
        break;
      case 'z':
        this.#pattern = '';
        break;
      case 'y':
        this.#pattern = [...this.#pattern].map((one) => command.map?.get(one) ?? one).join('');
        break;
      case 'a':
        this.#appended.push(async () => this.#raw(command.text));
        break;
      case 'r':
        this.#appended.push(async () => this.#raw(await this.#outside.read(command.text)));
        break;
      case 'R':
        this.#appended.push(async () => this.#readOne(command.text));
        break;
      case 'w':
        this.#toFile(command.text, `${this.#pattern}\n`);
        break;
      case 'W':
        this.#toFile(command.text, `${this.#pattern.split('\n')[0]}\n`);
        break;
    }
  }

  async #readOne(name: string): Promise<void> {
    let lines = this.#readLines.get(name);
    if (lines === undefined) {
      const all = linesOf(await this.#outside.read(name), '\n').map(({ text }) => text);
      lines = all.reverse();
      this.#readLines.set(name, lines);
    }
    const line = lines.pop();
    if (line !== undefined) this.#print(line, true);
  }

  #toFile(name: string, text: string): void {
    if (name === '/dev/stdout') this.#raw(text);
    else this.#outside.write(name, text);
  }

  #substitute({ substitution }: SedCommand): boolean {
    if (substitution === null) return false;
    const result = substitute(
      this.#regex(substitution.regex),
      this.#pattern,
      substitution.replacement,
      substitution.first,
      substitution.all,
    );
    if (result === null) return false;
    this.#pattern = result;
    for (let count = 0; count < substitution.prints; count += 1) this.#print(result, this.#ended);
    if (substitution.file !== null) this.#toFile(substitution.file, `${result}\n`);
    return true;
  }

  /** An empty expression is the one that was used last. */
  #regex(given: SedRegex | null): SedRegex {
    const regex = given ?? this.#lastRegex;
    if (regex === null) throw new SedError('-e expression #1, char 0: no previous regular expression');
    this.#lastRegex = regex;
    return regex;
  }

  #selects(command: SedCommand): boolean {
    const { from, to, negated } = command;
    if (from === null) return !negated;
    return (to === null ? this.#matches(from) : this.#inRange(command, from, to)) !== negated;
  }

  #matches(address: SedAddress): boolean {
    switch (address.kind) {
      case 'line':
        return this.#lineNumber === address.line;
      case 'last':
        return this.#isLast;
      case 'step':
        return address.step <= 0
          ? this.#lineNumber === address.first
          : this.#lineNumber >= address.first && (this.#lineNumber - address.first) % address.step === 0;
      case 'regex':
        return matchesRegex(this.#regex(address.regex), this.#pattern);
      default:
        return false;
    }
  }

  #inRange(command: SedCommand, from: SedAddress, to: SedAddress): boolean {
    const state = this.#ranges.get(command);
    const line = this.#lineNumber;
    if (state === undefined) {
      // `0,/x/`: the end may be on the first line.
      const fromZero = from.kind === 'line' && from.line === 0;
      if (fromZero ? line !== 1 : !this.#matches(from)) return false;
      if (fromZero && to.kind === 'regex' && this.#matches(to)) return true;
      const end = this.#rangeEnd(to);
      if (end === 'open' || end > line) this.#ranges.set(command, end);
      return true;
    }
    if (state === 'open') {
      if (to.kind === 'last' ? this.#isLast : this.#matches(to)) this.#ranges.delete(command);
      return true;
    }
    if (line >= state) this.#ranges.delete(command);
    return line <= state;
  }

  #rangeEnd(to: SedAddress): number | 'open' {
    const line = this.#lineNumber;
    if (to.kind === 'line') return to.line;
    if (to.kind === 'more') return line + to.count;
    if (to.kind === 'multiple') return to.of <= 0 ? line : Math.ceil(line / to.of) * to.of;
    return to.kind === 'last' && this.#isLast ? line : 'open';
  }

  async #finish(prints: boolean): Promise<void> {
    if (prints) this.#print(this.#pattern, this.#ended);
    await this.#flushAppended();
  }

  async #flushAppended(): Promise<void> {
    const appended = this.#appended;
    this.#appended = [];
    for (const append of appended) await append();
  }

  #print(text: string, ended: boolean): void {
    this.#raw(`${text}${ended ? this.#settings.end : ''}`);
    this.#lacksEnd = !ended;
  }

  /** Prints text; after the end that the line before it lacks. */
  #raw(text: string): void {
    if (text === '') return;
    this.#outside.print(this.#lacksEnd ? this.#settings.end + text : text);
    this.#lacksEnd = false;
  }
}

function linesOf(text: string, end: string): { text: string; ended: boolean }[] {
  if (text === '') return [];
  const ended = text.endsWith(end);
  const lines = (ended ? text.slice(0, -1) : text).split(end);
  return lines.map((line, at) => ({ text: line, ended: ended || at < lines.length - 1 }));
}

const SHOWN: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
};

/** The text as `l` shows it, in lines of at most so many characters. */
function unambiguous(text: string, length: number): string {
  const pieces = [...text].flatMap((one) => {
    if (SHOWN[one] !== undefined) return [SHOWN[one] ?? ''];
    if (/^[ -~]$/.test(one)) return [one];
    return [...Buffer.from(one)].map((byte) => `\\${byte.toString(8).padStart(3, '0')}`);
  });
  let [shown, width] = ['', 0];
  for (const piece of pieces) {
    if (length > 1 && width + piece.length > length - 1) {
      shown += '\\\n';
      width = 0;
    }
    shown += piece;
    width += piece.length;
  }
  return `${shown}$`;
}
