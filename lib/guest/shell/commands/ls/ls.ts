/** `ls`: which files are listed, in which order and groups. */
import type { FileStatus } from '../command-files.ts';
import { globRegex } from '../glob.ts';
import { type CommandCall, type OwnCommand, reasonOf } from '../own-command.ts';
import { type ListedFile, listLines, quotedName, totalOf } from './ls-format.ts';
import { LS_OPTIONS, type LsSettings, lsSettings } from './ls-options.ts';

const SERIOUS = 2;
const TAB = 8;

class Listing {
  readonly #call: CommandCall;
  readonly #settings: LsSettings;
  readonly #now = Date.now() / 1000;
  readonly #ignored: RegExp[];
  /** Whether something has been printed: a group is then preceded by a blank line. */
  #printed = false;

  constructor(call: CommandCall, settings: LsSettings) {
    this.#call = call;
    this.#settings = settings;
    this.#ignored = settings.ignored.map((glob) => globRegex(glob));
  }

  async run(operands: readonly string[]): Promise<void> {
    const files: ListedFile[] = [];
    const directories: ListedFile[] = [];
    for (const name of operands.length > 0 ? operands : ['.']) {
      try {
        const file = this.#operand(name);
        (file.info.kind === 'dir' && !this.#settings.directories ? directories : files).push(file);
      } catch (error) {
        this.#call.fail(
          `cannot access '${quotedName(name, { quoting: 'literal', hideControls: false })}': ${reasonOf(error)}`,
          SERIOUS,
        );
      }
    }
    this.#print(this.#sorted(files));
    const headed = this.#settings.recursive || operands.length > 1;
    for (const directory of this.#sorted(directories))
      await this.#directory(directory.name, directory.info, headed, SERIOUS);
  }

  #operand(name: string): ListedFile {
    if (name === '') return this.#listed(name, this.#call.files.info('/nothing/here', false));
    const { links, long, directories, style } = this.#settings;
    const path = this.#call.path(name);
    const info = this.#call.files.info(path, links === 'L');
    if (info.kind !== 'link') return this.#listed(name, info);
    // A link to a directory is listed as the directory, unless the link itself is asked for.
    const shows = links === 'H' || !(long || directories || style.mark === 'classify');
    const target = shows ? this.#look(path) : null;
    const follows = target !== null && (links === 'H' || target.kind === 'dir');
    return this.#listed(name, follows ? target : info);
  }

  /** `trouble`: the exit code where it cannot be read. */
  async #directory(name: string, info: FileStatus, headed: boolean, trouble: number): Promise<void> {
    await this.#call.turn();
    const { recursive, long, style } = this.#settings;
    const children = this.#children(info, (error) =>
      this.#call.fail(`cannot open directory '${name}': ${reasonOf(error)}`, trouble),
    );
    if (children === null) return;
    const files = this.#sorted(children);
    if (headed) this.#call.print(`${this.#printed ? '\n' : ''}${quotedName(name, style)}:\n`);
    this.#printed = true;
    if (long || style.blocks) this.#call.print(`total ${totalOf(files, style)}\n`);
    this.#print(files);
    if (!recursive) return;
    for (const file of files) {
      if (file.info.kind !== 'dir' || file.name === '.' || file.name === '..') continue;
      await this.#directory(name.endsWith('/') ? name + file.name : `${name}/${file.name}`, file.info, true, 1);
    }
  }

  #children(directory: FileStatus, told: (error: unknown) => void): ListedFile[] | null {
    const { all, backups, links } = this.#settings;
    const found = this.#call.files.childrenOr(directory.path, told);
    if (found === null) return null;
    const children = found.flatMap((child) => {
      if (all === 'none' && child.name.startsWith('.')) return [];
      if (!backups && child.name.endsWith('~')) return [];
      if (all === 'none' || !this.#settings.ignoredOnlyHidden) {
        if (this.#ignored.some((glob) => glob.test(child.name))) return [];
      }
      const info = links === 'L' && child.kind === 'link' ? this.#followed(child.path, child.name) : child;
      return info === null ? [] : [this.#listed(child.name, info)];
    });
    if (all !== 'all') return children;
    const above = directory.path.slice(0, directory.path.lastIndexOf('/')) || '/';
    return [this.#listed('.', directory), this.#listed('..', this.#call.files.info(above)), ...children];
  }

  #followed(path: string, name: string): FileStatus | null {
    const target = this.#look(path);
    if (target === null) this.#call.fail(`cannot access '${name}': No such file or directory`, 1);
    return target;
  }

  #listed(name: string, info: FileStatus): ListedFile {
    const { long, style, directoriesFirst } = this.#settings;
    const target = info.kind === 'link' && (long || style.color || directoriesFirst) ? this.#look(info.path) : null;
    return { name, info, links: long ? this.#call.files.links(info) : 1, target };
  }

  #look(path: string): FileStatus | null {
    try {
      return this.#call.files.look(path);
    } catch {
      // A loop of links leads nowhere.
      return null;
    }
  }

  #sorted(files: readonly ListedFile[]): ListedFile[] {
    const { sort, reverse, directoriesFirst } = this.#settings;
    const names = new Map(files.map((file) => [file, Buffer.from(file.name)]));
    const byName = (a: ListedFile, b: ListedFile) =>
      Buffer.compare(names.get(a) ?? Buffer.alloc(0), names.get(b) ?? Buffer.alloc(0));
    const orders: Readonly<Record<LsSettings['sort'], (a: ListedFile, b: ListedFile) => number>> = {
      name: byName,
      none: () => 0,
      time: (a, b) => b.info.mtime - a.info.mtime || byName(a, b),
      size: (a, b) => b.info.size - a.info.size || byName(a, b),
      extension: (a, b) => compareText(extensionOf(a.name), extensionOf(b.name)) || byName(a, b),
      version: (a, b) => compareVersions(a.name, b.name) || byName(a, b),
      width: (a, b) => a.name.length - b.name.length || byName(a, b),
    };
    const sorted = files.toSorted(orders[sort]);
    if (reverse && sort !== 'none') sorted.reverse();
    if (!directoriesFirst) return sorted;
    const isDirectory = ({ info, target }: ListedFile) => info.kind === 'dir' || target?.kind === 'dir';
    return [...sorted.filter(isDirectory), ...sorted.filter((file) => !isDirectory(file))];
  }

  #print(files: readonly ListedFile[]): void {
    if (files.length === 0) return;
    this.#printed = true;
    const { layout, style, width, zero } = this.#settings;
    const lines = listLines(files, style, this.#now);
    if (layout === 'commas') this.#call.print(`${commas(lines, width)}\n`);
    else if (layout === 'lines') this.#call.print(lines.map((line) => line + (zero ? '\0' : '\n')).join(''));
    else this.#call.print(columns(lines, width, layout === 'across'));
  }
}

