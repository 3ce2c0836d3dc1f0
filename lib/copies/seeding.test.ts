import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemClock } from '../base/clock.ts';
import { WinterdockError } from '../base/errors.ts';
import { createLogger } from '../base/log.ts';
import { claimsOf } from '../claims/testing/claims-of.ts';
import type { CopyStore } from '../registry/copies.ts';
import type { Registry } from '../registry/registry.ts';
import { entry } from '../registry/testing/fixtures.ts';
import { openRegistryOfTests } from '../registry/testing/registry-of-tests.ts';
import { instanceId } from '../testing/plain-ids.ts';
import { Seeding } from './seeding.ts';

/** The most processor time that one turn of the event loop may take, in milliseconds. */
const LONGEST_TURN_MS = 50;
const HASH = 'a'.repeat(64);
const FILE = { size: 8192, inode: '1', mtimeNs: '2', ctimeNs: '3', sha256: HASH, quickCheck: 'ok' };
const CAUSE = {
  trigger: 'request',
  actor: 'key:test',
  via: 'api',
  requestId: 'r',
  address: null,
  reason: null,
} as const;

let folder: string;
let registry: Registry;
const open = () =>
  openRegistryOfTests(folder, {
    thresholds: { hotToWarmSeconds: 0, idleToSuspendSeconds: 900, idleToFreezeSeconds: 86_400 },
  });
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-seeding-'));
  registry = await open();
  await registry.copies.addSnapshot(
    {
      id: 's',
      tenant: 'acme',
      source: instanceId('origin'),
      tag: null,
      hash: HASH,
      bytes: 8192,
      volumes: [],
      file: FILE,
      created: 1,
      actor: 'key:test',
      deleted: null,
      momentMs: null,
    },
    entry(),
  );
});
afterEach(async () => {
  await registry.close();
  rmSync(folder, { recursive: true, force: true });
});

const seedingOn = (copies: CopyStore = registry.copies) =>
  new Seeding({
    claims: claimsOf(registry, { alone: true }),
    clock: systemClock,
    log: createLogger('silent'),
    registry: { ...registry, copies },
    sandboxes: { resume: () => Promise.reject(new Error('nothing is resumed here')) },
  });
const request = (count: number) => ({
  tenant: 'acme',
  count,
  name: 'worker',
  policy: 'posix',
  lineage: { blueprint: null, snapshot: 's', parent: null },
  start: false,
});

/** The longest turn of the event loop during `work`, in milliseconds of processor time, on a busy machine too. */
async function longestTurn(work: () => Promise<unknown>): Promise<number> {
  let isDone = false;
  let longest = 0;
  let last = process.cpuUsage();
  const watch = () => {
    const { user, system } = process.cpuUsage(last);
    longest = Math.max(longest, (user + system) / 1000);
    last = process.cpuUsage();
    if (!isDone) setImmediate(watch);
  };
  setImmediate(watch);
  await work().finally(() => {
    isDone = true;
  });
  watch();
  return longest;
}

test('a thousand sandboxes do not hold the thread for more than fifty milliseconds', async () => {
  const seeding = seedingOn();
  // The first call compiles the statements.
  await seeding.seed({ snapshot: 's' }, { ...request(200), name: null }, CAUSE);
  let made = 0;
  const longest = await longestTurn(async () => {
    made = (await seeding.seed({ snapshot: 's' }, request(1000), CAUSE)).length;
  });
  expect(made).toBe(1000);
  expect((await registry.instances.countsByState()).created).toBe(1200);
  expect(longest).toBeGreaterThan(1);
  expect(longest).toBeLessThan(LONGEST_TURN_MS);
});

test('when the disk fails in the middle the caller is told, and the next start makes those that are left', async () => {
  let calls = 0;
  const failing: CopyStore = {
    ...registry.copies,
    async continueSeeding(first) {
      calls += 1;
      if (calls === 3) throw new WinterdockError('storage_unavailable', 'The registry could not be written: full.');
      return registry.copies.continueSeeding(first);
    },
  };
  const seeding = seedingOn(failing);
  await expect(seeding.seed({ snapshot: 's' }, request(1000), CAUSE)).rejects.toMatchObject({
    code: 'storage_unavailable',
    hint: expect.stringContaining('Do not repeat'),
  });
  await seeding.stop();
  expect((await registry.instances.countsByState()).created).toBe(150);
  await registry.close();
  registry = await open();
  await seedingOn().start();
  expect((await registry.instances.countsByState()).created).toBe(1000);
  const { rows } = await registry.ledger.page({ type: 'snapshot.restored' }, 10);
  expect(rows[0]).toMatchObject({ type: 'snapshot.restored', reason: '1000 made from the snapshot s' });
  expect(await registry.copies.unfinishedSeedings()).toEqual([]);
});
