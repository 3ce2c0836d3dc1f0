/** `grep`, `egrep` and `fgrep`: which lines of which files match, and how they are printed. */
import type { NamedFile } from '../command-files.ts';
import { globRegex } from '../glob.ts';
import { type CommandCall, type OwnCommand, reasonOf } from '../own-command.ts';
import { bytesOfLines } from '../text-inputs.ts';
import { type GrepMatcher, grepMatcher } from './grep-matcher.ts';
import { GREP_OPTIONS, grepSettings } from './grep-options.ts';
import { searchContent } from './grep-search.ts';
import { GrepError, type GrepSettings } from './grep-settings.ts';

const TROUBLE = 2;
/** Bytes that it takes of a pipe at once: all that a pipe holds. */
const GREP_BLOCK = 65_536;

class Grep {
  readonly #call: CommandCall;
  readonly #settings: GrepSettings;
  readonly #matcher: GrepMatcher;
  readonly #excludedDirectories: RegExp[];
  #found = false;
  #troubled = false;
  #names = false;
  /** What it read as standard input. */
  #standard: Buffer | null = null;
  readonly #printed = { any: false };

  constructor(call: CommandCall, settings: GrepSettings, matcher: GrepMatcher) {
    this.#call = call;
    this.#settings = settings;
    this.#matcher = matcher;
    this.#excludedDirectories = settings.excludedDirectories.map((glob) => globRegex(glob.replace(/(?<=.)\/+$/, '')));
  }

  async run(operands: readonly string[]): Promise<number> {
    const { recursive, names } = this.#settings;
    const inputs = operands.length > 0 ? operands : [recursive === null ? '-' : '.'];
    const implied = operands.length === 0 && recursive !== null;
    this.#names =
      names ?? (inputs.length > 1 || (recursive !== null && (implied || this.#isDirectory(inputs[0] ?? ''))));
    for (const input of inputs) {
      if (await this.#operand(input, implied ? '' : input)) break;
    }
    // A match decides for -q, whatever else went wrong.
    if (this.#found && this.#settings.quiet) return 0;
    return this.#troubled ? TROUBLE : this.#found ? 0 : 1;
  }

  /** Searches an operand; true when nothing more needs to be searched. */
  async #operand(input: string, shown: string): Promise<boolean> {
    const { recursive, directories, label } = this.#settings;
    if (input === '-') this.#standard = this.#call.stdin;
    if (input === '-') return this.#content(this.#standard ?? Buffer.alloc(0), label ?? '(standard input)');
    try {
      const info = this.#call.files.info(this.#call.path(input));
      if (info.kind !== 'dir') {
        if (this.#settings.skips(shown, true)) return false;
        return this.#content(await this.#call.input(input), shown);
      }
      if (recursive !== null) {
        const bare = shown.replace(/(?<=.)\/+$/, '');
        if (this.#skipsDirectory(bare, bare)) return false;
        return await this.#directory(info.path, shown, [info.path]);
      }
      if (directories !== 'skip') this.#complain(shown, 'Is a directory');
      return false;
    } catch (error) {
      this.#complain(shown, reasonOf(error));
      return false;
    }
  }

  async #directory(path: string, shown: string, above: readonly string[]): Promise<boolean> {
    for (const child of this.#call.files.children(path)) {
      await this.#call.turn();
      const name = shown === '' ? child.name : shown.endsWith('/') ? shown + child.name : `${shown}/${child.name}`;
      if (await this.#child(child, name, above)) return true;
    }
    return false;
  }

  async #child(child: NamedFile, name: string, above: readonly string[]): Promise<boolean> {
    const { recursive } = this.#settings;
    if (child.kind === 'link' && recursive === 'r') return false;
    try {
      const info = child.kind === 'link' ? this.#call.files.info(child.path) : child;
      if (info.kind === 'device') return false;
      if (info.kind === 'dir') {
        if (this.#skipsDirectory(child.name, name)) return false;
        if (above.includes(info.path)) {
          this.#warn(`${name}: warning: recursive directory loop`);
          return false;
        }
        return await this.#directory(info.path, name, [...above, info.path]);
      }
      if (this.#settings.skips(name, false)) return false;
      return this.#content(this.#call.files.content(info), name);
    } catch (error) {
      this.#complain(name, reasonOf(error));
      return false;
    }
  }

  /** Searches a content; true when nothing more needs to be searched. */
  #content(content: Buffer, name: string): boolean {
    const found = searchContent(content, {
      name,
      showName: this.#names,
      matcher: this.#matcher,
      settings: this.#settings,
      print: (text) => this.#call.print(text),
      tell: (message) => this.#warn(message),
      requireTime: () => this.#call.requireTime(),
      ended: (lines) => {
        this.#call.endedEarly = true;
        if (!this.#settings.quiet && content === this.#standard)
          this.#call.stdinTaken = { bytes: bytesOfLines(content, lines()), block: GREP_BLOCK };
      },
      printed: this.#printed,
    });
    if (found) this.#found = true;
    return found && this.#settings.quiet;
  }

  #skipsDirectory(base: string, path: string): boolean {
    return this.#excludedDirectories.some((glob) => glob.test(base) || (path === base && glob.test(path)));
  }

  #isDirectory(operand: string): boolean {
    return operand !== '-' && this.#call.files.isDirectory(this.#call.path(operand));
  }

  #complain(name: string, reason: string): void {
    this.#troubled = true;
    if (!this.#settings.silent) this.#warn(`${name}: ${reason}`);
  }

  #warn(message: string): void {
    this.#call.warn(`grep: ${message}\n`);
  }
}

function grepCommand(syntax: 'basic' | 'extended' | 'fixed'): OwnCommand {
  return {
    usageExit: TROUBLE,
    like: 'grep 3.8',
    usageLine: 'Usage: grep [OPTION]... PATTERNS [FILE]...',
    help: "Usage: grep [OPTION]... PATTERNS [FILE]...\nSearch for PATTERNS in each FILE.\nExample: grep -i 'hello world' menu.h main.c",
    async main(call) {
      const parsed = call.options(GREP_OPTIONS);
      try {
        const { settings, operands } = await grepSettings(call, parsed, syntax);
        const matcher = grepMatcher(settings, (warning) => call.warn(`grep: warning: ${warning}\n`));
        return await new Grep(call, settings, matcher).run(operands);
      } catch (error) {
        if (!(error instanceof GrepError)) throw error;
        call.warn(error.message.startsWith('Usage') ? error.message : `grep: ${error.message}\n`);
        return TROUBLE;
      }
    },
  };
}

export const grep = grepCommand('basic');
export const egrep = grepCommand('extended');
export const fgrep = grepCommand('fixed');
