/** The options of `ls` and what they mean together. */

import type { GivenOption, OptionNames } from '../options.ts';
import { type CommandCall, marked } from '../own-command.ts';
import type { ListStyle } from './ls-format.ts';

export const LS_OPTIONS: OptionNames = {
  letters: '1ABCDFGHI:LNQRST:UXZabcdfghiklmnopqrstuvw:x',
  long: {
    all: 'a',
    'almost-all': 'A',
    author: 'author',
    'block-size=': 'block-size',
    classify: 'F',
    'color=?': 'color',
    context: 'Z',
    dereference: 'L',
    'dereference-command-line': 'H',
    'dereference-command-line-symlink-to-dir': 'H',
    directory: 'd',
    escape: 'b',
    'file-type': 'file-type',
    'format=': 'format',
    'full-time': 'full-time',
    'group-directories-first': 'directories-first',
    'hide-control-chars': 'q',
    'hide=': 'hide',
    'human-readable': 'h',
    'hyperlink=?': 'hyperlink',
    'ignore-backups': 'B',
    'ignore=': 'I',
    'indicator-style=': 'indicator-style',
    inode: 'i',
    kibibytes: 'k',
    literal: 'N',
    'no-group': 'G',
    'numeric-uid-gid': 'n',
    'quote-name': 'Q',
    'quoting-style=': 'quoting-style',
    recursive: 'R',
    reverse: 'r',
    'show-control-chars': 'show-controls',
    si: 'si',
    size: 's',
    'sort=': 'sort',
    'tabsize=': 'T',
    'time-style=': 'time-style',
    'time=': 'time',
    'width=': 'w',
    zero: 'zero',
  },
};

export interface LsSettings {
  style: ListStyle;
  long: boolean;
  layout: 'lines' | 'columns' | 'across' | 'commas';
  width: number;
  zero: boolean;
  /** Which of the hidden names: none, all but `.` and `..`, or all. */
  all: 'none' | 'almost' | 'all';
  backups: boolean;
  ignored: string[];
  /** The ignored patterns came from --hide only, which -a overrides. */
  ignoredOnlyHidden: boolean;
  /** L: links are followed; H: those of the arguments are. */
  links: 'P' | 'H' | 'L';
  directories: boolean;
  recursive: boolean;
  sort: 'name' | 'none' | 'time' | 'size' | 'extension' | 'version' | 'width';
  reverse: boolean;
  directoriesFirst: boolean;
}

const SORTS: Readonly<Record<string, LsSettings['sort']>> = {
  none: 'none',
  time: 'time',
  size: 'size',
  extension: 'extension',
  version: 'version',
  width: 'width',
  name: 'name',
};
const TIME_STYLES: Readonly<Record<string, string>> = {
  'full-iso': '%Y-%m-%d %H:%M:%S.%N %z',
  'long-iso': '%Y-%m-%d %H:%M',
  iso: '%Y-%m-%d \n%m-%d %H:%M',
  locale: '',
};
const BLOCK_SIZES: Readonly<Record<string, number>> = {
  K: 1024,
  M: 1024 ** 2,
  G: 1024 ** 3,
  KiB: 1024,
  1: 1,
  '1K': 1024,
};
const DEFAULT_WIDTH = 80;

