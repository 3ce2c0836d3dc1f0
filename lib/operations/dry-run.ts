/** What a job would do, counted sandbox by sandbox. Pure. */
import type { DryRun } from '../contract/schema/jobs.ts';
import { type JobVerb, LOSSES, type Loss, lossesOf, planVerb } from '../lifecycle/verb-plan.ts';
import type { SelectedInstance } from '../registry/jobs.ts';

export class DryRunTally {
  readonly #verb: JobVerb;
  readonly #skip = new Map<string, number>();
  readonly #plans = new Map<string, DryRun['plans'][number]>();
  readonly #losses = new Map<Loss, number>();
  #matched = 0;
  #will = 0;

  constructor(verb: JobVerb) {
    this.#verb = verb;
  }

  add(one: SelectedInstance): void {
    this.#matched += 1;
    const verbPlan = one.row === 0 ? { skip: 'There is no such sandbox.' } : planVerb(this.#verb, one);
    if ('skip' in verbPlan) {
      this.#skip.set(verbPlan.skip, (this.#skip.get(verbPlan.skip) ?? 0) + 1);
      return;
    }
    this.#will += 1;
    if (verbPlan.hops.length > 0) {
      const plans = this.#plans.get(one.state) ?? { from: one.state, hops: verbPlan.hops, count: 0 };
      plans.count += 1;
      this.#plans.set(one.state, plans);
    }
    for (const loss of lossesOf(one, verbPlan.hops)) this.#losses.set(loss, (this.#losses.get(loss) ?? 0) + 1);
  }

  result(): DryRun {
    return {
      matched: this.#matched,
      will: this.#will,
      skip: [...this.#skip].map(([reason, count]) => ({ reason, count })).sort((a, b) => b.count - a.count),
      plans: [...this.#plans.values()],
      losses: [...this.#losses].map(([loss, count]) => ({ loss, words: LOSSES[loss], count })),
    };
  }
}
