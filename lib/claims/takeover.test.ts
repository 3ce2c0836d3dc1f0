/**
 * Two hosts over one registry. The first one dies at each of its calls to the registry, once before it took effect and
 * once after; the second takes over when the claims of the first are over, and nothing is lost or done against policy.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { FakeClock } from '../base/clock.ts';
import { createLogger } from '../base/log.ts';
import { openSecretSealer } from '../base/sealed-secrets.ts';
import { JobRunner } from '../jobs/runner.ts';
import { createAddressPolicy } from '../outgoing/address-policy.ts';
import { type HttpsReceiver, startHttpsReceiver } from '../outgoing/testing/https-receiver.ts';
import type { Registry } from '../registry/registry.ts';
import { registryOfTestRun } from '../registry/testing/delayed-registry.ts';
import { entry, instance, START } from '../registry/testing/fixtures.ts';
import { openRegistryOfTests, registryOfTests } from '../registry/testing/registry-of-tests.ts';
import type { SandboxCalls } from '../schedules/execution.ts';
import { Scheduler } from '../schedules/scheduler.ts';
import { instanceId } from '../testing/plain-ids.ts';
import { WebhookCourier } from '../webhooks/courier.ts';
import type { Claims } from './claims.ts';
import { claimsOf } from './testing/claims-of.ts';
import { type Death, type Life, mortal } from './testing/mortal.ts';
import { addSchedule, addWebhook } from './testing/open-work.ts';

let folder: string;
let receiver: HttpsReceiver;
let clock: FakeClock;
let nowMs: number;
let opened: Registry[];
/** What was done in sandboxes, by host. */
let ran: string[];
/** Resolves what a sandbox does; a test may hold it up. */
let acts: (host: string) => Promise<void>;

beforeAll(async () => {
  receiver = await startHttpsReceiver(['localhost']);
});
afterAll(() => receiver.stop());
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-takeover-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** A new registry with a sandbox, and a clock that stands. */
async function begin(): Promise<void> {
  for (const registry of opened ?? []) await registry.close();
  rmSync(folder, { recursive: true });
  mkdirSync(folder);
  await registryOfTests(folder);
  clock = new FakeClock(START * 1000);
  nowMs = 7;
  ran = [];
  acts = async () => {};
  opened = [];
  receiver.received.splice(0);
  receiver.answer = (_request, response) => response.writeHead(204).end();
}

async function open(): Promise<Registry> {
  const registry = await openRegistryOfTests(folder, { clock, follow: true });
  opened.push(registry);
  return registryOfTestRun(registry);
}
afterEach(async () => {
  for (const registry of opened) await registry.close();
});

interface TestHost {
  registry: Registry;
  life: Life;
  claims: Claims;
  runner: JobRunner;
  scheduler: Scheduler;
  courier: WebhookCourier;
}

/** The work that any host may do, of one host. */
async function hostOf(name: string, death: Death | null = null): Promise<TestHost> {
  const life = { calls: 0, underWay: 0, isDead: false };
  const registry = mortal(await open(), death, life);
  const log = createLogger('silent');
  const claims = claimsOf(registry, { name, monotonicMs: () => nowMs });
  // What sandboxes do is counted here, and done with real ones in lib/schedules.
  const sessions = {
    exec: async () => {
      ran.push(name);
      await acts(name);
      return { stdout: '', stderr: '', exitCode: 0, timedOut: false };
    },
    read: async () => ({ stat: null, content: null }),
    write: async () => ({}),
    live: () => ({ attached: 0 }),
  };
  const config = {
    tickMs: 3_600_000,
    maxCallMs: 60_000,
    scheduleSpreadSeconds: 0,
    schedulesPerSandbox: 10,
    schedulesPerTenant: 10,
    webhookHistory: 100,
    jobsKeepDays: 30,
    maxActive: 10,
    poolSize: 0,
  };
  const base = { claims, clock, log, registry, config };
  // Its rounds are the test's: none is planned by the time of this machine.
  const earliest = async () => {
    await registry.schedules.earliest();
    return null;
  };
  const guard = createAddressPolicy([`https://localhost:${receiver.port}`]);
  return {
    registry,
    life,
    claims,
    runner: new JobRunner({
      ...base,
      host: { name: 'one' },
      sandboxes: sessions as never,
      pool: { active: 0, ready: 0, shortage: null },
    }),
    scheduler: new Scheduler({
      ...base,
      registry: { ...registry, schedules: { ...registry.schedules, earliest } },
      sandboxes: sessions as unknown as SandboxCalls,
      room: { noteUse: () => {}, wait: async () => true },
      observe: () => {},
    }),
    courier: new WebhookCourier({
      ...base,
      guard,
      sealer: openSecretSealer(folder),
      dataOf: ({ seq }) => ({ seq }),
      userAgent: 'test',
    }),
  };
}

/** Time passes, and a host that lives looks every ten seconds. */
async function pass(seconds: number, ...looking: TestHost[]): Promise<void> {
  for (let left = seconds; left > 0; left -= 10) {
    nowMs += 10_000;
    clock.advance(10);
    for (const { claims } of looking) await claims.tick();
  }
}

