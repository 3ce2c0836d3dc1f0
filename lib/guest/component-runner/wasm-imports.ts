/**
 * What a WebAssembly component may import: `winterdock` (files, log, clock, random), WASI preview 1 with JSON on stdin
 * and stdout, and what AssemblyScript's runtime needs of `env`. docs/workbooks.md describes them.
 */
import { ConsoleStdout, File, OpenFile, WASI } from '@bjorn3/browser_wasi_shim';
import { ModuleRefusal } from './module-limits.ts';
import type { ThreadChannel } from './thread-channel.ts';

/** The call that runs, as imports see it. */
export interface WasmCall {
  instance: WebAssembly.Instance;
  uses: readonly string[];
}

const WASI_NAMESPACES = ['wasi_snapshot_preview1', 'wasi_unstable'] as const;
/** WASI functions that need a capability; the others reach nothing but stdin, stdout and stderr. */
const WASI_NEEDS: Readonly<Record<string, string>> = {
  clock_time_get: 'clock',
  clock_res_get: 'clock',
  poll_oneoff: 'clock',
  random_get: 'random',
};
/** Most bytes that one import passes. */
const MAX_BYTES = 64 * 1024 * 1024;
const VOLUME = /^(workspace|memory|tmp):(\/.*)$/s;

type Imports = Record<string, Record<string, WebAssembly.ImportValue>>;

export class WasmImports {
  readonly #channel: ThreadChannel;
  /** Set before anything of the module runs. */
  call: WasmCall | null = null;

  constructor(channel: ThreadChannel) {
    this.#channel = channel;
  }

  /** The imports that a module asks for. Throws ModuleRefusal for one that is not offered. */
  resolve(module: WebAssembly.Module, wasi: WASI): Imports {
    const offered: Imports = { winterdock: this.#own(), env: this.#assemblyScript() };
    for (const namespace of WASI_NAMESPACES) offered[namespace] = this.#guarded(wasi);
    const resolved: Imports = {};
    for (const { module: namespace, name, kind } of WebAssembly.Module.imports(module)) {
      const group = Object.hasOwn(offered, namespace) ? offered[namespace] : undefined;
      const value = group !== undefined && Object.hasOwn(group, name) ? group[name] : undefined;
      if (kind !== 'function' || value === undefined) {
        const names = Object.keys(offered.winterdock ?? {}).join(', ');
        throw new ModuleRefusal(
          'component',
          `It imports the ${kind} "${namespace}.${name}", which is not offered: offered are winterdock (${names}) and WASI preview 1.`,
        );
      }
      resolved[namespace] ??= {};
      resolved[namespace][name] = value;
    }
    return resolved;
  }

  #own(): Record<string, WebAssembly.ImportValue> {
    const ask = (name: string, ...args: unknown[]) => this.#channel.ask(name, ...args);
    return {
      log: (ptr: number, length: number) => {
        this.#require('log');
        this.#channel.log('log', `${this.#text(ptr, length)}\n`);
      },
      clock: () => {
        this.#require('clock');
        return Date.now();
      },
      random: (ptr: number, length: number) => {
        this.#require('random');
        const bytes = this.#bytes(ptr, length);
        for (let at = 0; at < length; at += 65_536) crypto.getRandomValues(bytes.subarray(at, at + 65_536));
      },
      vfs_get: (ptr: number, length: number) => {
        const content = ask('vfs.getBytes', ...this.#address(ptr, length));
        return content instanceof Uint8Array ? this.#give(content) : -1n;
      },
      vfs_put: (ptr: number, length: number, contentPtr: number, contentLength: number) => {
        const [path, volume] = this.#address(ptr, length);
        ask('vfs.put', path, this.#bytes(contentPtr, contentLength).slice(), volume);
      },
      vfs_delete: (ptr: number, length: number) => (ask('vfs.delete', ...this.#address(ptr, length)) === true ? 1 : 0),
      vfs_list: (ptr: number, length: number) => this.#giveJson(ask('vfs.list', ...this.#address(ptr, length))),
      vfs_query: (ptr: number, length: number, paramsPtr: number, paramsLength: number) => {
        const params = paramsLength === 0 ? undefined : this.#text(paramsPtr, paramsLength);
        return this.#giveJson(ask('vfs.query', this.#text(ptr, length), params));
      },
    };
  }

  #assemblyScript(): Record<string, WebAssembly.ImportValue> {
    return {
      abort: (message: number, _file: number, line: number, column: number) => {
        throw new Error(`abort: ${this.#utf16(message)} (line ${line}, column ${column})`);
      },
      seed: () => {
        this.#require('random');
        return Math.random();
      },
    };
  }

  #guarded(wasi: WASI): Record<string, WebAssembly.ImportValue> {
    return Object.fromEntries(
      Object.entries(wasi.wasiImport).map(([name, work]) => {
        const needed = Object.hasOwn(WASI_NEEDS, name) ? WASI_NEEDS[name] : undefined;
        if (needed === undefined) return [name, work];
        return [
          name,
          (...args: unknown[]) => {
            this.#require(needed);
            // What returns nothing has succeeded.
            return work(...args) ?? 0;
          },
        ];
      }),
    );
  }

  /** Lets the worker refuse what the component did not declare. */
  #require(capability: string): void {
    if (this.call?.uses.includes(capability)) return;
    this.#channel.ask('use', capability);
  }

  get #exports(): Record<string, unknown> {
    if (this.call === null) throw new Error('An import was called while the module was made.');
    return this.call.instance.exports;
  }

