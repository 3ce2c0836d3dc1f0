import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
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

describe('the row says where the file is', () => {
  test('a stale live file never beats the cold copy and is set aside, not deleted', async () => {
    await dock.create('a');
    await dock.put('a', '/x', 'old');
    await dock.sessions.suspend('a', REQUEST);
    const stale = readFileSync(liveFile(dock, 'a'));
    await dock.put('a', '/x', 'new');
    await dock.sessions.suspend('a', REQUEST);
    await dock.sessions.freeze('a', REQUEST);
    const { mkdirSync } = await import('node:fs');
    mkdirSync(join(folder, 'live', 'a'));
    writeFileSync(liveFile(dock, 'a'), stale);
    expect(await dock.get('a', '/x')).toBe('new');
    expect((await dock.sessions.resume('a', REQUEST)).source).toBe('cold');
    expect(await dock.get('a', '/x')).toBe('new');
    expect(readdirSync(join(folder, 'orphans'))).toHaveLength(1);
    expect((await dock.registry.ledger({ instance: 'a', type: 'orphan.set_aside' }, 10)).rows).toHaveLength(1);
  });

  test('a missing file is a fault, never an empty sandbox, and putting it back and forcing is the way out', async () => {
    await dock.create('a');
    await dock.put('a', '/x', 'kept');
    await dock.sessions.suspend('a', REQUEST);
    await dock.sessions.freeze('a', REQUEST);
    renameSync(cold('a'), join(folder, 'elsewhere'));
    await expect(dock.run('a', 'ls')).rejects.toMatchObject({ code: 'missing_file' });
    expect(await dock.registry.get('a')).toMatchObject({ state: 'frozen', fault: 'missing' });
    await expect(dock.sessions.resume('a', REQUEST)).rejects.toMatchObject({ code: 'missing_file' });
    await expect(dock.sessions.resume('a', REQUEST, { force: true })).rejects.toMatchObject({ code: 'missing_file' });
    expect(existsSync(liveFile(dock, 'a'))).toBe(false);
    renameSync(join(folder, 'elsewhere'), cold('a'));
    await dock.sessions.resume('a', REQUEST, { force: true });
    expect(await dock.get('a', '/x')).toBe('kept');
    expect((await dock.registry.get('a'))?.fault).toBeNull();
  });

  test('a file that was exchanged for another is refused as corrupt and kept', async () => {
    await dock.create('a');
    await dock.create('b');
    await dock.put('a', '/x', 'mine');
    await dock.put('b', '/x', 'theirs');
    for (const id of ['a', 'b']) {
      await dock.sessions.suspend(id, REQUEST);
      await dock.sessions.freeze(id, REQUEST);
    }
    const theirs = readFileSync(cold('b'));
    writeFileSync(cold('a'), theirs);
    await expect(dock.sessions.resume('a', REQUEST)).rejects.toMatchObject({ code: 'corrupt' });
    expect(await dock.registry.get('a')).toMatchObject({ state: 'frozen', fault: 'corrupt' });
    expect(readFileSync(cold('a'))).toEqual(theirs);
  });

  test('a file that is no database any more is refused, also with force, and is kept for repair', async () => {
    await dock.create('a');
    await dock.put('a', '/x', 'mine');
    await dock.sessions.suspend('a', REQUEST);
    await dock.sessions.freeze('a', REQUEST);
    const whole = readFileSync(cold('a'));
    const damaged = Buffer.from(whole);
    damaged.fill(0x55, 0, 8192);
    writeFileSync(cold('a'), damaged);
    await expect(dock.sessions.resume('a', REQUEST)).rejects.toMatchObject({ code: 'corrupt' });
    await expect(dock.sessions.resume('a', REQUEST, { force: true })).rejects.toMatchObject({ code: 'corrupt' });
    expect(readFileSync(cold('a'))).toEqual(damaged);
    writeFileSync(cold('a'), whole);
    await dock.sessions.resume('a', REQUEST, { force: true });
    expect(await dock.get('a', '/x')).toBe('mine');
  });

  test('an untouched copy of a filed file, as a backup brings back, is checked in full and trusted', async () => {
    await dock.create('a');
    await dock.put('a', '/x', 'mine');
    await dock.sessions.suspend('a', REQUEST);
    await dock.sessions.freeze('a', REQUEST);
    const { cpSync } = await import('node:fs');
    cpSync(cold('a'), join(folder, 'copy'), { preserveTimestamps: true });
    const row = await dock.registry.get('a');
    rmSync(cold('a'));
    renameSync(join(folder, 'copy'), cold('a'));
    expect(row?.file?.inode).not.toBe(String(statSync(cold('a')).ino));
    const outcome = await dock.sessions.resume('a', REQUEST, { force: true });
    expect(outcome.source).toBe('cold');
    expect(await dock.get('a', '/x')).toBe('mine');
  });
});

