/**
 * The files of logs: `logs/<sandbox>.<number>.log`, each the beginning of a number of lines. Appends to the newest of a
 * sandbox, begins another when it is full, and removes the oldest, of the sandbox and of all. Nothing is synced. What
 * somebody put, cut or removed there meanwhile is never followed, overwritten or an error. Knows nothing of lines.
 */
import { type FileHandle, lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder, unlinkFile } from '../base/effects.ts';
import { type InstanceId, instanceIdOfFile } from '../base/ids.ts';
import { appendToOpen, openRegular, openToAppend } from '../base/strangers-file.ts';

/** One file of a log. */
export interface LogPart {
  name: string;
  /** Its lines have numbers from the first to the last, at most. */
  first: number;
  last: number;
  bytes: number;
}

interface KeptLog {
  parts: LogPart[];
  /** The newest part ended so when this process wrote it; null: it did not. */
  endedAt: number | null;
}

/** A log is so many parts, or of parts so large: the oldest of them is what goes at once. */
const PARTS = 4;
const MOST_PART = 1024 * 1024;
/** All logs together go down to this share of what they may have, so that not each write removes something. */
const ROOM = 0.95;
const NAME = /^([a-z0-9][a-z0-9_-]{0,62})\.(\d{1,16})\.log$/;
const NEWLINE = 10;
/** The longest line is shorter. */
const END = 64 * 1024;

export class LogFiles {
  readonly #folder: string;
  readonly #mostBytes: number;
  readonly #mostTotal: number;
  readonly #partBytes: number;
  readonly #numberOf: (line: string) => number | null;
  readonly #logs = new Map<InstanceId, KeptLog>();
  #total = 0;

  /** `folder`: absolute. Bytes of one log and of all. `numberOf`: of a line without its newline; null for no line. */
  constructor(
    folder: string,
    { bytesPerSandbox, bytesTotal }: { bytesPerSandbox: number; bytesTotal: number },
    numberOf: (line: string) => number | null,
  ) {
    this.#numberOf = numberOf;
    this.#folder = folder;
    this.#mostBytes = Math.min(bytesPerSandbox, bytesTotal);
    this.#mostTotal = bytesTotal;
    this.#partBytes = Math.min(MOST_PART, Math.floor(this.#mostBytes / PARTS));
  }

