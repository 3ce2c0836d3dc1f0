import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { createLogger } from '../../base/log.ts';
import { DEFAULT_RETENTION, parseRetention } from '../../base/replica-retention.ts';
import { type S3Server, startS3Server, useTestKeys } from '../../storage/object-store/testing/s3-server.ts';
import { ageBundles } from '../levels/bundle-aging.ts';
import { removeBundlesOf, removeReplicaOf } from '../levels/replica-removal.ts';
import { minuteOf } from '../names/bundle-names.ts';
import { parseSegmentName } from '../names/replica-names.ts';
import { type BundlingStage, bundlingStage } from '../testing/bundling-stage.ts';

const MINUTE_MS = 60_000;
const SPAN_MS = 10 * MINUTE_MS;
const HOUR_MS = 60 * MINUTE_MS;
const TENANTS = { acme: ['a', 'b', 'c'], globex: ['x', 'y'] };
let server: S3Server;
let stage: BundlingStage;
let forgetKeys: () => void;
let places = 0;
/** Fails, of what the store is asked for. */
let change: (op: string, name: string) => void = () => undefined;

beforeAll(async () => {
  forgetKeys = useTestKeys();
  server = await startS3Server();
});
afterAll(async () => {
  await server.stop();
  forgetKeys();
});
beforeEach(async () => {
  places += 1;
  change = () => undefined;
  stage = await bundlingStage(server, `place-${places}`, {
    change: (op, name) => change(op, name),
    mostAlone: 4,
  });
  // Within the second span of an hour.
  stage.clock.at = Math.floor(stage.clock.at / HOUR_MS) * HOUR_MS + 12 * MINUTE_MS + 30_000;
});
afterEach(() => stage.close());

/** Ships so many rounds, a second apart, and the rest of the minute passes. */
async function minute(rounds: number, tenants: Record<string, readonly string[]> = TENANTS): Promise<void> {
  for (let round = 0; round < rounds; round += 1) {
    await stage.ship(tenants);
    stage.clock.at += 1000;
  }
  stage.clock.at = (minuteOf(stage.clock.at) + 1) * MINUTE_MS + 5000;
  await stage.merge();
}

/** The span ends, and what is of it is merged. */
async function spanEnds(): Promise<void> {
  stage.clock.at = (Math.floor(stage.clock.at / SPAN_MS) + 1) * SPAN_MS + 5000;
  for (let look = 0; look < 2; look += 1) await stage.merge();
}

/** What lies by itself of a sandbox, merged, as `first-last`. */
const own = async (id: string) =>
  (await stage.names(`replica/${id}/`)).flatMap((name) => {
    const { level, min, max } = parseSegmentName(name) ?? { level: 0, min: 0, max: 0 };
    return level === 1 || level === 2 ? [`${level}: ${min}-${max}`] : [];
  });
/** Minutes of which bundles have something merged, and the names of those. */
async function minutesOf(tenant: string): Promise<string[][]> {
  const names = await stage.names(`bundles/${tenant}/minutes/`);
  return Object.values(Object.groupBy(names, (name) => name.split('/')[3] ?? '')).map((some) => some ?? []);
}
const commitsOf = async (tenant: string) =>
  (await stage.names(`bundles/${tenant}/`)).filter((name) => !name.includes('/minutes/'));
const states = (id: string) => stage.made.states.get(id) ?? [];

/** Each state that is asked for is restored as it was; `kept`: numbers from 1. Default: all. */
async function expectStates(
  tenants: Record<string, readonly string[]> = TENANTS,
  kept: (id: string) => number[] = (id) => states(id).map((_, at) => at + 1),
): Promise<void> {
  for (const [tenant, ids] of Object.entries(tenants)) {
    for (const id of ids) {
      for (const number of kept(id)) {
        const { bytes, timeMs } = states(id)[number - 1] ?? { bytes: Buffer.alloc(0), timeMs: 0 };
        const found = await stage.restored(tenant, id, timeMs);
        expect([id, number, found?.timeMs, found?.isShort]).toEqual([id, number, timeMs, false]);
        expect(found?.bytes.equals(bytes), `${id} at ${number}`).toBe(true);
      }
      const last = await stage.restored(tenant, id);
      expect(last?.bytes.equals(states(id).at(-1)?.bytes ?? Buffer.alloc(0)), `${id} now`).toBe(true);
      expect(last?.isShort).toBe(false);
    }
  }
}

/** A round of what is kept, so many hours from now. */
async function age(hours: number): Promise<number> {
  const keeps = parseRetention(DEFAULT_RETENTION);
  if (keeps === null) throw new Error(DEFAULT_RETENTION);
  const { store, levels } = stage;
  const removed = await ageBundles({
    ...{ store, remove: (name) => store.remove(name), levels, keeps, nowMs: Date.now() + hours * 3_600_000 },
    ...{ log: createLogger('silent'), isOver: () => false },
  });
  await levels.whenMerged();
  return removed;
}

