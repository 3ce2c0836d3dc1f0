/**
 * The named steps of every filing and waking, in order. A fault-injection hook is called as each is reached, so that a
 * test can kill the server between any two of them; nothing else may depend on it.
 */

export const STEPS = {
  suspend: ['intent', 'closed', 'brought', 'committed'],
  freeze: ['intent', 'moved', 'committed'],
  resume: ['intent', 'brought', 'opened', 'committed'],
  archive: ['intent', 'closed', 'brought', 'packed', 'committed', 'removed'],
  delete: ['intent', 'committed', 'removed'],
  prefetch: ['intent', 'brought', 'committed', 'returned'],
} as const;

type Steps = typeof STEPS;
export type Step = { [V in keyof Steps]: `${V}.${Steps[V][number]}` }[keyof Steps];

/**
 * Every step, as `verb.step`. Reviving and thawing are `resume` from another drawer; `brought` of a filing is reached
 * by a plan only, `closed` only with a process.
 */
export const ALL_STEPS: readonly Step[] = Object.entries(STEPS).flatMap(([verb, steps]) =>
  steps.map((step) => `${verb}.${step}` as Step),
);
