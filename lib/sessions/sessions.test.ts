import { existsSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Dock, liveFile, REQUEST, startDock } from './testing/dock.ts';

let folder: string;
let dock: Dock;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-sessions-'));
  dock = await startDock({ dataFolder: folder });
});
afterEach(async () => {
  await dock.stop();
  rmSync(folder, { recursive: true, force: true });
});

const stateOf = async (id: string) => (await dock.registry.get(id))?.state;
const transitionsOf = async (id: string) =>
  (await dock.registry.ledger({ instance: id, type: 'transition' }, 500)).rows
    .reverse()
    .map((entry) => `${entry.from} ${entry.to} ${entry.trigger}`);
const cold = (id: string) => join(folder, 'cold', `${id}.sqlite`);

describe('resume', () => {
  test('the first resume is cold and fresh, the second finds it active and touches nothing', async () => {
    await dock.create('sess-841');
    expect(await stateOf('sess-841')).toBe('created');
    const first = await dock.sessions.resume('sess-841', REQUEST);
    expect(first).toMatchObject({ path: 'cold', source: 'fresh', vfsPath: 'live/sess-841/vfs.sqlite' });
    const second = await dock.sessions.resume('sess-841', REQUEST);
    expect(second).toMatchObject({ path: 'warm', source: null });
    expect(await stateOf('sess-841')).toBe('active');
    expect(await transitionsOf('sess-841')).toEqual(['created active request']);
  });

  test('twenty requests that race wake a sleeping sandbox once', async () => {
    await dock.create('a');
    await dock.put('a', '/n', '0');
    await dock.sessions.suspend('a', REQUEST);
    const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => dock.run('a', `echo ${n}`)));
    expect(answers).toEqual(Array.from({ length: 20 }, (_, n) => `${n}\n`));
    expect((await transitionsOf('a')).filter((entry) => entry.startsWith('suspended active'))).toHaveLength(1);
  });

  test('a request that arrives while it is being filed waits and then wakes it', async () => {
    await dock.stop();
    let answer: Promise<string> | null = null;
    dock = await startDock({
      dataFolder: folder,
      reached: (step) => {
        if (step === 'suspend.closed') answer ??= dock.run('a', 'cat n');
      },
    });
    await dock.create('a');
    await dock.put('a', '/n', 'kept');
    await dock.sessions.suspend('a', REQUEST);
    expect(await answer).toBe('kept');
    expect(await transitionsOf('a')).toEqual([
      'created active request',
      'active suspended request',
      'suspended active request',
    ]);
  });

  test('every drawer is named as the source of the wake', async () => {
    await dock.create('a');
    const sources = [(await dock.sessions.resume('a', REQUEST)).source];
    await dock.sessions.suspend('a', REQUEST);
    sources.push((await dock.sessions.resume('a', REQUEST)).source);
    await dock.sessions.suspend('a', REQUEST);
    await dock.sessions.freeze('a', REQUEST);
    sources.push((await dock.sessions.resume('a', REQUEST)).source);
    await dock.sessions.archive('a', REQUEST);
    sources.push((await dock.sessions.resume('a', REQUEST)).source);
    expect(sources).toEqual(['fresh', 'local', 'cold', 'archive']);
  });

  test('a full house refuses the next one and keeps it asleep', async () => {
    await dock.stop();
    dock = await startDock({ dataFolder: folder, environment: { WB_MAX_ACTIVE: '2' } });
    for (const id of ['a', 'b', 'c', 'd']) await dock.create(id);
    const outcomes = await Promise.allSettled(['a', 'b', 'c', 'd'].map((id) => dock.sessions.resume(id, REQUEST)));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
    for (const outcome of outcomes)
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'capacity' });
    expect((await dock.registry.countsByState()).active).toBe(2);
    expect((await dock.registry.countsByState()).created).toBe(2);
  });
});

