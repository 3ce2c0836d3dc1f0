import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { namesIn } from '../../testing/files-in.ts';
import { instanceId } from '../../testing/plain-ids.ts';
import { livePath } from '../engine.ts';
import { stage } from '../testing/stage.ts';
import { liveFile, REQUEST } from '../testing/test-engine.ts';

const at = stage();

describe('the row decides where the file is', () => {
  test('a stale live file never beats the cold copy and is set aside, not deleted', async () => {
    await at.dock.create('a');
    await at.dock.put('a', '/x', 'old');
    await at.dock.sandboxes.suspend('a', REQUEST);
    const stale = readFileSync(liveFile(at.dock, 'a'));
    await at.dock.put('a', '/x', 'new');
    await at.dock.sandboxes.suspend('a', REQUEST);
    await at.dock.sandboxes.freeze('a', REQUEST);
    const { mkdirSync } = await import('node:fs');
    mkdirSync(join(at.folder, 'live', 'a'));
    writeFileSync(liveFile(at.dock, 'a'), stale);
    expect(await at.dock.get('a', '/x')).toBe('new');
    expect((await at.dock.sandboxes.resume('a', REQUEST)).source).toBe('cold');
    expect(await at.dock.get('a', '/x')).toBe('new');
    expect(namesIn(join(at.folder, 'orphans'))).toHaveLength(1);
    expect((await at.dock.registry.ledger.page({ instance: 'a', type: 'orphan.set_aside' }, 10)).rows).toHaveLength(1);
  });

  test('a missing file is a fault, never an empty sandbox; restoring the file and a forced wake clear it', async () => {
    await at.dock.create('a');
    await at.dock.put('a', '/x', 'kept');
    await at.dock.sandboxes.suspend('a', REQUEST);
    await at.dock.sandboxes.freeze('a', REQUEST);
    renameSync(at.cold('a'), join(at.folder, 'elsewhere'));
    await expect(at.dock.run('a', 'ls')).rejects.toMatchObject({ code: 'missing_file' });
    expect(await at.dock.registry.instances.get('a')).toMatchObject({ state: 'frozen', fault: 'missing' });
    await expect(at.dock.sandboxes.resume('a', REQUEST)).rejects.toMatchObject({ code: 'missing_file' });
    await expect(at.dock.sandboxes.resume('a', REQUEST, { force: true })).rejects.toMatchObject({
      code: 'missing_file',
    });
    expect(existsSync(liveFile(at.dock, 'a'))).toBe(false);
    renameSync(join(at.folder, 'elsewhere'), at.cold('a'));
    await at.dock.sandboxes.resume('a', REQUEST, { force: true });
    expect(await at.dock.get('a', '/x')).toBe('kept');
    expect((await at.dock.registry.instances.get('a'))?.fault).toBeNull();
  });

  test('a file that was replaced by another is refused as corrupt and kept', async () => {
    await at.dock.create('a');
    await at.dock.create('b');
    await at.dock.put('a', '/x', 'mine');
    await at.dock.put('b', '/x', 'theirs');
    for (const id of ['a', 'b']) {
      await at.dock.sandboxes.suspend(id, REQUEST);
      await at.dock.sandboxes.freeze(id, REQUEST);
    }
    const theirs = readFileSync(at.cold('b'));
    writeFileSync(at.cold('a'), theirs);
    await expect(at.dock.sandboxes.resume('a', REQUEST)).rejects.toMatchObject({ code: 'corrupt' });
    expect(await at.dock.registry.instances.get('a')).toMatchObject({ state: 'frozen', fault: 'corrupt' });
    expect(readFileSync(at.cold('a'))).toEqual(theirs);
  });

  test('a file that is no longer a database is refused, also with force, and is kept for repair', async () => {
    await at.dock.create('a');
    await at.dock.put('a', '/x', 'mine');
    await at.dock.sandboxes.suspend('a', REQUEST);
    await at.dock.sandboxes.freeze('a', REQUEST);
    const whole = readFileSync(at.cold('a'));
    const damaged = Buffer.from(whole);
    damaged.fill(0x55, 0, 8192);
    writeFileSync(at.cold('a'), damaged);
    await expect(at.dock.sandboxes.resume('a', REQUEST)).rejects.toMatchObject({ code: 'corrupt' });
    await expect(at.dock.sandboxes.resume('a', REQUEST, { force: true })).rejects.toMatchObject({ code: 'corrupt' });
    expect(readFileSync(at.cold('a'))).toEqual(damaged);
    writeFileSync(at.cold('a'), whole);
    await at.dock.sandboxes.resume('a', REQUEST, { force: true });
    expect(await at.dock.get('a', '/x')).toBe('mine');
  });

  test('an unchanged copy of a filed file, as a backup restores it, is verified in full and trusted', async () => {
    await at.dock.create('a');
    await at.dock.put('a', '/x', 'mine');
    await at.dock.sandboxes.suspend('a', REQUEST);
    await at.dock.sandboxes.freeze('a', REQUEST);
    const { cpSync } = await import('node:fs');
    cpSync(at.cold('a'), join(at.folder, 'copy'), { preserveTimestamps: true });
    const row = await at.dock.registry.instances.get('a');
    rmSync(at.cold('a'));
    renameSync(join(at.folder, 'copy'), at.cold('a'));
    expect(row?.file?.inode).not.toBe(String(statSync(at.cold('a')).ino));
    const outcome = await at.dock.sandboxes.resume('a', REQUEST, { force: true });
    expect(outcome.source).toBe('cold');
    expect(await at.dock.get('a', '/x')).toBe('mine');
  });
});

