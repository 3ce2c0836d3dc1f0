/**
 * Descriptors of CPython that the worker answers: streams of Emscripten whose operations ask it. Runs in the
 * interpreter's thread.
 */
import { DATA_BYTES } from './interpreter-channel.ts';
import type { InterpreterMemory } from './interpreter-memory.ts';
import type { WorkerCalls } from './worker-calls.ts';

/** What is used of Emscripten's file system. */
export interface EmscriptenFiles {
  init(read: () => null): void;
  mkdirTree(path: string): void;
  writeFile(path: string, content: Uint8Array | string): void;
  streams: (Stream | null)[];
  createStream(stream: object): Stream;
  dupStream(stream: Stream): Stream;
  FSNode: new (parent: null, name: string, mode: number, device: number) => Node;
  ErrnoError: new (error: number) => Error & { errno: number };
}

interface Node {
  mode: number;
}

export interface Stream {
  fd: number;
  flags: number;
  position: number;
  node: Node;
  /** The worker's handle. */
  handle?: Shared;
  entries?: [name: string, kind: string][];
  stream_ops: Partial<StreamOperations>;
}

/** What copies of a descriptor have in common. */
export interface Shared {
  number: number;
  uses: number;
  appends: boolean;
  path: string;
}

export interface StreamOperations {
  read(stream: Stream, heap: Int8Array, offset: number, length: number, position: number): number;
  write(stream: Stream, heap: Int8Array, offset: number, length: number, position: number): number;
  llseek(stream: Stream, offset: number, whence: number): number;
  close(stream: Stream): void;
  dup(stream: Stream): void;
  mmap(stream: Stream, length: number, position: number): { ptr: number; allocated: boolean };
  msync(stream: Stream, buffer: Uint8Array, offset: number, length: number): number;
}

const MAP_ALIGN = 65_536;

/** The operations of what the worker opened. */
export function workerStreams(call: WorkerCalls, memory: InterpreterMemory): StreamOperations {
  const operations: StreamOperations = {
    read: (stream, heap, offset, length, position) => {
      let taken = 0;
      while (taken < length) {
        const wanted = Math.min(length - taken, DATA_BYTES);
        const { bytes, value } = call.ask('read', 0, numberOf(stream), position + taken, wanted);
        heap.set(call.data.subarray(0, bytes), offset + taken);
        taken += bytes;
        if (bytes < wanted && value === 0) break;
      }
      return taken;
    },
    write: (stream, heap, offset, length, position) => {
      let given = 0;
      while (given < length) {
        const piece = heapBytes(heap, offset + given, Math.min(length - given, DATA_BYTES));
        call.data.set(piece);
        const at = stream.handle?.appends ? -1 : position + given;
        const { error, value } = call.tryAsk('write', piece.byteLength, numberOf(stream), at);
        if (error !== 0) {
          if (given > 0) break;
          throw call.error(error);
        }
        given += piece.byteLength;
        // Emscripten adds what was written.
        if (at === -1) stream.position = value - given;
      }
      return given;
    },
    llseek: (stream, offset, whence) => {
      let base = 0;
      if (whence === 1) base = stream.position;
      else if (whence === 2) {
        call.ask('statOpen', 0, numberOf(stream));
        base = call.doubles(2)[1] ?? 0;
      }
      if (base + offset < 0) throw call.named('EINVAL');
      if (base + offset === 0) delete stream.entries;
      return base + offset;
    },
    dup: (stream) => {
      if (stream.handle) stream.handle.uses += 1;
    },
    close: (stream) => {
      if (!stream.handle) return;
      stream.handle.uses -= 1;
      if (stream.handle.uses === 0) call.ask('close', 0, stream.handle.number);
    },
    mmap: (stream, length, position) => {
      const pointer = memory.allocate(MAP_ALIGN, Math.ceil(length / MAP_ALIGN) * MAP_ALIGN);
      if (pointer === 0) throw call.named('ENOMEM');
      const heap = memory.heap;
      heap.fill(0, pointer, pointer + length);
      operations.read(stream, new Int8Array(heap.buffer), pointer, length, position);
      return { ptr: pointer, allocated: true };
    },
    msync: (stream, buffer, offset, length) => {
      const heap = new Int8Array(buffer.buffer, buffer.byteOffset, length);
      let at = 0;
      while (at < length) at += operations.write(stream, heap, at, length - at, offset + at);
      return 0;
    },
  };
  return operations;
}

function numberOf({ handle }: Stream): number {
  return handle?.number ?? 0;
}

export function heapBytes(heap: Int8Array, offset: number, length: number): Uint8Array {
  return new Uint8Array(heap.buffer, heap.byteOffset + offset, length);
}