describe('what survives', () => {
  test('the same path in three volumes: after freezing, workspace and memory are back and tmp is gone', async () => {
    await dock.create('a');
    await dock.put('a', '/note', 'the workbook files', 'workspace');
    await dock.put('a', '/note', 'what the agent learned', 'memory');
    await dock.put('a', '/note', 'scratch', 'tmp');
    await dock.sessions.suspend('a', REQUEST);
    await dock.sessions.freeze('a', REQUEST);
    expect(await dock.get('a', '/note', 'tmp')).toBe('scratch');
    await dock.sessions.resume('a', REQUEST);
    expect(await dock.get('a', '/note', 'workspace')).toBe('the workbook files');
    expect(await dock.get('a', '/note', 'memory')).toBe('what the agent learned');
    expect(await dock.get('a', '/note', 'tmp')).toBeNull();
  });

  test('a warm resume leaves tmp alone', async () => {
    await dock.create('a');
    await dock.put('a', '/note', 'scratch', 'tmp');
    await dock.sessions.resume('a', REQUEST);
    expect(await dock.get('a', '/note', 'tmp')).toBe('scratch');
  });

  test('twenty cycles by hand and by the ladder, with edits in each, lose nothing', { timeout: 120_000 }, async () => {
    await dock.create('a');
    const expected: string[] = [];
    for (let cycle = 0; cycle < 20; cycle += 1) {
      await dock.run(
        'a',
        `echo cycle ${cycle} >> log; echo ${cycle} > file-${cycle}; echo ${cycle} >> /memory/learned`,
      );
      expected.push(`cycle ${cycle}`);
      if (cycle % 2 === 0) {
        await dock.sessions.suspend('a', REQUEST);
        if (cycle % 4 === 0) await dock.sessions.freeze('a', REQUEST);
        if (cycle % 8 === 0) await dock.sessions.archive('a', REQUEST);
        if (cycle % 8 === 0) await dock.sessions.revive('a', REQUEST);
      } else {
        dock.clock.advance(901);
        await dock.sessions.tick();
        expect(await stateOf('a')).toBe('suspended');
        if (cycle % 4 === 1) {
          dock.clock.advance(86_400);
          await dock.sessions.tick();
          expect(await stateOf('a')).toBe('frozen');
        }
      }
      expect((await dock.get('a', '/log'))?.trim().split('\n')).toEqual(expected);
    }
    expect((await dock.run('a', 'cat log')).trim().split('\n')).toEqual(expected);
    expect((await dock.run('a', 'ls | grep -c file-')).trim()).toBe('20');
    expect((await dock.get('a', '/learned', 'memory'))?.trim().split('\n')).toHaveLength(20);
  });

  test('a suspended file is one clean file, and freezing moves that very inode', async () => {
    await dock.create('a');
    await dock.put('a', '/x', 'y'.repeat(100_000));
    await dock.sessions.suspend('a', REQUEST);
    expect(readdirSync(join(folder, 'live', 'a'))).toEqual(['vfs.sqlite']);
    const { ino } = statSync(liveFile(dock, 'a'));
    await dock.sessions.freeze('a', REQUEST);
    expect(statSync(cold('a')).ino).toBe(ino);
    expect(existsSync(join(folder, 'live', 'a'))).toBe(false);
  });
});

