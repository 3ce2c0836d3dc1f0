import { existsSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { namesIn } from '../testing/files-in.ts';
import { stage } from './testing/stage.ts';
import { liveFile, REQUEST } from './testing/test-engine.ts';

const at = stage();

describe('resume', () => {
  test('the first resume is cold and fresh, the second finds it active and touches nothing', async () => {
    await at.dock.create('sess-841');
    expect(await at.stateOf('sess-841')).toBe('created');
    const first = await at.dock.sandboxes.resume('sess-841', REQUEST);
    expect(first).toMatchObject({ path: 'cold', source: 'fresh', vfsPath: 'live/sess-841/vfs.sqlite' });
    const second = await at.dock.sandboxes.resume('sess-841', REQUEST);
    expect(second).toMatchObject({ path: 'warm', source: null });
    expect(await at.stateOf('sess-841')).toBe('active');
    expect(await at.transitionsOf('sess-841')).toEqual(['created active request']);
  });

  test('twenty concurrent requests wake a sleeping sandbox once', async () => {
    await at.dock.create('a');
    await at.dock.put('a', '/n', '0');
    await at.dock.sandboxes.suspend('a', REQUEST);
    const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => at.dock.run('a', `echo ${n}`)));
    expect(answers).toEqual(Array.from({ length: 20 }, (_, n) => `${n}\n`));
    expect((await at.transitionsOf('a')).filter((entry) => entry.startsWith('suspended active'))).toHaveLength(1);
  });

  test('a request that arrives while it is being filed waits and then wakes it', async () => {
    let answer: Promise<string> | null = null;
    await at.restart({
      failpoint: (step) => {
        if (step === 'suspend.closed') answer ??= at.dock.run('a', 'cat n');
      },
    });
    await at.dock.create('a');
    await at.dock.put('a', '/n', 'kept');
    await at.dock.sandboxes.suspend('a', REQUEST);
    expect(await answer).toBe('kept');
    expect(await at.transitionsOf('a')).toEqual([
      'created active request',
      'active suspended request',
      'suspended active request',
    ]);
  });

  test('every drawer is reported as the source of the wake', async () => {
    await at.dock.create('a');
    const sources = [(await at.dock.sandboxes.resume('a', REQUEST)).source];
    await at.dock.sandboxes.suspend('a', REQUEST);
    sources.push((await at.dock.sandboxes.resume('a', REQUEST)).source);
    await at.dock.sandboxes.suspend('a', REQUEST);
    await at.dock.sandboxes.freeze('a', REQUEST);
    sources.push((await at.dock.sandboxes.resume('a', REQUEST)).source);
    await at.dock.sandboxes.archive('a', REQUEST);
    sources.push((await at.dock.sandboxes.resume('a', REQUEST)).source);
    expect(sources).toEqual(['fresh', 'local', 'cold', 'archive']);
  });

  test('when all places are taken, a wake suspends the sandbox used longest ago; there are never more', async () => {
    await at.restart({ environment: { WB_MAX_ACTIVE: '2' } });
    const ids = ['a', 'b', 'c', 'd'];
    for (const id of ids) await at.dock.create(id);
    let most = 0;
    const looking = setInterval(() => {
      most = Math.max(most, at.dock.pool.active);
    }, 2);
    await Promise.all(ids.map((id) => at.dock.sandboxes.resume(id, REQUEST)));
    clearInterval(looking);
    expect(most).toBe(2);
    expect(await at.dock.registry.instances.countsByState()).toMatchObject({ active: 2, suspended: 2 });
  });
});

