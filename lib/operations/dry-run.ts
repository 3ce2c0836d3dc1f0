/** What a job would do, counted sandbox by sandbox, with the first rows of each outcome. Pure. */
import type { InstanceId } from '../base/ids.ts';
import type { DryRun } from '../contract/schema/jobs.ts';
import {
  HOLD_WORDS,
  type HoldKind,
  holdOn,
  type JobVerb,
  LOSSES,
  type Loss,
  lossesOf,
  planVerb,
} from '../lifecycle/job-verbs.ts';
import type { SelectedInstance } from '../registry/jobs.ts';

/** Rows of each outcome that a dry run names. */
const NAMED_ROWS = 50;

type DryRunRow = DryRun['rows'][number];
/** A row before its tenant and name are read. */
export type UnnamedRow = Omit<DryRunRow, 'id' | 'tenant' | 'name'> & { id: InstanceId };

export class DryRunTally {
  readonly #verb: JobVerb;
  readonly #options: { includeHeld: boolean; now: number; attached: ReadonlySet<InstanceId> };
  readonly #skip = new Map<string, number>();
  readonly #held = new Map<HoldKind, number>();
  readonly #plans = new Map<string, DryRun['plans'][number]>();
  readonly #losses = new Map<Loss, number>();
  readonly #rows: Record<DryRunRow['outcome'], UnnamedRow[]> = { will: [], held: [], skip: [] };
  #matched = 0;
  #will = 0;

  /** `now` in epoch seconds; `attached`: the sandboxes that a terminal shows. */
  constructor(verb: JobVerb, options: { includeHeld: boolean; now: number; attached: ReadonlySet<InstanceId> }) {
    this.#verb = verb;
    this.#options = options;
  }

  add(one: SelectedInstance): void {
    this.#matched += 1;
    const verbPlan = one.row === 0 ? { skip: 'There is no such sandbox.' } : planVerb(this.#verb, one);
    if ('skip' in verbPlan) {
      addOne(this.#skip, verbPlan.skip);
      this.#name(one, { outcome: 'skip', hops: [], hold: null, reason: verbPlan.skip });
      return;
    }
    const { hops } = verbPlan;
    const isAttached = this.#options.attached.has(one.id);
    const hold = holdOn(this.#verb, { ...one, isAttached }, this.#options.now);
    if (hold !== null && !this.#options.includeHeld) {
      addOne(this.#held, hold);
      this.#name(one, { outcome: 'held', hops, hold, reason: HOLD_WORDS[hold] });
      return;
    }
    this.#will += 1;
    this.#name(one, { outcome: 'will', hops, hold, reason: null });
    if (hops.length > 0) {
      const plans = this.#plans.get(one.state) ?? { from: one.state, hops, count: 0 };
      plans.count += 1;
      this.#plans.set(one.state, plans);
    }
    for (const loss of lossesOf(one, hops)) addOne(this.#losses, loss);
  }

  #name({ id, row, state }: SelectedInstance, of: Pick<UnnamedRow, 'outcome' | 'hops' | 'hold' | 'reason'>): void {
    const rows = this.#rows[of.outcome];
    if (rows.length < NAMED_ROWS) rows.push({ id, state: row === 0 ? null : state, ...of });
  }

  /** `named`: adds tenant and name to rows. */
  async result(named: (rows: UnnamedRow[]) => Promise<DryRunRow[]>): Promise<DryRun> {
    const { will, held, skip } = this.#rows;
    return {
      matched: this.#matched,
      will: this.#will,
      held: [...this.#held].map(([hold, count]) => ({ hold, words: HOLD_WORDS[hold], count })),
      skip: [...this.#skip].map(([reason, count]) => ({ reason, count })).sort((a, b) => b.count - a.count),
      plans: [...this.#plans.values()],
      losses: [...this.#losses].map(([loss, count]) => ({ loss, words: LOSSES[loss], count })),
      rows: await named([...will, ...held, ...skip]),
    };
  }
}

function addOne<K>(counts: Map<K, number>, key: K): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