describe('the ladder', () => {
  test('an active sandbox idle for 16 minutes is suspended, a fresh one is left alone', async () => {
    await dock.create('idle');
    await dock.create('fresh');
    await dock.sessions.resume('idle', REQUEST);
    dock.clock.advance(16 * 60);
    await dock.sessions.resume('fresh', REQUEST);
    await dock.sessions.tick();
    expect(await stateOf('idle')).toBe('suspended');
    expect(await stateOf('fresh')).toBe('active');
    expect((await transitionsOf('idle')).at(-1)).toBe('active suspended idle');
  });

  test('suspended for two days freezes, and frozen stays', async () => {
    await dock.create('a');
    await dock.sessions.resume('a', REQUEST);
    await dock.sessions.suspend('a', REQUEST);
    dock.clock.advance(2 * 86_400);
    await dock.sessions.tick();
    expect(await stateOf('a')).toBe('frozen');
    dock.clock.advance(3650 * 86_400);
    await dock.sessions.tick();
    expect(await stateOf('a')).toBe('frozen');
  });

  test('the freezing clock starts at the suspension, not at the last activity', async () => {
    await dock.create('a');
    await dock.sessions.resume('a', REQUEST);
    dock.clock.advance(900);
    await dock.sessions.tick();
    dock.clock.advance(86_399);
    await dock.sessions.tick();
    expect(await stateOf('a')).toBe('suspended');
    dock.clock.advance(1);
    await dock.sessions.tick();
    expect(await stateOf('a')).toBe('frozen');
  });

  test('running a command resets the clock; looking at it does not', async () => {
    await dock.create('a');
    await dock.put('a', '/x', '1');
    dock.clock.advance(800);
    await dock.run('a', 'true');
    dock.clock.advance(800);
    await dock.sessions.tick();
    expect(await stateOf('a')).toBe('active');
    await dock.get('a', '/x');
    dock.clock.advance(100);
    await dock.get('a', '/x');
    await dock.sessions.tick();
    expect(await stateOf('a')).toBe('suspended');
  });

  test('keep hot, a hold and an attached terminal each stop the demotion', async () => {
    await dock.create('kept', { keepHot: true });
    await dock.create('held');
    await dock.create('attached');
    for (const id of ['kept', 'held', 'attached']) await dock.sessions.resume(id, REQUEST);
    const entry = {
      timeMs: dock.clock.now(),
      instance: 'held',
      tenant: 'acme',
      type: 'instance.changed',
      from: null,
      to: null,
      source: null,
      tookMs: null,
      error: null,
      ...REQUEST,
    };
    await dock.registry.patch(
      'held',
      { holdUntil: Math.floor(dock.clock.now() / 1000) + 5000 },
      Math.floor(dock.clock.now() / 1000),
      entry,
    );
    const release = dock.sessions.attach('attached');
    dock.clock.advance(4000);
    await dock.sessions.tick();
    expect([await stateOf('kept'), await stateOf('held'), await stateOf('attached')]).toEqual([
      'active',
      'active',
      'active',
    ]);
    release();
    dock.clock.advance(1000);
    await dock.sessions.tick();
    expect([await stateOf('kept'), await stateOf('held'), await stateOf('attached')]).toEqual([
      'active',
      'suspended',
      'suspended',
    ]);
  });

  test('one failing sandbox stops no other, and its third failure leaves it alone as unknown with a way out', async () => {
    await dock.create('bad');
    await dock.create('good');
    await dock.put('bad', '/x', 'kept');
    await dock.sessions.resume('good', REQUEST);
    await dock.sessions.suspend('bad', REQUEST);
    dock.clock.advance(86_400);
    renameSync(join(folder, 'cold'), join(folder, 'away'));
    expect(await dock.sessions.tick()).toEqual({ moved: 1, failed: 1 });
    expect(await stateOf('good')).toBe('suspended');
    await dock.sessions.tick();
    await dock.sessions.tick();
    expect(await dock.registry.get('bad')).toMatchObject({ state: 'suspended', fault: 'unknown', pending: null });
    expect(JSON.stringify(await dock.registry.ledger({ instance: 'bad' }, 50))).not.toContain(folder);
    expect((await dock.registry.get('bad'))?.faultReason).toMatch(/^freeze failed 3 times: ENOENT at rename$/);
    expect(await dock.sessions.tick()).toEqual({ moved: 0, failed: 0 });
    await expect(dock.sessions.resume('bad', REQUEST)).rejects.toMatchObject({ code: 'unknown_state' });
    renameSync(join(folder, 'away'), join(folder, 'cold'));
    await dock.sessions.resume('bad', REQUEST, { force: true });
    expect(await dock.registry.get('bad')).toMatchObject({ state: 'active', fault: null });
    expect(await dock.get('bad', '/x')).toBe('kept');
  });

  test('an ephemeral sandbox walks to deleted at its timeout and leaves no file', async () => {
    await dock.create('a', { ephemeral: true, idleToSuspendSeconds: 60 });
    await dock.put('a', '/x', '1');
    dock.clock.advance(60);
    await dock.sessions.tick();
    expect(await transitionsOf('a')).toEqual([
      'created active request',
      'active archived idle',
      'archived deleted idle',
    ]);
    expect(readdirSync(join(folder, 'live'))).toEqual([]);
    expect(readdirSync(join(folder, 'archive'))).toEqual([]);
  });

  test('rounds never overlap', async () => {
    await dock.create('a');
    await dock.sessions.resume('a', REQUEST);
    dock.clock.advance(901);
    const rounds = await Promise.all([dock.sessions.tick(), dock.sessions.tick(), dock.sessions.tick()]);
    expect(rounds).toEqual([rounds[0], rounds[0], rounds[0]]);
    expect((await transitionsOf('a')).filter((entry) => entry.startsWith('active suspended'))).toHaveLength(1);
  });
});