  /** Finds what there is; returns the highest number. Other names, and anything but files, stay as they are. */
  async find(): Promise<number> {
    let highest = 0;
    for (const name of await readdir(this.#folder).catch(() => [])) {
      const [, id, first] = NAME.exec(name) ?? [];
      const stat = id === undefined ? null : await lstat(join(this.#folder, name)).catch(() => null);
      if (id === undefined || stat === null || !stat.isFile()) continue;
      const log = this.#logOf(instanceIdOfFile(id));
      const last = Math.max(Number(first), await this.#lastIn(name));
      highest = Math.max(highest, last);
      log.parts.push({ name, first: Number(first), last, bytes: stat.size });
      log.parts.sort((one, other) => one.first - other.first);
      this.#total += stat.size;
    }
    return highest;
  }

  /** Bytes that one append may have, that the parts keep their size. */
  get partBytes(): number {
    return this.#partBytes;
  }

  /** The sandboxes that have a log. */
  get ids(): InstanceId[] {
    return [...this.#logs].filter(([, { parts }]) => parts.length > 0).map(([id]) => id);
  }

  /** The oldest first. */
  partsOf(id: InstanceId): readonly LogPart[] {
    return this.#logs.get(id)?.parts ?? [];
  }

  /** Adds whole lines, whose numbers are `first` to `last`. Throws what the system says; then some may be there. */
  async append(id: InstanceId, lines: Buffer, first: number, last: number): Promise<void> {
    const log = this.#logOf(id);
    const newest = log.parts.at(-1);
    if (newest !== undefined && newest.bytes + lines.byteLength <= this.#partBytes) {
      if (await this.#appendTo(newest, log, lines, last)) return await this.#trim(id);
    }
    await this.#begin(id, log, lines, first, last);
    await this.#trim(id);
  }

  /** The bytes of a part, its last `mostBytes`; none when it is gone, or is no file. */
  async read({ name }: Pick<LogPart, 'name'>, mostBytes = 2 * this.#partBytes): Promise<Buffer> {
    const handle = await openRegular(join(this.#folder, name), false).catch(() => null);
    if (handle === null) return Buffer.alloc(0);
    try {
      // It has that many unless somebody else wrote it.
      const { size } = await handle.stat();
      const content = Buffer.alloc(Math.min(size, mostBytes));
      const { bytesRead } = await handle.read(content, 0, content.byteLength, Math.max(0, size - content.byteLength));
      return content.subarray(0, bytesRead);
    } catch {
      return Buffer.alloc(0);
    } finally {
      await handle.close();
    }
  }

  /** Removes the log of a sandbox. Throws what the system says; then it is still known. */
  async forget(id: InstanceId): Promise<void> {
    for (const part of [...this.partsOf(id)]) await this.#remove(id, part);
    this.#logs.delete(id);
  }

  /** The number of the last whole line of a file; 0 when there is none. */
  async #lastIn(name: string): Promise<number> {
    const lines = (await this.read({ name }, END)).toString('utf8').split('\n');
    for (const line of lines.reverse()) {
      const number = this.#numberOf(line);
      if (number !== null) return number;
    }
    return 0;
  }

  #logOf(id: InstanceId): KeptLog {
    const known = this.#logs.get(id);
    if (known !== undefined) return known;
    const log = { parts: [], endedAt: null };
    this.#logs.set(id, log);
    return log;
  }

  /** False when there is no file of ours in the place of the part any more. */
  async #appendTo(part: LogPart, log: KeptLog, lines: Buffer, last: number): Promise<boolean> {
    const handle = await openToAppend(join(this.#folder, part.name), false);
    if (handle === null) return false;
    try {
      const stat = await handle.stat();
      if (!stat.isFile() || stat.nlink !== 1) return false;
      const isTorn = stat.size !== log.endedAt && stat.size > 0 && (await lastByte(handle, stat.size)) !== NEWLINE;
      log.endedAt = null;
      await this.#write(part, handle, isTorn ? Buffer.concat([Buffer.from('\n'), lines]) : lines);
      const { size } = await handle.stat();
      this.#total += size - part.bytes;
      log.endedAt = part.bytes = size;
      part.last = Math.max(part.last, last);
      return true;
    } finally {
      await handle.close();
    }
  }

  async #begin(id: InstanceId, log: KeptLog, lines: Buffer, first: number, last: number): Promise<void> {
    const name = `${id}.${first}.log`;
    await this.#requireFolder();
    const handle = await openToAppend(join(this.#folder, name), true);
    if (handle === null) throw Object.assign(new Error(`${name} is there already`), { code: 'EEXIST' });
    const part: LogPart = { name, first, last, bytes: 0 };
    log.parts.push(part);
    log.endedAt = null;
    try {
      await this.#write(part, handle, lines);
      part.bytes = log.endedAt = lines.byteLength;
      this.#total += lines.byteLength;
    } finally {
      await handle.close();
    }
  }

  /** The folder itself: never one that a link in its place leads to. */
  async #requireFolder(): Promise<void> {
    const stat = await lstat(this.#folder).catch(() => null);
    if (stat === null) await makeFolder(this.#folder);
    else if (!stat.isDirectory()) throw Object.assign(new Error('logs is no folder'), { code: 'ENOTDIR' });
  }

  async #write({ name }: LogPart, handle: FileHandle, lines: Buffer): Promise<void> {
    await appendToOpen(handle, join(this.#folder, name), lines);
  }

  async #trim(id: InstanceId): Promise<void> {
    const parts = this.partsOf(id);
    const bytes = () => parts.reduce((sum, part) => sum + part.bytes, 0);
    while (parts.length > 1 && bytes() > this.#mostBytes) await this.#removeFirst(id, parts);
    if (this.#total <= this.#mostTotal) return;
    const all = [...this.#logs].flatMap(([of, log]) => log.parts.map((part) => ({ of, part })));
    all.sort((one, other) => one.part.last - other.part.last);
    for (const { of, part } of all) {
      if (this.#total <= this.#mostTotal * ROOM) return;
      await this.#remove(of, part);
    }
  }

  async #removeFirst(id: InstanceId, [oldest]: readonly LogPart[]): Promise<void> {
    if (oldest !== undefined) await this.#remove(id, oldest);
  }

  async #remove(id: InstanceId, part: LogPart): Promise<void> {
    await unlinkFile(join(this.#folder, part.name));
    this.#total -= part.bytes;
    const log = this.#logs.get(id);
    log?.parts.splice(log.parts.indexOf(part), 1);
    if (log?.parts.length === 0) this.#logs.delete(id);
  }
}

async function lastByte(handle: FileHandle, size: number): Promise<number | undefined> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(1), 0, 1, size - 1);
  return bytesRead === 1 ? buffer[0] : undefined;
}
