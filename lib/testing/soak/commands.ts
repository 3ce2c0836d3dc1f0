/**
 * For tests: the commands that a random life is made of, drawn by fast-check. They name sandboxes by number, so that a
 * life can be lived again.
 */
import fc from 'fast-check';
import type { Verb } from '../../lifecycle/state-map.ts';

/** One step of a shell command. */
export type Step =
  | { op: 'write'; name: string; salt: number }
  | { op: 'remove'; name: string }
  | { op: 'move' | 'copy'; name: string; to: string };

/** What is asked over HTTP. `box`, `copy` and `bundle` are counted over what there is at that moment. */
export type Command =
  | { kind: 'create'; ephemeral: boolean }
  | { kind: 'put'; box: number; name: string; salt: number; bytes: number }
  | { kind: 'remove' | 'read'; box: number; name: string }
  | { kind: 'exec'; box: number; steps: Step[]; sleepMs: number }
  | { kind: 'eval'; box: number; name: string; salt: number }
  | { kind: 'move'; box: number; name: string; to: string }
  | { kind: 'verb'; box: number; verb: Exclude<Verb, 'delete'> | 'prefetch' | 'settle' }
  | { kind: 'plan'; box: number; to: 'active' | 'suspended' | 'frozen' | 'archived' | 'deleted' }
  | { kind: 'delete' | 'snapshot' | 'blueprint' | 'ship' | 'search'; box: number }
  | { kind: 'restore' | 'clone'; copy: number; count: number }
  | { kind: 'forget'; copy: number }
  | { kind: 'put-back'; box: number; copy: number }
  | { kind: 'import'; bundle: number }
  | { kind: 'job'; verb: 'suspend' | 'freeze' | 'resume'; boxes: number[] }
  | { kind: 'look' };

/** What goes wrong meanwhile. */
export type Fault =
  | { kind: 'kill-worker'; which: number }
  | { kind: 'pause-worker'; which: number; ms: number }
  | { kind: 'kill-server' }
  | { kind: 'kill-starts'; times: number; afterMs: number }
  | { kind: 'power-cut' }
  | { kind: 'stop-server' }
  | { kind: 'fill' }
  | { kind: 'jump'; seconds: number }
  | { kind: 'read-only'; drawer: number };

/** Commands that run beside each other, and what goes wrong `afterMs` into them. */
export interface Wave {
  commands: Command[];
  fault: { fault: Fault; afterMs: number } | null;
}

/** A stretch of life, at the end of which everything is compared. */
export interface Day {
  waves: Wave[];
  /** How the server is ended before the comparison, if it is. */
  end: 'stop-server' | 'kill-server' | 'power-cut' | null;
}

/** The files there may be: few, so that what is written is written over. */
export const NAMES = [
  'workspace/a',
  'workspace/b',
  'workspace/c',
  'workspace/d/e',
  'workspace/d/f',
  'memory/a',
  'memory/b',
] as const;

const box = fc.nat(1000);
const copy = fc.nat(1000);
const name = fc.constantFrom(...NAMES);
const salt = fc.nat(1_000_000_000);
const inWorkspace = fc.constantFrom(...NAMES.filter((one) => one.startsWith('workspace/')));
const one = <K extends string>(kind: K) => fc.record({ kind: fc.constant(kind), box });

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ op: fc.constant('write' as const), name, salt }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('remove' as const), name }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constantFrom('move' as const, 'copy' as const), name, to: name }) },
);

const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant('create' as const), ephemeral: fc.nat(3).map((n) => n === 0) }),
  },
  {
    weight: 16,
    arbitrary: fc.record({
      kind: fc.constant('put' as const),
      box,
      name,
      salt,
      bytes: fc.oneof(
        { weight: 6, arbitrary: fc.nat(200) },
        { weight: 2, arbitrary: fc.nat(20_000) },
        { weight: 1, arbitrary: fc.nat(1_500_000) },
      ),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom('remove' as const), box, name }) },
  { weight: 8, arbitrary: fc.record({ kind: fc.constantFrom('read' as const), box, name }) },
  {
    weight: 14,
    arbitrary: fc.record({
      kind: fc.constant('exec' as const),
      box,
      steps: fc.array(step, { minLength: 1, maxLength: 4 }),
      sleepMs: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(300) }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('eval' as const), box, name: inWorkspace, salt }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('move' as const), box, name: inWorkspace, to: inWorkspace }),
  },
  {
    weight: 22,
    arbitrary: fc.record({
      kind: fc.constant('verb' as const),
      box,
      verb: fc.constantFrom(
        ...(['resume', 'suspend', 'suspend', 'freeze', 'freeze', 'archive', 'revive', 'prefetch', 'settle'] as const),
      ),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('plan' as const),
      box,
      to: fc.constantFrom(...(['active', 'suspended', 'frozen', 'archived', 'archived', 'deleted'] as const)),
    }),
  },
  { weight: 3, arbitrary: one('delete') },
  { weight: 4, arbitrary: one('snapshot') },
  { weight: 2, arbitrary: one('blueprint') },
  { weight: 2, arbitrary: one('ship') },
  { weight: 2, arbitrary: one('search') },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constantFrom('restore' as const, 'clone' as const),
      copy,
      count: fc.integer({ min: 1, max: 2 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('forget' as const), copy }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('put-back' as const), box, copy }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('import' as const), bundle: fc.nat(10) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('job' as const),
      verb: fc.constantFrom(...(['suspend', 'freeze', 'resume'] as const)),
      boxes: fc.array(box, { minLength: 1, maxLength: 4 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('look' as const) }) },
);

const MINUTE = 60;
const DAY = 86_400;

const fault: fc.Arbitrary<Fault> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('kill-worker' as const), which: fc.nat(100) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('pause-worker' as const),
      which: fc.nat(100),
      ms: fc.oneof(fc.nat(800), fc.constant(3000)),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('kill-server' as const) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('power-cut' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('kill-starts' as const),
      times: fc.integer({ min: 1, max: 3 }),
      afterMs: fc.integer({ min: 200, max: 1500 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('stop-server' as const) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('fill' as const) }) },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('jump' as const),
      seconds: fc.constantFrom(16 * MINUTE, 16 * MINUTE, DAY + 1, 3 * DAY, -60 * MINUTE, -40 * DAY),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('read-only' as const), drawer: fc.nat(10) }) },
);

const wave: fc.Arbitrary<Wave> = fc.record({
  commands: fc.array(command, { minLength: 1, maxLength: 6 }),
  fault: fc.option(fc.record({ fault, afterMs: fc.oneof(fc.nat(20), fc.nat(250)) }), { freq: 3 }),
});

const day: fc.Arbitrary<Day> = fc.record({
  waves: fc.array(wave, { minLength: 8, maxLength: 14 }),
  end: fc.constantFrom('stop-server' as const, 'kill-server' as const, 'power-cut' as const, null, null),
});

/** The nth day of the life that a seed leads to. The same for the same numbers. */
export function dayOf(seed: number, number: number): Day {
  const [drawn] = fc.sample(day, { seed: (seed + number * 7919) | 0, numRuns: 1 });
  if (drawn === undefined) throw new Error('Nothing was drawn.');
  return drawn;
}
