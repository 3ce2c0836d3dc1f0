/**
 * Tells in the ledger, and so to webhooks, when sandboxes have been more behind than promised for a minute, and when
 * none is any more. What was told is kept over a restart.
 */
import { z } from 'zod';
import { type Clock, epochSeconds } from '../base/clock.ts';
import { messageOf } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { ledgerEntry } from '../registry/ledger-entry.ts';
import type { Registry } from '../registry/registry.ts';
import { systemAudit } from '../sandboxes/engine.ts';
import type { ReplicaHealth, ReplicaLateness } from './replica-health.ts';

const FACT = 'replica_behind';
const LOOK_MS = 5000;
/** How long sandboxes are late before it is told, in milliseconds. */
const PATIENCE_MS = 60_000;

const factSchema = z.object({ since: z.int().nullable() }).nullable().catch(null);

/** `2 sandboxes are`, `the registry is`, `1 sandbox and the registry are`. */
function lateInWords({ sandboxes, isRegistry }: Pick<ReplicaLateness, 'sandboxes' | 'isRegistry'>): string {
  const them = `${sandboxes} ${sandboxes === 1 ? 'sandbox' : 'sandboxes'}`;
  if (isRegistry) return sandboxes === 0 ? 'the registry is' : `${them} and the registry are`;
  return `${them} ${sandboxes === 1 ? 'is' : 'are'}`;
}

export interface ReplicaWatchParts {
  report: Pick<ReplicaHealth, 'overdue' | 'whyBehind' | 'late'>;
  registry: Pick<Registry, 'facts'>;
  clock: Clock;
  log: Logger;
  /** Milliseconds that only grow. */
  monotonic: () => number;
}

export class ReplicaWatch {
  readonly #parts: ReplicaWatchParts;
  /** Since when some are late, in monotonic milliseconds. */
  #lateSinceMs: number | null = null;
  /** The epoch second of which it was told; null: it was not, or the end was. */
  #told: number | null = null;
  #timer: NodeJS.Timeout | null = null;
  #looking: Promise<void> | null = null;

  constructor(parts: ReplicaWatchParts) {
    this.#parts = parts;
  }

  async start(): Promise<void> {
    this.#told = factSchema.parse(await this.#parts.registry.facts.read(FACT))?.since ?? null;
    this.#timer = setInterval(() => {
      this.#looking ??= this.look()
        .catch((error: unknown) =>
          this.#parts.log.warn({ error: messageOf(error) }, 'the lag of replicas was not told'),
        )
        .finally(() => {
          this.#looking = null;
        });
    }, LOOK_MS).unref();
  }

  async stop(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    await this.#looking;
  }

  /** One look. */
  async look(): Promise<void> {
    const { report, clock, monotonic } = this.#parts;
    const overdue = report.overdue();
    if (overdue === null) {
      this.#lateSinceMs = null;
      report.late = null;
      if (this.#told === null) return;
      const seconds = Math.max(0, epochSeconds(clock) - this.#told);
      await this.#tell('replica.caught_up', `after ${seconds} s`, null);
      return;
    }
    this.#lateSinceMs ??= monotonic();
    const lateMs = monotonic() - this.#lateSinceMs;
    if (this.#told === null) {
      if (lateMs < PATIENCE_MS) return;
      const { mostMs } = overdue;
      const who = lateInWords(overdue);
      const why = report.whyBehind === null ? '' : `: ${report.whyBehind}`;
      const since = epochSeconds(clock) - Math.round(lateMs / 1000);
      await this.#tell(
        'replica.behind',
        `${who} more behind than promised, ${Math.round(mostMs / 1000)} s at most${why}`,
        since,
      );
    }
    report.late = { ...overdue, since: this.#told ?? epochSeconds(clock) };
  }

  async #tell(type: 'replica.behind' | 'replica.caught_up', reason: string, since: number | null): Promise<void> {
    const { registry, clock } = this.#parts;
    const line = ledgerEntry({ clock }, null, systemAudit('reconcile'), type, { reason });
    await registry.facts.write(FACT, { since }, epochSeconds(clock), line);
    this.#told = since;
  }
}
