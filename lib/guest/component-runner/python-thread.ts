/**
 * Entry of the thread that runs Python components: one CPython for the start, whose program waits in a device for the
 * next call (python-bootstrap.ts). Its memory has a maximum. It has no files but its own library.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pythonFolder } from '../python/python-folder.ts';
import { limitModule } from './module-limits.ts';
import { BOOTSTRAP, DEVICE } from './python-bootstrap.ts';
import { ThreadChannel, type ThreadResult } from './thread-channel.ts';

const WASM_PAGE_BYTES = 65_536;
/** What CPython begins with, beside the memory of the profile. */
const OWN_PAGES = 320;
const LIBRARY = '/lib/python313.zip';
const PROGRAM = '/tmp/components.py';
/** Most bytes of one frame from Python: an output of 4 MiB in JSON, escaped. */
const MAX_FRAME_BYTES = 64 * 1024 * 1024;
const MAX_OUTPUT_CHARACTERS = 4 * 1024 * 1024;

/** The parts of Emscripten's module that are used. */
interface PythonModule {
  FS: {
    init(read: () => null): void;
    mkdirTree(path: string): void;
    unlink(path: string): void;
    writeFile(path: string, content: Uint8Array | string): void;
    makedev(major: number, minor: number): number;
    registerDevice(device: number, operations: DeviceOperations): void;
    mkdev(path: string, mode: number, device: number): void;
  };
  ENV: Record<string, string>;
  callMain(args: string[]): number;
}

interface DeviceOperations {
  open(): void;
  close(): void;
  read(stream: unknown, heap: Int8Array, offset: number, length: number): number;
  write(stream: unknown, heap: Int8Array, offset: number, length: number): number;
}

type Frame =
  | ['next']
  | ['quiet', boolean]
  | ['result', PythonResult]
  | ['ask', string, unknown[]]
  | ['log', string, string];
type PythonResult = Omit<Extract<ThreadResult, { ok: true }>, 'state'> & { state?: string };

/** WASI's `io`: for what is not permitted CPython would take another way to random numbers from then on. */
const REFUSED = 29;
/** What CPython asks the machine for, the use that it is, and the answer to a component that did not declare it. */
const GUARDED: Readonly<Record<string, readonly ['clock' | 'random', number]>> = {
  clock_time_get: ['clock', REFUSED],
  emscripten_date_now: ['clock', 0],
  emscripten_get_now: ['clock', 0],
  random_get: ['random', REFUSED],
};

const channel = new ThreadChannel();
/** What the running component declares; null while none runs, and while the library loads a module or waits. */
let uses: readonly string[] | null = null;
let isQuiet = false;
/** Bytes from Python that are no whole frame yet, and those that it has not read yet. */
let written = Buffer.alloc(0);
let unread = Buffer.alloc(0);

void start();

async function start(): Promise<void> {
  const require = createRequire(import.meta.url);
  const folder = pythonFolder(import.meta.url);
  const create = require(join(folder, 'python.cjs')) as (options: object) => Promise<PythonModule>;
  const maxPages = OWN_PAGES + Math.floor(channel.memoryBytes / WASM_PAGE_BYTES);
  const print = (stream: 'stdout' | 'stderr') => (text: string) => channel.log(stream, `${text}\n`);
  const python = await create({
    noInitialRun: true,
    // Otherwise the path of this file, which the guest reads in its environment.
    thisProgram: 'python3',
    instantiateWasm: (imports: WebAssembly.Imports, receive: (instance: WebAssembly.Instance) => void) => {
      const { bytes } = limitModule(readFileSync(join(folder, 'python.wasm')), { maxPages });
      void WebAssembly.instantiate(bytes, guarded(imports)).then(({ instance }) => receive(instance));
    },
    preRun: [
      ({ FS, ENV }: PythonModule) => {
        FS.init(() => null);
        for (const name of ['random', 'urandom']) FS.unlink(`/dev/${name}`);
        FS.mkdirTree('/lib');
        FS.writeFile(LIBRARY, new Uint8Array(readFileSync(join(folder, 'python313.zip'))));
        Object.assign(ENV, { PYTHONHOME: '/', PYTHONPATH: LIBRARY, PYTHONDONTWRITEBYTECODE: '1' });
      },
    ],
    print: print('stdout'),
    printErr: (text: string) => {
      // What CPython always says when it starts here.
      if (!text.includes('Could not find platform')) print('stderr')(text);
    },
  });
  const { FS } = python;
  const device = FS.makedev(64, 0);
  FS.registerDevice(device, { open() {}, close() {}, read, write });
  FS.mkdev(DEVICE, 0o666, device);
  FS.mkdirTree('/tmp');
  FS.writeFile(PROGRAM, BOOTSTRAP);
  python.callMain([PROGRAM]);
}

