/**
 * Compares thresholds: which further sandboxes would fall due under others, and which no longer. Asks the ladder itself
 * about each candidate. When a process is paused moves no sandbox, so it is no part of this. Pure.
 */
import { type LadderPolicy, nextMove } from '../lifecycle/ladder.ts';
import { isBlocking } from '../lifecycle/words.ts';
import type { ThresholdTrial, TrialCounts, TrialOutcome } from './threshold-trial.ts';
import type { InstanceRow } from './types.ts';

/** The largest number of rows examined. */
export const MAX_TRIAL_ROWS = 500_000;

/** What of a row decides when it moves. */
export type TrialCandidate = Pick<
  InstanceRow,
  | 'state'
  | 'updated'
  | 'created'
  | 'keepHot'
  | 'holdUntil'
  | 'ephemeral'
  | 'fault'
  | 'idleToSuspendSeconds'
  | 'idleToFreezeSeconds'
  | 'tenant'
>;

type Own = { [K in keyof LadderPolicy]: number | null };
const NOTHING: Own = { idleToSuspendSeconds: null, idleToFreezeSeconds: null };

export class TrialCount {
  readonly outcome: TrialOutcome = {
    more: { suspended: 0, frozen: 0, ended: 0 },
    fewer: { suspended: 0, frozen: 0, ended: 0 },
    cut: false,
  };
  /** Epoch seconds: no row that is due later is another one under the trial. */
  readonly until: number;
  readonly #trial: ThresholdTrial;
  readonly #before: (tenant: string) => LadderPolicy;
  readonly #after: (tenant: string) => LadderPolicy;
  #looked = 0;

  /** `overridden`: the tenants with thresholds of their own. */
  constructor(global: LadderPolicy, overridden: readonly (Own & { tenant: string | null })[], trial: ThresholdTrial) {
    const overrides = new Map<string | null, Own>(overridden.map(({ tenant, ...own }) => [tenant, own]));
    const { tenant, patch, until } = trial;
    const globalAfter = tenant === null ? applied(given(patch), global) : global;
    this.#trial = trial;
    this.#before = (name) => applied(overrides.get(name) ?? NOTHING, global);
    this.#after = (name) => {
      const own = overrides.get(name) ?? NOTHING;
      return applied(name === tenant ? { ...own, ...given(patch) } : own, globalAfter);
    };
    this.until =
      until + (tenant === null ? shorter(global, globalAfter) : shorter(this.#before(tenant), this.#after(tenant)));
  }

  /** Counts a row. False: so many were counted that the rest is left out. */
  take(row: TrialCandidate): boolean {
    const { tenant, until, tenants: among } = this.#trial;
    this.#looked += 1;
    if (this.#looked > MAX_TRIAL_ROWS) {
      this.outcome.cut = true;
      return false;
    }
    if ((tenant !== null && row.tenant !== tenant) || among?.includes(row.tenant) === false) return true;
    const is = moveOf(row, this.#before(row.tenant), until);
    const would = moveOf(row, this.#after(row.tenant), until);
    if (is === null && would !== null) this.outcome.more[would] += 1;
    if (is !== null && would === null) this.outcome.fewer[is] += 1;
    return true;
  }
}

/** By how many seconds a row may fall due sooner. */
function shorter(from: LadderPolicy, to: LadderPolicy): number {
  return Math.max(
    0,
    from.idleToSuspendSeconds - to.idleToSuspendSeconds,
    from.idleToFreezeSeconds - to.idleToFreezeSeconds,
  );
}

/** What the ladder does to a candidate by then, or null. */
function moveOf(row: TrialCandidate, thresholds: LadderPolicy, until: number): keyof TrialCounts | null {
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
