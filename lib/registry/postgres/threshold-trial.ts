/** Compares thresholds over the rows of the registry (trial-count.ts). Changes nothing. */
import type { LadderPolicy } from '../../lifecycle/ladder.ts';
import { selectCandidates, trialStatements } from '../statements/threshold-trial.ts';
import type { ThresholdTrial, TrialOutcome } from '../threshold-trial.ts';
import { MAX_TRIAL_ROWS, type TrialCandidate, TrialCount } from '../trial-count.ts';
import type { PostgresDatabase } from './database.ts';

/** Rows read before other work runs. */
const PIECE = 1000;

/** The cost depends on the rows due until `until`, and as far beyond it as the trial's thresholds are shorter. */
export async function compareThresholds(
  database: PostgresDatabase,
  global: LadderPolicy,
  trial: ThresholdTrial,
): Promise<TrialOutcome> {
  const overridden = await database.with(trialStatements).overridden().all();
  const count = new TrialCount(global, overridden, trial);
  const bound = { until: count.until, limit: MAX_TRIAL_ROWS + 1 };
  const build = (queries: Parameters<typeof selectCandidates>[0]) => selectCandidates(queries).prepare();
  for await (const rows of database.pieces<TrialCandidate>(build, bound, PIECE)) {
    for (const row of rows) if (!count.take(row)) return count.outcome;
  }
  return count.outcome;
}
