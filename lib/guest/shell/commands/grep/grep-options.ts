/** The options of `grep` and what they mean together. */

import { globRegex } from '../glob.ts';
import type { OptionNames, ParsedOptions } from '../options.ts';
import type { CommandCall } from '../own-command.ts';
import { reasonOf, textLines } from '../own-command.ts';
import { GrepError, type GrepSettings } from './grep-settings.ts';

export const GREP_OPTIONS: OptionNames = {
  letters: '0123456789A:B:C:D:EFGHILPTUVX:abcd:e:f:hiLlm:noqRrsuvwxyZz',
  long: {
    'after-context=': 'A',
    'basic-regexp': 'G',
    'before-context=': 'B',
    'binary-files=': 'binary',
    binary: 'U',
    'byte-offset': 'b',
    'color=?': 'color',
    'colour=?': 'color',
    'context=': 'C',
    count: 'c',
    'dereference-recursive': 'R',
    'devices=': 'D',
    'directories=': 'd',
    'exclude-dir=': 'exclude-dir',
    'exclude-from=': 'exclude-from',
    'exclude=': 'exclude',
    'extended-regexp': 'E',
    'file=': 'f',
    'files-with-matches': 'l',
    'files-without-match': 'L',
    'fixed-strings': 'F',
    'group-separator=': 'separator',
    'ignore-case': 'i',
    'include=': 'include',
    'initial-tab': 'T',
    'invert-match': 'v',
    'label=': 'label',
    'line-buffered': 'u',
    'line-number': 'n',
    'line-regexp': 'x',
    'max-count=': 'm',
    'no-filename': 'h',
    'no-group-separator': 'no-separator',
    'no-ignore-case': 'no-ignore-case',
    'no-messages': 's',
    null: 'Z',
    'null-data': 'z',
    'only-matching': 'o',
    'perl-regexp': 'P',
    quiet: 'q',
    recursive: 'r',
    'regexp=': 'e',
    silent: 'q',
    text: 'a',
    version: 'V',
    'with-filename': 'H',
    'word-regexp': 'w',
  },
};

const USAGE = "Usage: grep [OPTION]... PATTERNS [FILE]...\nTry 'grep --help' for more information.\n";