function extensionOf(name: string): string {
  const dot = name.lastIndexOf('.');
  return dot === -1 ? '' : name.slice(dot);
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Numbers in names count as numbers. */
function compareVersions(a: string, b: string): number {
  const [left, right] = [a, b].map((name) => name.match(/\d+|\D+/g) ?? []);
  for (let at = 0; at < Math.max(left?.length ?? 0, right?.length ?? 0); at += 1) {
    const [one = '', other = ''] = [left?.[at], right?.[at]];
    const numbers = /^\d/.test(one) && /^\d/.test(other);
    const order = numbers ? Number(one) - Number(other) || other.length - one.length : compareText(one, other);
    if (order !== 0) return order;
  }
  return 0;
}

function commas(names: readonly string[], width: number): string {
  let text = '';
  let used = 0;
  names.forEach((name, at) => {
    const last = at === names.length - 1;
    if (at > 0) {
      const wraps = used + 1 + name.length + (last ? 0 : 1) > width;
      text += wraps ? '\n' : ' ';
      used = wraps ? 0 : used + 1;
    }
    text += name + (last ? '' : ',');
    used += name.length + (last ? 0 : 1);
  });
  return text;
}

/** As many columns as fit, each as wide as its longest name and two spaces. */
function columns(names: readonly string[], width: number, across: boolean): string {
  for (let count = names.length; count >= 1; count -= 1) {
    const rows = Math.ceil(names.length / count);
    if (!across && Math.ceil(names.length / rows) < count && count > 1) continue;
    const at = (row: number, column: number) => (across ? row * count + column : column * rows + row);
    const widths = Array.from({ length: count }, (_, column) =>
      Math.max(0, ...Array.from({ length: rows }, (__, row) => names[at(row, column)]?.length ?? 0)),
    );
    const total = widths.reduce((sum, one) => sum + one + 2, -2);
    if (total > width && count > 1) continue;
    return Array.from({ length: rows }, (_, row) => {
      let line = '';
      let used = 0;
      for (let column = 0; column < count && at(row, column) < names.length; column += 1) {
        const start = widths.slice(0, column).reduce((sum, one) => sum + one + 2, 0);
        const name = names[at(row, column)] ?? '';
        line += indent(used, start) + name;
        used = start + name.length;
      }
      return `${line}\n`;
    }).join('');
  }
  return '';
}

/** From one column of the screen to another, with tabs where they reach. */
function indent(from: number, to: number): string {
  let text = '';
  for (let at = from; at < to; ) {
    const tab = Math.floor(to / TAB) > Math.floor((at + 1) / TAB);
    text += tab ? '\t' : ' ';
    at += tab ? TAB - (at % TAB) : 1;
  }
  return text;
}

export const ls: OwnCommand = {
  usageExit: SERIOUS,
  async main(call) {
    const { options, operands } = call.options(LS_OPTIONS);
    await new Listing(call, lsSettings(options, call)).run(operands);
    return undefined;
  },
};