describe('power loss', () => {
  /** The registry says that a frozen sandbox woke, and its file is still in the cold drawer: the rename was undone. */
  async function undoneThaw(): Promise<void> {
    await dock.create('a');
    await dock.put('a', '/x', 'kept');
    await dock.sessions.suspend('a', REQUEST);
    await dock.sessions.freeze('a', REQUEST);
    const row = await dock.registry.get('a');
    if (row === null) throw new Error('no row');
    await dock.registry.commit({
      id: 'a',
      from: 'frozen',
      to: 'active',
      generation: row.generation,
      vfsPath: 'live/a/vfs.sqlite',
      file: row.file,
      now: row.updated,
      ledger: [],
    });
    await dock.stop();
  }

  test('that undoes the move of a waking file loses nothing', async () => {
    await undoneThaw();
    dock = await startDock({ dataFolder: folder });
    expect(await dock.registry.get('a')).toMatchObject({ state: 'suspended', fault: null });
    expect(await dock.run('a', 'cat x')).toBe('kept');
  });

  test('does not make another file in the drawer pass for the one that woke', async () => {
    await undoneThaw();
    writeFileSync(join(folder, 'other'), readFileSync(cold('a')));
    renameSync(join(folder, 'other'), cold('a'));
    dock = await startDock({ dataFolder: folder });
    expect(await dock.registry.get('a')).toMatchObject({ state: 'suspended', fault: 'missing' });
  });
});

describe('archived', () => {
  beforeEach(async () => {
    await dock.create('a');
    await dock.put('a', '/dir/x', 'kept');
    await dock.put('a', '/y', 'kept too', 'memory');
    await dock.sessions.archive('a', REQUEST);
  });

  test('a stray command or write does not revive it', async () => {
    await expect(dock.run('a', 'true')).rejects.toMatchObject({ code: 'archived' });
    await expect(dock.put('a', '/z', '1')).rejects.toMatchObject({ code: 'archived' });
    expect(await stateOf('a')).toBe('archived');
  });

  test('it is listed from its listing and read from an expanded copy, and stays archived', async () => {
    const listed = await dock.sessions.read('a', { op: 'list', volume: 'workspace', limit: 10 });
    expect(listed.files.map(({ path, size }) => [path, size])).toEqual([['/dir/x', 4]]);
    expect(readdirSync(join(folder, 'expanded'))).toEqual(['empty.sqlite']);
    expect(await dock.get('a', '/dir/x')).toBe('kept');
    expect(await dock.get('a', '/y', 'memory')).toBe('kept too');
    expect(await stateOf('a')).toBe('archived');
    expect(existsSync(liveFile(dock, 'a'))).toBe(false);
  });

  test('revived, it has everything but tmp, and the archive has nothing of it', async () => {
    const row = await dock.sessions.revive('a', { ...REQUEST, reason: 'the customer asked' });
    expect(row.state).toBe('active');
    expect(await dock.run('a', 'cat dir/x')).toBe('kept');
    expect(readdirSync(join(folder, 'archive'))).toEqual([]);
    const [entry] = (await dock.registry.ledger({ instance: 'a', type: 'transition' }, 1)).rows;
    expect(entry).toMatchObject({ from: 'archived', to: 'active', source: 'archive', reason: 'the customer asked' });
  });

  test('deleted, it is gone with its files, its ledger stays and its id is never used again', async () => {
    await dock.sessions.delete('a', REQUEST);
    expect(readdirSync(join(folder, 'archive'))).toEqual([]);
    await expect(dock.get('a', '/dir/x')).rejects.toMatchObject({ code: 'gone' });
    await expect(dock.sessions.resume('a', REQUEST)).rejects.toMatchObject({ code: 'gone' });
    expect(await transitionsOf('a')).toEqual([
      'created active request',
      'active archived request',
      'archived deleted request',
    ]);
    await expect(dock.create('a')).rejects.toMatchObject({ code: 'conflict' });
    expect(await stateOf('a')).toBe('deleted');
  });
});