describe('what survives', () => {
  test('the same path in three volumes: after freezing, workspace and memory are back and tmp is gone', async () => {
    await at.dock.create('a');
    await at.dock.put('a', '/note', 'the workbook files', 'workspace');
    await at.dock.put('a', '/note', 'what the agent learned', 'memory');
    await at.dock.put('a', '/note', 'scratch', 'tmp');
    await at.dock.sandboxes.suspend('a', REQUEST);
    await at.dock.sandboxes.freeze('a', REQUEST);
    expect(await at.dock.get('a', '/note', 'tmp')).toBe('scratch');
    await at.dock.sandboxes.resume('a', REQUEST);
    expect(await at.dock.get('a', '/note', 'workspace')).toBe('the workbook files');
    expect(await at.dock.get('a', '/note', 'memory')).toBe('what the agent learned');
    expect(await at.dock.get('a', '/note', 'tmp')).toBeNull();
  });

  test('a warm resume keeps tmp', async () => {
    await at.dock.create('a');
    await at.dock.put('a', '/note', 'scratch', 'tmp');
    await at.dock.sandboxes.resume('a', REQUEST);
    expect(await at.dock.get('a', '/note', 'tmp')).toBe('scratch');
  });

  test('twenty cycles by hand and by the ladder, with edits in each, lose nothing', async () => {
    await at.dock.create('a');
    const expected: string[] = [];
    for (let cycle = 0; cycle < 20; cycle += 1) {
      await at.dock.run(
        'a',
        `echo cycle ${cycle} >> log; echo ${cycle} > file-${cycle}; echo ${cycle} >> /memory/learned`,
      );
      expected.push(`cycle ${cycle}`);
      if (cycle % 2 === 0) {
        await at.dock.sandboxes.suspend('a', REQUEST);
        if (cycle % 4 === 0) await at.dock.sandboxes.freeze('a', REQUEST);
        if (cycle % 8 === 0) await at.dock.sandboxes.archive('a', REQUEST);
        if (cycle % 8 === 0) await at.dock.sandboxes.revive('a', REQUEST);
      } else {
        at.dock.clock.advance(901);
        await at.dock.sandboxes.tick();
        expect(await at.stateOf('a')).toBe('suspended');
        if (cycle % 4 === 1) {
          at.dock.clock.advance(86_400);
          await at.dock.sandboxes.tick();
          expect(await at.stateOf('a')).toBe('frozen');
        }
      }
      expect((await at.dock.get('a', '/log'))?.trim().split('\n')).toEqual(expected);
    }
    expect((await at.dock.run('a', 'cat log')).trim().split('\n')).toEqual(expected);
    expect((await at.dock.run('a', 'ls | grep -c file-')).trim()).toBe('20');
    expect((await at.dock.get('a', '/learned', 'memory'))?.trim().split('\n')).toHaveLength(20);
  });

  test('a suspended file is one clean file, and freezing moves that same inode', async () => {
    await at.dock.create('a');
    await at.dock.put('a', '/x', 'y'.repeat(100_000));
    await at.dock.sandboxes.suspend('a', REQUEST);
    expect(namesIn(join(at.folder, 'live', 'a'))).toEqual(['vfs.sqlite']);
    const { ino } = statSync(liveFile(at.dock, 'a'));
    await at.dock.sandboxes.freeze('a', REQUEST);
    expect(statSync(at.cold('a')).ino).toBe(ino);
    expect(existsSync(join(at.folder, 'live', 'a'))).toBe(false);
  });
});

