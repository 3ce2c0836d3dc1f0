import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { instanceId } from '../testing/plain-ids.ts';
import { registryDriver } from './drivers.ts';
import { answerLost } from './lost-answer.ts';
import type { Registry } from './registry.ts';
import { entry, instance, intent, START, THRESHOLDS, transitionTo } from './testing/fixtures.ts';
import { lossyRegistry, seededLoss } from './testing/lossy-registry.ts';
import type { InstanceRow, RowOwner } from './types.ts';
import { withAnswers } from './with-answers.ts';

const ID = instanceId('a');
const OWNER: RowOwner = { host: 'one', term: 1, token: 'of one' };
const OTHER: RowOwner = { host: 'one', term: 1, token: 'of another' };
const PAUSES = { pausesMs: [0, 0, 0, 0] };

let whole: Registry;
beforeEach(async () => {
  whole = await registryDriver({ driver: 'memory' }).open({ thresholds: THRESHOLDS });
});
afterEach(() => whole.close());

const types = async () => (await whole.ledger.after(0, 1000)).map(({ type }) => type);
const made = (row: InstanceRow, type: string) => [entry({ instance: ID, type: `${type} ${row.generation}` })];

/** A sandbox that is created, woken, woken in vain and put to rest. */
async function walk(registry: Registry): Promise<InstanceRow> {
  let row = await registry.instances.create(instance('a'), START, entry({ type: 'created' }));
  const begun = async (over: Parameters<typeof intent>[1] = {}) =>
    expect(await registry.instances.begin(ID, intent(row, over), { owner: OWNER })).toBe(true);
  await begun();
  row = await registry.instances.commit(transitionTo(row, 'active', { owner: OWNER, ledger: made(row, 'woken') }));
  await begun({ verb: 'suspend', to: 'suspended' });
  row = await registry.instances.commit(transitionTo(row, 'suspended', { owner: OWNER, ledger: made(row, 'filed') }));
  await begun();
  row = await registry.instances.abandon(ID, { failures: 1 }, made(row, 'abandoned'), OWNER);
  await registry.ledger.append([entry({ type: 'told' })]);
  return row;
}

describe('writes', () => {
  test.each(Array.from({ length: 40 }, (_, seed) => seed))('happen once each, whatever is lost (%i)', async (seed) => {
    const { registry, lost } = lossyRegistry(whole, seededLoss(seed, 4));
    const row = await walk(withAnswers(registry, PAUSES));
    expect(await types()).toEqual(['created', 'woken 0', 'filed 1', 'abandoned 2', 'told']);
    expect(row).toMatchObject({ state: 'suspended', generation: 2, failures: 1, pending: null, ownerToken: null });
    expect(await whole.instances.get(ID)).toEqual(row);
    expect(lost.answers + lost.requests).toBeGreaterThan(0);
  });

  test('of another are not taken for one’s own: what they have done is a conflict', async () => {
    const row = await whole.instances.create(instance('a'), START, entry());
    const { instances } = whole;
    // Another begins the same operation while the first request is lost.
    let lost = false;
    const { registry } = lossyRegistry(whole, () => {
      if (lost) return null;
      lost = true;
      return 'request';
    });
    const begin: typeof instances.begin = async (...args) => {
      try {
        return await registry.instances.begin(...args);
      } catch (error) {
        await instances.begin(ID, intent(row), { owner: OTHER, writeId: 'of another' });
        throw error;
      }
    };
    const raced = withAnswers({ ...registry, instances: { ...registry.instances, begin } }, PAUSES);
    expect(await raced.instances.begin(ID, intent(row), { owner: OWNER })).toBe(false);
    expect(await instances.get(ID)).toMatchObject({ ownerToken: 'of another', writeId: 'of another' });
    lost = false;
    await expect(raced.instances.commit(transitionTo(row, 'active', { owner: OWNER }))).rejects.toMatchObject({
      code: 'conflict',
    });
    expect(await types()).toEqual(['test.line']);
  });

  test('whose answers never come fail and say so, and other failures are passed on at once', async () => {
    const row = await whole.instances.create(instance('a'), START, entry());
    let calls = 0;
    const { registry } = lossyRegistry(whole, () => {
      calls += 1;
      return 'request';
    });
    const certain = withAnswers(registry, PAUSES);
    await expect(certain.instances.begin(ID, intent(row), { owner: OWNER })).rejects.toMatchObject({
      code: 'registry_unavailable',
      extra: { answer: 'lost' },
    });
    expect(calls).toBe(PAUSES.pausesMs.length + 1);
    await expect(withAnswers(whole, PAUSES).instances.commit(transitionTo(row, 'frozen'))).rejects.toMatchObject({
      code: 'invalid_transition',
    });
  });

  test('are asked after again when that answer is lost too', async () => {
    let asked = 0;
    const rowMadeBy: Registry['writes']['rowMadeBy'] = async (...args) => {
      asked += 1;
      if (asked < 3) throw answerLost();
      return whole.writes.rowMadeBy(...args);
    };
    const { registry } = lossyRegistry({ ...whole, writes: { ...whole.writes, rowMadeBy } }, seededLoss(1, 1));
    await walk(withAnswers(registry, PAUSES));
    expect(asked).toBeGreaterThan(2);
    expect(await types()).toEqual(['created', 'woken 0', 'filed 1', 'abandoned 2', 'told']);
  });
});