/** Waits until a host has died, or what it does is done. */
async function doneOrDead({ life }: TestHost, done: Promise<unknown>): Promise<void> {
  const dead = (async () => {
    while (!life.isDead) await new Promise((resolve) => setTimeout(resolve, 1));
  })();
  await Promise.race([done, dead]);
  if (!life.isDead) return;
  // What was under way when it died comes to its end as far as it gets.
  while (life.underWay > 0) await new Promise((resolve) => setTimeout(resolve, 1));
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setTimeout(resolve, 1));
}

/** Each call at which a host can die, until it gets through without. */
async function atEachCall(attempt: (death: Death) => Promise<TestHost>): Promise<number> {
  let deaths = 0;
  for (let at = 1; ; at += 1) {
    for (const isAfter of [false, true]) {
      await begin();
      const { life } = await attempt({ at, isAfter });
      if (!life.isDead) return deaths;
      deaths += 1;
    }
    expect(at).toBeLessThan(500);
  }
}

/** Begins, and has looked for what is due: nothing yet. */
async function look({ claims, scheduler }: TestHost): Promise<void> {
  await claims.start();
  await scheduler.start();
  // The round that it begins by itself begins before this one.
  await new Promise((resolve) => setTimeout(resolve, 5));
  await scheduler.tick();
}

async function fire({ claims, scheduler }: TestHost): Promise<void> {
  await claims.start();
  await scheduler.start();
  await scheduler.tick();
  await scheduler.idle();
}

const resultsIn = async (registry: Registry) =>
  (await registry.schedules.runs('s', 50)).rows.map(({ result }) => result).reverse();

describe('a firing', () => {
  test.each(['skip', 'once', 'all'] as const)(
    'whose host dies at any call is never under way for ever, and with missed: %s repeated only as that says',
    async (missed) => {
      const seen = new Set<string>();
      const deaths = await atEachCall(async (death) => {
        const one = await hostOf('one', death);
        const two = await hostOf('two');
        await addSchedule(opened[1] as Registry, missed);
        await look(two);
        clock.advance(5);
        await doneOrDead(one, fire(one));
        const rounds = async (most: number) => {
          for (let round = 0; round < most; round += 1) {
            await pass(10, two);
            await two.scheduler.tick();
            await two.scheduler.idle();
          }
        };
        await rounds(6);
        await vi.waitFor(async () => {
          await rounds(1);
          const results = await resultsIn(two.registry);
          const where = `${death.at} ${death.isAfter}: ${results} ${ran}`;
          expect((await two.registry.schedules.get('s'))?.run, where).toBeNull();
          expect(await two.registry.schedules.interrupted(), where).toEqual([]);
          const claimed = (await two.registry.claims.list()).filter(({ kind }) => kind === 'firing');
          expect(claimed, where).toEqual([]);
          const [lost] = results;
          if (lost === 'lost') expect(results, where).toEqual(missed === 'skip' ? ['lost'] : ['lost', 'done']);
          else expect(results, where).toEqual(['done']);
          if (missed === 'skip') expect(ran.length, where).toBeLessThanOrEqual(1);
          else expect(ran.length, where).toBeGreaterThanOrEqual(1);
          expect(ran.length, where).toBeLessThanOrEqual(2);
          seen.add(String(results));
        }, 240_000);
        await two.scheduler.end();
        await two.claims.stop();
        return one;
      });
      expect(deaths).toBeGreaterThan(15);
      expect(seen.size).toBe(2);
    },
  );

  test('that two hosts find due at the same moment runs once', async () => {
    await begin();
    const hosts = [await hostOf('one'), await hostOf('two')];
    await addSchedule(opened[0] as Registry, 'skip');
    clock.advance(5);
    await Promise.all(hosts.map(fire));
    expect(ran).toHaveLength(1);
    expect(await resultsIn(opened[0] as Registry)).toEqual(['done']);
    for (const { scheduler, claims } of hosts) {
      await scheduler.end();
      await claims.stop();
    }
  });

  test('of a host that was paused beyond its claim is settled by the other, and the first writes nothing of it', async () => {
    await begin();
    const one = await hostOf('one');
    const two = await hostOf('two');
    await addSchedule(opened[0] as Registry, 'skip');
    await look(two);
    clock.advance(5);
    let goOn = () => {};
    const began = new Promise<void>((began) => {
      acts = () => {
        began();
        return new Promise<void>((resolve) => {
          goOn = resolve;
        });
      };
    });
    const firing = fire(one);
    await began;
    await pass(50, two);
    await vi.waitFor(async () => expect(await resultsIn(two.registry)).toEqual(['lost']), 240_000);
    const before = [await two.registry.schedules.get('s'), await two.registry.ledger.lastSeq()];
    goOn();
    await firing;
    expect([await two.registry.schedules.get('s'), await two.registry.ledger.lastSeq()]).toEqual(before);
    expect(await resultsIn(two.registry)).toEqual(['lost']);
    expect(ran).toEqual(['one']);
    for (const { scheduler, claims } of [one, two]) {
      await scheduler.end();
      await claims.stop();
    }
  });
});

