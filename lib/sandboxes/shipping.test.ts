/** What a replica is told of files, and that each rest is what it was shipped, page by page. */
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, linkSync, lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { observeEffects } from '../base/effects.ts';
import { holdFile, kill } from '../vfs/testing/processes.ts';
import type { Failpoint } from './recovery/failpoints.ts';
import { ReplicaRecorder } from './testing/replica-recorder.ts';
import { liveFile, observeOpens, REQUEST, startTestEngine, type TestEngine } from './testing/test-engine.ts';

let folder: string;
let dock: TestEngine;
let replica: ReplicaRecorder;
let failAt: Failpoint | null = null;

const start = async () => {
  replica = new ReplicaRecorder(folder);
  dock = await startTestEngine({
    dataFolder: folder,
    replica,
    failpoint: (step) => {
      if (step === failAt) throw new Error(`failed at ${step}`);
    },
  });
};

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-shipping-'));
  failAt = null;
  await start();
});

afterEach(async () => {
  observeEffects(null);
  await dock.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** A sandbox that is awake, with a file in it. */
async function awake(id: string): Promise<string> {
  await dock.create(id);
  await dock.put(id, '/a', 'first');
  return liveFile(dock, id);
}

/** The last rest of a sandbox: nothing is lacking, and it is complete. */
function expectWhole(id: string): void {
  const last = replica.rests.filter((rest) => rest.id === id).at(-1);
  expect(last).toMatchObject({ differences: [] });
  expect(readdirSync(join(folder, 'spool'))).toEqual([]);
}

const row = (id: string) => dock.registry.instances.get(id);
const since = (work: () => Promise<unknown>) => {
  const from = replica.told.length;
  return work().then(() => replica.told.slice(from));
};

test('a wake, a suspension, a freeze and a wake from the cold drawer are told, and what rests is what was shipped', async () => {
  await dock.create('a');
  expect(await since(() => dock.put('a', '/a', 'first'))).toEqual(['opening a', 'opened a']);
  replica.ship('a');
  await dock.put('a', '/b', 'second');
  const suspending = () => dock.sandboxes.suspend('a', REQUEST);
  expect(await since(suspending)).toEqual(['closing a', 'landed a', 'rested a']);
  expectWhole('a');
  expect(replica.rests.at(-1)?.record).toEqual((await row('a'))?.file);
  expect(readdirSync(join(folder, 'live', 'a'))).toEqual(['vfs.sqlite']);
  expect(await since(() => dock.sandboxes.freeze('a', REQUEST))).toEqual(['rested a']);
  expect(await since(() => dock.put('a', '/c', 'third'))).toEqual(['opening a', 'opened a']);
  expect(await since(suspending)).toEqual(['closing a', 'landed a', 'rested a']);
  expectWhole('a');
  expect(await dock.get('a', '/b')).toBe('second');
});

test('a log that could be given no second name is left beside its file, shipped and recovered', async () => {
  const file = await awake('a');
  replica.keepsLogs = false;
  await dock.sandboxes.suspend('a', REQUEST);
  expectWhole('a');
  expect(existsSync(`${file}-wal`)).toBe(false);
  expect(await row('a')).toMatchObject({ state: 'suspended', fault: null });
  expect((await row('a'))?.file?.identity).toEqual(expect.any(String));
  expect(await dock.get('a', '/a')).toBe('first');
});

test('several processes of a sandbox ship one log, and the rest of it when they close', async () => {
  await awake('a');
  await dock.sandboxes.eval(
    'a',
    { language: 'python', code: 'open("/workspace/p", "w").write("p" * 6_000_000)' },
    REQUEST,
  );
  replica.ship('a');
  await dock.run('a', 'echo more > /workspace/m');
  replica.ship('a');
  await dock.sandboxes.eval(
    'a',
    { language: 'python', code: 'open("/workspace/q", "w").write("q" * 6_000_000)' },
    REQUEST,
  );
  await dock.sandboxes.suspend('a', REQUEST, { force: true });
  expectWhole('a');
  expect(await dock.run('a', 'wc -c < p; wc -c < q')).toBe('6000000\n6000000\n');
});

test.each(['SIGKILL', 'SIGTERM'] as const)(
  'a process that ends by %s leaves its log to be shipped before it is recovered',
  async (how) => {
    const pids: number[] = [];
    observeOpens(dock.pool, (process) => void process.opened.then(() => pids.push(process.pid)));
    await awake('a');
    replica.ship('a');
    await dock.put('a', '/b', 'second');
    const told = await since(async () => {
      process.kill(pids[0] as number, how);
      await expect.poll(async () => (await row('a'))?.state, { timeout: 240_000 }).toBe('suspended');
      await expect.poll(() => replica.rests.length, { timeout: 240_000 }).toBe(1);
    });
    expect(told).toEqual(['landed a', 'rested a']);
    expectWhole('a');
    expect(await dock.get('a', '/b')).toBe('second');
  },
);

test.each([true, false])(
  'a process that is killed once its log has a second name is shipped whole: by force %s',
  async (force) => {
    const pids: number[] = [];
    observeOpens(dock.pool, (process) => void process.opened.then(() => pids.push(process.pid)));
    const file = await awake('a');
    replica.onClosing = () => {
      expect(lstatSync(`${file}-wal`).nlink).toBe(2);
      process.kill(pids[0] as number, 'SIGKILL');
    };
    const suspending = dock.sandboxes.suspend('a', REQUEST, { force });
    if (force) await suspending;
    else await expect(suspending).rejects.toMatchObject({ code: 'conflict' });
    await expect.poll(() => replica.rests.length, { timeout: 240_000 }).toBe(1);
    expectWhole('a');
    expect(await row('a')).toMatchObject({ state: 'suspended', pending: null });
    expect(await dock.get('a', '/a')).toBe('first');
    expect(readdirSync(join(folder, 'orphans'))).toEqual([]);
  },
);

test('a log that somebody else gave a second name is not a sandbox’s, with a replica either', async () => {
  const file = await awake('a');
  await dock.put('a', '/b', 'second');
  linkSync(`${file}-wal`, join(folder, 'theirs'));
  await dock.abandon();
  await start();
  expect(await row('a')).toMatchObject({ state: 'suspended', fault: 'missing' });
  expect(readdirSync(join(folder, 'orphans')).length).toBeGreaterThan(0);
});

test('after a kill of the server the log is shipped before the start recovers it', async () => {
  await awake('a');
  await dock.abandon();
  await start();
  expect(replica.told).toEqual(['landed a', 'rested a']);
  expectWhole('a');
  expect(await dock.get('a', '/a')).toBe('first');
});

test('a filing that is refused is taken back, and its process goes on', async () => {
  await awake('a');
  const running = dock.sandboxes.exec('a', { command: 'echo x > x; sleep 600' }, REQUEST).catch(() => {});
  await expect.poll(() => dock.get('a', '/x'), { timeout: 240_000 }).not.toBeNull();
  const told = await since(() =>
    expect(dock.sandboxes.suspend('a', REQUEST)).rejects.toMatchObject({ code: 'conflict' }),
  );
  expect(told.filter((line) => line !== 'closing a')).toEqual([]);
  await dock.sandboxes.suspend('a', REQUEST, { force: true });
  await running;
  expectWhole('a');
});

test('a process that could not close, as the file is read beside it, goes on and ships on', async () => {
  const file = await awake('a');
  const reader = await holdFile(file, 'reading');
  const told = await since(() =>
    expect(dock.sandboxes.suspend('a', REQUEST)).rejects.toMatchObject({ code: 'conflict' }),
  );
  expect(told).toEqual(['closing a', 'goesOn a']);
  expect(readdirSync(join(folder, 'spool'))).toEqual([]);
  await kill(reader);
  await dock.put('a', '/b', 'second');
  await dock.sandboxes.suspend('a', REQUEST);
  expectWhole('a');
  expect(await dock.get('a', '/b')).toBe('second');
});

test('a file that is restored in place of another begins anew', async () => {
  const file = await awake('a');
  await dock.sandboxes.suspend('a', REQUEST);
  const copy = join(folder, 'copy.sqlite');
  copyFileSync(file, copy);
  const hash = createHash('sha256').update(readFileSync(copy)).digest('hex');
  await dock.put('a', '/a', 'later');
  await dock.sandboxes.suspend('a', REQUEST);
  const snapshot = { name: 'copy', hash, bytes: readFileSync(copy).length, file: copy };
  expect(await since(() => dock.sandboxes.restore('a', snapshot, REQUEST))).toEqual(['replaced a']);
  expect(await dock.get('a', '/a')).toBe('first');
});

test('a wake that fails is told as a rest', async () => {
  await awake('a');
  await dock.sandboxes.suspend('a', REQUEST);
  failAt = 'resume.opened';
  const told = await since(() => expect(dock.sandboxes.resume('a', REQUEST)).rejects.toThrow());
  expect(told).toEqual(['opening a', 'opened a', 'landed a', 'rested a']);
  expectWhole('a');
  failAt = null;
  await dock.put('a', '/b', 'second');
  await dock.sandboxes.suspend('a', REQUEST);
  expectWhole('a');
});

test('a file that was lost under its process begins anew', async () => {
  const file = await awake('a');
  rmSync(file);
  const told = await since(() => dock.sandboxes.suspend('a', REQUEST));
  expect(told).toEqual(['replaced a', 'landed a', 'rested a']);
  expect(await dock.get('a', '/a')).toBe('first');
});

test('a sandbox that is deleted is dropped, and one that lives in memory is not told of at all', async () => {
  await awake('a');
  await dock.create('m', { vfsPath: ':memory:' });
  await dock.put('m', '/a', 'first');
  const told = await since(() => dock.sandboxes.runPlan('a', 'deleted', REQUEST));
  expect(told.at(-1)).toBe('dropped a');
  expect(replica.told.filter((line) => line.endsWith(' m'))).toEqual([]);
});

test.each(['ships', 'opening', 'opened', 'closing', 'landed', 'rested', 'dropped'] as const)(
  'a replica that fails at %s fails neither a wake nor a filing',
  async (verb) => {
    replica.failing = verb;
    await awake('a');
    expect(existsSync(liveFile(dock, 'a'))).toBe(true);
    await dock.sandboxes.suspend('a', REQUEST);
    expect(await dock.get('a', '/a')).toBe('first');
    await dock.put('a', '/b', 'second');
    await dock.sandboxes.suspend('a', REQUEST);
    expect(await row('a')).toMatchObject({ state: 'suspended', fault: null });
    expect(readdirSync(join(folder, 'live', 'a'))).toEqual(['vfs.sqlite']);
    expect(readFileSync(liveFile(dock, 'a'))[18]).toBe(1);
    await dock.sandboxes.runPlan('a', 'deleted', REQUEST);
    expect((await row('a'))?.state).toBe('deleted');
  },
);
