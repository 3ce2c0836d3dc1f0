/**
 * What every registry guarantees of backups: one is open at a time, what has ended stays so, each step has its line.
 */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { PlainIds } from '../../testing/plain-ids.ts';
import type { Registry } from '../registry.ts';
import { entry, type RegistryUnderTest, START } from './fixtures.ts';

const START_MS = START * 1000;

export function backupSuite(driver: RegistryUnderTest): void {
  let registry: PlainIds<Registry>;
  beforeEach(async () => {
    registry = await driver.open();
  });
  afterEach(() => driver.discard());

  const line = (type: string) => entry({ type });
  const asked = (id: string, over = {}) => ({
    id,
    target: '/mnt/backups',
    planned: null,
    actor: 'key:test',
    reason: null,
    askedMs: START_MS,
    ...over,
  });
  const content = { sandboxes: 3, bytes: 70, addedObjects: 2, addedBytes: 50, wrong: 0, keys: false };
  const made = (id: string) => ({ ...asked(id), ...content, begunMs: START_MS + 1, endedMs: START_MS + 9 });
  const types = async () => (await registry.ledger.page({}, 50)).rows.map(({ type }) => type);

  test('one is open at a time, however many ask at once, on every connection', async () => {
    const second = await driver.again();
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, nth) =>
        (nth % 2 === 0 ? registry : second).backups.ask(asked(`b-${nth}`), line('backup.asked')),
      ),
    );
    const [one, ...others] = answers.filter((row) => row !== null);
    expect(others).toEqual([]);
    expect(await registry.backups.open()).toEqual(one);
    expect(one).toMatchObject({ state: 'asked', attempts: 0, begunMs: null, sandboxes: null, verifiedMs: null });
    expect(await types()).toEqual(['backup.asked']);
  });

  test('it is asked, runs with its progress, and is made; what has ended stays as it is', async () => {
    await registry.backups.ask(asked('b-1', { planned: START, reason: 'why' }), line('backup.asked'));
    await registry.backups.progress('b-1', 1, 3);
    expect(await registry.backups.get('b-1')).toMatchObject({ state: 'asked', done: 0, total: 0 });
    expect(await registry.backups.begin('b-1', START_MS + 1, line('backup.begun'))).toBe(true);
    await registry.backups.progress('b-1', 2, 3);
    expect(await registry.backups.open()).toMatchObject({ state: 'running', attempts: 1, done: 2, total: 3 });
    // Another server takes it up.
    expect(await registry.backups.begin('b-1', START_MS + 5, line('backup.begun'))).toBe(true);
    expect(await registry.backups.open()).toMatchObject({ attempts: 2, begunMs: START_MS + 5, done: 0 });
    expect(await registry.backups.made(made('b-1'), line('backup.made'))).toBe(true);
    expect(await registry.backups.get('b-1')).toMatchObject({
      ...made('b-1'),
      planned: START,
      reason: 'why',
      state: 'made',
    });
    expect(await registry.backups.open()).toBeNull();
    expect(await registry.backups.made(made('b-1'), line('backup.made'))).toBe(false);
    expect(await registry.backups.begin('b-1', START_MS, line('backup.begun'))).toBe(false);
    expect(await registry.backups.failed('b-1', START_MS, 'late', line('backup.failed'))).toBe(false);
    expect(await types()).toEqual(['backup.made', 'backup.begun', 'backup.begun', 'backup.asked']);
  });

  test('one that fails says why; one that was found in its target is added as made', async () => {
    await registry.backups.ask(asked('b-1'), line('backup.asked'));
    expect(await registry.backups.failed('b-1', START_MS + 4, 'no room', line('backup.failed'))).toBe(true);
    expect(await registry.backups.get('b-1')).toMatchObject({
      state: 'failed',
      error: 'no room',
      endedMs: START_MS + 4,
    });
    expect(await registry.backups.made(made('b-0'), line('backup.found'))).toBe(true);
    // It is there after all.
    await registry.backups.ask(asked('b-2'), line('backup.asked'));
    await registry.backups.failed('b-2', START_MS, 'the server ended', line('backup.failed'));
    expect(await registry.backups.made(made('b-2'), line('backup.found'))).toBe(true);
    expect(await registry.backups.get('b-2')).toMatchObject({ state: 'made', error: null, sandboxes: 3 });
    await registry.backups.removed(['b-2'], line('backup.removed'));
    expect((await registry.backups.list(10)).map(({ id, state }) => [id, state])).toEqual([
      ['b-2', 'removed'],
      ['b-1', 'failed'],
      ['b-0', 'made'],
    ]);
    expect(await registry.backups.list(10, { states: ['made'] })).toHaveLength(1);
    expect(await registry.backups.list(1, { before: 'b-1' })).toMatchObject([{ id: 'b-0' }]);
  });

  test('a made one is tried and removed, and only a made one; the oldest that ended are forgotten', async () => {
    await registry.backups.made(made('b-1'), line('backup.found'));
    await registry.backups.made(made('b-2'), line('backup.found'));
    const trial = { verifiedMs: START_MS + 20, verifiedTookMs: 7, verifiedError: 'other bytes' };
    await registry.backups.tried('b-1', trial, line('backup.verified'));
    expect(await registry.backups.get('b-1')).toMatchObject({ state: 'made', ...trial });
    await registry.backups.removed(['b-1', 'none'], line('backup.removed'));
    await registry.backups.removed(['b-1'], line('backup.removed'));
    await registry.backups.tried('b-1', { ...trial, verifiedError: null }, line('backup.verified'));
    expect(await registry.backups.get('b-1')).toMatchObject({ state: 'removed', verifiedError: 'other bytes' });
    for (let nth = 3; nth < 8; nth += 1) {
      await registry.backups.ask(asked(`b-${nth}`), line('backup.asked'));
      await registry.backups.failed(`b-${nth}`, START_MS, 'no room', line('backup.failed'));
    }
    await registry.backups.forget(2);
    expect((await registry.backups.list(10)).map(({ id }) => id)).toEqual(['b-7', 'b-6', 'b-2']);
    expect((await types()).filter((type) => type === 'backup.removed')).toHaveLength(1);
  });
}