describe('additions', () => {
  const HOUR = 480_000;
  const use = { cpuMs: 1, calls: 1, memoryBytes: 0 };
  const traffic = {
    instance: ID,
    tenant: 'acme',
    host: 'https://a.test',
    calls: 1,
    refused: 0,
    bytesOut: 1,
    bytesIn: 2,
  };
  const bucket = { day: 20_000, path: 'cold', source: 'cold', boundMs: 10, count: 1, sumMs: 4 } as const;

  async function addAll(registry: Registry): Promise<void> {
    await registry.usage.add(HOUR, { sandboxes: [{ id: ID, ...use }], tenants: [{ tenant: 'acme', ...use }] });
    await registry.network.addTraffic(HOUR, [traffic]);
    await registry.wakeTimes.add([bucket]);
  }
  const sums = async () => ({
    usage: (await whole.usage.ofSandbox(ID, HOUR, HOUR))[0]?.calls,
    traffic: (await whole.network.traffic(ID, HOUR, 1))[0]?.calls,
    wakes: (await whole.wakeTimes.since(bucket.day))[0]?.count,
  });

  test.each([1, 2, 3, 4, 5, 6, 7, 8])(
    'are added once each, though answers are lost for longer than anybody tries (%i)',
    async (seed) => {
      await whole.instances.create(instance('a'), START, entry());
      let isCut = true;
      const loss = seededLoss(seed, 3);
      const { registry, lost } = lossyRegistry(whole, () => (isCut ? (loss() === null ? 'answer' : 'request') : null));
      const certain = withAnswers(registry, { pausesMs: [0] });
      for (let n = 0; n < 10; n += 1) await addAll(certain);
      expect(lost.answers).toBeGreaterThan(0);
      isCut = false;
      await addAll(certain);
      expect(await sums()).toEqual({ usage: 11, traffic: 11, wakes: 11 });
    },
  );

  test.each([1, 2, 3, 4])(
    'are added once each, though several settle what is owed at the same moment (%i)',
    async (seed) => {
      await whole.instances.create(instance('a'), START, entry());
      let isCut = true;
      const loss = seededLoss(seed, 3);
      const { registry } = lossyRegistry(whole, () => (isCut ? (loss() === null ? null : 'request') : null));
      const certain = withAnswers(registry, { pausesMs: [] });
      for (let n = 0; n < 10; n += 1) await Promise.all([1, 2, 3, 4].map(() => certain.wakeTimes.add([bucket])));
      isCut = false;
      await certain.wakeTimes.add([bucket]);
      expect((await sums()).wakes).toBe(41);
    },
  );

  test('fail when too many of them are owed, and none of those is lost', async () => {
    await whole.instances.create(instance('a'), START, entry());
    let isCut = true;
    const { registry } = lossyRegistry(whole, () => (isCut ? 'request' : null));
    const certain = withAnswers(registry, { pausesMs: [] });
    let taken = 0;
    for (let n = 0; n < 150; n += 1) {
      try {
        await certain.wakeTimes.add([bucket]);
        taken += 1;
      } catch {
        // Its caller keeps it.
      }
    }
    expect(taken).toBe(100);
    isCut = false;
    await certain.wakeTimes.add([bucket]);
    expect((await sums()).wakes).toBe(101);
  });
});
