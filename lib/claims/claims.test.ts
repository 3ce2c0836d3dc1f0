import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createLogger } from '../base/log.ts';
import type { ClaimStore } from '../registry/claims.ts';
import type { Registry } from '../registry/registry.ts';
import { registryOfTestRun } from '../registry/testing/delayed-registry.ts';
import { openRegistryOfTests } from '../registry/testing/registry-of-tests.ts';
import { ClaimedWork, type WorkTurn } from './claimed-work.ts';
import type { Claims } from './claims.ts';
import { claimsOf } from './testing/claims-of.ts';

const SECOND = 1000;
let registry: Registry;
let nowMs: number;
let counts: Record<string, number>;
let isAway: boolean;
let one: Claims;
let two: Claims;

/** The registry, with its calls for claims counted, and away when told so. */
function counted(): Pick<Registry, 'claims'> {
  const methods = Object.entries(registry.claims).map(([name, method]) => [
    name,
    async (...given: unknown[]) => {
      counts[name] = (counts[name] ?? 0) + 1;
      if (isAway) throw new Error('The registry is away.');
      return (method as (...all: unknown[]) => unknown)(...given);
    },
  ]);
  return { claims: Object.fromEntries(methods) as ClaimStore };
}

beforeEach(async () => {
  registry = registryOfTestRun(await openRegistryOfTests(null));
  nowMs = 5;
  counts = {};
  isAway = false;
  one = claimsOf(counted(), { name: 'one', monotonicMs: () => nowMs });
  two = claimsOf(registry, { name: 'two', monotonicMs: () => nowMs });
});
afterEach(async () => {
  isAway = false;
  await one.stop();
  await two.stop();
  await registry.close();
});

/** Time passes for those that look meanwhile, every ten seconds. */
async function pass(seconds: number, ...looking: Claims[]): Promise<void> {
  for (let left = seconds; left > 0; left -= 10) {
    nowMs += Math.min(10, left) * SECOND;
    for (const claims of looking) await claims.tick();
  }
}

test('work that is claimed is nobody else’s for as long as it is renewed, and at once when it is handed back', async () => {
  const held = await one.acquire('job', 'a');
  expect(held?.isOver).toBe(false);
  expect(await one.acquire('job', 'a')).toBeNull();
  await pass(600, one, two);
  expect(await two.acquire('job', 'a')).toBeNull();
  expect(held?.isOver).toBe(false);
  await held?.release();
  expect(held?.isOver).toBe(true);
  await two.tick();
  expect((await two.acquire('job', 'a'))?.isOver).toBe(false);
  expect(await registry.claims.list()).toMatchObject([{ host: 'two' }]);
});

test('work of a host that is gone is another’s after thirty seconds without a renewal, and not before', async () => {
  await one.acquire('job', 'a');
  const freed = vi.fn();
  two.onFree('job', freed);
  await two.tick();
  await pass(20, two);
  expect(await two.acquire('job', 'a')).toBeNull();
  expect(freed).not.toHaveBeenCalled();
  await pass(10, two);
  expect(freed).toHaveBeenCalledTimes(1);
  expect((await two.acquire('job', 'a'))?.isOver).toBe(false);
});

test('a host that comes back after its claim was taken notices before it acts, and hands back nothing of the other’s', async () => {
  const held = await one.acquire('job', 'a');
  await two.tick();
  await pass(30, two);
  const taken = await two.acquire('job', 'a');
  // It has not looked yet, and knows by its own clock.
  expect(held?.isOver).toBe(true);
  expect(held?.signal.aborted).toBe(false);
  await one.tick();
  expect(held?.signal.aborted).toBe(true);
  await held?.release();
  await one.stop();
  expect(taken?.isOver).toBe(false);
  expect(await registry.claims.list()).toMatchObject([{ host: 'two', token: taken?.ticket.token }]);
});

test('a host stops by itself before any other may take its work, whatever the order of their looks', async () => {
  for (let lagMs = 0; lagMs < 12_000; lagMs += 1500) {
    const work = `at ${lagMs}`;
    const held = await one.acquire('job', work);
    nowMs += lagMs;
    await one.tick();
    nowMs += lagMs;
    await two.tick();
    let taken = null;
    for (let step = 0; taken === null; step += 1) {
      expect(step).toBeLessThan(100);
      nowMs += 1000;
      await two.tick();
      taken = await two.acquire('job', work);
      if (taken !== null) expect(held?.isOver).toBe(true);
    }
    await two.stop();
    two = claimsOf(registry, { name: 'two', monotonicMs: () => nowMs });
  }
});

