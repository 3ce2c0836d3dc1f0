import { afterEach, beforeEach, expect, test } from 'vitest';
import { FakeClock } from '../base/clock.ts';
import { createLogger } from '../base/log.ts';
import type { Claims } from '../claims/claims.ts';
import { claimsOf } from '../claims/testing/claims-of.ts';
import type { Registry } from '../registry/registry.ts';
import { entry } from '../registry/testing/fixtures.ts';
import { openRegistryOfTests } from '../registry/testing/registry-of-tests.ts';
import { systemAudit } from '../sandboxes/engine.ts';
import { FIRST_SETTINGS, readBackupFault, writeBackupSettings } from './backup-settings.ts';
import { BackupRunner } from './runner.ts';
import type { BackupAnswers, BackupTask, BackupWork, PlacedBackup } from './work.ts';

const ASKED = systemAudit('operator', 'cli');

let registry: Registry;
let clock: FakeClock;
let nowMs: number;
let one: Claims;
let two: Claims;
/** What lies in the place, and what was asked of it. */
let there: PlacedBackup[];
let tasks: string[];

beforeEach(async () => {
  registry = await openRegistryOfTests(null);
  clock = new FakeClock(Date.parse('2026-11-28T10:00:00Z'));
  nowMs = 5;
  there = [];
  tasks = [];
  one = claimsOf(registry, { name: 'one', monotonicMs: () => nowMs });
  two = claimsOf(registry, { name: 'two', monotonicMs: () => nowMs });
  const settings = { ...FIRST_SETTINGS, target: '/mnt/backups', changed: clock.now() / 1000 };
  await writeBackupSettings(registry.facts, settings, entry({ type: 'settings.backups_changed' }), clock);
});
afterEach(async () => {
  await one.stop();
  await two.stop();
  await registry.close();
});

const placed = (id: string): PlacedBackup => ({
  id,
  begunMs: clock.now(),
  madeMs: clock.now(),
  sandboxes: 1,
  bytes: 2,
  addedObjects: 1,
  addedBytes: 2,
  wrong: 0,
  keys: false,
});
const content = () => ({ own: there, ids: there.map(({ id }) => id) });

/** A process that makes a backup once it is told to, and is broken off by its signal. */
function workOf(until: Promise<void> = Promise.resolve()): BackupWork {
  return {
    async run<T extends BackupTask>(task: T, { signal }: { signal?: AbortSignal } = {}) {
      tasks.push(task.kind);
      if (task.kind === 'look') return content() as BackupAnswers[T['kind']];
      const ended = new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve()));
      await Promise.race([until, ended]);
      if (signal?.aborted) throw new Error('broken off');
      const backup = placed((task as { id: string }).id);
      there.push(backup);
      const made = { backup, wrong: [], place: content(), removed: { objects: 0, bytes: 0 }, pruneError: null };
      return made as unknown as BackupAnswers[T['kind']];
    },
  };
}

function runner(claims: Claims, work: BackupWork): BackupRunner {
  const log = createLogger('silent');
  const config = { tickMs: 3_600_000 };
  return new BackupRunner({ claims, clock, config, log, registry, work, trusted: ['me'], epoch: async () => 1 });
}

test('of two hosts one makes what is asked for, wherever it was asked', async () => {
  const [first, second] = [runner(one, workOf()), runner(two, workOf())];
  await first.tick();
  await second.ask(ASKED);
  await Promise.all([first.tick(), second.tick()]);
  expect(tasks).toEqual(['make']);
  expect(await registry.backups.list(5)).toMatchObject([{ state: 'made' }]);
  await expect(Promise.all([first.ask(ASKED), second.ask(ASKED)])).rejects.toMatchObject({ code: 'conflict' });
});

test('what a host left that is gone is taken up: it is there, or it is made again, under another id', async () => {
  const first = runner(one, workOf(new Promise<void>(() => {})));
  const { id } = await first.ask(ASKED);
  void first.tick();
  await expect.poll(async () => (await registry.backups.open())?.state).toBe('running');
  // Nobody renews the claims of the first any more.
  const second = runner(two, workOf());
  await second.tick();
  expect(tasks).toEqual(['make']);
  await two.tick();
  nowMs += 40_000;
  clock.advance(40);
  await two.tick();
  await second.tick();
  expect(tasks).toEqual(['make', 'look', 'make']);
  const [again, before] = await registry.backups.list(5);
  expect([again?.state, before?.state, before?.id, again?.id === id]).toEqual(['made', 'failed', id, false]);
  expect(await readBackupFault(registry.facts)).toBeNull();
  await first.stop();
  expect((await registry.backups.list(5)).map(({ state }) => state)).toEqual(['made', 'failed']);
});

test('a backup whose host was killed between its last byte and its row is found, and is not made again', async () => {
  const first = runner(one, workOf(new Promise<void>(() => {})));
  const { id } = await first.ask(ASKED);
  void first.tick();
  await expect.poll(async () => (await registry.backups.open())?.state).toBe('running');
  there.push(placed(id));
  const second = runner(two, workOf());
  await two.tick();
  nowMs += 40_000;
  await two.tick();
  await second.tick();
  expect(tasks).toEqual(['make', 'look']);
  expect(await registry.backups.list(5)).toMatchObject([{ id, state: 'made', sandboxes: 1 }]);
  await first.stop();
});