  #bytes(ptr: number, length: number): Uint8Array<ArrayBuffer> {
    return bytesAt(this.#exports.memory, ptr, length);
  }

  #text(ptr: number, length: number): string {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(this.#bytes(ptr, length));
  }

  /** A path, with the name of its volume before it or without. */
  #address(ptr: number, length: number): [path: string, volume: string | undefined] {
    const text = this.#text(ptr, length);
    const [, volume, path] = VOLUME.exec(text) ?? [];
    return path === undefined ? [text, undefined] : [path, volume];
  }

  /** Puts bytes where the module allocates them: the pointer in the high half, the length in the low one. */
  #give(content: Uint8Array): bigint {
    return giveBytes(this.#exports, content);
  }

  #giveJson(value: unknown): bigint {
    return this.#give(new TextEncoder().encode(JSON.stringify(value ?? null)));
  }

  /** A string of AssemblyScript: UTF-16, its length in bytes before it. */
  #utf16(ptr: number): string {
    if (ptr === 0) return '';
    const length = new DataView(this.#bytes(ptr - 4, 4).slice().buffer).getUint32(0, true);
    return new TextDecoder('utf-16le').decode(this.#bytes(ptr, Math.min(length, 2000)));
  }
}

/** Part of a module's memory. Throws when it has none there. */
export function bytesAt(memory: unknown, ptr: number, length: number): Uint8Array<ArrayBuffer> {
  if (!(memory instanceof WebAssembly.Memory)) throw new Error('It exports no memory.');
  const [start, count] = [ptr >>> 0, length >>> 0];
  const { buffer } = memory;
  if (count > MAX_BYTES || start + count > buffer.byteLength)
    throw new RangeError(`There are no ${count} bytes at ${start} in its memory of ${buffer.byteLength} bytes.`);
  return new Uint8Array(buffer as ArrayBuffer, start, count);
}

/** Copies bytes into memory that the module allocates. */
export function giveBytes(exports: Record<string, unknown>, content: Uint8Array): bigint {
  if (typeof exports.alloc !== 'function') throw new Error('It exports no function "alloc".');
  const ptr = Number(exports.alloc(content.byteLength)) >>> 0;
  bytesAt(exports.memory, ptr, content.byteLength).set(content);
  return (BigInt(ptr) << 32n) | BigInt(content.byteLength);
}

/** WASI with the input on stdin. Its stdout is collected up to `maxBytes`, its stderr is logged. */
export function wasiOf(
  input: Uint8Array,
  channel: ThreadChannel,
  maxBytes: number,
): { wasi: WASI; stdout: () => Uint8Array; truncated: () => boolean } {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  const decoder = new TextDecoder();
  const stdin = new OpenFile(new File(input, { readonly: true }));
  const out = new ConsoleStdout((piece) => {
    bytes += piece.byteLength;
    if (bytes <= maxBytes) pieces.push(piece.slice());
  });
  const err = new ConsoleStdout((piece) => channel.log('stderr', decoder.decode(piece, { stream: true })));
  const wasi = new WASI(['component'], [], [stdin, out, err]);
  return { wasi, stdout: () => Buffer.concat(pieces), truncated: () => bytes > maxBytes };
}
