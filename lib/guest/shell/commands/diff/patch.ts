/** `patch`: applies a unified or normal diff to files. */
import { bytesOfText, textOfBytes } from '../../../../workers/protocol/byte-text.ts';
import { type CommandCall, type OwnCommand, reasonOf } from '../own-command.ts';
import { replaceFile } from '../replaced-file.ts';
import { linesForDiff } from './diff-lines.ts';
import { type FilePatch, type Hunk, parsePatch, placeOf, reversed } from './patch-text.ts';

const TROUBLE = 2;

interface Settings {
  strip: number | null;
  reverse: boolean;
  dryRun: boolean;
  backup: boolean;
  suffix: string;
  quiet: boolean;
  force: boolean;
  forward: boolean;
  fuzz: number;
  output: string | null;
  rejects: string | null;
  folder: string;
  file: string | null;
}

export const patch: OwnCommand = {
  usageExit: TROUBLE,
  like: 'patch 2.7.6',
  async main(call) {
    const { options, operands } = call.options({
      letters: 'p:Ri:o:bz:sd:EfFtNr:uncl',
      long: {
        'strip=': 'p',
        reverse: 'R',
        'input=': 'i',
        'output=': 'o',
        backup: 'b',
        'suffix=': 'z',
        quiet: 's',
        silent: 's',
        'directory=': 'd',
        'remove-empty-files': 'E',
        force: 'f',
        'fuzz=': 'fuzz',
        batch: 't',
        forward: 'N',
        'reject-file=': 'r',
        'dry-run': 'dry',
        unified: 'u',
        normal: 'n',
        context: 'c',
        'no-backup-if-mismatch': 'mismatch',
        verbose: 'v',
        binary: 'binary',
      },
    });
    const value = (key: string) => options.findLast((option) => option.key === key)?.value ?? null;
    const has = (key: string) => options.some((option) => option.key === key);
    const [file = null, patchFile = null] = operands;
    const settings: Settings = {
      strip: value('p') === null ? null : Number(value('p')),
      reverse: has('R'),
      dryRun: has('dry'),
      backup: has('b'),
      suffix: value('z') ?? '.orig',
      quiet: has('s'),
      force: has('f') || has('t'),
      forward: has('N'),
      fuzz: Number(value('fuzz') ?? 2),
      output: value('o'),
      rejects: value('r'),
      folder: value('d') === null ? '' : `${value('d')?.replace(/\/$/, '')}/`,
      file,
    };
    const source = value('i') ?? patchFile ?? '-';
    let text: string;
    try {
      text = textOfBytes(await call.input(source));
    } catch (error) {
      call.warn(`patch: **** Can't open patch file ${source} : ${reasonOf(error)}\n`);
      return TROUBLE;
    }
    const files = parsePatch(text);
    if (files.length === 0) {
      if (text.trim() === '') return 0;
      call.warn('patch: **** Only garbage was found in the patch input.\n');
      return TROUBLE;
    }
    let exitCode = 0;
    for (const each of files) exitCode = Math.max(exitCode, await new FilePatching(call, settings, each).run());
    return exitCode;
  },
};

class FilePatching {
  readonly #call: CommandCall;
  readonly #settings: Settings;
  readonly #patch: FilePatch;

  constructor(call: CommandCall, settings: Settings, patch: FilePatch) {
    this.#call = call;
    this.#settings = settings;
    this.#patch = patch;
  }

