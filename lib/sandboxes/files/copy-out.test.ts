import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { closeToRest, openAtRest, openLive } from '../../vfs/open.ts';
import { hasOpen, readersOf } from '../../vfs/testing/proc.ts';
import { vfsPath } from '../../vfs/testing/tmp-files.ts';
import { liveFile, REQUEST, startTestEngine, type TestEngine } from '../testing/test-engine.ts';

const VOLUMES = ['workspace', 'memory'] as const;

let folder: string;
let dock: TestEngine;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-copy-'));
  dock = await startTestEngine({ dataFolder: join(folder, 'data') });
});
afterEach(async () => {
  await dock.stop();
  rmSync(folder, { recursive: true, force: true });
});

const copy = (name: string) => dock.sandboxes.copyOut('a', join(folder, name), { volumes: VOLUMES });

function textIn(name: string, path: string, volume: 'workspace' | 'memory' | 'tmp' = 'workspace'): string | null {
  const vfs = openAtRest(join(folder, name));
  try {
    const content = vfs.get(vfsPath(path), volume);
    return content === null ? null : Buffer.from(content).toString('utf8');
  } finally {
    vfs.close();
  }
}

test('a sandbox is copied in every state without being woken, with the same bytes from every drawer', async () => {
  await dock.create('a');
  expect((await copy('created')).volumes.map(({ files }) => files)).toEqual([0, 0, 0]);
  await dock.put('a', '/kept', 'the work');
  await dock.put('a', '/kept', 'the memory', 'memory');
  await dock.put('a', '/kept', 'the scratch', 'tmp');
  const active = await copy('active');
  expect(dock.sandboxes.callsRunning).toBe(0);
  const lines = (await dock.registry.ledger.page({ instance: 'a' }, 100)).rows.length;

  await dock.sandboxes.suspend('a', REQUEST);
  const hashes = [active.sha256, (await copy('suspended')).sha256];
  await dock.sandboxes.freeze('a', REQUEST);
  hashes.push((await copy('frozen')).sha256);
  await dock.sandboxes.archive('a', REQUEST);
  hashes.push((await copy('archived')).sha256);
  expect(new Set(hashes).size).toBe(1);
  expect((await dock.registry.ledger.page({ instance: 'a' }, 100)).rows.length).toBe(lines + 3);
  for (const name of ['active', 'suspended', 'frozen', 'archived']) {
    expect([textIn(name, '/kept'), textIn(name, '/kept', 'memory'), textIn(name, '/kept', 'tmp')]).toEqual([
      'the work',
      'the memory',
      null,
    ]);
  }
  await dock.sandboxes.delete('a', REQUEST);
  await expect(copy('deleted')).rejects.toMatchObject({ code: 'gone' });
  expect(existsSync(join(folder, 'deleted'))).toBe(false);
});

test('calls go on while a sandbox is copied, and filing it waits', async () => {
  await dock.create('a');
  const content = Buffer.alloc(60_000_000);
  for (let index = 0; index < 4; index += 1) {
    await dock.sandboxes.write(
      'a',
      { op: 'put', volume: 'workspace', path: vfsPath(`/large-${index}`), content },
      REQUEST,
    );
  }
  const order: string[] = [];
  const copying = copy('target').then(() => order.push('copied'));
  await expect.poll(() => existsSync(join(folder, 'target')), { interval: 1 }).toBe(true);
  const suspended = dock.sandboxes.suspend('a', REQUEST).then(() => order.push('suspended'));
  await Promise.all([copying, suspended]);
  expect(order).toEqual(['copied', 'suspended']);

  await dock.sandboxes.resume('a', REQUEST);
  let done = false;
  const again = copy('again').finally(() => {
    done = true;
  });
  let written = 0;
  for (; !done; written += 1) await dock.put('a', '/counter', String(written));
  await again;
  expect(written).toBeGreaterThan(3);
});

