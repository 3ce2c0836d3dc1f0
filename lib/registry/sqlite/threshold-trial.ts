/**
 * What other thresholds would do at once: which sandboxes would fall due that do not now, and the other way round. Asks the ladder itself
 * about each candidate; changes nothing.
 */
import { nextMove } from '../../lifecycle/ladder.ts';
import type { State } from '../../lifecycle/states.ts';
import { blocks, type Fault } from '../../lifecycle/words.ts';
import type { Thresholds } from '../registry.ts';
import type { ThresholdTrial, TrialCounts, TrialOutcome } from '../threshold-trial.ts';
import type { RegistryDatabase, Value } from './database.ts';

/** Rows read before others have their turn, and rows after which the rest is left out. */
const PIECE = 1000;
const MAX_ROWS = 500_000;

const CANDIDATES = `SELECT state, updated, created, keep_hot, hold_until, ephemeral, fault, idle_to_suspend_s, idle_to_freeze_s, tenant
  FROM instances INDEXED BY instances_due WHERE due_at <= ? AND due_at IS NOT NULL AND pending IS NULL`;
const OVERRIDES = `SELECT tenant, idle_to_suspend_s, idle_to_freeze_s FROM tenants
  WHERE idle_to_suspend_s IS NOT NULL OR idle_to_freeze_s IS NOT NULL`;

type Own = { [K in keyof Thresholds]: number | null };
const NOTHING: Own = { idleToSuspendSeconds: null, idleToFreezeSeconds: null };

/** Costs what falls due until `until` and as far beyond it as the trial is shorter, in pieces between which others run. */
export async function tryThresholds(
  database: RegistryDatabase,
  global: Thresholds,
  trial: ThresholdTrial,
): Promise<TrialOutcome> {
  const overrides = new Map<string, Own>(
    database
      .sql(OVERRIDES)
      .all()
      .map((values) => [
        String(values[0]),
        { idleToSuspendSeconds: values[1] as number | null, idleToFreezeSeconds: values[2] as number | null },
      ]),
  );
  const { tenant, patch, until, tenants } = trial;
  const before = (name: string) => applied(overrides.get(name) ?? NOTHING, global);
  const globalAfter = tenant === null ? applied(given(patch), global) : global;
  const after = (name: string) => {
    const own = overrides.get(name) ?? NOTHING;
    return applied(name === tenant ? { ...own, ...given(patch) } : own, globalAfter);
  };
  const shorter = (from: Thresholds, to: Thresholds) =>
    Math.max(0, from.idleToSuspendSeconds - to.idleToSuspendSeconds, from.idleToFreezeSeconds - to.idleToFreezeSeconds);
  const reach = tenant === null ? shorter(global, globalAfter) : shorter(before(tenant), after(tenant));
  const outcome: TrialOutcome = {
    more: { suspended: 0, frozen: 0, ended: 0 },
    fewer: { suspended: 0, frozen: 0, ended: 0 },
    cut: false,
  };
  let looked = 0;
  await database.snapshot([{ sql: CANDIDATES, params: [until + reach] }], PIECE, turn, (values) => {
    if (looked >= MAX_ROWS) {
      outcome.cut = true;
      return false;
    }
    looked += 1;
    const name = String(values[9]);
    if ((tenant !== null && name !== tenant) || tenants?.includes(name) === false) return true;
    const is = moveOf(values, before(name), until);
    const would = moveOf(values, after(name), until);
    if (is === null && would !== null) outcome.more[would] += 1;
    if (is !== null && would === null) outcome.fewer[is] += 1;
    return true;
  });
  return outcome;
}

/** What the ladder does to a candidate until then, or null. */
function moveOf(values: Value[], thresholds: Thresholds, until: number): keyof TrialCounts | null {
  const subject = {
    state: values[0] as State,
    updated: values[1] as number,
    created: values[2] as number,
    keepHot: values[3] === 1,
    holdUntil: values[4] as number | null,
    ephemeral: values[5] === 1,
    blocked: blocks(values[6] as Fault | null),
    attached: 0,
  };
  const next = nextMove(subject, {
    idleToSuspendSeconds: (values[7] as number | null) ?? thresholds.idleToSuspendSeconds,
    idleToFreezeSeconds: (values[8] as number | null) ?? thresholds.idleToFreezeSeconds,
  });
  if (next === null || next.at > until) return null;
  if (subject.ephemeral) return 'ended';
  return next.state === 'suspended' ? 'suspended' : 'frozen';
}

function applied(own: Partial<Own>, global: Thresholds): Thresholds {
  return {
    idleToSuspendSeconds: own.idleToSuspendSeconds ?? global.idleToSuspendSeconds,
    idleToFreezeSeconds: own.idleToFreezeSeconds ?? global.idleToFreezeSeconds,
  };
}

function given(patch: Partial<Own>): Partial<Own> {
  return Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined));
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