  async run(): Promise<number> {
    const { reverse, dryRun, output } = this.#settings;
    const [oldName, newName] = reverse
      ? [this.#patch.newName, this.#patch.oldName]
      : [this.#patch.oldName, this.#patch.newName];
    const creates = oldName === '/dev/null';
    const name = this.#target(oldName);
    if (name === null) {
      this.#call.print(
        `can't find file to patch at input line ${3}\nPerhaps you used the wrong -p or --strip option?\nNo file to patch.  Skipping patch.\n`,
      );
      const count = this.#patch.hunks.length;
      this.#call.print(`${count} out of ${count} hunk${count === 1 ? '' : 's'} ignored\n`);
      return 1;
    }
    const path = this.#call.path(name);
    let text = '';
    try {
      text = textOfBytes(await this.#call.input(name));
    } catch (error) {
      const reason = reasonOf(error);
      if (!creates && reason === 'No such file or directory') {
        this.#call.print(`can't find file to patch at input line 3\nNo file to patch.  Skipping patch.\n`);
        return 1;
      }
      if (reason !== 'No such file or directory')
        return this.#call.end(`**** Can't read file ${name} : ${reason}`, TROUBLE);
    }
    if (output === null) this.#say(`${dryRun ? 'checking' : 'patching'} file ${quotedName(name)}\n`);
    else this.#say(`patching file ${quotedName(output)} (read from ${quotedName(name)})\n`);
    const hunks = reverse ? this.#patch.hunks.map(reversed) : this.#patch.hunks;
    return this.#apply(path, name, text, hunks, newName === '/dev/null');
  }

  /**
   * The file to be patched: the operand, or of the names of the patch that exist the one with the fewest folders, then
   * with the shortest last part, then the shortest, then the first, also with -R. Null: there is none.
   */
  #target(before: string | null): string | null {
    const { file, folder } = this.#settings;
    if (file !== null) return folder + file;
    const names = [this.#patch.oldName, this.#patch.newName]
      .filter((name) => name !== null && name !== '/dev/null')
      .map((name) => folder + this.#stripped(name ?? ''));
    const lengths = (name: string) => {
      const parts = name.split('/');
      return [parts.length, parts.at(-1)?.length ?? 0, name.length];
    };
    const [best] = names
      .filter((name) => this.#call.files.look(this.#call.path(name))?.kind === 'file')
      .toSorted((one, other) => {
        const [mine, theirs] = [lengths(one), lengths(other)];
        return mine.map((length, at) => length - (theirs[at] ?? 0)).find((difference) => difference !== 0) ?? 0;
      });
    return best ?? (before === '/dev/null' ? (names[0] ?? null) : null);
  }

  #stripped(name: string): string {
    const { strip } = this.#settings;
    const parts = name.split(/\/+/);
    return strip === null ? (parts.at(-1) ?? '') : parts.slice(Math.min(strip, parts.length - 1)).join('/');
  }

  async #apply(path: string, name: string, text: string, hunks: readonly Hunk[], removes: boolean): Promise<number> {
    const { lines, open } = linesForDiff(text);
    let isOpen = open;
    let shift = 0;
    let done = 0;
    const rejected: Hunk[] = [];
    const total = hunks.length;
    if (this.#isApplied(lines, hunks)) return this.#skip(name, hunks);
    for (const [index, hunk] of hunks.entries()) {
      const place = placeOf(lines, hunk, hunk.start + shift, this.#settings.fuzz);
      if (place === null || place.at < done) {
        this.#say(`Hunk #${index + 1} FAILED at ${hunk.start + 1}.\n`);
        rejected.push(hunk);
        continue;
      }
      const offset = place.at - (hunk.start + shift);
      if (offset !== 0 || place.fuzz > 0) {
        const fuzz = place.fuzz > 0 ? ` with fuzz ${place.fuzz}` : '';
        const moved = offset === 0 ? '' : ` (offset ${offset} line${Math.abs(offset) === 1 ? '' : 's'})`;
        this.#say(`Hunk #${index + 1} succeeded at ${place.at + 1}${fuzz}${moved}.\n`);
      }
      const isEnd = place.at + hunk.before.length === lines.length;
      lines.splice(place.at, hunk.before.length, ...this.#kept(lines, hunk, place.at));
      if (isEnd) isOpen = hunk.afterOpen || (isOpen && !hunk.beforeOpen && hunk.trailing > 0);
      shift += offset + hunk.after.length - hunk.before.length;
      done = place.at + hunk.after.length;
    }
    await this.#write(path, name, text, lines.length === 0 ? '' : `${lines.join('\n')}${isOpen ? '' : '\n'}`, removes);
    return rejected.length === 0 ? 0 : this.#reject(name, rejected, total, 'FAILED');
  }

  /** The new lines of a hunk, with the file's own where the hunk was placed with fuzz. */
  #kept(lines: readonly string[], { before, after, leading, trailing }: Hunk, at: number): string[] {
    return after.map((line, index) => {
      if (index < leading) return lines[at + index] ?? line;
      const fromEnd = after.length - index;
      return fromEnd <= trailing ? (lines[at + before.length - fromEnd] ?? line) : line;
    });
  }

  #isApplied(lines: readonly string[], hunks: readonly Hunk[]): boolean {
    const [first] = hunks;
    if (first === undefined || this.#settings.force) return false;
    return (
      placeOf(lines, first, first.start, this.#settings.fuzz) === null &&
      placeOf(lines, reversed(first), first.start, 0) !== null
    );
  }

  async #skip(name: string, hunks: readonly Hunk[]): Promise<number> {
    if (this.#settings.forward) this.#say('Reversed (or previously applied) patch detected!  Skipping patch.\n');
    else {
      const question = this.#settings.reverse
        ? 'Unreversed patch detected!  Ignore -R? [n] '
        : 'Reversed (or previously applied) patch detected!  Assume -R? [n] ';
      this.#say(`${question}\nApply anyway? [n] \nSkipping patch.\n`);
    }
    return this.#reject(name, hunks, hunks.length, 'ignored');
  }

  async #reject(name: string, rejected: readonly Hunk[], total: number, what: string): Promise<number> {
    const file = this.#settings.rejects ?? `${this.#settings.output ?? name}.rej`;
    const saving = this.#settings.dryRun ? '' : ` -- saving rejects to file ${quotedName(file)}`;
    this.#call.print(`${rejected.length} out of ${total} hunk${total === 1 ? '' : 's'} ${what}${saving}\n`);
    if (this.#settings.dryRun) return 1;
    const title = `--- ${this.#patch.oldName ?? name}\n+++ ${this.#patch.newName ?? name}\n`;
    await this.#call.changes.writeFile(
      this.#call.path(file),
      bytesOfText(title + rejected.map(({ text }) => text).join('')),
    );
    return 1;
  }

  async #write(path: string, name: string, before: string, after: string, removes: boolean): Promise<void> {
    const { dryRun, backup, suffix, output } = this.#settings;
    if (dryRun) return;
    try {
      if (backup) await this.#call.changes.writeFile(`${path}${suffix}`, bytesOfText(before));
      const target = output === null ? path : this.#call.path(output);
      if (removes && after === '' && output === null) return await this.#call.changes.rm(path);
      const mode = output === null && before !== '' ? this.#call.files.look(path)?.mode : undefined;
      await this.#call.changes
        .mkdir(target.slice(0, target.lastIndexOf('/')) || '/', { recursive: true })
        .catch(() => {});
      await replaceFile(this.#call.changes, target, bytesOfText(after));
      if (mode !== undefined) await this.#call.changes.chmod(target, mode);
    } catch (error) {
      this.#call.end(`**** Can't create file ${name} : ${reasonOf(error)}`, TROUBLE);
    }
  }

  #say(text: string): void {
    if (!this.#settings.quiet) this.#call.print(text);
  }
}

function quotedName(name: string): string {
  return /^[\w./+@%-]+$/.test(name) ? name : `'${name}'`;
}