test('the minutes of many travel together, each has one of level 1 for a span, and every state can be restored', async () => {
  await minute(3);
  await minute(2);
  expect(await own('a')).toEqual([]);
  for (const tenant of Object.keys(TENANTS)) expect(await minutesOf(tenant)).toHaveLength(2);
  await expectStates();
  stage.asked.length = 0;
  await stage.restored('acme', 'a');
  // Of commits only those are read that were in no minute when the last bundle was sent.
  const opened = new Set(stage.asked.filter((one) => one.startsWith('open bundles/')).map((one) => one.split(' ')[1]));
  expect([...opened].filter((name) => !name?.includes('/minutes/'))).toHaveLength(2);
  await spanEnds();
  expect(await own('a')).toEqual(['1: 2-5']);
  await expectStates();
  // What comes then says that nothing of before has to be looked for.
  await stage.ship(TENANTS);
  await expectStates();
  stage.asked.length = 0;
  await stage.restored('acme', 'a');
  expect(stage.asked.filter((one) => one.startsWith('open bundles/')).length).toBeLessThanOrEqual(2);
});

test('what few sandboxes commit has its minutes by itself, and goes on so where there were many', async () => {
  const few = { acme: ['a', 'b'] };
  await minute(3, few);
  expect(await own('a')).toEqual(['1: 2-3']);
  expect(await minutesOf('acme')).toEqual([]);
  await minute(2);
  await minute(2, few);
  // The span goes on as it was begun.
  expect(await minutesOf('acme')).toHaveLength(2);
  await spanEnds();
  expect(await own('a')).toEqual(['1: 2-3', '1: 4-7']);
  await minute(2, few);
  expect(await own('a')).toEqual(['1: 2-3', '1: 4-7', '1: 8-9']);
  await expectStates(few);
});

test('what a process left is merged by the next one: minutes to spans, and commits to minutes', async () => {
  await minute(3);
  await minute(2);
  await stage.ship(TENANTS);
  await stage.restart();
  await expectStates();
  for (let round = 0; round < 2; round += 1) {
    stage.clock.at += 1000;
    await stage.ship(TENANTS);
  }
  await expect.poll(async () => (await own('a')).sort(), { timeout: 60_000 }).toEqual(['1: 2-5', '1: 6-6']);
  await stage.merge();
  await expectStates();
});

test('a minute that cannot travel lies by itself, and a deleted sandbox waits for no span', async () => {
  change = (op, name) => {
    if (op === 'upload' && name.includes('/minutes/')) throw new Error('It was refused.');
  };
  await minute(3);
  expect(await minutesOf('acme')).toEqual([]);
  await expect.poll(() => own('a'), { timeout: 60_000 }).toEqual(['1: 2-3']);
  change = () => undefined;
  await minute(2);
  expect(await minutesOf('acme')).toHaveLength(1);
  await stage.uploads.drop('a');
  await stage.levels.whenMerged();
  expect(await own('a')).toEqual(['1: 2-3', '1: 4-5']);
  expect(await own('b')).toEqual(['1: 2-3']);
  await expectStates();
});

test('where a bundle of minutes is damaged or gone the commits of that minute are read', async () => {
  await minute(3);
  await minute(2);
  const [names = []] = await minutesOf('acme');
  for (const name of names) {
    const whole = await stage.store.get(name);
    for (const bytes of [Buffer.from('no bundle'), Uint8Array.from(whole).fill(0, whole.length - 30), null]) {
      if (bytes === null) await stage.store.remove(name);
      else await stage.store.put(name, bytes);
      await expectStates({ acme: TENANTS.acme });
    }
  }
  await spanEnds();
  await expectStates();
});

test('commits go after a day and minutes after a week, and what is kept can be restored', async () => {
  await minute(3);
  await minute(2);
  await minute(2);
  expect(await age(30)).toBe(0);
  await spanEnds();
  expect(await own('a')).toEqual(['1: 2-7']);
  expect(await age(20)).toBe(0);
  await age(30);
  for (const tenant of Object.keys(TENANTS)) {
    expect(await commitsOf(tenant)).toEqual([]);
    expect(await minutesOf(tenant)).toHaveLength(3);
  }
  await expectStates(TENANTS, () => [1, 3, 5, 7]);
  // A moment within a minute is the end of the one before.
  expect((await stage.restored('acme', 'a', states('a')[3]?.timeMs))?.timeMs).toBe(states('a')[2]?.timeMs);
  await age(6 * 24);
  expect(await minutesOf('acme')).toHaveLength(3);
  await age(8 * 24);
  expect(await stage.names('bundles/')).toEqual([]);
  await expectStates(TENANTS, () => [1, 7]);
});

test('a forgotten tenant has no byte in a bundle of minutes, and others keep theirs', async () => {
  await minute(3);
  await stage.ship(TENANTS);
  stage.clock.at += MINUTE_MS;
  stage.levels.look();
  for (const id of TENANTS.acme) {
    await stage.uploads.forget(id);
    await stage.uploads.whenShipped(id);
  }
  await removeBundlesOf(stage.store, 'acme');
  for (const id of TENANTS.acme) await removeReplicaOf(stage.store, id);
  await spanEnds();
  expect((await stage.names()).filter((name) => /acme|\/[abc]\//.test(name))).toEqual([]);
  await expectStates({ globex: TENANTS.globex });
});