/** Reads the settings from the options. Throws a `GrepError`. */
export async function grepSettings(
  call: CommandCall,
  { options, operands }: ParsedOptions,
  base: GrepSettings['syntax'],
): Promise<{ settings: GrepSettings; operands: string[] }> {
  const settings: GrepSettings = {
    syntax: base,
    patterns: [],
    ignoreCase: false,
    words: false,
    wholeLines: false,
    inverted: false,
    after: -1,
    before: -1,
    separator: '--',
    maxCount: Number.POSITIVE_INFINITY,
    count: false,
    list: null,
    onlyMatches: false,
    quiet: false,
    silent: false,
    lineNumbers: false,
    byteOffsets: false,
    names: null,
    nullAfterName: false,
    nullLines: false,
    initialTab: false,
    color: false,
    label: null,
    binary: 'binary',
    recursive: null,
    directories: 'read',
    excludedDirectories: [],
    skips: () => false,
  };
  let context = -1;
  let digits = '';
  let hasPattern = false;
  const names: { include: boolean; glob: RegExp }[] = [];
  const addNames = (globs: readonly string[], include: boolean) => {
    for (const glob of globs) names.push({ include, glob: globRegex(glob) });
  };
  const textOf = async (file: string) => {
    try {
      return textLines(await call.input(file));
    } catch (error) {
      throw new GrepError(`${file}: ${reasonOf(error)}`);
    }
  };
  const flags: Readonly<Record<string, (value: string) => void | Promise<void>>> = {
    E: () => set({ syntax: 'extended' }),
    F: () => set({ syntax: 'fixed' }),
    G: () => set({ syntax: 'basic' }),
    P: () => set({ syntax: 'perl' }),
    H: () => set({ names: true }),
    h: () => set({ names: false }),
    I: () => set({ binary: 'without-match' }),
    a: () => set({ binary: 'text' }),
    L: () => set({ list: 'other' }),
    l: () => set({ list: 'matching' }),
    T: () => set({ initialTab: true }),
    Z: () => set({ nullAfterName: true }),
    z: () => set({ nullLines: true }),
    b: () => set({ byteOffsets: true }),
    c: () => set({ count: true }),
    i: () => set({ ignoreCase: true }),
    y: () => set({ ignoreCase: true }),
    'no-ignore-case': () => set({ ignoreCase: false }),
    n: () => set({ lineNumbers: true }),
    o: () => set({ onlyMatches: true }),
    q: () => set({ quiet: true }),
    s: () => set({ silent: true }),
    v: () => set({ inverted: true }),
    w: () => set({ words: true }),
    x: () => set({ wholeLines: true }),
    r: () => set({ recursive: 'r' }),
    R: () => set({ recursive: 'R' }),
    A: (value) => set({ after: contextLength(value) }),
    B: (value) => set({ before: contextLength(value) }),
    C: (value) => {
      context = contextLength(value);
    },
    m: (value) => set({ maxCount: maxCount(value) }),
    label: (value) => set({ label: value }),
    separator: (value) => set({ separator: value }),
    'no-separator': () => set({ separator: null }),
    color: (value) => set({ color: colorOf(value) }),
    binary: (value) => set({ binary: binaryOf(value) }),
    d: (value) => {
      if (!['read', 'skip', 'recurse'].includes(value))
        throw new GrepError(
          `invalid argument ‘${value}’ for ‘--directories’\nValid arguments are:\n  - ‘read’\n  - ‘recurse’\n  - ‘skip’\n${USAGE.trimEnd()}`,
        );
      set({ directories: value as GrepSettings['directories'], recursive: value === 'recurse' ? 'r' : null });
    },
    e: (value) => {
      hasPattern = true;
      settings.patterns.push(...value.split('\n'));
    },
    f: async (value) => {
      hasPattern = true;
      settings.patterns.push(...(await textOf(value)));
    },
    include: (value) => addNames([value], true),
    exclude: (value) => addNames([value], false),
    'exclude-from': async (value) => addNames(await textOf(value), false),
    'exclude-dir': (value) => void settings.excludedDirectories.push(value),
  };
  function set(changes: Partial<GrepSettings>): void {
    Object.assign(settings, changes);
  }
  for (const { key, value } of options) {
    if (/^\d$/.test(key)) digits += key;
    else await flags[key]?.(value ?? '');
  }
  const rest = [...operands];
  if (!hasPattern) {
    const pattern = rest.shift();
    if (pattern === undefined) throw new GrepError(USAGE);
    settings.patterns.push(...pattern.split('\n'));
  }
  if (digits !== '') context = Number(digits);
  const asked = settings.after >= 0 || settings.before >= 0 || context >= 0;
  settings.after = settings.after >= 0 ? settings.after : Math.max(context, 0);
  settings.before = settings.before >= 0 ? settings.before : Math.max(context, 0);
  if (!asked) settings.separator = null;
  settings.skips = skipsOf(names);
  return { settings, operands: rest };
}

function skipsOf(names: { include: boolean; glob: RegExp }[]): GrepSettings['skips'] {
  if (names.length === 0) return () => false;
  return (name, operand) => {
    const parts = name.split('/');
    // Of a file that was found only the last part counts; of an operand each end of its path.
    const ends = operand ? parts.map((_, at) => parts.slice(at).join('/')) : parts.slice(-1);
    // The last pattern that matches decides. Without one, a file is left out when the first pattern includes.
    const last = names.findLast(({ glob }) => ends.some((end) => glob.test(end)));
    return last === undefined ? (names[0]?.include ?? false) : !last.include;
  };
}

function contextLength(value: string): number {
  if (!/^\d+$/.test(value)) throw new GrepError(`${value}: invalid context length argument`);
  return Number(value);
}

function maxCount(value: string): number {
  if (!/^-?\d+$/.test(value)) throw new GrepError('invalid max count');
  return Number(value) < 0 ? Number.POSITIVE_INFINITY : Number(value);
}

function colorOf(value: string): boolean {
  if (['', 'auto', 'tty', 'if-tty', 'never', 'no', 'none', 'always', 'yes', 'force'].includes(value))
    return ['always', 'yes', 'force'].includes(value);
  throw new GrepError(USAGE);
}

function binaryOf(value: string): GrepSettings['binary'] {
  if (value === 'binary' || value === 'text' || value === 'without-match') return value;
  throw new GrepError(
    'invalid argument ‘' +
      value +
      '’ for ‘--binary-files’\nValid arguments are:\n  - ‘binary’\n  - ‘text’\n  - ‘without-match’\n' +
      USAGE.trimEnd(),
  );
}
