import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { observeEffects } from '../../base/effects.ts';
import { sha256Of } from '../../storage/files.ts';
import { type Planted, plant } from '../../testing/faulted.ts';
import { filesIn } from '../../testing/files-in.ts';
import { programOf } from '../../testing/program.ts';
import { REQUEST, startTestEngine, type TestEngine } from '../testing/test-engine.ts';

const VICTIM = join(import.meta.dirname, '..', 'testing', 'restore-victim.ts');

let whole: string;
let kept: string;
let hash: string;
let makings: string;

/** Two files: the sandbox's own, and an earlier one in its snapshot. */
beforeAll(async () => {
  makings = mkdtempSync(join(tmpdir(), 'winterdock-restore-'));
  const dock = await startTestEngine({ dataFolder: join(makings, 'dock') });
  await dock.create('a');
  await dock.put('a', '/work', 'as it was kept');
  kept = join(makings, 'kept.sqlite');
  await dock.sandboxes.copyOut('a', kept, { volumes: ['workspace', 'memory'] });
  await dock.put('a', '/work', 'later work');
  await dock.sandboxes.suspend('a', REQUEST);
  whole = join(makings, 'whole.sqlite');
  copyFileSync(join(makings, 'dock/live/a/vfs.sqlite'), whole);
  hash = await sha256Of(kept);
  await dock.stop();
});
afterAll(() => rmSync(makings, { recursive: true, force: true }));

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-restore-'));
});
afterEach(() => {
  observeEffects(null);
  rmSync(folder, { recursive: true, force: true });
});

async function start(): Promise<TestEngine> {
  const dock = await startTestEngine({ dataFolder: folder });
  mkdirSync(join(folder, 'snapshots'), { recursive: true });
  copyFileSync(kept, join(folder, `snapshots/${hash}.sqlite`));
  return dock;
}

