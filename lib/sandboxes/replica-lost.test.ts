/** What somebody takes from the replica, or does to the clock: the newest state is found again all the same. */
import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { systemClock } from '../base/clock.ts';
import { instanceId } from '../testing/plain-ids.ts';
import { type ReplicaStage, startReplica } from './testing/replica-stage.ts';
import { liveFile, REQUEST, startTestEngine, type TestEngine } from './testing/test-engine.ts';

const SOON = { timeout: 240_000 };
let folder: string;
let dock: TestEngine;
let replica: ReplicaStage;

const begin = async (options: Partial<Parameters<typeof startReplica>[0]> = {}) => {
  const dataFolder = join(folder, 'data');
  replica = await startReplica({ folder: join(folder, 'replica'), dataFolder, clock: systemClock, ...options });
  dock = await startTestEngine({ dataFolder, replica: replica.files });
};
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-replica-'));
});
afterEach(async () => {
  await dock.stop();
  await replica.close();
  rmSync(folder, { recursive: true, force: true });
});

/** The text of /f.txt of the workspace in the newest moment. */
async function newest(id: string): Promise<string | null> {
  const { path } = await replica.restore(id);
  const db = new DatabaseSync(path, { readOnly: true });
  try {
    const row = db.prepare("SELECT content FROM vfs WHERE volume = 'workspace' AND path = '/f.txt'").get();
    return row === undefined ? null : Buffer.from(row.content as Uint8Array).toString();
  } finally {
    db.close();
  }
}
const shipped = (id: string) => replica.files.flush(instanceId(id));
const spool = (id: string) => join(folder, 'data/replica/spool', id);
const store = () => join(folder, 'replica', 'store');
const restarted = async (options: Parameters<typeof begin>[0] = {}) => {
  await dock.abandon();
  await replica.close();
  await begin(options);
  await vi.waitFor(async () => expect((await dock.registry.instances.get('a'))?.state).toBe('suspended'), SOON);
};

test('a clock that was set back while the server was down makes nothing newer of what is older', async () => {
  await begin();
  await dock.create('a');
  await dock.run('a', 'echo one > f.txt');
  await shipped('a');
  await restarted({ clock: { ...systemClock, now: () => systemClock.now() - 86_400_000 } });
  await dock.run('a', 'echo two > f.txt');
  await shipped('a');
  expect(await newest('a')).toBe('two\n');
});

test('a spool that is lost while the server is down costs a base, and no later state', async () => {
  await begin();
  await dock.create('a');
  await dock.run('a', 'echo one > f.txt');
  await shipped('a');
  renameSync(store(), `${store()}-away`);
  await dock.run('a', 'echo two > f.txt');
  await dock.sandboxes.suspend('a', REQUEST);
  await vi.waitFor(() => expect(readdirSync(join(folder, 'data/replica/positions'))).toContain('a.json'), SOON);
  await dock.stop();
  await replica.close();
  rmSync(spool('a'), { recursive: true });
  renameSync(`${store()}-away`, store());
  await begin();
  await dock.run('a', 'echo three > f.txt');
  await shipped('a');
  expect(await newest('a')).toBe('three\n');
});

test('a spool that is lost while the server runs holds nobody up', async () => {
  await begin();
  for (const id of ['a', 'b']) {
    await dock.create(id);
    await dock.run(id, 'echo one > f.txt');
    await shipped(id);
  }
  renameSync(store(), `${store()}-away`);
  await dock.run('a', 'echo two > f.txt');
  await replica.files.shipNow(instanceId('a'));
  await vi.waitFor(() => expect(replica.uploads.away).not.toBeNull(), SOON);
  rmSync(join(folder, 'data/replica'), { recursive: true });
  renameSync(`${store()}-away`, store());
  for (const id of ['a', 'b']) await dock.run(id, 'echo three > f.txt');
  for (const id of ['b', 'a']) {
    await vi.waitFor(
      async () => {
        await replica.files.shipNow(instanceId(id));
        expect(await newest(id)).toBe('three\n');
      },
      { ...SOON, interval: 500 },
    );
  }
});

test('a sandbox that ships once an hour may write over a long log before', async () => {
  await begin({ classOf: () => ({ kind: 'every', everyMs: 3_600_000 }) });
  await dock.create('a');
  for (let n = 0; n < 5; n += 1) await dock.run('a', `head -c 8000000 /dev/urandom > big${n}`);
  const mark = join(dirname(liveFile(dock, 'a')), 'vfs.sqlite-shipped');
  await vi.waitFor(() => expect(readFileSync(mark, 'utf8')).toMatch(/^[0-9a-f]{16}0000[0-9a-f]{4}$/), SOON);
});