describe('crashes', () => {
  test('a killed process costs nothing that was answered, is shown as an error, and the next wake clears it', async () => {
    await dock.create('a');
    await dock.put('a', '/x', 'answered');
    await dock.put('a', '/s', 'scratch', 'tmp');
    const { execSync } = await import('node:child_process');
    const pid = execSync(
      `grep -lz "" /proc/[0-9]*/cmdline 2>/dev/null | head -0; pgrep -f "${folder}" || true`,
    ).toString();
    expect(pid.trim()).not.toBe('');
    for (const one of pid.trim().split('\n')) {
      const maps = existsSync(`/proc/${one}/maps`) ? readFileSync(`/proc/${one}/maps`, 'utf8') : '';
      if (maps.includes(`${folder}/live/a/vfs.sqlite-shm`)) process.kill(Number(one), 'SIGKILL');
    }
    await expect.poll(() => dock.registry.get('a')).toMatchObject({ state: 'suspended', fault: 'error' });
    expect(await dock.get('a', '/x')).toBe('answered');
    expect((await transitionsOf('a')).at(-1)).toBe('active suspended crash');
    expect(await dock.run('a', 'cat x')).toBe('answered');
    expect(await dock.registry.get('a')).toMatchObject({ state: 'active', fault: null });
  });

  test('a runaway that costs its process leaves the sandbox suspended, and the next request wakes it', async () => {
    await dock.create('a');
    await dock.put('a', '/x', 'kept');
    const outcome = await dock.sessions.exec('a', { command: 'while true; do :; done', timeoutMs: 500 }, REQUEST);
    expect(outcome).toMatchObject({ timedOut: true, exitCode: 124 });
    const row = await dock.registry.get('a');
    if (row?.state === 'suspended') expect((await transitionsOf('a')).at(-1)).toBe('active suspended timeout');
    else expect(row?.state).toBe('active');
    expect(await dock.run('a', 'cat x')).toBe('kept');
    expect((await dock.registry.ledger({ instance: 'a', type: 'exec.timed_out' }, 5)).rows).toHaveLength(1);
  });
});

describe('a sandbox that lives only in memory', () => {
  beforeEach(() => dock.create('m', { vfsPath: ':memory:', ephemeral: true }));

  test('works without a file and cannot be kept', async () => {
    await dock.put('m', '/x', 'here');
    expect(await dock.run('m', 'cat x')).toBe('here');
    expect(await dock.get('m', '/x')).toBe('here');
    await expect(dock.sessions.suspend('m', REQUEST)).rejects.toMatchObject({ code: 'conflict' });
    await expect(dock.sessions.archive('m', REQUEST)).rejects.toMatchObject({ code: 'conflict' });
    expect(await dock.get('m', '/x')).toBe('here');
    expect(readdirSync(join(folder, 'live'))).toEqual([]);
  });

  test('is deleted at its timeout and by a stop of the server', async () => {
    await dock.sessions.resume('m', REQUEST);
    dock.clock.advance(901);
    await dock.sessions.tick();
    expect(await stateOf('m')).toBe('deleted');
    await dock.create('m2', { vfsPath: ':memory:', ephemeral: true });
    await dock.sessions.resume('m2', REQUEST);
    await dock.stop();
    dock = await startDock({ dataFolder: folder, clock: dock.clock });
    expect(await stateOf('m2')).toBe('deleted');
  });
});

describe('prefetch', () => {
  for (const drawer of ['cold', 'archive'] as const) {
    test(`brings the file home from ${drawer} without a process, and back when nothing comes`, async () => {
      await dock.create('a');
      await dock.put('a', '/x', 'kept');
      await dock.put('a', '/x', 'scratch', 'tmp');
      if (drawer === 'archive') await dock.sessions.archive('a', REQUEST);
      else {
        await dock.sessions.suspend('a', REQUEST);
        await dock.sessions.freeze('a', REQUEST);
      }
      const state = await stateOf('a');
      expect(await dock.sessions.prefetch('a', REQUEST)).toEqual({ source: drawer, vfsPath: 'live/a/vfs.sqlite' });
      expect(await stateOf('a')).toBe(state);
      expect(dock.pool.active).toBe(0);
      expect(existsSync(liveFile(dock, 'a'))).toBe(true);
      expect(await dock.get('a', '/x', 'tmp')).toBe('scratch');
      dock.clock.advance(301);
      await dock.sessions.tick();
      expect(existsSync(liveFile(dock, 'a'))).toBe(false);
      expect((await dock.registry.get('a'))?.vfsPath).toMatch(new RegExp(`^${drawer}/`));
      await dock.sessions.prefetch('a', REQUEST);
      expect((await dock.sessions.resume('a', REQUEST)).source).toBe('local');
      expect(await dock.get('a', '/x')).toBe('kept');
      expect(await dock.get('a', '/x', 'tmp')).toBeNull();
    });
  }
});

