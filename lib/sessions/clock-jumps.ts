/**
 * A clock that was wrong and was set back: what says that it was used in the future is idle from now on, so that the
 * ladder goes on.
 */
import { type Engine, ledgerEntry, now, systemAudit } from './engine.ts';

/** A clock that is put right by less than this costs the ladder that much time, and no line of the ledger. */
const SLACK_SECONDS = 60;
/** Rows corrected in one transaction, and transactions at a time: the rest is left to the next round. */
const BATCH = 500;
const BATCHES = 10;

/**
 * Corrects activity in memory and `updated` in the registry where they are later than now. Costs one look into an index
 * when nothing is.
 */
export async function correctFutureActivity(engine: Engine): Promise<void> {
  const current = now(engine);
  for (const runtime of engine.runtimes.values()) runtime.activity = Math.min(runtime.activity, current);
  let corrected = 0;
  for (let batch = 0; batch < BATCHES; batch += 1) {
    const rows = await engine.registry.instances.clampUpdated(current, SLACK_SECONDS, BATCH);
    corrected += rows;
    if (rows < BATCH) break;
  }
  if (corrected === 0) return;
  const reason = `the clock was set back: ${corrected} sandboxes were last used in the future, and are idle from now on`;
  engine.log.warn({ corrected }, 'the clock was set back');
  await engine.registry.ledger.append([
    ledgerEntry(engine, null, systemAudit('reconcile'), 'clock.set_back', { reason }),
  ]);
}
