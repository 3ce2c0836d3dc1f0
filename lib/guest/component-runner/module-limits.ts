/**
 * A WebAssembly module under limits: its sections are read before anything is compiled, and its memory and tables get a
 * maximum, by rewriting their two sections. Pure; knows nothing of what the module does.
 */

export interface ModuleLimits {
  /** Most pages of 64 KiB that its memory may have. */
  maxPages: number;
}

export interface LimitedModule {
  bytes: Uint8Array<ArrayBuffer>;
  /** Mutable globals that it defines. Null: they could not be counted. */
  mutableGlobals: number | null;
}

/** A module that is refused before it runs. */
export class ModuleRefusal extends Error {
  readonly kind: 'memory' | 'component';

  constructor(kind: 'memory' | 'component', message: string) {
    super(message);
    this.kind = kind;
  }
}

/** Most entries of one table: each takes eight bytes or more. */
const MAX_TABLE_ENTRIES = 1_000_000;
const MAX_TABLES = 16;
const MAX_SECTIONS = 10_000;
const PAGES_PER_MIB = 16;

const TABLE = 4;
const MEMORY = 5;
const GLOBAL = 6;
const HEADER = [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00];

/** Throws ModuleRefusal for what is no module, and for one that needs more than the limits from its start. */
export function limitModule(module: Uint8Array, limits: ModuleLimits): LimitedModule {
  if (!HEADER.every((byte, at) => module[at] === byte)) {
    throw new ModuleRefusal('component', 'It is no WebAssembly module: it does not begin as one of version 1 does.');
  }
  const reader = new Reader(module, HEADER.length);
  const parts: Uint8Array[] = [module.subarray(0, HEADER.length)];
  let mutableGlobals: number | null = 0;
  for (let sections = 0; !reader.atEnd; sections += 1) {
    if (sections > MAX_SECTIONS) throw new ModuleRefusal('component', 'It has too many sections.');
    const start = reader.at;
    const id = reader.byte();
    const size = reader.number();
    const body = reader.take(size);
    if (id === MEMORY) parts.push(section(id, limitMemory(new Reader(body, 0), limits)));
    else if (id === TABLE) parts.push(section(id, limitTables(new Reader(body, 0))));
    else parts.push(module.subarray(start, reader.at));
    if (id === GLOBAL) mutableGlobals = countMutable(new Reader(body, 0));
  }
  return { bytes: joined(parts), mutableGlobals };
}

function limitMemory(reader: Reader, { maxPages }: ModuleLimits): number[] {
  const count = reader.number();
  if (count > 1) throw new ModuleRefusal('memory', `It has ${count} memories; one is offered.`);
  if (count === 0) return [0];
  const { min, max } = readLimits(reader, 'memory');
  if (min > maxPages) {
    throw new ModuleRefusal(
      'memory',
      `Its memory begins with ${Math.ceil(min / PAGES_PER_MIB)} MiB; the policy allows ${Math.floor(maxPages / PAGES_PER_MIB)} MiB.`,
    );
  }
  return [1, 1, ...leb(min), ...leb(Math.min(max ?? maxPages, maxPages))];
}

function limitTables(reader: Reader): number[] {
  const count = reader.number();
  if (count > MAX_TABLES) throw new ModuleRefusal('memory', `It has ${count} tables; ${MAX_TABLES} are offered.`);
  const bytes = leb(count);
  for (let table = 0; table < count; table += 1) {
    const type = reader.byte();
    if (type !== 0x70 && type !== 0x6f)
      throw new ModuleRefusal('component', 'It has a table of a type that is not offered: funcref and externref are.');
    const { min, max } = readLimits(reader, 'table');
    if (min > MAX_TABLE_ENTRIES)
      throw new ModuleRefusal('memory', `It has a table of ${min} entries; ${MAX_TABLE_ENTRIES} are offered.`);
    bytes.push(type, 1, ...leb(min), ...leb(Math.min(max ?? MAX_TABLE_ENTRIES, MAX_TABLE_ENTRIES)));
  }
  return bytes;
}

function readLimits(reader: Reader, what: string): { min: number; max: number | null } {
  const flags = reader.byte();
  if (flags > 1) throw new ModuleRefusal('component', `Its ${what} is shared or of 64 bits, which is not offered.`);
  return { min: reader.number(), max: flags === 1 ? reader.number() : null };
}

/** Counts mutable globals; null when an initial value is none of the plain constants. */
function countMutable(reader: Reader): number | null {
  const count = reader.number();
  let mutable = 0;
  for (let at = 0; at < count; at += 1) {
    const type = reader.byte();
    if (type < 0x6f) return null;
    mutable += reader.byte();
    if (!skipConstant(reader)) return null;
  }
  return mutable;
}

/** Skips a constant expression of one instruction. False for any other. */
function skipConstant(reader: Reader): boolean {
  const WIDTHS: Readonly<Record<number, number>> = { 67: 4, 68: 8 };
  const opcode = reader.byte();
  const width = WIDTHS[opcode];
  if (width !== undefined) reader.take(width);
  else if ([0x41, 0x42, 0x23, 0xd0, 0xd2].includes(opcode)) reader.skipNumber();
  else return false;
  return reader.byte() === 0x0b;
}

function section(id: number, body: number[]): Uint8Array {
  return Uint8Array.from([id, ...leb(body.length), ...body]);
}

function leb(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  do {
    const low = rest % 128;
    rest = Math.floor(rest / 128);
    bytes.push(rest > 0 ? low + 128 : low);
  } while (rest > 0);
  return bytes;
}

function joined(parts: Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.byteLength, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.byteLength;
  }
  return whole;
}

/** Reads a module byte by byte. Throws ModuleRefusal at its end. */
class Reader {
  readonly #bytes: Uint8Array;
  at: number;

  constructor(bytes: Uint8Array, at: number) {
    this.#bytes = bytes;
    this.at = at;
  }

  get atEnd(): boolean {
    return this.at >= this.#bytes.byteLength;
  }

  byte(): number {
    const byte = this.#bytes[this.at];
    if (byte === undefined)
      throw new ModuleRefusal('component', 'It is a broken WebAssembly module: it ends in the middle.');
    this.at += 1;
    return byte;
  }

  take(count: number): Uint8Array {
    const taken = this.#bytes.subarray(this.at, this.at + count);
    if (taken.byteLength < count)
      throw new ModuleRefusal('component', 'It is a broken WebAssembly module: a section is longer than the module.');
    this.at += count;
    return taken;
  }

  /** An unsigned LEB128 number of 32 bits. */
  number(): number {
    let value = 0;
    for (let power = 0; power < 5; power += 1) {
      const byte = this.byte();
      value += (byte & 0x7f) * 128 ** power;
      if (byte < 0x80) return value;
    }
    throw new ModuleRefusal('component', 'It is a broken WebAssembly module: a number is too long.');
  }

  skipNumber(): void {
    for (let count = 0; count < 10; count += 1) if (this.byte() < 0x80) return;
  }
}