describe('power loss', () => {
  /**
   * The registry records that a frozen sandbox woke, and its file is still in the cold drawer: the rename was undone.
   */
  async function undoneThaw(id = 'a'): Promise<void> {
    await at.dock.create(id);
    await at.dock.put(id, '/x', 'kept');
    await at.dock.sandboxes.suspend(id, REQUEST);
    await at.dock.sandboxes.freeze(id, REQUEST);
    const row = await at.dock.registry.instances.get(id);
    if (row === null) throw new Error('no row');
    await at.dock.registry.instances.commit({
      id,
      from: 'frozen',
      to: 'active',
      generation: row.generation,
      vfsPath: livePath(instanceId(id)),
      file: row.file,
      now: row.updated,
      ledger: [],
    });
    await at.dock.stop();
  }

  test('that undoes the move of a waking file loses nothing', async () => {
    await undoneThaw();
    await at.restart();
    expect(await at.dock.registry.instances.get('a')).toMatchObject({ state: 'suspended', fault: null });
    expect(await at.dock.run('a', 'cat x')).toBe('kept');
  });

  test('does not make another file in the drawer pass for the woken one', async () => {
    const others = join(at.folder, 'others.sqlite');
    await at.restart();
    await at.dock.create('b');
    await at.dock.put('b', '/x', 'kept');
    await at.dock.sandboxes.suspend('b', REQUEST);
    copyFileSync(liveFile(at.dock, 'b'), others);
    await undoneThaw('c');
    renameSync(others, at.cold('c'));
    await at.restart();
    expect(await at.dock.registry.instances.get('c')).toMatchObject({ state: 'suspended', fault: 'missing' });
  });
});

