/**
 * jq itself, as WebAssembly (jq-wasm), with files of its own in memory, an input, an environment and two outputs. Each
 * run has a memory of its own, of 256 MiB at most. Knows nothing of the shell.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { compileFunction } from 'node:vm';

export interface JqRun {
  args: readonly string[];
  stdin: Uint8Array;
  /** By absolute path. */
  files: ReadonlyMap<string, Uint8Array>;
  folders: readonly string[];
  cwd: string;
  env: Readonly<Record<string, string>>;
}

export interface JqOutcome {
  stdout: Buffer;
  stderr: Buffer;
  exitCode: number;
}

/** Most bytes that it may print. */
export const MOST_OUTPUT_BYTES = 32 * 1024 * 1024;

/** It printed more than it may. */
export class TooMuchOutput extends Error {}

/** What it takes of Emscripten's file system. */
interface MemoryFiles {
  init(read: () => number | null, out: (byte: number | null) => void, error: (byte: number | null) => void): void;
  mkdirTree(path: string): void;
  writeFile(path: string, content: Uint8Array): void;
  chdir(path: string): void;
}

interface Hooks {
  /** What jq calls itself; without it the path of a file of the host. */
  thisProgram: string;
  prepare(files: MemoryFiles, environment: Record<string, string>): void;
  instantiateWasm(imports: WebAssembly.Imports, receive: (instance: WebAssembly.Instance) => void): object;
  quit(status: number, ending: unknown): never;
}

type Factory = (hooks: Hooks) => Promise<{ callMain(args: string[]): number }>;

/**
 * The package reads one text and no files, and sets the exit code of its host. Each text must occur exactly once in the
 * installed version.
 */
const CHANGES: readonly [from: string, to: string][] = [
  [
    'preRun() { FS.init(() => {',
    'preRun() { if (moduleArg.prepare) return moduleArg.prepare(FS, ENV); FS.init(() => {',
  ],
  ['quit_ = (status, toThrow) => { process.exitCode = status; throw toThrow; };', 'quit_ = moduleArg.quit;'],
];
const BINARY = /"data:application\/octet-stream;base64,([^"]+)"/;

let loaded: { factory: Factory; program: WebAssembly.Module } | null = null;

function load(): { factory: Factory; program: WebAssembly.Module } {
  const require = createRequire(import.meta.url);
  const path = require.resolve('jq-wasm/dist/build/jq.js');
  const text = readFileSync(path, 'utf8');
  const binary = BINARY.exec(text)?.[1];
  if (binary === undefined) throw new Error('jq-wasm has no program in it.');
  const source = CHANGES.reduce(
    (whole, [from, to]) => {
      const [before, after, ...more] = whole.split(from);
      if (before === undefined || after === undefined || more.length > 0)
        throw new Error(`jq-wasm is not the one that is to be changed at ${from}`);
      return before + to + after;
    },
    text.replace(BINARY, '""'),
  );
  const module: { exports: unknown } = { exports: {} };
  compileFunction(source, ['module', 'exports', 'require', '__filename', '__dirname'])(
    module,
    module.exports,
    require,
    path,
    '',
  );
  return { factory: module.exports as Factory, program: new WebAssembly.Module(Buffer.from(binary, 'base64')) };
}

/**
 * Runs it to its end: nothing but its own output can stop it from inside. Throws `TooMuchOutput`, and what WebAssembly
 * does when it has used up its memory or its stack.
 */
export async function runJq({ args, stdin, files, folders, cwd, env }: JqRun): Promise<JqOutcome> {
  loaded ??= load();
  const { factory, program } = loaded;
  const [stdout, stderr] = [new Collected(), new Collected()];
  let at = 0;
  const jq = await factory({
    thisProgram: 'jq',
    prepare: (memory, environment) => {
      memory.init(
        () => stdin[at++] ?? null,
        (byte) => stdout.add(byte),
        (byte) => stderr.add(byte),
      );
      for (const name of Object.keys(environment)) delete environment[name];
      Object.assign(environment, env);
      for (const folder of [...folders, cwd]) memory.mkdirTree(folder);
      for (const [path, content] of files) {
        memory.mkdirTree(path.slice(0, path.lastIndexOf('/')) || '/');
        memory.writeFile(path, content);
      }
      memory.chdir(cwd);
    },
    instantiateWasm: (imports, receive) => {
      const endLargeOutput = () => {
        if (stdout.length + stderr.length > MOST_OUTPUT_BYTES) throw new TooMuchOutput();
      };
      const instance = new WebAssembly.Instance(program, afterEach(imports, endLargeOutput));
      receive(instance);
      return instance.exports;
    },
    quit: (_status, ending) => {
      throw ending;
    },
  });
  const exitCode = jq.callMain([...args]);
  return { stdout: stdout.bytes, stderr: stderr.bytes, exitCode };
}

/**
 * The same imports, with a check after each call. An error of the function that takes a byte would not end the program:
 * Emscripten makes it a failed write, which jq passes over.
 */
function afterEach(imports: WebAssembly.Imports, check: () => void): WebAssembly.Imports {
  const checked = (value: WebAssembly.ImportValue): WebAssembly.ImportValue => {
    if (typeof value !== 'function') return value;
    return (...args: unknown[]) => {
      const result: unknown = value(...args);
      check();
      return result;
    };
  };
  const mapped = (values: WebAssembly.ModuleImports) =>
    Object.fromEntries(Object.entries(values).map(([name, value]) => [name, checked(value)]));
  return Object.fromEntries(Object.entries(imports).map(([name, values]) => [name, mapped(values)]));
}

/** Bytes that come one by one. */
class Collected {
  #content = Buffer.alloc(1024);
  #length = 0;

  add(byte: number | null): void {
    if (byte === null || byte === undefined) return;
    if (this.#length === this.#content.length)
      this.#content = Buffer.concat([this.#content, Buffer.alloc(this.#length)]);
    this.#content[this.#length] = byte;
    this.#length += 1;
  }

  get length(): number {
    return this.#length;
  }

  get bytes(): Buffer {
    return this.#content.subarray(0, this.#length);
  }
}