test('while the registry is away claims last for their time, and are lost then', async () => {
  const held = await one.acquire('job', 'a');
  isAway = true;
  await pass(20, one);
  expect([held?.isOver, held?.signal.aborted]).toEqual([false, false]);
  isAway = false;
  await pass(10, one);
  expect(held?.isOver).toBe(false);
  isAway = true;
  await pass(30, one);
  expect([held?.isOver, held?.signal.aborted]).toEqual([true, true]);
});

test('all claims of a host are renewed by one statement, and a host that is alone asks nothing', async () => {
  for (let nth = 0; nth < 200; nth += 1) await one.acquire('job', String(nth));
  await one.keep('deliveries', ['w-1', 'w-2']);
  counts = {};
  await pass(60, one);
  await one.keep('deliveries', ['w-1', 'w-2']);
  expect(counts).toEqual({ renew: 6, list: 6 });

  const alone = claimsOf(counted(), { alone: true, monotonicMs: () => nowMs });
  await alone.start();
  await alone.keep('sealing', ['']);
  counts = {};
  nowMs += 3_600_000;
  expect((await alone.keep('sealing', [''])).get('')?.isOver).toBe(false);
  expect(counts).toEqual({});
  await alone.stop();
});

test('what is kept is shared: each piece has one host, and what one does not keep any more is the other’s', async () => {
  expect([...(await one.keep('deliveries', ['a', 'b'])).keys()]).toEqual(['a', 'b']);
  expect([...(await two.keep('deliveries', ['a', 'b', 'c'])).keys()]).toEqual(['c']);
  await two.tick();
  await one.keep('deliveries', ['b']);
  await two.tick();
  expect([...(await two.keep('deliveries', ['a', 'b', 'c'])).keys()].sort()).toEqual(['a', 'c']);
  await one.stop();
  await two.tick();
  expect((await two.keep('deliveries', ['a', 'b', 'c'])).size).toBe(3);
});

test('a claim that nobody wants is removed at last', async () => {
  await one.acquire('job', 'of nobody');
  await two.tick();
  await pass(300, two);
  expect(await registry.claims.list()).toEqual([]);
});

const workOf = (claims: Claims, carryOut: (item: string, turn: WorkTurn) => Promise<void>, open: () => string[]) =>
  new ClaimedWork<string>({
    claims,
    log: createLogger('silent'),
    kind: 'job',
    what: 'a test',
    keyOf: (item) => item,
    open: async () => open(),
    carryOut,
    pauseMs: () => 1,
  });

test('a piece that is left by a dead host is carried out by the other, and one that is called off ends where it is', async () => {
  const open = new Set(['a']);
  const log: string[] = [];
  const never = async (_: string, turn: WorkTurn) => {
    log.push('one began');
    while (!turn.isOver) await new Promise((resolve) => setTimeout(resolve, 1));
    log.push(`one ended ${turn.claim.isOver}`);
  };
  const first = workOf(one, never, () => [...open]);
  const second = workOf(
    two,
    async (item, turn) => {
      log.push(`two ${item} ${turn.isTakenUp}`);
      open.delete(item);
    },
    () => [...open],
  );
  await first.start();
  await second.start();
  await two.tick();
  // `one` is paused: it does not look.
  await pass(30, two);
  // The first one may hand it back at the same moment: that is seen at the next look.
  await vi.waitFor(async () => {
    await two.tick();
    expect(log).toContain('two a true');
  }, 240_000);
  await second.idle();
  await first.idle();
  expect(log).toEqual(expect.arrayContaining(['one began', 'one ended true', 'two a true']));
  await one.tick();

  log.splice(0);
  open.add('b');
  await first.look();
  expect(log).toEqual(['one began']);
  await second.callOff('b');
  await pass(10, one);
  await first.idle();
  expect(log).toEqual(['one began', 'one ended true']);
  open.clear();
  await first.stop();
  await second.stop();
});

test('what fails is tried again until it is done, and a stop hands back what is under way', async () => {
  let attempts = 0;
  const turns: [boolean, boolean][] = [];
  const work = workOf(
    one,
    async (_, turn) => {
      turns.push([turn.isTakenUp, turn.isAgain]);
      attempts += 1;
      if (attempts < 3) throw new Error('The disk is full.');
    },
    () => [],
  );
  await work.start();
  await work.take('a');
  await work.idle();
  expect(turns).toEqual([
    [false, false],
    [false, true],
    [false, true],
  ]);
  expect(await registry.claims.list()).toEqual([]);
  attempts = Number.NEGATIVE_INFINITY;
  await work.take('b');
  expect(await registry.claims.list()).toHaveLength(1);
  await work.stop();
  expect(await registry.claims.list()).toEqual([]);
  await work.take('c');
  expect(await registry.claims.list()).toEqual([]);
});