describe('reading at rest', () => {
  test('leaves nothing beside the file, wakes nothing and stamps nothing, in every state', async () => {
    await dock.create('a');
    expect(await dock.get('a', '/x')).toBeNull();
    await dock.put('a', '/x', 'kept');
    await dock.sessions.suspend('a', REQUEST);
    const before = await dock.registry.get('a');
    dock.clock.advance(10);
    expect(await dock.get('a', '/x')).toBe('kept');
    expect((await dock.sessions.read('a', { op: 'search', text: 'kep', in: 'content', limit: 5 })).hits).toHaveLength(
      1,
    );
    expect(readdirSync(join(folder, 'live', 'a'))).toEqual(['vfs.sqlite']);
    expect(await dock.registry.get('a')).toEqual(before);
    await dock.sessions.freeze('a', REQUEST);
    expect(await dock.get('a', '/x')).toBe('kept');
    expect(readdirSync(join(folder, 'cold'))).toEqual(['a.sqlite']);
  });

  test('a constant stream of readers while it wakes, freezes and is archived sees one state or the other and loses nothing', {
    timeout: 120_000,
  }, async () => {
    await dock.create('a');
    await dock.put('a', '/n', '0');
    let answered = 0;
    let writing = 0;
    let going = true;
    const seen: number[] = [];
    const reader = async () => {
      while (going) {
        const least = answered;
        const value = Number(await dock.get('a', '/n'));
        expect(value).toBeGreaterThanOrEqual(least);
        expect(value).toBeLessThanOrEqual(writing);
        seen.push(value);
      }
    };
    const readers = Promise.all([reader(), reader(), reader()]);
    for (let cycle = 1; cycle <= 8; cycle += 1) {
      writing = cycle;
      await dock.put('a', '/n', String(cycle));
      answered = cycle;
      await dock.sessions.suspend('a', REQUEST);
      if (cycle % 2 === 0) await dock.sessions.freeze('a', REQUEST);
      if (cycle % 4 === 0) {
        await dock.sessions.archive('a', REQUEST);
        await dock.sessions.revive('a', REQUEST);
      }
    }
    going = false;
    await readers;
    expect(seen.length).toBeGreaterThan(20);
    expect(await dock.get('a', '/n')).toBe('8');
  });
});

describe('refusals', () => {
  test('hops that the map lacks name what is allowed and change nothing', async () => {
    await dock.create('a');
    await expect(dock.sessions.suspend('a', REQUEST)).rejects.toMatchObject({
      code: 'invalid_transition',
      extra: { from: 'created', to: 'suspended', allowed: ['active'] },
    });
    await dock.sessions.resume('a', REQUEST);
    await expect(dock.sessions.freeze('a', REQUEST)).rejects.toMatchObject({ code: 'invalid_transition' });
    await expect(dock.sessions.delete('a', REQUEST)).rejects.toMatchObject({ code: 'invalid_transition' });
    expect(await stateOf('a')).toBe('active');
    const refused = (await dock.registry.ledger({ instance: 'a' }, 10)).rows.map(({ type }) => type);
    expect(refused).toEqual(expect.arrayContaining(['suspend.refused', 'freeze.refused', 'delete.refused']));
  });

  test('a verb for the state it is in already changes nothing', async () => {
    await dock.create('a');
    await dock.sessions.resume('a', REQUEST);
    await dock.sessions.suspend('a', REQUEST);
    const before = await dock.registry.get('a');
    expect(await dock.sessions.suspend('a', REQUEST)).toEqual(before);
  });

  test('a running call holds filing off, and force ends it', async () => {
    await dock.create('a');
    await dock.sessions.resume('a', REQUEST);
    const call = dock.sessions.exec('a', { command: 'sleep 20; echo done' }, REQUEST);
    await expect.poll(() => dock.sessions.callsRunning).toBe(1);
    await expect(dock.sessions.suspend('a', REQUEST)).rejects.toMatchObject({ code: 'conflict' });
    expect(await stateOf('a')).toBe('active');
    await dock.sessions.suspend('a', REQUEST, { force: true });
    expect(await stateOf('a')).toBe('suspended');
    expect(await call).toMatchObject({ timedOut: true, exitCode: 124 });
  });

  test('an unknown id is not found in every operation', async () => {
    for (const attempt of [
      dock.sessions.resume('nobody', REQUEST),
      dock.sessions.suspend('nobody', REQUEST),
      dock.sessions.delete('nobody', REQUEST),
      dock.run('nobody', 'true'),
      dock.get('nobody', '/x'),
    ]) {
      await expect(attempt).rejects.toMatchObject({ code: 'not_found' });
    }
  });
});
