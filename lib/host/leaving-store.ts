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
import type { LeavingStatus } from '../health/store-report.ts';
import type { Registry } from '../registry/registry.ts';
import type { HomeComing, HomeProgress } from '../sandboxes/store/bring-home.ts';

/** The fact that says how far it is; it says nothing in a server that stores. */
export const LEAVING = 'store_leaving';
/** Between two rounds, in milliseconds: after one that left nothing, and after one that did; doubled up to the last. */
const LOOK_EVERY_MS = 2000;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 60_000;
/** How often a round under way is told of, in milliseconds. */
const TELL_EVERY_MS = 1000;
/** Files that stay and are named. */
const MOST_NAMED = 20;

const amountSchema = z.object({ left: z.int(), of: z.int() });
const progressSchema: z.ZodType<LeavingStatus> = z.object({
  since: z.int(),
  sandboxes: amountSchema,
  copies: amountSchema,
  bytes: amountSchema,
  stays: z.array(z.object({ name: z.string(), why: z.string() })),
  isDone: z.boolean(),
});

/** What a fact of that name says; null: the server stores. */
export function leavingProgress(fact: unknown): LeavingStatus | null {
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
  bringHome: (progress: HomeProgress) => Promise<HomeComing>;
  /** Copies that are not on this disk. */
  countCopiesAway: () => Promise<number>;
  bringCopiesHome: (brought: () => void) => Promise<{ name: string; why: string }[]>;
}

export class LeavingStore {
  readonly #parts: LeavingStoreParts;
  readonly #ending = new AbortController();
  #rounds: Promise<void> = Promise.resolve();
  #now: LeavingStatus | null = null;
  #told = '';
  #toldAt = 0;

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

  /** How far it is. Counts once, before the first round has. */
  async progress(): Promise<LeavingStatus> {
    return this.#now ?? (await this.#count());
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

  /** What is left now, of the most that was; what stays is as the last round had it. */
  async #count(): Promise<LeavingStatus> {
    const { registry, clock, countCopiesAway } = this.#parts;
    const before = this.#now ?? leavingProgress(await registry.facts.read(LEAVING));
    const { sandboxes, bytes } = await registry.instances.sizeInStore();
    const copies = await countCopiesAway();
    const amount = (left: number, was?: { of: number }) => ({ left, of: Math.max(left, was?.of ?? 0) });
    return {
      since: before?.since ?? epochSeconds(clock),
      sandboxes: amount(sandboxes, before?.sandboxes),
      copies: amount(copies, before?.copies),
      bytes: amount(bytes, before?.bytes),
      stays: before?.stays ?? [],
      isDone: sandboxes === 0 && copies === 0,
    };
  }

  /** Whether nothing is left. */
  async #round(): Promise<boolean> {
    const { log, bringHome, bringCopiesHome } = this.#parts;
    // A round that finds all at home, as the one before, changes nothing of what is told.
    const begun = await this.#count();
    await this.#tell({ ...begun, isDone: begun.isDone && this.#now?.isDone === true });
    const less = (of: 'sandboxes' | 'copies' | 'bytes', by: number) => {
      if (this.#now === null) return;
      const { [of]: was } = this.#now;
      this.#now = { ...this.#now, [of]: { ...was, left: Math.max(0, was.left - by) } };
    };
    // What is told of a round under way fails with the round's end.
    const tellSometimes = () => {
      if (this.#now === null || performance.now() - this.#toldAt < TELL_EVERY_MS) return;
      this.#tell(this.#now).catch(() => undefined);
    };
    const { brought, left } = await bringHome((_done, bytes) => {
      less('sandboxes', 1);
      less('bytes', bytes);
      tellSometimes();
    });
    if (this.#ending.signal.aborted) return false;
    const copies = await bringCopiesHome(() => {
      less('copies', 1);
      tellSometimes();
    });
    if (this.#ending.signal.aborted) return false;
    const stays = [...left.map(({ id, why }) => ({ name: id as string, why })), ...copies];
    const ended = { ...(await this.#count()), stays: stays.slice(0, MOST_NAMED) };
    if (brought > 0) log.info({ brought, left: ended.sandboxes.left + ended.copies.left }, 'files came back');
    await this.#tell(ended);
    return ended.isDone;
  }

  async #tell(progress: LeavingStatus): Promise<void> {
    this.#now = progress;
    const text = JSON.stringify(progress);
    if (text === this.#told) return;
    const { registry, clock } = this.#parts;
    this.#told = text;
    this.#toldAt = performance.now();
    await registry.facts.write(LEAVING, progress, epochSeconds(clock));
  }
}
