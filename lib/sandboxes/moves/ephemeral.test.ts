/** Ephemeral sandboxes: they are never suspended or frozen, and keep their contents until their timeout. */
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { JOB_VERBS, planVerb } from '../../lifecycle/job-verbs.ts';
import { namesIn } from '../../testing/files-in.ts';
import { stage } from '../testing/stage.ts';
import { REQUEST } from '../testing/test-engine.ts';

const at = stage();
const TIMEOUT = 60;

beforeEach(async () => {
  await at.dock.create('a', { ephemeral: true, idleToSuspendSeconds: TIMEOUT });
  await at.dock.put('a', '/x', 'kept');
});

test('it is suspended and frozen by no verb and by no plan, not even by force, and the ledger records the refusal', async () => {
  const { sandboxes, registry } = at.dock;
  for (const options of [{}, { force: true }]) {
    await expect(sandboxes.suspend('a', REQUEST, options)).rejects.toMatchObject({ code: 'conflict' });
    await expect(sandboxes.freeze('a', REQUEST, options)).rejects.toMatchObject({ code: 'conflict' });
    await expect(sandboxes.runPlan('a', 'suspended', REQUEST, options)).rejects.toMatchObject({ code: 'conflict' });
    await expect(sandboxes.runPlan('a', 'frozen', REQUEST, options)).rejects.toMatchObject({ code: 'conflict' });
  }
  await expect(sandboxes.suspend('a', REQUEST)).rejects.toThrow(/ephemeral/);
  expect(await at.transitionsOf('a')).toEqual(['created active request']);
  expect(at.dock.pool.active).toBe(1);
  expect(await at.dock.run('a', 'cat x')).toBe('kept');
  for (const type of ['suspend.refused', 'freeze.refused', 'plan.refused']) {
    const { rows } = await registry.ledger.page({ instance: 'a', type }, 10);
    expect(rows[0]?.error, type).toContain('ephemeral');
  }
});

test('one that was never resumed is suspended or frozen by no plan either', async () => {
  await at.dock.create('new', { ephemeral: true });
  await expect(at.dock.sandboxes.runPlan('new', 'frozen', REQUEST)).rejects.toMatchObject({ code: 'conflict' });
  await expect(at.dock.sandboxes.suspend('new', REQUEST)).rejects.toMatchObject({ code: 'conflict' });
  expect(await at.transitionsOf('new')).toEqual([]);
});

test('a job skips it where it would be suspended or frozen, and archives and deletes it like any other', () => {
  for (const verb of JOB_VERBS) {
    const plan = planVerb(verb, { state: 'active', fault: null, inMemory: false, ephemeral: true });
    const any = planVerb(verb, { state: 'active', fault: null, inMemory: false, ephemeral: false });
    if (verb === 'suspend' || verb === 'freeze') expect(plan).toEqual({ skip: expect.stringContaining('ephemeral') });
    else expect(plan).toEqual(any);
  }
});

test('the idle clock takes it from active through archived to deleted at its time, and not before', async () => {
  at.dock.clock.advance(TIMEOUT - 1);
  expect(await at.dock.sandboxes.tick()).toEqual({ moved: 0, failed: 0 });
  at.dock.clock.advance(1);
  await at.dock.sandboxes.tick();
  expect(await at.transitionsOf('a')).toEqual([
    'created active request',
    'active archived idle',
    'archived deleted idle',
  ]);
});

test('one that is archived before its timeout waits there for the same time again, and can be revived until then', async () => {
  await at.dock.sandboxes.archive('a', REQUEST);
  at.dock.clock.advance(TIMEOUT - 1);
  expect(await at.dock.sandboxes.tick()).toEqual({ moved: 0, failed: 0 });
  await at.dock.sandboxes.revive('a', REQUEST);
  expect(await at.dock.run('a', 'cat x')).toBe('kept');
  await at.dock.sandboxes.archive('a', REQUEST);
  at.dock.clock.advance(TIMEOUT);
  await at.dock.sandboxes.tick();
  expect((await at.transitionsOf('a')).at(-1)).toBe('archived deleted idle');
});

test('a stop of the server keeps it: it is there after the start, keeps its timeout, and is then deleted without being frozen', async () => {
  await at.restart({ clock: at.dock.clock });
  expect(await at.dock.run('a', 'cat x')).toBe('kept');
  await at.restart({ clock: at.dock.clock });
  const since = (await at.transitionsOf('a')).length;
  expect((await at.transitionsOf('a')).at(-1)).toBe('active suspended stop');
  at.dock.clock.advance(TIMEOUT - 1);
  expect(await at.dock.sandboxes.tick()).toEqual({ moved: 0, failed: 0 });
  expect(await at.dock.get('a', '/x')).toBe('kept');
  at.dock.clock.advance(1);
  await at.dock.sandboxes.tick();
  expect((await at.transitionsOf('a')).slice(since)).toEqual([
    'suspended active idle',
    'active archived idle',
    'archived deleted idle',
  ]);
  for (const drawer of ['live', 'cold', 'archive']) expect(namesIn(join(at.folder, drawer))).toEqual([]);
});

test('a kill keeps it too: its file is recovered, and the next call finds it', async () => {
  const { clock } = at.dock;
  await at.dock.abandon();
  await at.restart({ clock });
  expect((await at.transitionsOf('a')).at(-1)).toBe('active suspended boot');
  await expect(at.dock.sandboxes.freeze('a', REQUEST)).rejects.toMatchObject({ code: 'conflict' });
  expect((await at.dock.sandboxes.suspend('a', REQUEST)).state).toBe('suspended');
  expect(await at.dock.run('a', 'cat x')).toBe('kept');
});

test('a plan archives one without a process by way of active, and a revive brings it back', async () => {
  await at.restart({ clock: at.dock.clock });
  expect((await at.dock.sandboxes.runPlan('a', 'archived', REQUEST)).state).toBe('archived');
  await at.dock.sandboxes.revive('a', REQUEST);
  expect(await at.dock.run('a', 'cat x')).toBe('kept');
});

test('an operation that needs its file at rest names the alternatives to a suspension', async () => {
  const { sandboxes } = at.dock;
  const raw = await sandboxes.copyRaw('a', join(at.folder, 'staging')).catch((error: unknown) => error);
  expect(raw).toMatchObject({ code: 'conflict', hint: 'Take a snapshot, which needs no rest.' });
});