describe('archived', () => {
  beforeEach(async () => {
    await at.dock.create('a');
    await at.dock.put('a', '/dir/x', 'kept');
    await at.dock.put('a', '/y', 'kept too', 'memory');
    await at.dock.sandboxes.archive('a', REQUEST);
  });

  test('a stray command or write does not revive it', async () => {
    await expect(at.dock.run('a', 'true')).rejects.toMatchObject({ code: 'archived' });
    await expect(at.dock.put('a', '/z', '1')).rejects.toMatchObject({ code: 'archived' });
    expect(await at.stateOf('a')).toBe('archived');
  });

  test('it is listed from its listing and read from an expanded copy, and stays archived', async () => {
    const listed = await at.dock.sandboxes.read('a', { op: 'list', volume: 'workspace', limit: 10 });
    expect(listed.files.map(({ path, size }) => [path, size])).toEqual([['/dir/x', 4]]);
    expect(namesIn(join(at.folder, 'expanded'))).toEqual(['empty.sqlite']);
    expect(await at.dock.get('a', '/dir/x')).toBe('kept');
    expect(await at.dock.get('a', '/y', 'memory')).toBe('kept too');
    expect(await at.stateOf('a')).toBe('archived');
    expect(existsSync(liveFile(at.dock, 'a'))).toBe(false);
  });

  test('revived, it has everything but tmp, and nothing is left in the archive', async () => {
    const row = await at.dock.sandboxes.revive('a', { ...REQUEST, reason: 'the customer asked' });
    expect(row.state).toBe('active');
    expect(await at.dock.run('a', 'cat dir/x')).toBe('kept');
    expect(namesIn(join(at.folder, 'archive'))).toEqual([]);
    const [entry] = (await at.dock.registry.ledger.page({ instance: 'a', type: 'transition' }, 1)).rows;
    expect(entry).toMatchObject({ from: 'archived', to: 'active', source: 'archive', reason: 'the customer asked' });
  });

  test('deleted, its files are gone, its ledger stays and its id is never used again', async () => {
    await at.dock.sandboxes.delete('a', REQUEST);
    expect(namesIn(join(at.folder, 'archive'))).toEqual([]);
    await expect(at.dock.get('a', '/dir/x')).rejects.toMatchObject({ code: 'gone' });
    await expect(at.dock.sandboxes.resume('a', REQUEST)).rejects.toMatchObject({ code: 'gone' });
    expect(await at.transitionsOf('a')).toEqual([
      'created active request',
      'active archived request',
      'archived deleted request',
    ]);
    await expect(at.dock.create('a')).rejects.toMatchObject({ code: 'conflict' });
    expect(await at.stateOf('a')).toBe('deleted');
  });
});

describe('crashes', () => {
  test('a killed process loses nothing that was answered, is shown as an error, and the next wake clears it', async () => {
    await at.dock.create('a');
    await at.dock.put('a', '/x', 'answered');
    await at.dock.put('a', '/s', 'scratch', 'tmp');
    const { execSync } = await import('node:child_process');
    const pid = execSync(
      `grep -lz "" /proc/[0-9]*/cmdline 2>/dev/null | head -0; pgrep -f "${at.folder}" || true`,
    ).toString();
    expect(pid.trim()).not.toBe('');
    for (const one of pid.trim().split('\n')) {
      const maps = existsSync(`/proc/${one}/maps`) ? readFileSync(`/proc/${one}/maps`, 'utf8') : '';
      if (maps.includes(`${at.folder}/live/a/vfs.sqlite-shm`)) process.kill(Number(one), 'SIGKILL');
    }
    await expect.poll(() => at.dock.registry.instances.get('a')).toMatchObject({ state: 'suspended', fault: 'error' });
    expect(await at.dock.get('a', '/x')).toBe('answered');
    expect((await at.transitionsOf('a')).at(-1)).toBe('active suspended crash');
    expect(await at.dock.run('a', 'cat x')).toBe('answered');
    expect(await at.dock.registry.instances.get('a')).toMatchObject({ state: 'active', fault: null });
  });

  test('a runaway call that ends its process leaves the sandbox suspended, and the next request wakes it', async () => {
    await at.dock.create('a');
    await at.dock.put('a', '/x', 'kept');
    const outcome = await at.dock.sandboxes.exec('a', { command: 'while true; do :; done', timeoutMs: 500 }, REQUEST);
    expect(outcome).toMatchObject({ timedOut: true, exitCode: 124 });
    const row = await at.dock.registry.instances.get('a');
    if (row?.state === 'suspended') expect((await at.transitionsOf('a')).at(-1)).toBe('active suspended timeout');
    else expect(row?.state).toBe('active');
    expect(await at.dock.run('a', 'cat x')).toBe('kept');
    expect((await at.dock.registry.ledger.page({ instance: 'a', type: 'exec.timed_out' }, 5)).rows).toHaveLength(1);
  });
});

