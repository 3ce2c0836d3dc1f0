/**
 * The named steps of every filing and waking, in order. A fault-injection hook is called as each is reached, so that a
 * test can kill the server between any two of them; nothing else may depend on it.
 */

export const FAILPOINTS = {
  suspend: ['intent', 'closed', 'brought', 'committed'],
  freeze: ['intent', 'moved', 'committed'],
  resume: ['intent', 'brought', 'opened', 'committed'],
  archive: ['intent', 'closed', 'brought', 'packed', 'committed', 'removed'],
  delete: ['intent', 'committed', 'removed'],
  prefetch: ['intent', 'brought', 'committed', 'returned'],
} as const;

type Failpoints = typeof FAILPOINTS;
export type Failpoint = { [V in keyof Failpoints]: `${V}.${Failpoints[V][number]}` }[keyof Failpoints];

/**
 * Every step, as `verb.step`. Reviving and thawing are `resume` from another drawer; `brought` of a filing is reached
 * by a plan only, `closed` only with a process.
 */
export const ALL_FAILPOINTS: readonly Failpoint[] = Object.entries(FAILPOINTS).flatMap(([verb, steps]) =>
  steps.map((step) => `${verb}.${step}` as Failpoint),
);
