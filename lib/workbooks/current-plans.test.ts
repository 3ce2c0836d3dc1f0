/** Stored plans of an older builder, and the number that tells them. */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readExamples } from '../host/examples.ts';
import { withCurrentPlans } from './current-plans.ts';
import { PLAN_BUILDER } from './limits.ts';
import { readSource } from './plan.ts';
import { SourceParser } from './source-parser.ts';

const GOOD = `* w :workflow:
:PROPERTIES:
:SCHEDULE: 0 3 * * *
:END:
** a :component:
#+begin_src js :out n:integer
1
#+end_src
`;
const BAD = '* a :component:\n';

let sources: SourceParser;
beforeAll(() => {
  sources = new SourceParser();
});
afterAll(() => sources.stop());

const stored = (over: { source: string; plan: string | null; builder?: number }) => ({
  tenant: 'acme',
  id: 'etl',
  version: 1,
  title: null as string | null,
  components: null as number | null,
  problems: 1,
  problemList: '[]',
  builder: 0,
  ...over,
});

/** A store of one version, which counts what is made anew. */
function storeOf(row: ReturnType<typeof stored>) {
  const rebuilt: object[] = [];
  const warned: unknown[] = [];
  const store = {
    planOf: async () => row,
    version: async () => row,
    rebuild: async (made: object) => {
      rebuilt.push(made);
      Object.assign(row, made);
    },
  };
  const log = { warn: (...line: unknown[]) => void warned.push(line) } as never;
  return { store: withCurrentPlans(store, { sources, log }), rebuilt, warned };
}

test('a plan of an older builder is made anew at its first reading, and once for all who read it', async () => {
  const { store, rebuilt } = storeOf(stored({ source: GOOD, plan: null }));
  const read = await Promise.all([store.planOf(), store.version(), store.planOf()]);
  for (const one of read) expect(one).toMatchObject({ builder: PLAN_BUILDER, components: 1, problems: 0 });
  expect(JSON.parse(read[0]?.plan ?? '')).toEqual(readSource(GOOD).plan);
  expect(rebuilt).toMatchObject([{ schedules: 1 }]);
  await store.planOf();
  expect(rebuilt).toHaveLength(1);
});

test('a plan that was accepted stays when the new builder refuses its source', async () => {
  const plan = JSON.stringify(readSource(GOOD).plan);
  const { store, rebuilt } = storeOf(stored({ source: BAD, plan }));
  expect((await store.planOf())?.plan).toBe(plan);
  expect(rebuilt).toMatchObject([{ builder: PLAN_BUILDER, schedules: 1, plan }]);
});

test('a plan that cannot be made anew now is given as it is, and tried again', async () => {
  const { store, rebuilt, warned } = storeOf(stored({ source: '*'.repeat(40), plan: 'old' }));
  expect([(await store.planOf())?.plan, (await store.planOf())?.plan]).toEqual(['old', 'old']);
  expect([rebuilt.length, warned.length]).toEqual([0, 2]);
});

test('a builder that makes other plans has another number', () => {
  const plans = readExamples().map(({ source }) => readSource(source).plan);
  const digest = createHash('sha256').update(JSON.stringify(plans)).digest('hex').slice(0, 16);
  // Where the plans differ on purpose, raise PLAN_BUILDER and put the new digest here.
  expect([PLAN_BUILDER, digest]).toEqual([2, '6ca90ec9f4335662']);
});