const snapshot = () => ({ name: 'snap', hash, bytes: 1 });
const STATES = ['suspended', 'frozen', 'archived'] as const;
const inOrphans = () => filesIn(join(folder, 'orphans'));
/** The files in the drawers of a sandbox. */
const inDrawers = () => filesIn(folder).filter((path) => /^(live|cold|archive)\//.test(path));

describe.each(STATES)('a sandbox that is %s', (state) => {
  test.each(['corrupt', 'missing', 'unknown', null] as const)(
    'and %s gets the snapshot in the place of its file, which is kept',
    async (fault) => {
      const dock = await start();
      const one = await plant(dock, whole, { id: 'a', state, fault });
      const before = fault === 'missing' ? null : readFileSync(one.path);
      writeFileSync(`${one.path}-wal`, 'a log');
      const row = await dock.sandboxes.restore('a', snapshot(), { ...REQUEST, reason: 'ticket 7' });
      expect(row).toMatchObject({ state, fault: null, vfsPath: 'live/a/vfs.sqlite', pending: null });
      expect(await dock.get('a', '/work')).toBe('as it was kept');
      const [log, main] = [
        inOrphans().filter((name) => name.endsWith('-wal')),
        inOrphans().filter((name) => !name.endsWith('-wal')),
      ];
      expect(log).toHaveLength(1);
      expect(main.map((name) => readFileSync(join(folder, 'orphans', name)))).toEqual(before === null ? [] : [before]);
      const lines = (await dock.registry.ledger.page({ instance: 'a' }, 10)).rows;
      expect(lines.slice(0, fault === null ? 2 : 3).map(({ type }) => type)).toEqual([
        ...(fault === null ? [] : ['fault.cleared']),
        'file.restored',
        'file.kept_aside',
      ]);
      expect(lines.find(({ type }) => type === 'file.restored')?.reason).toMatch(
        /^ticket 7 \(snap; what was there is kept as orphans\//,
      );
      // It returns to its drawer like any prefetched file, and wakes.
      dock.clock.advance(301);
      await dock.sandboxes.tick();
      const drawerPath = { suspended: 'live/a/vfs.sqlite', frozen: 'cold/a.sqlite', archived: 'archive/a.sqlite.zst' }[
        state
      ];
      expect((await dock.registry.instances.get('a'))?.vfsPath).toBe(drawerPath);
      expect(inDrawers()).toEqual([...(state === 'archived' ? ['archive/a.json'] : []), drawerPath]);
      await dock.sandboxes.resume('a', REQUEST);
      expect(await dock.run('a', 'cat work')).toBe('as it was kept');
      await dock.stop();
    },
  );

  test.each(['corrupt', 'missing'] as const)(
    'and %s keeps what it has when any effect of a restore fails, and can be restored then',
    async (fault) => {
      const dock = await start();
      let effects = Number.POSITIVE_INFINITY;
      for (let nth = 1; nth <= effects; nth += 1) {
        const id = `a${nth}`;
        const one = await plant(dock, whole, { id, state, fault });
        const before = lookAt(one);
        let seen = 0;
        observeEffects({
          before() {
            seen += 1;
            if (seen === nth) throw Object.assign(new Error('no space'), { code: 'ENOSPC', syscall: 'write' });
          },
        });
        const outcome = await dock.sandboxes.restore(id, snapshot(), REQUEST).then(
          () => 'restored',
          () => 'refused',
        );
        observeEffects(null);
        if (seen < nth) {
          effects = nth;
          break;
        }
        await dock.sandboxes.tick();
        const row = await dock.registry.instances.get(id);
        expect([nth, row?.pending]).toEqual([nth, null]);
        if (outcome === 'refused') {
          expect([nth, row?.fault, lookAt(one)]).toEqual([nth, fault, before]);
          await dock.sandboxes.restore(id, snapshot(), REQUEST);
        }
        expect((await dock.registry.instances.get(id))?.fault).toBeNull();
        expect(await dock.get(id, '/work')).toBe('as it was kept');
      }
      expect(effects).toBeGreaterThan(10);
      expect(filesIn(folder).filter((path) => path.includes('staging'))).toEqual([]);
      await dock.stop();
    },
  );
});

describe.each(['suspended', 'archived'] as const)('a sandbox that is %s', (state) => {
  test('that is restored by a server that is killed before any effect has the one file or the other, and nothing is lost', async () => {
    const maker = await start();
    const ids = Array.from({ length: 40 }, (_, at) => `k${at + 1}`);
    const planted = new Map<string, Planted>();
    for (const id of ids) planted.set(id, await plant(maker, whole, { id, state, fault: 'corrupt' }));
    await maker.abandon();
    let kills = 0;
    for (const [at, id] of ids.entries()) {
      const one = planted.get(id);
      if (one === undefined) throw new Error(id);
      const before = lookAt(one);
      const victim = spawnSync(
        process.execPath,
        ['--no-warnings', programOf(VICTIM), folder, id, hash, String(at + 1)],
        {
          encoding: 'utf8',
        },
      );
      if (victim.signal === null) {
        expect([victim.status, victim.stderr]).toEqual([0, '']);
        break;
      }
      kills += 1;
      const dock = await startTestEngine({ dataFolder: folder });
      const row = await dock.registry.instances.get(id);
      expect([at, row?.pending, row?.state]).toEqual([at, null, state]);
      if (row?.fault === 'corrupt') {
        expect([at, lookAt(one)]).toEqual([at, before]);
        await dock.sandboxes.restore(id, snapshot(), REQUEST);
      }
      expect(await dock.get(id, '/work')).toBe('as it was kept');
      expect(inOrphans().filter((name) => name.includes(`-${id}-`))).toHaveLength(1);
      await dock.abandon();
    }
    expect(kills).toBeGreaterThan(8);
  });
});

/** The bytes of a sandbox's file, enough to compare them. */
function lookAt({ path }: Planted): string | null {
  try {
    return (
      readFileSync(path).toString('latin1').slice(0, 64) +
      readdirSync(dirname(path)).filter((name) => name.endsWith('-wal')).length
    );
  } catch {
    return null;
  }
}

test('a sandbox that is awake, is only in memory, or would exceed a quota is refused and unchanged', async () => {
  const dock = await start();
  await dock.create('awake');
  await dock.put('awake', '/work', 'now');
  await expect(dock.sandboxes.restore('awake', snapshot(), REQUEST)).rejects.toMatchObject({
    code: 'conflict',
    hint: 'Suspend it first.',
  });
  expect(await dock.get('awake', '/work')).toBe('now');
  await dock.sandboxes.suspend('awake', REQUEST);
  expect((await dock.sandboxes.restore('awake', snapshot(), REQUEST)).state).toBe('suspended');
  await dock.create('m', { vfsPath: ':memory:', ephemeral: true });
  await expect(dock.sandboxes.restore('m', snapshot(), REQUEST)).rejects.toMatchObject({ code: 'conflict' });
  await dock.create('new');
  expect((await dock.sandboxes.restore('new', snapshot(), REQUEST)).state).toBe('created');
  expect(await dock.run('new', 'cat work')).toBe('as it was kept');
  await expect(
    dock.sandboxes.restore('awake', { name: 'rotten', hash: '0'.repeat(64), bytes: 1 }, REQUEST),
  ).rejects.toMatchObject({ code: 'missing_file' });
  expect(await dock.get('awake', '/work')).toBe('as it was kept');
  await dock.stop();
});