/** Reads the settings from the options. */
export function lsSettings(options: readonly GivenOption[], call: CommandCall): LsSettings {
  const style: ListStyle = {
    long: false,
    human: null,
    inodes: false,
    blocks: false,
    owner: true,
    group: true,
    numeric: false,
    mark: 'none',
    quoting: 'literal',
    hideControls: false,
    time: '',
    color: false,
    blockSize: 1,
    context: false,
  };
  const settings: LsSettings = {
    style,
    long: false,
    layout: 'lines',
    width: DEFAULT_WIDTH,
    zero: false,
    all: 'none',
    backups: true,
    ignored: [],
    ignoredOnlyHidden: true,
    links: 'P',
    directories: false,
    recursive: false,
    sort: 'name',
    reverse: false,
    directoriesFirst: false,
  };
  let sorted = false;
  let layout: LsSettings['layout'] | 'long' = 'lines';
  const long = () => {
    layout = 'long';
  };
  const sortBy = (sort: LsSettings['sort']) => {
    settings.sort = sort;
    sorted = true;
  };
  const oneOf = <T>(option: string, value: string, choices: Readonly<Record<string, T>>): T => {
    const found = choices[value];
    if (found !== undefined) return found;
    const valid = Object.keys(choices).map((name) => `  - ${marked(name)}`);
    call.usage(
      `invalid argument ${marked(value)} for ${marked(`--${option}`)}\nValid arguments are:\n${valid.join('\n')}`,
    );
  };
  let timed = false;
  for (const { key, value } of options) {
    const text = value ?? '';
    switch (key) {
      case '1':
        if (layout !== 'long') layout = 'lines';
        break;
      case 'A':
        settings.all = 'almost';
        break;
      case 'a':
        settings.all = 'all';
        break;
      case 'B':
        settings.backups = false;
        break;
      case 'C':
        layout = 'columns';
        break;
      case 'x':
        layout = 'across';
        break;
      case 'm':
        layout = 'commas';
        break;
      case 'F':
        style.mark = 'classify';
        break;
      case 'p':
        style.mark = 'slash';
        break;
      case 'file-type':
        style.mark = 'file-type';
        break;
      case 'G':
        style.group = false;
        break;
      case 'H':
        settings.links = 'H';
        break;
      case 'L':
        settings.links = 'L';
        break;
      case 'I':
        settings.ignored.push(text);
        settings.ignoredOnlyHidden = false;
        break;
      case 'hide':
        settings.ignored.push(text);
        break;
      case 'N':
        style.quoting = 'literal';
        break;
      case 'Q':
        style.quoting = 'c';
        break;
      case 'b':
        style.quoting = 'escape';
        break;
      case 'q':
        style.hideControls = true;
        break;
      case 'R':
        settings.recursive = true;
        break;
      case 'S':
        sortBy('size');
        break;
      case 't':
        sortBy('time');
        break;
      case 'U':
        sortBy('none');
        break;
      case 'X':
        sortBy('extension');
        break;
      case 'v':
        sortBy('version');
        break;
      case 'f':
        sortBy('none');
        settings.all = 'all';
        break;
      case 'Z':
        style.context = true;
        break;
      case 'c':
      case 'u':
      case 'time':
        timed = true;
        break;
      case 'd':
        settings.directories = true;
        break;
      case 'g':
        long();
        style.owner = false;
        break;
      case 'o':
        long();
        style.group = false;
        break;
      case 'n':
        long();
        style.numeric = true;
        break;
      case 'l':
        long();
        break;
      case 'full-time':
        long();
        style.time = TIME_STYLES['full-iso'] ?? '';
        break;
      case 'h':
        style.human = 1024;
        break;
      case 'si':
        style.human = 1000;
        break;
      case 'i':
        style.inodes = true;
        break;
      case 's':
        style.blocks = true;
        break;
      case 'r':
        settings.reverse = true;
        break;
      case 'w':
        settings.width = Number(text) || Number.MAX_SAFE_INTEGER;
        break;
      case 'zero':
        settings.zero = true;
        break;
      case 'directories-first':
        settings.directoriesFirst = true;
        break;
      case 'block-size':
        style.blockSize = oneOf('block-size', text, BLOCK_SIZES);
        break;
      case 'color':
        style.color =
          ['always', 'yes', 'force'].includes(value ?? 'always') &&
          (call.context.env.has('LS_COLORS') || call.context.env.get('TERM') !== 'dumb');
        break;
      case 'sort':
        sortBy(oneOf('sort', text, SORTS));
        break;
      case 'format':
        layout = oneOf('format', text, {
          across: 'across',
          horizontal: 'across',
          commas: 'commas',
          long: 'long',
          verbose: 'long',
          'single-column': 'lines',
          vertical: 'columns',
        } as const);
        break;
      case 'indicator-style':
        style.mark = oneOf('indicator-style', text, {
          none: 'none',
          slash: 'slash',
          'file-type': 'file-type',
          classify: 'classify',
        } as const);
        break;
      case 'quoting-style':
        style.quoting = oneOf('quoting-style', text, {
          literal: 'literal',
          shell: 'shell',
          'shell-escape': 'shell',
          c: 'c',
          escape: 'escape',
        } as const);
        break;
      case 'time-style':
        style.time = text.startsWith('+')
          ? text.slice(1)
          : oneOf('time-style', text.replace(/^posix-/, ''), TIME_STYLES);
        break;
    }
  }
  style.long = layout === 'long';
  settings.long = style.long;
  settings.layout = layout === 'long' ? 'lines' : layout;
  // -c and -u without -l sort by that time; there is one time here.
  if (timed && !style.long && !sorted) settings.sort = 'time';
  return settings;
}
