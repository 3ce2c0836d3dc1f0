/**
 * Compares thresholds: which further sandboxes would fall due under others, and which no longer. Asks the ladder itself
 * about each candidate; changes nothing. When a process is paused moves no sandbox, so it is no part of this.
 */
import { and, isNotNull, isNull, lte, or } from '../../../db/drizzle.ts';
import { instances, tenants } from '../../../db/schema.ts';
import { type LadderPolicy, nextMove } from '../../lifecycle/ladder.ts';
import { isBlocking } from '../../lifecycle/words.ts';
import type { ThresholdTrial, TrialCounts, TrialOutcome } from '../threshold-trial.ts';
import type { InstanceRow } from '../types.ts';
import type { Query, RegistryDatabase } from './database.ts';
import { selectBy } from './raw.ts';

/** Rows read before other work runs, and the largest number of rows examined. */
const PIECE = 1000;
const MAX_ROWS = 500_000;

const CANDIDATE = {
  state: instances.state,
  updated: instances.updated,
  created: instances.created,
  keepHot: instances.keepHot,
  holdUntil: instances.holdUntil,
  ephemeral: instances.ephemeral,
  fault: instances.fault,
  idleToSuspendSeconds: instances.idleToSuspendSeconds,
  idleToFreezeSeconds: instances.idleToFreezeSeconds,
  tenant: instances.tenant,
};
type Candidate = Pick<InstanceRow, keyof typeof CANDIDATE>;

type Own = { [K in keyof LadderPolicy]: number | null };
const NOTHING: Own = { idleToSuspendSeconds: null, idleToFreezeSeconds: null };

/**
 * The cost depends on the rows due until `until`, and as far beyond it as the trial's thresholds are shorter. Runs in
 * batches, with other work between them.
 */
export async function compareThresholds(
  database: RegistryDatabase,
  global: LadderPolicy,
  trial: ThresholdTrial,
): Promise<TrialOutcome> {
  const { tenant: overridingTenant, idleToSuspendSeconds, idleToFreezeSeconds } = tenants;
  const overridden = database.queries
    .select({ overridingTenant, idleToSuspendSeconds, idleToFreezeSeconds })
    .from(tenants)
    .where(or(isNotNull(idleToSuspendSeconds), isNotNull(idleToFreezeSeconds)));
  const overrides = new Map<string | null, Own>(
    overridden.all().map(({ overridingTenant, ...own }) => [overridingTenant, own]),
  );
  const { tenant, patch, until, tenants: among } = trial;
  const before = (name: string) => applied(overrides.get(name) ?? NOTHING, global);
  const globalAfter = tenant === null ? applied(given(patch), global) : global;
  const after = (name: string) => {
    const own = overrides.get(name) ?? NOTHING;
    return applied(name === tenant ? { ...own, ...given(patch) } : own, globalAfter);
  };
  const shorter = (from: LadderPolicy, to: LadderPolicy) =>
    Math.max(0, from.idleToSuspendSeconds - to.idleToSuspendSeconds, from.idleToFreezeSeconds - to.idleToFreezeSeconds);
  const reach = tenant === null ? shorter(global, globalAfter) : shorter(before(tenant), after(tenant));
  const outcome: TrialOutcome = {
    more: { suspended: 0, frozen: 0, ended: 0 },
    fewer: { suspended: 0, frozen: 0, ended: 0 },
    cut: false,
  };
  const candidates = selectBy(database.queries, CANDIDATE, instances, 'instances_due')
    .where(and(lte(instances.dueAt, until + reach), isNotNull(instances.dueAt), isNull(instances.pending)))
    .limit(MAX_ROWS + 1);
  const query: Query<Candidate> = { fields: CANDIDATE, toSQL: () => candidates.toSQL() };
  let looked = 0;
  for await (const rows of database.pieces([query], PIECE)) {
    for (const row of rows) {
      looked += 1;
      if (looked > MAX_ROWS) return { ...outcome, cut: true };
      if ((tenant !== null && row.tenant !== tenant) || among?.includes(row.tenant) === false) continue;
      const is = moveOf(row, before(row.tenant), until);
      const would = moveOf(row, after(row.tenant), until);
      if (is === null && would !== null) outcome.more[would] += 1;
      if (is !== null && would === null) outcome.fewer[is] += 1;
    }
  }
  return outcome;
}

/** What the ladder does to a candidate by then, or null. */
function moveOf(row: Candidate, thresholds: LadderPolicy, until: number): keyof TrialCounts | null {
  const next = nextMove({ ...row, blocked: isBlocking(row.fault), attached: 0 }, applied(row, thresholds));
  if (next === null || next.at > until) return null;
  if (row.ephemeral) return 'ended';
  return next.state === 'suspended' ? 'suspended' : 'frozen';
}

function applied(own: Partial<Own>, global: LadderPolicy): LadderPolicy {
  return {
    idleToSuspendSeconds: own.idleToSuspendSeconds ?? global.idleToSuspendSeconds,
    idleToFreezeSeconds: own.idleToFreezeSeconds ?? global.idleToFreezeSeconds,
  };
}

function given(patch: Partial<Own>): Partial<Own> {
  return Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined));
}