/** The imports of CPython, with those refused that the running component did not declare. */
function guarded(imports: WebAssembly.Imports): WebAssembly.Imports {
  return Object.fromEntries(
    Object.entries(imports).map(([space, members]) => [
      space,
      Object.fromEntries(
        Object.entries(members).map(([name, member]) => {
          const [use, refused] = GUARDED[name] ?? [];
          if (use === undefined || typeof member !== 'function') return [name, member];
          return [name, (...args: unknown[]) => (isRefused(use) ? refused : member(...args))];
        }),
      ),
    ]),
  );
}

/** Tells the worker of an undeclared use, which fails the call. */
function isRefused(use: string): boolean {
  if (uses === null || isQuiet || uses.includes(use)) return false;
  asked('use', [use]);
  return true;
}

function write(_stream: unknown, heap: Int8Array, offset: number, length: number): number {
  written = Buffer.concat([written, Buffer.from(heap.buffer, heap.byteOffset + offset, length)]);
  if (written.byteLength < 4) return length;
  const size = written.readUInt32BE(0);
  if (size > MAX_FRAME_BYTES) throw new Error('It sent more than a frame may have.');
  if (written.byteLength < 4 + size) return length;
  const frame = JSON.parse(written.toString('utf8', 4, 4 + size)) as Frame;
  written = written.subarray(4 + size);
  const reply = Buffer.from(JSON.stringify(answer(frame) ?? null));
  const head = Buffer.alloc(4);
  head.writeUInt32BE(reply.byteLength);
  unread = Buffer.concat([unread, head, reply]);
  return length;
}

function read(_stream: unknown, heap: Int8Array, offset: number, length: number): number {
  const given = unread.subarray(0, length);
  new Uint8Array(heap.buffer, heap.byteOffset + offset, given.byteLength).set(given);
  unread = unread.subarray(given.byteLength);
  return given.byteLength;
}

function answer(frame: Frame): unknown {
  switch (frame[0]) {
    case 'log':
      return channel.log(frame[1] === 'stderr' ? 'stderr' : 'stdout', frame[2]);
    case 'ask':
      return asked(frame[1], frame[2]);
    case 'quiet':
      isQuiet = frame[1];
      return null;
    case 'result': {
      uses = null;
      channel.send({ type: 'result', result: resultOf(frame[1]) });
      return nextCall();
    }
    case 'next':
      return nextCall();
  }
}

function nextCall(): unknown {
  const message = channel.next();
  isQuiet = false;
  if (message.type === 'call') {
    channel.begin();
    uses = message.call.uses;
  }
  return message;
}

function resultOf({ state, ...result }: PythonResult): ThreadResult {
  if (!result.ok) return result;
  if ((result.json?.length ?? 0) > MAX_OUTPUT_CHARACTERS)
    return {
      ok: false,
      kind: 'output',
      message: `Its output has more than ${MAX_OUTPUT_CHARACTERS} characters of JSON.`,
      keeps: 'memory',
    };
  return state === undefined ? result : { ...result, state: Buffer.from(state) };
}

function asked(name: string, args: unknown[]): [value: unknown, error: string | null] {
  try {
    const value = channel.ask(name, ...args.map(fromPython));
    return [value instanceof Uint8Array ? { base64: Buffer.from(value).toString('base64') } : (value ?? null), null];
  } catch (error) {
    return [null, error instanceof Error ? error.message : String(error)];
  }
}

function fromPython(value: unknown): unknown {
  if (value === null) return undefined;
  const isBytes = typeof value === 'object' && 'base64' in value;
  return isBytes ? new Uint8Array(Buffer.from(String(value.base64), 'base64')) : value;
}
