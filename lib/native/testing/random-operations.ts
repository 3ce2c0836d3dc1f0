/**
 * Random operations on files, done in two places alike: in a folder of the kernel's own tmpfs and in a mount. Whatever
 * differs afterwards is a difference of the file systems. For tests.
 */
import {
  chmodSync,
  closeSync,
  fstatSync,
  ftruncateSync,
  linkSync,
  lutimesSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  readSync,
  renameSync,
  rmdirSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import type { Random } from './random.ts';
import { below, entryWords, pinnedTime } from './tree-words.ts';

/** Names of every kind: plain, of other alphabets, of no text, the longest, and one byte more. */
const NAMES = [
  ...['a', 'b', 'c', 'é', ' ', '-rf', 'a\nb'].map((name) => Buffer.from(name)),
  Buffer.from([0xff, 0xfe, 0x80]),
  Buffer.alloc(255, 'x'),
  Buffer.alloc(256, 'y'),
];
const FOLDERS = ['d', 'e', 'f'].map((name) => Buffer.from(name));
const LENGTHS = [0, 1, 100, 4096, 5000, 65_535, 65_536, 65_537, 130_000, 200_000];
const OFFSETS = [0, 0, 10, 4096, 65_530, 65_536, 140_000];
const SIZES = [0, 1, 99, 4096, 65_535, 65_536, 65_537, 150_000, 300_000];
const MODES = [0o644, 0o600, 0o755, 0o400, 0o1777, 0o4755, 0o2711];
/** What is one request that changes something. */
const SINGLE = /^(?:truncate to \d+ "|mkdir|rmdir|unlink|rename|link|symlink|chmod)/;
/** Files that are open at a time. */
const MAX_OPEN = 6;

interface Step {
  /** What it is, for who reads a failure. */
  words: string;
  /** Paths whose attributes are compared afterwards. */
  paths: Buffer[][];
  run: (root: string, side: number) => string;
}

export class RandomOperations {
  readonly #random: Random;
  readonly #roots: readonly [string, string];
  /** Descriptors of the same file in both places. */
  #open: [number, number][] = [];
  #count = 0;

  /** `roots`: the plain folder and the mount. */
  constructor(random: Random, roots: readonly [string, string]) {
    this.#random = random;
    this.#roots = roots;
  }

  /**
   * Does one operation in both places; null when they agree, else what differs. `single`: one that is a single request
   * of the kernel, so that there is no state in the middle of it.
   */
  step({ single = false } = {}): string | null {
    this.#count += 1;
    const step = this.#draw(single);
    const pinned = pinnedTime(this.#count);
    const results = this.#roots.map((root, side) => {
      if (!single) for (const path of step.paths) pin(below(root, ...path), pinned);
      const result = outcome(() => step.run(root, side));
      return [result, ...step.paths.map((path) => entryWords(below(root, ...path)))].join(' | ');
    });
    return results[0] === results[1] ? null : `${this.#count}: ${step.words}\n  ${results[0]}\n  ${results[1]}`;
  }

  /** Closes what is open. */
  closeAll(): void {
    for (const pair of this.#open.splice(0)) for (const descriptor of pair) closeSync(descriptor);
  }

  #path(): Buffer[] {
    const depth = this.#random.below(3);
    return [...Array.from({ length: depth }, () => this.#random.oneOf(FOLDERS)), this.#random.oneOf(NAMES)];
  }

  #folder(): Buffer[] {
    return Array.from({ length: 1 + this.#random.below(2) }, () => this.#random.oneOf(FOLDERS));
  }

  #draw(single: boolean): Step {
    const random = this.#random;
    const path = random.below(6) === 0 ? this.#folder() : this.#path();
    const other = random.below(6) === 0 ? this.#folder() : this.#path();
    const [length, offset, size] = [random.oneOf(LENGTHS), random.oneOf(OFFSETS), random.oneOf(SIZES)];
    const mode = random.oneOf(MODES);
    const bytes = random.bytes(length);
    const target = random.oneOf(['a', '../b', '/nowhere', 'd/a']);
    const parent = path.slice(0, -1);
    const one = (words: string, run: (at: Buffer) => unknown): Step => ({
      words: `${words} ${shown(path)}`,
      paths: [path, parent],
      run: (root) => `${run(below(root, ...path)) ?? ''}`,
    });
    const two = (words: string, run: (from: Buffer, to: Buffer) => void): Step => ({
      words: `${words} ${shown(path)} ${shown(other)}`,
      paths: [path, parent, other, other.slice(0, -1)],
      run: (root) => {
        run(below(root, ...path), below(root, ...other));
        return '';
      },
    });
    const handle = this.#open.length === 0 ? null : random.below(this.#open.length);
    const held = (words: string, run: (descriptor: number) => unknown): Step => ({
      words: `${words} of open ${handle}`,
      paths: [],
      run: (_, side) => `${run(this.#open[handle ?? 0]?.[side] ?? -1) ?? ''}`,
    });
    const write = (flags: string) => (at: Buffer) => {
      const descriptor = openSync(at, flags);
      try {
        return String(writeSync(descriptor, bytes, 0, length, flags === 'a' ? null : offset));
      } finally {
        closeSync(descriptor);
      }
    };
    const steps: [weight: number, Step][] = [
      [8, one(`write ${length} at ${offset} with w`, write('w'))],
      [4, one(`write ${length} at ${offset} with wx`, write('wx'))],
      [8, one(`write ${length} at ${offset} with r+`, write('r+'))],
      [6, one(`append ${length}`, write('a'))],
      [6, one(`truncate to ${size}`, (at) => truncateSync(at, size))],
      [6, one('mkdir', (at) => mkdirSync(at, mode))],
      [8, { ...one('mkdir', () => ''), ...this.#mkdir() }],
      [3, one('rmdir', (at) => rmdirSync(at))],
      [5, one('unlink', (at) => unlinkSync(at))],
      [10, two('rename', (from, to) => renameSync(from, to))],
      [5, two('link', (from, to) => linkSync(from, to))],
      [3, one('symlink', (at) => symlinkSync(target, at))],
      [3, one('readlink', (at) => (readlinkSync(at, { encoding: 'buffer' }) as Buffer).toString('latin1'))],
      [4, one(`chmod ${mode.toString(8)}`, (at) => chmodSync(at, mode))],
      [6, one('read', (at) => digest(readFileSync(at)))],
      [4, one('list', (at) => listing(at))],
      [4, { ...one('list', () => ''), ...this.#list() }],
      [4, this.#openStep(path)],
      [
        handle === null ? 0 : 6,
        held(`write ${length} at ${offset}`, (fd) => `${writeSync(fd, bytes, 0, length, offset)}`),
      ],
      [handle === null ? 0 : 3, held(`truncate to ${size}`, (fd) => ftruncateSync(fd, size))],
      [handle === null ? 0 : 4, held('read', (fd) => readWhole(fd))],
      [handle === null ? 0 : 2, held('size and names', (fd) => `${fstatSync(fd).size} ×${fstatSync(fd).nlink}`)],
      [handle === null ? 0 : 3, this.#closeStep(handle ?? 0)],
    ];
    const drawn = single ? steps.filter(([, step]) => SINGLE.test(step.words)) : steps;
    let at = random.below(drawn.reduce((sum, [weight]) => sum + weight, 0));
    for (const [weight, step] of drawn) {
      at -= weight;
      if (at < 0) return step;
    }
    throw new Error('No operation was drawn.');
  }

  #mkdir(): Step {
    const path = this.#folder();
    return {
      words: `mkdir ${shown(path)}`,
      paths: [path, path.slice(0, -1)],
      run: (root) => {
        mkdirSync(below(root, ...path));
        return '';
      },
    };
  }

  #list(): Step {
    const path = this.#folder();
    return { words: `list ${shown(path)}`, paths: [path], run: (root) => listing(below(root, ...path)) };
  }

  #openStep(path: Buffer[]): Step {
    const pair: [number, number] = [-1, -1];
    return {
      words: `open ${shown(path)}`,
      paths: [path],
      run: (root, side) => {
        if (this.#open.length >= MAX_OPEN && pair[0] === -1) return 'enough are open';
        pair[side] = openSync(below(root, ...path), 'r+');
        if (side === 0) this.#open.push(pair);
        return '';
      },
    };
  }

  #closeStep(handle: number): Step {
    const pair = this.#open[handle];
    return {
      words: `close open ${handle}`,
      paths: [],
      run: (_, side) => {
        closeSync(pair?.[side] ?? -1);
        if (side === 1) this.#open.splice(handle, 1);
        return '';
      },
    };
  }
}

function shown(path: Buffer[]): string {
  return JSON.stringify(path.map((name) => name.toString('latin1').slice(0, 20)).join('/'));
}

function pin(path: Buffer, seconds: number): void {
  try {
    lutimesSync(path, seconds, seconds);
  } catch {
    // Nothing is there: it has no time in either place.
  }
}

function outcome(work: () => string): string {
  try {
    return work();
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error);
  }
}

function listing(path: Buffer): string {
  return (readdirSync(path, { encoding: 'buffer' }) as Buffer[])
    .map((name) => name.toString('latin1'))
    .toSorted()
    .join('/');
}

function digest(bytes: Buffer): string {
  let sum = bytes.length;
  for (const byte of bytes) sum = (Math.imul(sum, 31) + byte) >>> 0;
  return `${bytes.length} ${sum}`;
}

function readWhole(descriptor: number): string {
  const bytes = Buffer.alloc(fstatSync(descriptor).size + 1);
  return digest(bytes.subarray(0, readSync(descriptor, bytes, 0, bytes.length, 0)));
}
