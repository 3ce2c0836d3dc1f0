/**
 * A clock that was set back: sandboxes that seem to be used in the future are idle from now on, so that the ladder goes
 * on.
 */
import { ledgerEntry } from '../registry/ledger-entry.ts';
import { type Engine, now, systemAudit } from './engine.ts';

/** A correction by less than this delays the ladder by that time, and makes no ledger entry. */
const SLACK_SECONDS = 60;
/** Rows corrected in one transaction, and transactions in one round. */
const BATCH = 500;
const BATCHES = 10;

/**
 * Corrects activity in memory and `updated` in the registry where they are later than now. When nothing is, this costs
 * one look-up in an index.
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
