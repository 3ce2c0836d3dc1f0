/**
 * The failpoints: named steps of every filing and waking, in order. A test hook is called at each one, so that a test
 * can kill the server between any two steps. Nothing else may depend on them.
 */

export const FAILPOINTS = {
  suspend: ['intent', 'closed', 'brought', 'committed'],
  freeze: ['intent', 'moved', 'committed'],
  resume: ['intent', 'brought', 'opened', 'committed'],
  archive: ['intent', 'closed', 'brought', 'packed', 'committed', 'removed'],
  delete: ['intent', 'committed', 'removed'],
  prefetch: ['intent', 'brought', 'committed', 'returned'],
} as const;

/** The steps of what is done with an object store. */
export const STORE_FAILPOINTS = {
  upload: ['begun', 'sent', 'described', 'committed'],
  bring: ['begun', 'brought'],
  evict: ['removed'],
  collect: ['removed'],
} as const;

type Failpoints = typeof FAILPOINTS & typeof STORE_FAILPOINTS;
export type Failpoint = { [V in keyof Failpoints]: `${V}.${Failpoints[V][number]}` }[keyof Failpoints];

const named = (points: Readonly<Record<string, readonly string[]>>) =>
  Object.entries(points).flatMap(([verb, steps]) => steps.map((step) => `${verb}.${step}` as Failpoint));

/**
 * Every failpoint of a verb, as `verb.step`. A revive or a thaw is a `resume` from another drawer. A filing reaches
 * `brought` only as part of a plan, and `closed` only with a process.
 */
export const ALL_FAILPOINTS: readonly Failpoint[] = named(FAILPOINTS);

/** The same of what is done with an object store. */
export const ALL_STORE_FAILPOINTS: readonly Failpoint[] = named(STORE_FAILPOINTS);
