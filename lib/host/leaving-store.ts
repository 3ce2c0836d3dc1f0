/**
 * A server that is to do without its store: it brings every file back while it serves, round after round until nothing
 * is left, and says in the registry how far it is. What is interrupted goes on at the next start, as the rows say what
 * is left. Knows nothing of how a file is brought.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { type Clock, epochSeconds } from '../base/clock.ts';
import { messageOf } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import type { Registry } from '../registry/registry.ts';
import type { HomeComing } from '../sandboxes/store/bring-home.ts';

/** The fact that says how far it is; it says nothing in a server that stores. */
export const LEAVING = 'store_leaving';
/** Between two rounds, in milliseconds: after one that left nothing, and after one that did; doubled up to the last. */
const LOOK_EVERY_MS = 2000;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 60_000;
/** Reasons that are kept. */
const MOST_FAILED = 20;

const progressSchema = z.object({
  /** Sandboxes whose rows name an object. */
  sandboxes: z.int(),
  /** What was not brought in the last round, with the reason. */
  failed: z.array(z.string()),
  /** A round has ended, and nothing was left. */
  isDone: z.boolean(),
});
export type LeavingProgress = z.output<typeof progressSchema>;

/** What a fact of that name says; null: the server stores. */
export function leavingProgress(fact: unknown): LeavingProgress | null {
  return progressSchema.nullable().catch(null).parse(fact);
}

/** In a server that stores: nobody is told that it leaves. */
export async function forgetLeaving({ registry, clock }: { registry: Registry; clock: Clock }): Promise<void> {
  const told = leavingProgress(await registry.facts.read(LEAVING));
  if (told !== null) await registry.facts.write(LEAVING, {}, epochSeconds(clock));
}

export interface LeavingStoreParts {
  registry: Registry;
  clock: Clock;
  log: Logger;
  bringHome: () => Promise<HomeComing>;
  bringCopiesHome: () => Promise<{ name: string; why: string }[]>;
}

export class LeavingStore {
  readonly #parts: LeavingStoreParts;
  readonly #ending = new AbortController();
  #rounds: Promise<void> = Promise.resolve();
  #told = '';

  constructor(parts: LeavingStoreParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#rounds = this.#run();
  }

  /** A file that is being brought ends with the engine. */
  async stop(): Promise<void> {
    this.#ending.abort();
    await this.#rounds;
  }

  async #run(): Promise<void> {
    const { log } = this.#parts;
    const { signal } = this.#ending;
    for (let failures = 0; !signal.aborted; ) {
      try {
        failures = (await this.#round()) ? 0 : failures + 1;
      } catch (error) {
        failures += 1;
        if (!signal.aborted) log.warn({ error: messageOf(error) }, 'files did not come back from the store');
      }
      const late = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(failures, 10));
      await pause(failures === 0 ? LOOK_EVERY_MS : late, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  /** Whether nothing is left. */
  async #round(): Promise<boolean> {
    const { registry, log, bringHome, bringCopiesHome } = this.#parts;
    await this.#tell({ sandboxes: await registry.instances.countInStore(), failed: [], isDone: false });
    const { brought, left } = await bringHome();
    if (this.#ending.signal.aborted) return false;
    const copies = await bringCopiesHome();
    if (this.#ending.signal.aborted) return false;
    const sandboxes = await registry.instances.countInStore();
    const isDone = sandboxes === 0 && copies.length === 0;
    const failed = [...left.map(({ id, why }) => `${id}: ${why}`), ...copies.map(({ name, why }) => `${name}: ${why}`)];
    if (brought > 0) log.info({ brought, left: sandboxes + copies.length }, 'files came back from the store');
    await this.#tell({ sandboxes, failed: failed.slice(0, MOST_FAILED), isDone });
    return isDone;
  }

  async #tell(progress: LeavingProgress): Promise<void> {
    const text = JSON.stringify(progress);
    // What was done once, and is still, is not written each round.
    if (
      text === this.#told ||
      (progress.sandboxes === 0 && this.#told === JSON.stringify({ ...progress, isDone: true }))
    )
      return;
    const { registry, clock } = this.#parts;
    await registry.facts.write(LEAVING, progress, epochSeconds(clock));
    this.#told = text;
  }
}
