/** Compares thresholds over the rows of the registry's file (trial-count.ts). Changes nothing. */
import type { LadderPolicy } from '../../lifecycle/ladder.ts';
import { withBindings } from '../statements/bound-values.ts';
import { CANDIDATE, selectCandidates, trialStatements } from '../statements/threshold-trial.ts';
import type { ThresholdTrial, TrialOutcome } from '../threshold-trial.ts';
import { MAX_TRIAL_ROWS, type TrialCandidate, TrialCount } from '../trial-count.ts';
import type { RegistryDatabase } from './database.ts';

/** Rows read before other work runs. */
const PIECE = 1000;

/**
 * The cost depends on the rows due until `until`, and as far beyond it as the trial's thresholds are shorter. Runs in
 * batches, with other work between them.
 */
export async function compareThresholds(
  database: RegistryDatabase,
  global: LadderPolicy,
  trial: ThresholdTrial,
): Promise<TrialOutcome> {
  const count = new TrialCount(global, trialStatements(database).overridden().all(), trial);
  const bound = { until: count.until, limit: MAX_TRIAL_ROWS + 1 };
  const query = withBindings<TrialCandidate>(CANDIDATE, selectCandidates(database.queries), bound);
  for await (const rows of database.pieces([query], PIECE)) {
    for (const row of rows) if (!count.take(row)) return count.outcome;
  }
  return count.outcome;
}
