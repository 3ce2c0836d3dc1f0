/** What is written into the registry now and then whatever happens: its log into its file, and sums of refusals. */
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
import type { Registry } from '../registry/registry.ts';

/** How often the registry's write-ahead log is checkpointed into its file. */
const CHECKPOINT_MS = 60_000;
/** How often due sums of repeated refusals are written to the ledger. */
const SUMS_MS = 15_000;

export interface RegistryUpkeep {
  /** Checkpoints, and goes on until `stop`. */
  start(): Promise<void>;
  stop(): void;
  /** Writes all sums of repeated refusals. After a failed write they are kept and counted further. */
  sumUp(): Promise<void>;
}

export function createRegistryUpkeep({
  clock,
  log,
  registry,
}: {
  clock: Clock;
  log: Logger;
  registry: Pick<Registry, 'ledger' | 'storage'>;
}): RegistryUpkeep {
  let timers: NodeJS.Timeout[] = [];
  const sumUp = async (all: boolean) => {
    try {
      await registry.ledger.appendRepeatCounts(clock.now(), { all });
    } catch (error) {
      log.warn({ err: error }, 'the sums of refusals were not written yet');
    }
  };
  const settle = async () => {
    if (!(await registry.storage.checkpoint()))
      log.warn('the registry could not be checkpointed: its log keeps the commits');
  };
  return {
    async start() {
      await settle();
      timers = [setInterval(settle, CHECKPOINT_MS).unref(), setInterval(() => sumUp(false), SUMS_MS).unref()];
    },
    stop() {
      for (const timer of timers) clearInterval(timer);
    },
    sumUp: () => sumUp(true),
  };
}
