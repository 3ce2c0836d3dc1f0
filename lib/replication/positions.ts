/**
 * Where the replica of each sandbox at rest ends: its series, the number of its last segment, and the file that it is
 * equal to; of any other the time up to which the store has something of it. One small file for each, beside the spool.
 * Nothing here has to survive: without a position, or with an old one, a new series begins with a base.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { makeFolder, renameFile, unlinkFile, writeFile } from '../base/effects.ts';
import { lookAtNow } from '../base/strangers-file.ts';
import type { SegmentSeries } from './names/replica-names.ts';

/** What is compared of a file at rest: it is the same one, or has the same bytes. */
export interface RestedFile {
  size: number;
  inode: string;
  mtimeNs: string;
  sha256: string | null;
}

export interface RestPosition {
  series: SegmentSeries;
  /** Of the last segment that was cut. */
  txid: number;
  /** Its time, in epoch milliseconds. */
  timeMs: number;
  /** Of the series' base, and of what came since. */
  baseBytes: number;
  sinceBytes: number;
  /** Whether the store has everything up to it. */
  isShipped: boolean;
  file: RestedFile;
}

const positionSchema = z.object({
  series: z.object({ term: z.int().nonnegative(), token: z.string().regex(/^[0-9a-z-]{1,40}$/) }),
  txid: z.int().positive(),
  timeMs: z.int().nonnegative(),
  baseBytes: z.int().nonnegative(),
  sinceBytes: z.int().nonnegative(),
  isShipped: z.boolean(),
  file: z.object({ size: z.int(), inode: z.string(), mtimeNs: z.string(), sha256: z.string().nullable() }),
});

/** In each file: up to when the store has something of the sandbox, in epoch milliseconds. */
const reachedSchema = z.object({ reachedMs: z.int().nonnegative() });

/** How often that is written while it grows, in milliseconds: after a kill an older time is true as well. */
const REACHED_EVERY_MS = 60_000;

/** Whether a file at rest (its record, or its stamp) is the one that a position ends with. */
export function isFileOf(position: RestPosition, now: RestedFile): boolean {
  const { file } = position;
  if (file.sha256 !== null && now.sha256 !== null) return file.sha256 === now.sha256;
  return now.inode !== '' && file.inode === now.inode && file.size === now.size && file.mtimeNs === now.mtimeNs;
}

/** What identifies a file at rest, by its stat; null when there is none. Its bytes are not read. */
export function restedNow(path: string): RestedFile | null {
  const stat = lookAtNow(path);
  if (stat === null || stat.size === 0n) return null;
  const { size, ino, mtimeNs } = stat;
  return { size: Number(size), inode: String(ino), mtimeNs: String(mtimeNs), sha256: null };
}

export class Positions {
  readonly #folder: string;
  readonly #known = new Map<string, RestPosition>();
  readonly #reached = new Map<string, { ms: number; writtenMs: number }>();
  #writing: Promise<unknown> = Promise.resolve();

  /** `folder`: absolute; made when it is missing. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Reads every position. A file that is none is as one that is missing. */
  async open(): Promise<void> {
    await makeFolder(this.#folder);
    for (const name of readdirSync(this.#folder)) {
      if (!name.endsWith('.json')) continue;
      try {
        const text: unknown = JSON.parse(readFileSync(join(this.#folder, name), 'utf8'));
        const id = name.slice(0, -'.json'.length);
        const [position, reached] = [positionSchema.safeParse(text), reachedSchema.safeParse(text)];
        if (position.success) this.#known.set(id, position.data);
        const ownMs = position.data?.isShipped ? position.data.timeMs : null;
        const ms = reached.data?.reachedMs ?? ownMs;
        if (ms !== null) this.#reached.set(id, { ms, writtenMs: ms });
      } catch {
        // Half a file, or none any more.
      }
    }
  }

  /** Every one, with its id. */
  all(): [string, RestPosition][] {
    return [...this.#known];
  }

  get(id: string): RestPosition | null {
    return this.#known.get(id) ?? null;
  }

  /** Up to when the store has something of a sandbox, in epoch milliseconds, at least; null: it has nothing. */
  reachedMs(id: string): number | null {
    return this.#reached.get(id)?.ms ?? null;
  }

  /** Notes where the replica of a sandbox ends, whole or not at all after a kill. */
  async set(id: string, position: RestPosition): Promise<void> {
    this.#known.set(id, position);
    if (position.isShipped) this.#reach(id, position.timeMs);
    await this.#write(id);
  }

  /** The store has something of a sandbox up to a time. Resolves once that is noted, where it is due. */
  async reached(id: string, ms: number): Promise<void> {
    const { writtenMs } = this.#reach(id, ms);
    if (ms - writtenMs >= REACHED_EVERY_MS) await this.#write(id);
  }

  /** Forgets the position: the file changes from now on. */
  async leave(id: string): Promise<void> {
    if (this.#known.delete(id)) await this.#write(id);
  }

  /** Forgets all of a sandbox. */
  async remove(id: string): Promise<void> {
    const [wasKnown, wasReached] = [this.#known.delete(id), this.#reached.delete(id)];
    if (wasKnown || wasReached) await this.#write(id);
  }

  #reach(id: string, ms: number): { ms: number; writtenMs: number } {
    const reached = this.#reached.get(id) ?? { ms, writtenMs: 0 };
    this.#reached.set(id, reached);
    reached.ms = Math.max(reached.ms, ms);
    return reached;
  }

  /** Writes what is known of a sandbox, one file after the other. */
  #write(id: string): Promise<void> {
    const writing = this.#writing.then(() => this.#writeNow(id));
    this.#writing = writing.catch(() => undefined);
    return writing;
  }

  async #writeNow(id: string): Promise<void> {
    const path = join(this.#folder, `${id}.json`);
    const [position, reached] = [this.#known.get(id), this.#reached.get(id)];
    if (position === undefined && reached === undefined) return unlinkFile(path);
    if (reached !== undefined) reached.writtenMs = reached.ms;
    const unfinished = join(this.#folder, `.${id}.unfinished`);
    await writeFile(unfinished, JSON.stringify({ ...position, ...(reached && { reachedMs: reached.ms }) }));
    await renameFile(unfinished, path);
  }
}
