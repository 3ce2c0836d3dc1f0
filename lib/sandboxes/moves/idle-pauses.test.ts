import { readFileSync, rmSync } from 'node:fs';
import { beforeEach, expect, test } from 'vitest';
import { epochSeconds } from '../../base/clock.ts';
import { withTiming } from '../../base/timing.ts';
import { ledgerEntry } from '../../registry/ledger-entry.ts';
import { instanceId } from '../../testing/plain-ids.ts';
import type { InstanceProcess } from '../../workers/protocol/instance.ts';
import { stage } from '../testing/stage.ts';
import { liveFile, observeOpens, REQUEST } from '../testing/test-engine.ts';
import { keptMemoryInWords } from './idle-pauses.ts';

const at = stage();
const processes = new Map<string, InstanceProcess>();

beforeEach(() => {
  processes.clear();
  observeOpens(at.dock.pool, (process, { id }) => processes.set(id, process));
});

/** Wakes a sandbox that then has a file and a file in tmp. */
async function hot(id: string, extra: Parameters<typeof at.dock.create>[1] = {}): Promise<void> {
  await at.dock.create(id, extra);
  await at.dock.run(id, 'echo kept > kept; echo scratch > /tmp/t');
}

/** A sandbox that is warm after it idled for 30 seconds. */
async function warm(id: string): Promise<void> {
  await hot(id);
  at.dock.clock.advance(30);
  await at.dock.sandboxes.tick();
  expect(await at.thermalOf(id)).toBe('warm');
}

const thermalLines = async (id: string) =>
  (await at.dock.registry.ledger.page({ instance: id }, 500)).rows
    .reverse()
    .filter(({ type }) => type.startsWith('thermal.'));

function kernelState(id: string): string | undefined {
  return /^State:\s+(\w)/m.exec(readFileSync(`/proc/${processes.get(id)?.pid}/status`, 'utf8'))?.[1];
}

test('a sandbox goes warm after 30 idle seconds and not before, and stays active', async () => {
  await hot('a');
  at.dock.clock.advance(29);
  await at.dock.sandboxes.tick();
  expect(await at.thermalOf('a')).toBe('hot');
  at.dock.clock.advance(1);
  await at.dock.sandboxes.tick();
  expect([await at.thermalOf('a'), await at.stateOf('a')]).toEqual(['warm', 'active']);
  await expect.poll(() => kernelState('a')).toBe('T');
  expect(await thermalLines('a')).toMatchObject([
    {
      type: 'thermal.warm',
      trigger: 'idle',
      via: 'ticker',
      reason: expect.stringMatching(/^idle for 30 s; its process had [\d.]+ MiB of its own and kept [\d.]+ MiB$/),
    },
  ]);
});

test('a call continues it with its tmp, and says so: woke, milliseconds, Server-Timing and ledger', async () => {
  await warm('a');
  const { answer, parts } = await withTiming(async (parts) => ({
    answer: await at.dock.sandboxes.exec('a', { command: 'cat kept /tmp/t' }, REQUEST),
    parts,
  }));
  expect(answer).toMatchObject({ stdout: 'kept\nscratch\n', woke: 'warm', from: null });
  expect(answer.wokeMs).toBeGreaterThan(0);
  expect(parts.get('thaw')).toBe(answer.wokeMs);
  expect(await at.dock.sandboxes.exec('a', { command: 'true' }, REQUEST)).toMatchObject({ woke: 'hot', wokeMs: 0 });
  await expect.poll(() => thermalLines('a')).toHaveLength(2);
  expect((await thermalLines('a'))[1]).toMatchObject({ type: 'thermal.wake', tookMs: answer.wokeMs });
  expect(await at.thermalOf('a')).toBe('hot');
});

test('a streaming call is told that it woke a warm sandbox before any output', async () => {
  await warm('a');
  const events: string[] = [];
  await at.dock.sandboxes.exec('a', { command: 'echo one; echo two' }, REQUEST, {
    onWoke: ({ woke }) => events.push(woke),
    onOutput: ({ text }) => events.push(text),
  });
  expect([events[0], events.slice(1).join('')]).toEqual(['warm', 'one\ntwo\n']);
});

