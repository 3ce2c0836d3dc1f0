import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { plan } from '../../lifecycle/plan.ts';
import { STATES, type State } from '../../lifecycle/state-map.ts';
import { namesIn } from '../../testing/files-in.ts';
import { liveFile, REQUEST, startTestEngine, type TestEngine } from '../testing/test-engine.ts';

let folder: string;
let dock: TestEngine;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-plan-'));
  dock = await startTestEngine({ dataFolder: folder });
});
afterEach(async () => {
  await dock.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function make(id: string, state: State): Promise<void> {
  await dock.create(id);
  if (state === 'created') return;
  await dock.put(id, '/kept', 'the work');
  await dock.put(id, '/kept', 'the memory', 'memory');
  await dock.put(id, '/lost', 'the rest', 'tmp');
  if (state !== 'active') await dock.sandboxes.suspend(id, REQUEST);
  if (state === 'frozen' || state === 'archived') await dock.sandboxes.freeze(id, REQUEST);
  if (state === 'archived') await dock.sandboxes.archive(id, REQUEST);
}

const lines = async (id: string, after = 0) =>
  (await dock.registry.ledger.page({ instance: id, type: 'transition' }, 100)).rows
    .filter(({ seq }) => seq > after)
    .reverse();

/**
 * Started workers that were handed out so far cannot be counted from outside: none runs, and the one in the pool is
 * still ready.
 */
const processes = () => dock.pool.active;

const PLANS = (['created', 'suspended', 'frozen', 'archived', 'active'] as const).flatMap((from) =>
  STATES.filter((to) => to !== 'active' && (plan(from, to)?.length ?? 0) > 0).map((to) => [from, to] as const),
);

test.each(PLANS)(
  'a plan takes a sandbox that is %s to %s, each hop in the ledger, without a process',
  async (from, to) => {
    await make('a', from);
    const before = await dock.registry.ledger.lastSeq();
    const running = processes();
    const row = await dock.sandboxes.runPlan('a', to, REQUEST);
    expect(row.state).toBe(to);
    const hops = plan(from, to) ?? [];
    const taken = await lines('a', before);
    expect(taken.map((line) => [line.from, line.to])).toEqual(hops.map((hop, at) => [hops[at - 1] ?? from, hop]));
    expect(new Set(taken.map(({ trigger }) => trigger))).toEqual(new Set([hops.length > 1 ? 'plan' : 'request']));
    expect(taken.some(({ source }) => source !== null)).toBe(false);
    expect(processes()).toBe(from === 'active' ? running - 1 : running);
    if (to === 'deleted') {
      for (const drawer of ['live', 'cold', 'archive']) expect(namesIn(join(folder, drawer))).toEqual([]);
      await expect(dock.sandboxes.resume('a', REQUEST)).rejects.toMatchObject({ code: 'gone' });
      return;
    }
    const drawers = { live: 'a', cold: 'a.sqlite', archive: 'a.sqlite.zst' };
    const expected = to === 'suspended' ? 'live' : to === 'frozen' ? 'cold' : 'archive';
    for (const [drawer, name] of Object.entries(drawers)) {
      expect(namesIn(join(folder, drawer)).includes(name), drawer).toBe(drawer === expected);
    }
    if (from !== 'created') {
      expect(await dock.get('a', '/kept')).toBe('the work');
      expect(await dock.get('a', '/kept', 'memory')).toBe('the memory');
    }
    await dock.sandboxes.resume('a', REQUEST);
    if (from !== 'created') expect(await dock.run('a', 'cat kept /memory/kept; ls /tmp')).toBe('the workthe memory');
    else expect(await dock.run('a', 'echo fresh')).toBe('fresh\n');
  },
);

test('a plan to its own state changes nothing, and a plan that the map does not have is refused with an entry', async () => {
  await make('a', 'suspended');
  const before = await dock.registry.ledger.lastSeq();
  expect((await dock.sandboxes.runPlan('a', 'suspended', REQUEST)).state).toBe('suspended');
  expect(await dock.registry.ledger.lastSeq()).toBe(before);
  await expect(dock.sandboxes.runPlan('a', 'created', REQUEST)).rejects.toMatchObject({ code: 'invalid_transition' });
  expect((await dock.registry.ledger.page({ type: 'plan.refused' }, 5)).rows).toHaveLength(1);
});

test('only a plan passes through active: a verb off the map is refused as ever', async () => {
  await make('a', 'suspended');
  await make('b', 'frozen');
  await expect(dock.sandboxes.archive('a', REQUEST)).rejects.toMatchObject({ code: 'invalid_transition' });
  await expect(dock.sandboxes.suspend('b', REQUEST)).rejects.toMatchObject({ code: 'invalid_transition' });
  await expect(dock.sandboxes.delete('a', REQUEST)).rejects.toMatchObject({ code: 'invalid_transition' });
});

test('another file than the filed one stops a plan where it is, and stops no deletion', async () => {
  await make('a', 'frozen');
  writeFileSync(join(folder, 'cold', 'a.sqlite'), 'rubbish');
  await expect(dock.sandboxes.runPlan('a', 'suspended', REQUEST)).rejects.toMatchObject({ code: 'corrupt' });
  const row = await dock.registry.instances.get('a');
  expect([row?.state, row?.fault, row?.pending]).toEqual(['frozen', 'corrupt', null]);
  expect(namesIn(join(folder, 'live'))).toEqual([]);
  await expect(dock.sandboxes.runPlan('a', 'suspended', REQUEST)).rejects.toMatchObject({ code: 'corrupt' });
  expect((await dock.sandboxes.runPlan('a', 'deleted', REQUEST)).state).toBe('deleted');
});

test('a plan waits for a running call and then stops, unless forced', async () => {
  await make('a', 'active');
  const slow = dock.sandboxes.exec('a', { command: 'sleep 20; echo late' }, REQUEST).catch(() => null);
  await expect.poll(() => dock.sandboxes.callsRunning).toBe(1);
  await expect(dock.sandboxes.runPlan('a', 'deleted', REQUEST)).rejects.toMatchObject({ code: 'conflict' });
  expect((await dock.registry.instances.get('a'))?.state).toBe('active');
  expect((await dock.sandboxes.runPlan('a', 'frozen', REQUEST, { force: true })).state).toBe('frozen');
  await slow;
  expect(namesIn(join(folder, 'live'))).toEqual([]);
  expect(liveFile(dock, 'a')).toContain('a');
});

test('a sandbox in memory is deleted without a trace, and not filed', async () => {
  await dock.create('m', { vfsPath: ':memory:', ephemeral: true });
  await expect(dock.sandboxes.runPlan('m', 'suspended', REQUEST)).rejects.toMatchObject({ code: 'conflict' });
  await dock.run('m', 'echo x > y');
  expect((await dock.sandboxes.runPlan('m', 'deleted', REQUEST)).state).toBe('deleted');
  expect(dock.pool.active).toBe(0);
});