describe('a sandbox that lives only in memory', () => {
  beforeEach(() => at.dock.create('m', { vfsPath: ':memory:', ephemeral: true }));

  test('works without a file and cannot be kept', async () => {
    await at.dock.put('m', '/x', 'here');
    expect(await at.dock.run('m', 'cat x')).toBe('here');
    expect(await at.dock.get('m', '/x')).toBe('here');
    await expect(at.dock.sandboxes.suspend('m', REQUEST)).rejects.toMatchObject({ code: 'conflict' });
    await expect(at.dock.sandboxes.archive('m', REQUEST)).rejects.toMatchObject({ code: 'conflict' });
    expect(await at.dock.get('m', '/x')).toBe('here');
    expect(namesIn(join(at.folder, 'live'))).toEqual([]);
  });

  test('is deleted at its timeout and by a stop of the server', async () => {
    await at.dock.sandboxes.resume('m', REQUEST);
    at.dock.clock.advance(901);
    await at.dock.sandboxes.tick();
    expect(await at.stateOf('m')).toBe('deleted');
    await at.dock.create('m2', { vfsPath: ':memory:', ephemeral: true });
    await at.dock.sandboxes.resume('m2', REQUEST);
    await at.restart({ clock: at.dock.clock });
    expect(await at.stateOf('m2')).toBe('deleted');
  });
});

test('an import that a kill interrupted is gone after the start; another file without a row is set aside and kept', async () => {
  for (const id of ['landing', 'stranger']) {
    mkdirSync(join(at.folder, 'live', id));
    writeFileSync(liveFile(at.dock, id), `the work of ${id}`);
  }
  await at.dock.registry.copies.markUnclaimed('live/landing/vfs.sqlite');
  await at.restart();
  expect(namesIn(join(at.folder, 'live'))).toEqual([]);
  expect(namesIn(join(at.folder, 'orphans'))).toEqual([expect.stringMatching(/stranger-vfs\.sqlite$/)]);
  expect(await at.dock.registry.copies.unclaimedFiles()).toEqual([]);
});

describe('prefetch', () => {
  for (const drawer of ['cold', 'archive'] as const) {
    test(`brings the file to the live drawer from ${drawer} without a process, and back when nothing comes`, async () => {
      await at.dock.create('a');
      await at.dock.put('a', '/x', 'kept');
      await at.dock.put('a', '/x', 'scratch', 'tmp');
      if (drawer === 'archive') await at.dock.sandboxes.archive('a', REQUEST);
      else {
        await at.dock.sandboxes.suspend('a', REQUEST);
        await at.dock.sandboxes.freeze('a', REQUEST);
      }
      const state = await at.stateOf('a');
      expect(await at.dock.sandboxes.prefetch('a', REQUEST)).toEqual({ source: drawer, vfsPath: 'live/a/vfs.sqlite' });
      expect(await at.stateOf('a')).toBe(state);
      expect(at.dock.pool.active).toBe(0);
      expect(existsSync(liveFile(at.dock, 'a'))).toBe(true);
      expect(await at.dock.get('a', '/x', 'tmp')).toBe('scratch');
      at.dock.clock.advance(301);
      await at.dock.sandboxes.tick();
      expect(existsSync(liveFile(at.dock, 'a'))).toBe(false);
      expect((await at.dock.registry.instances.get('a'))?.vfsPath).toMatch(new RegExp(`^${drawer}/`));
      await at.dock.sandboxes.prefetch('a', REQUEST);
      expect((await at.dock.sandboxes.resume('a', REQUEST)).source).toBe('local');
      expect(await at.dock.get('a', '/x')).toBe('kept');
      expect(await at.dock.get('a', '/x', 'tmp')).toBeNull();
    });
  }
});

