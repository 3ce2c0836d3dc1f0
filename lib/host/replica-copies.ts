/**
 * When the files of snapshots and blueprints leave the replica: at once where a tenant is forgotten; else once no row
 * has needed them for longer than moments of the registry are kept, each of which may bring back a row that does. Looks
 * once a day.
 */
import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { z } from 'zod';
import { COPIES_IN_REPLICA } from '../backup/replica-extras.ts';
import type { Clock } from '../base/clock.ts';
import { COPY_KINDS, copyPath } from '../base/copy-paths.ts';
import { makeFolder, renameFile, writeFile } from '../base/effects.ts';
import { messageOf } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import type { Registry } from '../registry/registry.ts';
import type { ObjectStore } from '../storage/object-store/object-store.ts';

const EVERY_MS = 86_400_000;
/** After a start others come first. */
const FIRST_MS = 3_600_000;
/** Moments go by whole series, up to so much later than they might. */
const MARGIN_MS = 2 * 86_400_000;

const notesSchema = z.record(z.string(), z.int());

export interface ReplicaCopiesParts {
  store: Pick<ObjectStore, 'list' | 'purge'>;
  registry: Pick<Registry, 'copies'>;
  clock: Clock;
  log: Logger;
  /** Absolute: since when each is not needed. Losing it makes them stay longer. */
  notes: string;
  /** For how long a moment of the registry is kept at most. */
  keepMs: number;
  /** Told of each that has gone: another one with the same bytes is shipped again. */
  forget: (name: string) => void;
}

export class ReplicaCopies {
  readonly #parts: ReplicaCopiesParts;
  #timer: NodeJS.Timeout | null = null;
  #round: Promise<void> | null = null;
  #isOver = false;

  constructor(parts: ReplicaCopiesParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#later(FIRST_MS);
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#round;
  }

  /** Removes all that no row needs; returns how many. Throws what the store throws. */
  async removeUnneeded(isOver: () => boolean): Promise<number> {
    const unneeded = await this.#unneeded(isOver);
    for (const name of unneeded) await this.#remove(name);
    return unneeded.length;
  }

  /** One round: removes those that are not needed for long; returns how many. Throws what the store throws. */
  async run(): Promise<number> {
    const { clock, keepMs } = this.#parts;
    const now = clock.now();
    const known = this.#readNotes();
    const notes: Record<string, number> = {};
    let removed = 0;
    for (const name of await this.#unneeded(() => this.#isOver)) {
      // A clock that was set back must not keep it for ever.
      const since = Math.min(known[name] ?? now, now);
      if (since + keepMs + MARGIN_MS > now) notes[name] = since;
      else {
        await this.#remove(name);
        removed += 1;
      }
    }
    if (!this.#isOver) await this.#writeNotes(notes);
    return removed;
  }

  async #unneeded(isOver: () => boolean): Promise<string[]> {
    const { store, registry } = this.#parts;
    const unneeded: string[] = [];
    for await (const page of store.list(COPIES_IN_REPLICA)) {
      for (const { name } of page) {
        if (isOver()) return [];
        const [kind, hash = ''] = name.slice(COPIES_IN_REPLICA.length).split('/');
        const known = COPY_KINDS.find((one) => one === kind);
        if (known !== undefined && !(await registry.copies.isNeeded(copyPath(known, hash)))) unneeded.push(name);
      }
    }
    return unneeded;
  }

  async #remove(name: string): Promise<void> {
    // One that was made meanwhile has the same bytes: it is shipped again, as it is not known any more.
    await this.#parts.store.purge(name);
    this.#parts.forget(name);
  }

  #readNotes(): Record<string, number> {
    try {
      return notesSchema.parse(JSON.parse(readFileSync(this.#parts.notes, 'utf8')));
    } catch {
      // There are none yet, or half of them.
      return {};
    }
  }

  async #writeNotes(notes: Record<string, number>): Promise<void> {
    const unfinished = `${this.#parts.notes}.unfinished`;
    await makeFolder(dirname(unfinished));
    await writeFile(unfinished, JSON.stringify(notes));
    await renameFile(unfinished, this.#parts.notes);
  }

  #later(ms: number): void {
    if (this.#isOver) return;
    this.#timer = setTimeout(() => {
      this.#round = this.run()
        .then(
          (removed) => this.#parts.log.info({ removed }, 'copies left the replica'),
          (error: unknown) => this.#parts.log.warn({ error: messageOf(error) }, 'copies stay in the replica'),
        )
        .then(() => this.#later(EVERY_MS));
    }, ms).unref();
  }
}
