import { expect, test, vi } from 'vitest';
import { utcDay } from '../../base/clock.ts';
import { isWinterdockError } from '../../base/errors.ts';
import { entry } from '../../registry/testing/fixtures.ts';
import { instanceId } from '../../testing/plain-ids.ts';
import type { InstanceProcess } from '../../workers/protocol/instance.ts';
import { stage } from '../testing/stage.ts';
import { observeOpens, REQUEST } from '../testing/test-engine.ts';

const at = stage();
/** A script that takes processor time until its limit. */
const BURN = 'while true; do :; done';
const changed = entry({ type: 'tenant.changed', tenant: 'acme' });

/** Awake before: a call waits for its wake no longer than it may take. */
async function burn(id: string, timeoutMs: number) {
  await at.dock.sandboxes.resume(id, REQUEST);
  return at.dock.sandboxes.exec(id, { command: BURN, timeoutMs }, REQUEST);
}
const used = (tenant: string) => at.dock.registry.cpuUse.of(tenant, utcDay(at.dock.clock));

/** Burns until so much has been counted: on a busy machine a loop gets little of the processors. */
async function burnUntil(id: string, seconds: number): Promise<void> {
  while ((await used('acme')) <= seconds) {
    try {
      await burn(id, 400);
    } catch (error) {
      // What it has used is known before it is written.
      if (isWinterdockError(error) && error.code === 'quota_exceeded') return;
      throw error;
    }
    await at.dock.sandboxes.tick();
  }
}
const limit = (maxDailyCpuSeconds: number | null) =>
  at.dock.registry.quotas.set('acme', { maxDailyCpuSeconds }, changed);

test('what processes take is counted for their tenant and day, over suspensions and a restart', async () => {
  await at.dock.create('busy', { tenant: 'acme' });
  await at.dock.create('idle', { tenant: 'globex' });
  const processes = new Map<string, InstanceProcess>();
  observeOpens(at.dock.pool, (process, { id }) => processes.set(id, process));
  for (const id of ['busy', 'idle']) await at.dock.run(id, 'true');
  /** What the idle one took itself: a process tidies up after its calls. */
  const ranIdle = () => processes.get('idle')?.cpuSeconds() ?? 0;
  await at.dock.sandboxes.tick();
  const before = await used('globex');
  const ranBefore = ranIdle();
  expect(ranBefore).toBeGreaterThan(0);
  await burnUntil('busy', 0.1);
  const first = await used('acme');
  expect(first).toBeGreaterThan(0.1);
  expect(first).toBeLessThan(2);
  expect(await used('globex')).toBeLessThan(before + ranIdle() - ranBefore + 0.05);
  // Not measured by a round: the suspension does it.
  do {
    await burn('busy', 700);
    await at.dock.sandboxes.suspend('busy', REQUEST);
    await at.restart();
  } while ((await used('acme')) <= first + 0.1);
  expect(at.dock.sandboxes.totalsByTenant.size).toBe(0);
});

const hoursOf = (id: string) => at.dock.registry.usage.ofSandbox(instanceId(id), 0, 1e9);