test('a resume and a write continue it', async () => {
  await warm('a');
  expect(await at.dock.sandboxes.resume('a', REQUEST)).toMatchObject({ path: 'warm', source: null });
  expect(await at.thermalOf('a')).toBe('hot');
  at.dock.clock.advance(30);
  await at.dock.sandboxes.tick();
  expect(await at.thermalOf('a')).toBe('warm');
  await at.dock.put('a', '/written', 'written');
  expect(await at.thermalOf('a')).toBe('hot');
  expect(await at.dock.get('a', '/written')).toBe('written');
});

test('a read of a warm sandbox continues nothing', async () => {
  await warm('a');
  expect(await at.dock.get('a', '/kept')).toBe('kept\n');
  expect(await at.thermalOf('a')).toBe('warm');
  await expect.poll(() => kernelState('a')).toBe('T');
});

test('a running call, an open terminal and keep_hot keep it hot; its end starts the clock', async () => {
  await hot('kept', { keepHot: true });
  await hot('attached');
  await at.dock.sandboxes.attach('attached', 'terminal');
  await hot('running');
  const running = at.dock.sandboxes.exec('running', { command: 'sleep 1; echo ran' }, REQUEST);
  at.dock.clock.advance(40);
  await at.dock.sandboxes.attach('attached', 'terminal');
  await at.dock.sandboxes.tick();
  for (const id of ['kept', 'attached', 'running']) expect([id, await at.thermalOf(id)]).toEqual([id, 'hot']);
  expect(await running).toMatchObject({ stdout: 'ran\n', woke: 'hot' });
  at.dock.sandboxes.detach('attached', 'terminal');
  at.dock.clock.advance(29);
  await at.dock.sandboxes.tick();
  for (const id of ['kept', 'attached', 'running']) expect([id, await at.thermalOf(id)]).toEqual([id, 'hot']);
  at.dock.clock.advance(1);
  await at.dock.sandboxes.tick();
  expect(await at.thermalOf('kept')).toBe('hot');
  for (const id of ['attached', 'running']) expect([id, await at.thermalOf(id)]).toEqual([id, 'warm']);
});

test('the row of a sandbox that is kept hot is read once, and again when its settings change', async () => {
  await hot('a', { keepHot: true });
  at.dock.clock.advance(60);
  await at.dock.sandboxes.tick();
  const looks: string[] = [];
  const { commitEvents, instances } = at.dock.registry;
  const get = instances.get.bind(instances);
  instances.get = (id) => {
    // While it is not heard what others change, nothing is kept.
    if (commitEvents.mayCache) looks.push(id);
    return get(id);
  };
  await at.dock.sandboxes.tick();
  await at.dock.sandboxes.tick();
  expect(looks).toEqual([]);
  const changed = ledgerEntry(at.dock, { id: instanceId('a'), tenant: 'acme' }, REQUEST, 'settings.changed');
  await instances.patch('a', { keepHot: false }, epochSeconds(at.dock.clock), changed);
  await at.dock.sandboxes.tick();
  expect(await at.thermalOf('a')).toBe('warm');
});

test('the seconds of a sandbox go before those of its tenant, and 0 is never', async () => {
  const { thresholds } = at.dock.registry;
  await hot('own', { hotToWarmSeconds: 5 });
  await hot('never', { hotToWarmSeconds: 0 });
  await hot('tenant');
  at.dock.clock.advance(5);
  await at.dock.sandboxes.tick();
  const thermals = () => Promise.all(['own', 'never', 'tenant'].map((id) => at.thermalOf(id)));
  expect(await thermals()).toEqual(['warm', 'hot', 'hot']);
  await thresholds.setOfTenant('acme', { hotToWarmSeconds: 4 }, ledgerEntry(at.dock, null, REQUEST, 'tenant.changed'));
  await at.dock.sandboxes.tick();
  expect(await thermals()).toEqual(['warm', 'hot', 'warm']);
  at.dock.clock.advance(600);
  await at.dock.sandboxes.tick();
  expect(await thermals()).toEqual(['warm', 'hot', 'warm']);
});

test('with WB_HOT_TO_WARM=0 nothing goes warm', async () => {
  await at.restart({ environment: { WB_HOT_TO_WARM: '0' } });
  await hot('a');
  at.dock.clock.advance(600);
  await at.dock.sandboxes.tick();
  expect(await at.thermalOf('a')).toBe('hot');
});