describe('reading at rest', () => {
  test('leaves nothing beside the file, wakes nothing and does not count as activity, in every state', async () => {
    await at.dock.create('a');
    expect(await at.dock.get('a', '/x')).toBeNull();
    await at.dock.put('a', '/x', 'kept');
    await at.dock.sandboxes.suspend('a', REQUEST);
    const before = await at.dock.registry.instances.get('a');
    at.dock.clock.advance(10);
    expect(await at.dock.get('a', '/x')).toBe('kept');
    expect(
      (await at.dock.sandboxes.read('a', { op: 'search', text: 'kep', in: 'content', limit: 5 })).hits,
    ).toHaveLength(1);
    expect(namesIn(join(at.folder, 'live', 'a'))).toEqual(['vfs.sqlite']);
    expect(await at.dock.registry.instances.get('a')).toEqual(before);
    await at.dock.sandboxes.freeze('a', REQUEST);
    expect(await at.dock.get('a', '/x')).toBe('kept');
    expect(namesIn(join(at.folder, 'cold'))).toEqual(['a.sqlite']);
  });

  test('a constant stream of readers while it wakes, freezes and is archived sees one state or the other and misses nothing', async () => {
    await at.dock.create('a');
    await at.dock.put('a', '/n', '0');
    let answered = 0;
    let writing = 0;
    let going = true;
    const seen: number[] = [];
    const reader = async () => {
      while (going) {
        const least = answered;
        const value = Number(await at.dock.get('a', '/n'));
        expect(value).toBeGreaterThanOrEqual(least);
        expect(value).toBeLessThanOrEqual(writing);
        seen.push(value);
      }
    };
    const readers = Promise.all([reader(), reader(), reader()]);
    for (let cycle = 1; cycle <= 8; cycle += 1) {
      writing = cycle;
      await at.dock.put('a', '/n', String(cycle));
      answered = cycle;
      await at.dock.sandboxes.suspend('a', REQUEST);
      if (cycle % 2 === 0) await at.dock.sandboxes.freeze('a', REQUEST);
      if (cycle % 4 === 0) {
        await at.dock.sandboxes.archive('a', REQUEST);
        await at.dock.sandboxes.revive('a', REQUEST);
      }
    }
    going = false;
    await readers;
    expect(seen.length).toBeGreaterThan(20);
    expect(await at.dock.get('a', '/n')).toBe('8');
  });
});

describe('refusals', () => {
  test('hops that the map lacks name the allowed ones and change nothing', async () => {
    await at.dock.create('a');
    await expect(at.dock.sandboxes.suspend('a', REQUEST)).rejects.toMatchObject({
      code: 'invalid_transition',
      extra: { from: 'created', to: 'suspended', allowed: ['active'] },
    });
    await at.dock.sandboxes.resume('a', REQUEST);
    await expect(at.dock.sandboxes.freeze('a', REQUEST)).rejects.toMatchObject({ code: 'invalid_transition' });
    await expect(at.dock.sandboxes.delete('a', REQUEST)).rejects.toMatchObject({ code: 'invalid_transition' });
    expect(await at.stateOf('a')).toBe('active');
    const refused = (await at.dock.registry.ledger.page({ instance: 'a' }, 10)).rows.map(({ type }) => type);
    expect(refused).toEqual(expect.arrayContaining(['suspend.refused', 'freeze.refused', 'delete.refused']));
  });

  test('a verb for the state it is in already changes nothing', async () => {
    await at.dock.create('a');
    await at.dock.sandboxes.resume('a', REQUEST);
    await at.dock.sandboxes.suspend('a', REQUEST);
    const before = await at.dock.registry.instances.get('a');
    expect(await at.dock.sandboxes.suspend('a', REQUEST)).toEqual(before);
  });

  test('a running call delays filing, and force ends it', async () => {
    await at.dock.create('a');
    await at.dock.sandboxes.resume('a', REQUEST);
    const call = at.dock.sandboxes.exec('a', { command: 'sleep 20; echo done' }, REQUEST);
    await expect.poll(() => at.dock.sandboxes.callsRunning).toBe(1);
    await expect(at.dock.sandboxes.suspend('a', REQUEST)).rejects.toMatchObject({ code: 'conflict' });
    expect(await at.stateOf('a')).toBe('active');
    await at.dock.sandboxes.suspend('a', REQUEST, { force: true });
    expect(await at.stateOf('a')).toBe('suspended');
    expect(await call).toMatchObject({ timedOut: true, exitCode: 124 });
  });
});