async function large(id: string): Promise<void> {
  await dock.create(id);
  const content = Buffer.alloc(60_000_000);
  for (let index = 0; index < 4; index += 1) {
    await dock.sandboxes.write(id, { op: 'put', volume: 'workspace', path: vfsPath(`/${index}`), content }, REQUEST);
  }
  await dock.sandboxes.suspend(id, REQUEST);
  await expect(dock.sandboxes.copyOut(id, join(folder, 'early'), { volumes: VOLUMES })).rejects.toMatchObject({
    code: 'unverified',
  });
  const hash = async () => (await dock.registry.instances.get(id))?.file?.sha256;
  await expect.poll(hash, { timeout: 240_000 }).toMatch(/^[0-9a-f]{64}$/);
}

test('a copy that waits in the queue delays no filing and no wake', async () => {
  await large('one');
  await large('two');
  await dock.create('a');
  await dock.put('a', '/kept', 'first');
  const order: string[] = [];
  const copies = ['one', 'two', 'a'].map((id) =>
    dock.sandboxes.copyOut(id, join(folder, id), { volumes: VOLUMES }).then(() => order.push(`copied ${id}`)),
  );
  // The two running ones are stopped meanwhile, however fast this machine copies.
  let copying: number[] = [];
  const look = () => {
    copying = readersOf(process.pid).filter((pid) => hasOpen(pid, join(folder, 'one'), join(folder, 'two')));
    return copying.length;
  };
  await expect.poll(look, { interval: 1 }).toBe(2);
  for (const pid of copying) process.kill(pid, 'SIGSTOP');
  await dock.sandboxes.suspend('a', REQUEST);
  await dock.put('a', '/kept', 'second');
  order.push('woken');
  for (const pid of copying) process.kill(pid, 'SIGCONT');
  await Promise.all(copies);
  expect(order[0]).toBe('woken');
  expect(textIn('a', '/kept')).toBe('second');
});

test('a stop aborts copies, the running one and the waiting ones, and leaves nothing of them', async () => {
  await large('a');
  // More than run at a time, and more than a busy machine finishes before it notices that the first one runs.
  const names = Array.from({ length: 12 }, (_, index) => String(index));
  const copies = Promise.allSettled(names.map((name) => copy(name)));
  await expect.poll(() => existsSync(join(folder, '0')), { interval: 1 }).toBe(true);
  await dock.sandboxes.stop();
  const results = await copies;
  const broken = results.filter((result) => result.status === 'rejected');
  expect(broken.length).toBeGreaterThan(2);
  for (const result of broken) expect(result).toMatchObject({ reason: { code: 'storage_unavailable' } });
  await expect(copy('later')).rejects.toMatchObject({ code: 'storage_unavailable' });
  const whole = names.filter((_, index) => results[index]?.status === 'fulfilled');
  expect(readdirSync(folder).sort()).toEqual([...whole, 'data'].sort());
});

test('copying a damaged sandbox, one without its file, or one in memory is refused, and nothing is left', async () => {
  await dock.create('a');
  await dock.put('a', '/kept', 'the work');
  await dock.sandboxes.suspend('a', REQUEST);
  const file = liveFile(dock, 'a');
  const vfs = openLive(file, { maxBytes: 1e9, maxFileBytes: 1e6, mustExist: true });
  vfs.db.enableDefensive(false);
  vfs.db.exec('CREATE TRIGGER bites AFTER INSERT ON vfs BEGIN DELETE FROM vfs; END');
  closeToRest(vfs);
  await expect(copy('target')).rejects.toMatchObject({ code: 'corrupt' });
  rmSync(file);
  await expect(copy('target')).rejects.toMatchObject({ code: 'missing_file' });
  await dock.create('m', { vfsPath: ':memory:', ephemeral: true });
  await dock.run('m', 'echo x > x');
  await expect(dock.sandboxes.copyOut('m', join(folder, 'target'), { volumes: VOLUMES })).rejects.toMatchObject({
    code: 'conflict',
  });
  expect(readdirSync(folder)).toEqual(['data']);
});