test('the ladder suspends a warm sandbox by the time since its last use, and asks it nothing before', async () => {
  await warm('a');
  at.dock.clock.advance(870);
  await expect.poll(() => kernelState('a')).toBe('T');
  await at.dock.sandboxes.tick();
  expect(await at.transitionsOf('a')).toContain('active suspended idle');
  expect(await at.dock.get('a', '/kept')).toBe('kept\n');
  expect(await at.thermalOf('a')).toBe('cold');
});

test.each(['suspended', 'frozen', 'archived'] as const)('a warm sandbox is filed to %s and wakes again', async (to) => {
  await warm('a');
  await at.dock.sandboxes.runPlan('a', to, REQUEST);
  expect(await at.stateOf('a')).toBe(to);
  await at.dock.sandboxes.resume('a', REQUEST);
  expect(await at.dock.run('a', 'cat kept; ls /tmp')).toBe('kept\n');
  expect(await at.dock.registry.instances.get('a')).toMatchObject({ state: 'active', fault: null });
});

test('a stop suspends warm sandboxes, and a snapshot copies one without continuing it', async () => {
  await warm('a');
  const copy = await at.dock.sandboxes.copyOut('a', `${at.folder}/copy.sqlite`, { volumes: ['workspace'] });
  expect(copy).toMatchObject({});
  expect(await at.thermalOf('a')).toBe('warm');
  await at.restart();
  expect(await at.stateOf('a')).toBe('suspended');
  expect(await at.dock.get('a', '/kept')).toBe('kept\n');
});

test('a warm process that is killed from outside is settled as any other, and the next call wakes the sandbox', async () => {
  await warm('a');
  await at.dock.put('a', '/more', 'more');
  at.dock.clock.advance(30);
  await at.dock.sandboxes.tick();
  expect(await at.thermalOf('a')).toBe('warm');
  process.kill(processes.get('a')?.pid ?? 0, 'SIGKILL');
  expect(await at.dock.run('a', 'cat kept more; ls /tmp')).toBe('kept\nmore');
});

test('a live file that was removed under a warm process is saved from what the process has open', async () => {
  await warm('a');
  rmSync(liveFile(at.dock, 'a'));
  await at.dock.sandboxes.suspend('a', REQUEST);
  expect(await at.dock.get('a', '/kept')).toBe('kept\n');
});

test('after the clock was set back a sandbox goes warm 30 seconds after that', async () => {
  await hot('a');
  at.dock.clock.advance(-3600);
  await at.dock.sandboxes.tick();
  expect(await at.thermalOf('a')).toBe('hot');
  at.dock.clock.advance(30);
  await at.dock.sandboxes.tick();
  expect(await at.thermalOf('a')).toBe('warm');
});

test('while a wake is under way nothing is paused', async () => {
  await hot('a');
  at.dock.clock.advance(30);
  const claim = at.dock.pool.claim();
  await at.dock.sandboxes.tick();
  expect(await at.thermalOf('a')).toBe('hot');
  claim.release();
  await at.dock.sandboxes.tick();
  expect(await at.thermalOf('a')).toBe('warm');
});

test('calls that come while sandboxes go warm are all answered, in their order', async () => {
  await hot('a');
  for (let round = 0; round < 10; round += 1) {
    at.dock.clock.advance(30);
    const ticking = at.dock.sandboxes.tick();
    await new Promise((resolve) => setTimeout(resolve, round * 8));
    const calls = [1, 2, 3].map((each) => at.dock.run('a', `echo ${round}.${each} >> order`));
    await Promise.all([ticking, ...calls]);
  }
  const expected = Array.from({ length: 10 }, (_, round) => [1, 2, 3].map((each) => `${round}.${each}\n`).join(''));
  expect(await at.dock.run('a', 'cat order')).toBe(expected.join(''));
});

test('a pause is told as it was, also when it gave nothing back', () => {
  const MIB = 1024 * 1024;
  const told = (before: number, after: number) =>
    keptMemoryInWords({ beforeBytes: before * MIB, afterBytes: after * MIB });
  expect(told(12, 9.5)).toBe('its process had 12.0 MiB of its own and kept 9.5 MiB');
  expect(told(9.5, 9.5)).toBe('its process has 9.5 MiB of its own and gave none back');
  expect(told(9.5, 12)).toBe('its process has 12.0 MiB of its own and gave none back');
});