describe('the ladder', () => {
  test('an active sandbox idle for 16 minutes is suspended, a fresh one is left alone', async () => {
    await at.dock.create('idle');
    await at.dock.create('fresh');
    await at.dock.sandboxes.resume('idle', REQUEST);
    at.dock.clock.advance(16 * 60);
    await at.dock.sandboxes.resume('fresh', REQUEST);
    await at.dock.sandboxes.tick();
    expect(await at.stateOf('idle')).toBe('suspended');
    expect(await at.stateOf('fresh')).toBe('active');
    expect((await at.transitionsOf('idle')).at(-1)).toBe('active suspended idle');
  });

  test('suspended for two days freezes, and frozen stays', async () => {
    await at.dock.create('a');
    await at.dock.sandboxes.resume('a', REQUEST);
    await at.dock.sandboxes.suspend('a', REQUEST);
    at.dock.clock.advance(2 * 86_400);
    await at.dock.sandboxes.tick();
    expect(await at.stateOf('a')).toBe('frozen');
    at.dock.clock.advance(3650 * 86_400);
    await at.dock.sandboxes.tick();
    expect(await at.stateOf('a')).toBe('frozen');
  });

  test('the freezing clock starts at the suspension, not at the last activity', async () => {
    await at.dock.create('a');
    await at.dock.sandboxes.resume('a', REQUEST);
    at.dock.clock.advance(900);
    await at.dock.sandboxes.tick();
    at.dock.clock.advance(86_399);
    await at.dock.sandboxes.tick();
    expect(await at.stateOf('a')).toBe('suspended');
    at.dock.clock.advance(1);
    await at.dock.sandboxes.tick();
    expect(await at.stateOf('a')).toBe('frozen');
  });

  test('running a command resets the clock; looking at it does not', async () => {
    await at.dock.create('a');
    await at.dock.put('a', '/x', '1');
    at.dock.clock.advance(800);
    await at.dock.run('a', 'true');
    at.dock.clock.advance(800);
    await at.dock.sandboxes.tick();
    expect(await at.stateOf('a')).toBe('active');
    await at.dock.get('a', '/x');
    at.dock.clock.advance(100);
    await at.dock.get('a', '/x');
    await at.dock.sandboxes.tick();
    expect(await at.stateOf('a')).toBe('suspended');
  });

  test('keep hot, a hold and an attached terminal each stop the demotion', async () => {
    await at.dock.create('kept', { keepHot: true });
    await at.dock.create('held');
    await at.dock.create('attached');
    for (const id of ['kept', 'held', 'attached']) await at.dock.sandboxes.resume(id, REQUEST);
    const entry = {
      timeMs: at.dock.clock.now(),
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
    await at.dock.registry.instances.patch(
      'held',
      { holdUntil: Math.floor(at.dock.clock.now() / 1000) + 5000 },
      Math.floor(at.dock.clock.now() / 1000),
      entry,
    );
    for (let renewed = 0; renewed < 40; renewed += 1) {
      await at.dock.sandboxes.attach('attached', 'tab');
      at.dock.clock.advance(100);
      await at.dock.sandboxes.tick();
    }
    expect([await at.stateOf('kept'), await at.stateOf('held'), await at.stateOf('attached')]).toEqual([
      'active',
      'active',
      'active',
    ]);
    at.dock.sandboxes.detach('attached', 'tab');
    at.dock.clock.advance(1000);
    await at.dock.sandboxes.tick();
    expect([await at.stateOf('kept'), await at.stateOf('held'), await at.stateOf('attached')]).toEqual([
      'active',
      'suspended',
      'suspended',
    ]);
  });

  test('an attachment that is not renewed ends, and the idle clock starts then', async () => {
    await at.dock.create('a');
    await at.dock.sandboxes.resume('a', REQUEST);
    await at.dock.sandboxes.attach('a', 'lost');
    at.dock.clock.advance(900);
    await at.dock.sandboxes.tick();
    expect(await at.stateOf('a')).toBe('active');
    at.dock.clock.advance(899);
    await at.dock.sandboxes.tick();
    expect(await at.stateOf('a')).toBe('active');
    at.dock.clock.advance(1);
    await at.dock.sandboxes.tick();
    expect(await at.stateOf('a')).toBe('suspended');
  });

  test('one failing sandbox stops no other, and its third failure leaves it alone as unknown with a way out', async () => {
    await at.dock.create('bad');
    await at.dock.create('good');
    await at.dock.put('bad', '/x', 'kept');
    await at.dock.sandboxes.resume('good', REQUEST);
    await at.dock.sandboxes.suspend('bad', REQUEST);
    at.dock.clock.advance(86_400);
    renameSync(join(at.folder, 'cold'), join(at.folder, 'away'));
    expect(await at.dock.sandboxes.tick()).toEqual({ moved: 1, failed: 1 });
    expect(await at.stateOf('good')).toBe('suspended');
    await at.dock.sandboxes.tick();
    await at.dock.sandboxes.tick();
    expect(await at.dock.registry.instances.get('bad')).toMatchObject({
      state: 'suspended',
      fault: 'unknown',
      pending: null,
    });
    expect(JSON.stringify(await at.dock.registry.ledger.page({ instance: 'bad' }, 50))).not.toContain(at.folder);
    const lines = (await at.dock.registry.ledger.page({ instance: 'bad', type: 'freeze.failed' }, 50)).rows;
    expect(lines.map(({ error }) => error).toSorted()).toEqual(
      [1, 2, 3].map((number) => `ENOENT at rename (failure ${number} of 3)`),
    );
    expect((await at.dock.registry.instances.get('bad'))?.faultReason).toMatch(
      /^freeze failed 3 times: ENOENT at rename$/,
    );
    expect(await at.dock.sandboxes.tick()).toEqual({ moved: 0, failed: 0 });
    await expect(at.dock.sandboxes.resume('bad', REQUEST)).rejects.toMatchObject({ code: 'unknown_state' });
    renameSync(join(at.folder, 'away'), join(at.folder, 'cold'));
    await at.dock.sandboxes.resume('bad', REQUEST, { force: true });
    expect(await at.dock.registry.instances.get('bad')).toMatchObject({ state: 'active', fault: null });
    expect(await at.dock.get('bad', '/x')).toBe('kept');
  });

  test('an ephemeral sandbox goes to deleted at its timeout and leaves no file', async () => {
    await at.dock.create('a', { ephemeral: true, idleToSuspendSeconds: 60 });
    await at.dock.put('a', '/x', '1');
    at.dock.clock.advance(60);
    await at.dock.sandboxes.tick();
    expect(await at.transitionsOf('a')).toEqual([
      'created active request',
      'active archived idle',
      'archived deleted idle',
    ]);
    expect(namesIn(join(at.folder, 'live'))).toEqual([]);
    expect(namesIn(join(at.folder, 'archive'))).toEqual([]);
  });

  test('rounds never overlap', async () => {
    await at.dock.create('a');
    await at.dock.sandboxes.resume('a', REQUEST);
    at.dock.clock.advance(901);
    const rounds = await Promise.all([at.dock.sandboxes.tick(), at.dock.sandboxes.tick(), at.dock.sandboxes.tick()]);
    expect(rounds).toEqual([rounds[0], rounds[0], rounds[0]]);
    expect((await at.transitionsOf('a')).filter((entry) => entry.startsWith('active suspended'))).toHaveLength(1);
  });
});

test('an unknown id is not found in every operation', async () => {
  const attempts = [
    at.dock.sandboxes.resume('nobody', REQUEST),
    at.dock.sandboxes.suspend('nobody', REQUEST),
    at.dock.sandboxes.delete('nobody', REQUEST),
    at.dock.run('nobody', 'true'),
    at.dock.get('nobody', '/x'),
  ];
  const refused = { status: 'rejected', reason: expect.objectContaining({ code: 'not_found' }) };
  expect(await Promise.allSettled(attempts)).toEqual(attempts.map(() => refused));
});