test('calls, time and memory of each sandbox add up to those of its tenant and of the server, over a kill too', async () => {
  for (const id of ['one', 'two']) await at.dock.create(id, { tenant: 'acme' });
  await at.dock.create('other', { tenant: 'globex' });
  for (const id of ['one', 'one', 'two', 'other']) await at.dock.run(id, 'true');
  await burn('one', 300);
  let asked = 0;
  // The memory of each process is measured every two seconds.
  await vi.waitFor(
    async () => {
      await at.dock.sandboxes.tick();
      expect(at.dock.sandboxes.memoryByTenant.get('acme') ?? 0).toBeGreaterThan(2e6);
      asked += 1;
      await at.dock.run('one', 'true');
      expect((await hoursOf('one'))[0]?.memoryBytes).toBeGreaterThan(1e6);
    },
    { timeout: 240_000, interval: 500 },
  );
  await at.dock.sandboxes.tick();
  at.dock.clock.advance(3600);
  await at.dock.run('two', 'true');
  await at.dock.put('two', '/a', 'written');
  await at.dock.sandboxes.tick();
  const [one] = await hoursOf('one');
  const two = await hoursOf('two');
  expect(two.map(({ calls }) => calls)).toEqual([1, 2]);
  expect(one?.calls).toBe(3 + asked);
  expect(one?.cpuMs).toBeGreaterThan(10);
  expect(two[1]?.bytes).toBeGreaterThan(0);
  const sums = async () => {
    const hours = (await Promise.all(['one', 'two', 'other'].map(hoursOf))).flat();
    const { hours: server } = await at.dock.registry.usage.ofTenant(null, 0, 1e9);
    const { hours: acme } = await at.dock.registry.usage.ofTenant('acme', 0, 1e9);
    const sum = (rows: { cpuMs: number; calls: number }[]) =>
      rows.reduce((total, { cpuMs, calls }) => ({ cpuMs: total.cpuMs + cpuMs, calls: total.calls + calls }), {
        cpuMs: 0,
        calls: 0,
      });
    return { sandboxes: sum(hours), server: sum(server), acme: sum(acme) };
  };
  const saved = await sums();
  expect(saved.server).toEqual(saved.sandboxes);
  expect(await used('acme')).toBeCloseTo(saved.acme.cpuMs / 1000, 6);
  // What was not saved is lost with a killed server; what was saved is neither lost nor added again.
  await at.dock.run('two', 'true');
  await at.dock.abandon();
  await at.restart();
  expect(await sums()).toEqual(saved);
  await at.dock.run('two', 'true');
  await at.dock.sandboxes.tick();
  const after = await sums();
  expect(after.server).toEqual(after.sandboxes);
  expect(after.acme.calls).toBe(saved.acme.calls + 1);
});

test('the start of a worker is not its tenant’s time', async () => {
  await at.dock.create('light', { tenant: 'light' });
  await at.dock.run('light', 'true');
  await at.dock.sandboxes.tick();
  await at.dock.sandboxes.suspend('light', REQUEST);
  // A start takes ten times as much.
  expect(await used('light')).toBeLessThan(0.06);
});

test('a tenant that has used up its day runs nothing more, wakes nothing, and others go on', async () => {
  for (const id of ['a', 'b']) await at.dock.create(id, { tenant: 'acme' });
  await at.dock.create('c', { tenant: 'globex' });
  await at.dock.put('a', '/kept', 'kept');
  for (const id of ['a', 'c']) await at.dock.run(id, 'true');
  await limit(1);
  await burnUntil('a', 1);
  const refused = { code: 'quota_exceeded', extra: { quota: 'max_daily_cpu_s', limit: 1 } };
  await expect(at.dock.run('a', 'true')).rejects.toMatchObject(refused);
  await expect(at.dock.sandboxes.eval('a', { language: 'js', code: '1' }, REQUEST)).rejects.toMatchObject(refused);
  const opens: string[] = [];
  observeOpens(at.dock.pool, (_, { id }) => opens.push(id));
  await expect(at.dock.run('b', 'true')).rejects.toMatchObject(refused);
  expect(opens).toEqual([]);
  expect(await at.dock.run('c', 'echo on')).toBe('on\n');
  // What it has stays reachable.
  expect(await at.dock.get('a', '/kept')).toBe('kept');
  await at.dock.put('a', '/kept', 'changed');
  const lines = (await at.dock.registry.ledger.page({ instance: 'b', type: 'exec.refused' }, 5)).rows;
  expect(lines).toMatchObject([{ trigger: 'quota', error: expect.stringContaining('processor time') }]);

  // A restart forgives nothing; the next day does, and so does a higher quota.
  await at.restart();
  await expect(at.dock.run('a', 'true')).rejects.toMatchObject(refused);
  await limit(1000);
  expect(await at.dock.run('a', 'cat kept')).toBe('changed');
  await limit(1);
  await expect(at.dock.run('a', 'true')).rejects.toMatchObject(refused);
  const midnight = 86_400 - (Math.floor(at.dock.clock.now() / 1000) % 86_400);
  await expect(at.dock.run('a', 'true')).rejects.toMatchObject({ retryAfterSeconds: midnight });
  at.dock.clock.advance(midnight - 1);
  await expect(at.dock.run('a', 'true')).rejects.toMatchObject({ retryAfterSeconds: 1 });
  at.dock.clock.advance(1);
  expect(await at.dock.run('a', 'cat kept')).toBe('changed');
});