test('a job whose host dies at any call is carried on by the other, and each sandbox has one result', async () => {
  const deaths = await atEachCall(async (death) => {
    const one = await hostOf('one', death);
    const two = await hostOf('two');
    const [, registry] = opened as [Registry, Registry];
    for (let nth = 0; nth < 5; nth += 1) await registry.instances.create(instance(`sb-${nth}`), START, entry());
    const rows: number[] = [];
    for await (const piece of await registry.jobs.select({ filter: { tenant: 'acme' } })) {
      rows.push(...piece.map(({ row }) => row));
    }
    const asked = { verb: 'label', reason: null, labels: { done: 'yes' }, request: {}, includeHeld: false } as const;
    const by = { tenants: ['acme'], actor: 'key:test', via: 'api', address: null, created: START } as const;
    const job = await registry.jobs.add({ id: 'j-1', ...asked, ...by }, Uint32Array.from(rows), [], entry());
    await two.claims.start();
    const work = async () => {
      await one.claims.start();
      await one.runner.take(job);
      while ((await one.registry.jobs.get('j-1'))?.state === 'running') {
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    };
    await doneOrDead(one, work());
    await two.claims.tick();
    await two.runner.start();
    await pass(90, two);
    await vi.waitFor(async () => expect((await registry.jobs.get('j-1'))?.state).toBe('done'), 240_000);
    const where = `${death.at} ${death.isAfter}`;
    const ended = await registry.jobs.get('j-1');
    expect([ended?.chosen, (ended?.done ?? 0) + (ended?.skipped ?? 0), ended?.failed], where).toEqual([5, 5, 0]);
    for (let nth = 0; nth < 5; nth += 1) {
      expect((await registry.instances.get(instanceId(`sb-${nth}`)))?.labels, where).toEqual({ done: 'yes' });
    }
    expect((await registry.ledger.page({ type: 'instance.changed' }, 50)).rows, where).toHaveLength(5);
    expect((await registry.ledger.page({ type: 'job.done' }, 50)).rows, where).toHaveLength(1);
    await two.runner.stop();
    await two.claims.stop();
    expect(
      (await registry.claims.list()).filter(({ host }) => host === 'two'),
      where,
    ).toEqual([]);
    return one;
  });
  expect(deaths).toBeGreaterThan(15);
});

async function deliver({ claims, courier }: TestHost): Promise<void> {
  await claims.start();
  await courier.tick();
  await courier.idle();
}

const idsReceived = () => receiver.received.map(({ headers }) => String(headers['webhook-id']));

test('a delivery whose host dies at any call comes at least once, always with the same id', async () => {
  const deaths = await atEachCall(async (death) => {
    const one = await hostOf('one', death);
    const two = await hostOf('two');
    const [, registry] = opened as [Registry, Registry];
    await addWebhook(registry, { port: receiver.port, folder });
    await two.claims.start();
    await doneOrDead(one, deliver(one));
    for (let round = 0; round < 6; round += 1) {
      await pass(10, two);
      await two.courier.tick();
      await two.courier.idle();
    }
    const where = `${death.at} ${death.isAfter}`;
    const { rows } = await registry.webhooks.deliveries('wh-1', undefined, 50);
    expect(
      rows.map(({ state }) => state),
      where,
    ).toEqual(['delivered', 'delivered', 'delivered']);
    expect([...new Set(idsReceived())].sort(), where).toEqual(rows.map(({ id }) => id).sort());
    await two.courier.stop();
    await two.claims.stop();
    return one;
  });
  expect(deaths).toBeGreaterThan(15);
});

test('what a host was sending when it was paused is sent again by the other, and the first records nothing of it', async () => {
  await begin();
  const one = await hostOf('one');
  const two = await hostOf('two');
  const registry = opened[1] as Registry;
  await addWebhook(registry, { port: receiver.port, folder });
  await two.claims.start();
  const held: (() => void)[] = [];
  receiver.answer = (_request, response) => void held.push(() => response.writeHead(500).end());
  const sending = deliver(one);
  await receiver.until(3);
  expect((await two.registry.claims.list()).map(({ host }) => host)).toEqual(['one']);
  receiver.answer = (_request, response) => response.writeHead(204).end();
  for (let round = 0; round < 5; round += 1) {
    await pass(10, two);
    await two.courier.tick();
    await two.courier.idle();
  }
  const before = (await registry.webhooks.deliveries('wh-1', undefined, 50)).rows;
  expect(before.map(({ state, attempts }) => [state, attempts])).toEqual(Array(3).fill(['delivered', 1]));
  for (const answer of held) answer();
  await sending;
  expect((await registry.webhooks.deliveries('wh-1', undefined, 50)).rows).toEqual(before);
  expect((await registry.webhooks.get('wh-1'))?.failures).toBe(0);
  expect(idsReceived().slice(0, 3).sort()).toEqual(idsReceived().slice(3).sort());
  for (const { courier, claims } of [one, two]) {
    await courier.stop();
    await claims.stop();
  }
});
