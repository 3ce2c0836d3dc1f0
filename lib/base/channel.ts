/**
 * The channel between the server and a process that touches what guests wrote: a socket that both have open from the
 * start. What the server sends is serialised by V8. What the process sends is a stranger's: a frame of two lengths,
 * JSON and one run of bytes, each within a bound, and nothing of it is ever given to V8's deserialiser. Knows no
 * message but for where its bytes belong.
 */
import { writeSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { DefaultSerializer, deserialize } from 'node:v8';
import { JsonWeight } from './json-weight.ts';

/** Descriptor of the worker's end. */
export const CHANNEL_DESCRIPTOR = 3;

const LENGTH_BYTES = 4;
const NO_LENGTH = Buffer.alloc(LENGTH_BYTES);
const READ_BYTES = 65_536;
/** Bytes of a message that are copied behind its text, to be written with it. */
const JOINED_BYTES = 65_536;
/** A frame of a worker begins with the lengths of its text and its bytes, and where these belong. */
const HEADER_BYTES = 2 * LENGTH_BYTES + 1;

/** What the text of one message may have; its bytes have a bound of their own. */
export interface TextLimits {
  bytes: number;
  values: number;
}

/**
 * Of a worker's text. Bytes: what components put out, 4 MiB of JSON in JSON, takes 8 MiB, and their logs, 1 MiB of
 * control characters that JSON writes as six each, take 6 MiB; output comes in smaller pieces. Values: an answer to a
 * query, the largest, has 50 000, and rows. Such a text takes 40 to 50 ms of processor time to parse.
 */
const WORKER_TEXT: TextLimits = { bytes: 15 * 1024 * 1024, values: 60_000 };
/** Where the bytes of a message belong: two names, one in the other. By number, as it is sent. */
const PLACES = [
  ['result', 'content'],
  ['request', 'body'],
  ['answer', 'content'],
] as const;
const NO_BYTES = 255;
/** Messages that the server takes before everybody else has a turn: each takes it about a microsecond. */
const MESSAGES_IN_TURN = 8192;

type Fields = Record<string, unknown>;

/**
 * Reads frames from a stream of chunks. `sizeOf` gives the length of what follows a header; null ends the reading.
 * `isSound` looks at each piece of it when it comes; false ends the reading, before the rest is there.
 */
class FrameReader {
  readonly #headerBytes: number;
  readonly #sizeOf: (header: Buffer) => number | null;
  readonly #take: (header: Buffer, body: Buffer) => void;
  readonly #isSound: (body: Buffer, from: number, to: number) => boolean;
  #header: Buffer;
  #body: Buffer | null = null;
  #filled = 0;
  #isBroken = false;

  constructor(
    headerBytes: number,
    sizeOf: (header: Buffer) => number | null,
    take: (header: Buffer, body: Buffer) => void,
    isSound: (body: Buffer, from: number, to: number) => boolean = () => true,
  ) {
    this.#headerBytes = headerBytes;
    this.#header = Buffer.alloc(headerBytes);
    this.#sizeOf = sizeOf;
    this.#take = take;
    this.#isSound = isSound;
  }

  /** Returns false once a frame was not one: nothing is read any more. */
  add(chunk: Buffer): boolean {
    let at = 0;
    while (!this.#isBroken) {
      const target = this.#body ?? this.#header;
      const copied = chunk.copy(target, this.#filled, at);
      at += copied;
      this.#filled += copied;
      if (this.#body !== null && !this.#isSound(this.#body, this.#filled - copied, this.#filled)) {
        this.#isBroken = true;
        this.#body = null;
        return false;
      }
      if (this.#filled < target.length) return true;
      this.#filled = 0;
      if (this.#body === null) this.#begin();
      if (this.#body?.length === 0 || target === this.#body) this.#end();
    }
    return false;
  }

  #begin(): void {
    const size = this.#sizeOf(this.#header);
    if (size === null) this.#isBroken = true;
    // Pages of it are taken as they are written: a length alone takes no memory.
    else this.#body = Buffer.allocUnsafeSlow(size);
  }

  #end(): void {
    const [header, body] = [this.#header, this.#body ?? Buffer.alloc(0)];
    this.#header = Buffer.alloc(this.#headerBytes);
    this.#body = null;
    this.#take(header, body);
  }
}

/** The server's end. */
export class ServerChannel {
  readonly #socket: Duplex;
  readonly #listeners = new Set<(message: unknown) => void>();
  readonly #closed = Promise.withResolvers<void>();
  readonly #textLimits: TextLimits;
  #mostBytes: number;
  #isOpen = true;
  /** Messages since it last let others have a turn. */
  #inTurn = 0;
  /** Of the frame that is being read: the length of its text, and its weight so far; null for one that has little. */
  #textBytes = 0;
  #weight: JsonWeight | null = null;

  /** `socket`: that of descriptor 3 of a started process. `mostBytes`: a message may have so many beside its text. */
  constructor(socket: Duplex, mostBytes: number, textLimits = WORKER_TEXT) {
    this.#socket = socket;
    this.#mostBytes = mostBytes;
    this.#textLimits = textLimits;
    const reader = new FrameReader(
      HEADER_BYTES,
      (header) => this.#sizeOf(header),
      (header, body) => this.#tell(messageOf(header, body)),
      (body, from, to) => this.#weight?.isHeavyWith(body, from, Math.min(to, this.#textBytes)) !== true,
    );
    socket.on('data', (chunk: Buffer) => {
      if (!reader.add(chunk) && this.#isOpen) {
        this.close();
        this.#tell(null);
      } else if (this.#inTurn > MESSAGES_IN_TURN && this.#isOpen) {
        this.#inTurn = 0;
        socket.pause();
        setImmediate(() => socket.resume());
      }
    });
    // The other end is gone: its exit tells why.
    socket.on('error', () => {});
    socket.once('close', () => {
      this.#isOpen = false;
      this.#closed.resolve();
    });
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Resolves when the last message that the worker sent was received, or the channel was closed here. */
  get closed(): Promise<void> {
    return this.#closed.promise;
  }

  /**
   * Calls it with each message from now on, which nobody has checked yet; null for what is none, once: then the channel
   * is closed. `mostBytes`: a message may have so many bytes, where that is more than every one may have.
   */
  onMessage(listener: (message: unknown) => void, { mostBytes = 0 }: { mostBytes?: number } = {}): void {
    this.#listeners.add(listener);
    this.#mostBytes = Math.max(this.#mostBytes, mostBytes);
  }

  /** Calls `done` when the system has taken all of it, or the channel is closed. */
  send(message: object, done: () => void = () => {}): void {
    if (!this.#isOpen) {
      done();
      return;
    }
    const serializer = new DefaultSerializer();
    serializer.writeRawBytes(NO_LENGTH);
    serializer.writeHeader();
    serializer.writeValue(message);
    const frame = serializer.releaseBuffer();
    frame.writeUInt32BE(frame.length - LENGTH_BYTES);
    this.#socket.write(frame, done);
  }

  close(): void {
    this.#isOpen = false;
    this.#socket.destroy();
  }

  #sizeOf(header: Buffer): number | null {
    const text = header.readUInt32BE(0);
    const bytes = header.readUInt32BE(LENGTH_BYTES);
    const { bytes: mostText, values } = this.#textLimits;
    if (text > mostText || bytes > this.#mostBytes) return null;
    this.#textBytes = text;
    // Fewer bytes cannot hold more: a value takes one, and so does the comma or the end of the list beside it.
    this.#weight = text > 2 * values ? new JsonWeight(text, values) : null;
    return text + bytes;
  }

  #tell(message: unknown): void {
    this.#inTurn += 1;
    for (const listener of this.#listeners) listener(message);
  }
}

/** The message of a frame, unchecked; null when its text is no JSON, or its bytes belong nowhere. */
function messageOf(header: Buffer, body: Buffer): unknown {
  const length = header.readUInt32BE(0);
  const place = header.readUInt8(2 * LENGTH_BYTES);
  let message: unknown;
  try {
    message = JSON.parse(body.toString('utf8', 0, length));
  } catch {
    return null;
  }
  if (place === NO_BYTES) return body.length === length ? message : null;
  const [outer, inner] = PLACES[place] ?? [];
  if (outer === undefined || inner === undefined || !isFields(message)) return null;
  const holder = Object.hasOwn(message, outer) ? message[outer] : null;
  if (!isFields(holder)) return null;
  holder[inner] = new Uint8Array(body.buffer, body.byteOffset + length, body.length - length);
  return message;
}

/**
 * The worker's end. It reads into one buffer and writes without a stream while the socket takes all: streams are a
 * tenth of the time of a short call.
 */
export class WorkerChannel {
  readonly #socket: Socket;

  /** `closed`: the server is gone. */
  constructor(receive: (message: never) => void, closed: () => void) {
    const reader = new FrameReader(
      LENGTH_BYTES,
      (header) => header.readUInt32BE(0),
      (_, body) => receive(deserialize(body) as never),
    );
    const callback = (length: number, buffer: Uint8Array) =>
      reader.add(Buffer.from(buffer.buffer, buffer.byteOffset, length));
    const onread = { buffer: Buffer.alloc(READ_BYTES), callback };
    this.#socket = new Socket({ fd: CHANNEL_DESCRIPTOR, readable: true, writable: true, onread });
    this.#socket.on('error', () => {});
    this.#socket.once('close', closed);
  }

  /** Calls `done` when the message is in the socket, from where the server receives it even if this process dies. */
  send(message: object, done: () => void = () => {}): void {
    const place = PLACES.findIndex(([outer, inner]) => bytesAt(message, outer, inner) !== null);
    const [outer, inner] = PLACES[place] ?? [];
    const bytes = outer === undefined || inner === undefined ? null : bytesAt(message, outer, inner);
    const text = bytes === null ? JSON.stringify(message) : JSON.stringify(withoutBytes(message, outer, inner));
    const length = Buffer.byteLength(text);
    // Between two writes the server, which the first one wakes, takes the processor where there are few.
    const joined = bytes !== null && bytes.byteLength <= JOINED_BYTES ? bytes : null;
    const frame = Buffer.allocUnsafe(HEADER_BYTES + length + (joined?.byteLength ?? 0));
    frame.writeUInt32BE(length, 0);
    frame.writeUInt32BE(bytes?.byteLength ?? 0, LENGTH_BYTES);
    frame.writeUInt8(bytes === null ? NO_BYTES : place, 2 * LENGTH_BYTES);
    frame.write(text, HEADER_BYTES);
    if (joined !== null) frame.set(joined, HEADER_BYTES + length);
    const isWhole = bytes === null || joined !== null;
    this.#write(frame, isWhole ? done : () => {});
    if (!isWhole) this.#write(bytes, done);
  }

  #write(bytes: Uint8Array, done: () => void): void {
    const written = this.#socket.writableLength === 0 ? writeNow(bytes) : 0;
    if (written === bytes.length) done();
    else this.#socket.write(bytes.subarray(written), done);
  }
}

/** How many of the bytes the socket takes at once. */
function writeNow(bytes: Uint8Array): number {
  try {
    return writeSync(CHANNEL_DESCRIPTOR, bytes);
  } catch {
    // It is full, or the server is gone: the stream finds out which.
    return 0;
  }
}

function bytesAt(message: object, outer: string, inner: string): Uint8Array | null {
  const holder = (message as Fields)[outer];
  const value = isFields(holder) ? holder[inner] : null;
  return value instanceof Uint8Array ? value : null;
}

function withoutBytes(message: object, outer = '', inner = ''): Fields {
  return { ...message, [outer]: { ...((message as Fields)[outer] as Fields), [inner]: null } };
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
