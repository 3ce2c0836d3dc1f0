/**
 * A replica on real disks that fill up, become read-only or are taken away while sandboxes write, and a spool on a full
 * one: no write is refused, no answered one is lost, and the replica comes back by itself.
 */
import {
  closeSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  statSync,
  truncateSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { afterEach, expect, test, vi } from 'vitest';
import { findMoment, restoreMoment } from '../lib/replication/moments/replica-reader.ts';
import { openObjectStore } from '../lib/storage/object-store/open-store.ts';
import { filesIn } from '../lib/testing/files-in.ts';
import { holdNamespace, type Namespace } from '../lib/testing/namespace.ts';
import { canMount } from '../lib/testing/private-mounts.ts';
import { type ServerProcess, spawnServer } from '../lib/testing/process.ts';

if (!canMount) process.stderr.write('Disks of a replica were NOT tried: nothing can be mounted in a namespace here.\n');

const MIB = 1024 * 1024;
const SPOOL_BYTES = 8 * MIB;
/** The worker of a log waits for a confirmation at this length. */
const LONGEST_LOG_BYTES = 80 * MIB;
const SOON = { timeout: 240_000, interval: 100 };
/** Five seconds are promised, and are more beside others. */
const SOON_ENOUGH_MS = 60_000;

let root: string;
let space: Namespace;
let server: ServerProcess;
afterEach(async () => {
  await server.end('SIGKILL');
  await space.end();
  rmSync(root, { recursive: true, force: true });
});

interface Refused {
  code?: string;
  committed?: string;
  detail?: string;
}

interface Shown {
  recovery_point: { at: number | null; behind_s: number | null } | null;
}

/** `disk`: a folder that lies on a disk of its own, of so many bytes. */
async function begin(disk: 'store' | 'data/replica' | 'data/replica/spool', bytes: number): Promise<void> {
  root = mkdtempSync(join(tmpdir(), 'winterdock-disks-'));
  for (const folder of ['data/replica/spool', 'disk', 'store']) mkdirSync(join(root, folder), { recursive: true });
  const mounts = [`mount -t tmpfs -o size=${bytes} none ${root}/disk`, `mount --bind ${root}/disk ${root}/${disk}`];
  space = await holdNamespace(mounts.join('\n'));
  server = await spawnServer({
    folder: join(root, 'data'),
    within: space.within,
    settings: {
      WB_REPLICA_URL: pathToFileURL(join(root, 'store')).href,
      WB_REPLICA_SPOOL: String(SPOOL_BYTES),
      ...{ WB_LOG: 'warn', WB_RATE_KEY: '0', WB_RATE_ADDRESS: '0', WB_WAKE_WAIT_MS: '120000' },
    },
  });
  expect((await server.call('POST', '/api/instances', { id: 'a', tenant: 'acme' })).status).toBe(201);
  // Beside others a process takes its time to start.
  await vi.waitFor(() => put('f.txt', 'first'), SOON);
  await vi.waitFor(async () => expect(await restored('f.txt')).toBe('first'), SOON);
}

const write = (id: string, name: string, text: string | Buffer) =>
  server.call<Refused>('PUT', `/api/instances/${id}/volumes/workspace/${name}`, text);
async function put(name: string, text: string | Buffer, id = 'a'): Promise<void> {
  const { status, text: said } = await write(id, name, text);
  expect(status, said).toBeLessThan(300);
}

const noise = (bytes: number) =>
  Buffer.from(Array.from({ length: bytes / 16 }, () => Math.random().toString(36).padEnd(16).slice(0, 16)).join(''));
const behind = async (id = 'a') =>
  (await server.call<Shown>('GET', `/api/instances/${id}`)).json.recovery_point?.behind_s ?? null;
/** Waits until the store has everything. */
const inStep = () => vi.waitFor(async () => expect(await behind()).toBe(0), SOON);
const degraded = async () => (await server.call('GET', '/readyz')).text;

/** Fills the disk, but for so many bytes. */
function fill(left = 0): void {
  const path = space.outside(join(root, 'disk', 'ballast'));
  const ballast = openSync(path, 'w');
  try {
    for (let bytes = MIB; bytes >= 512; ) {
      try {
        writeSync(ballast, Buffer.alloc(bytes, 1));
      } catch {
        bytes /= 2;
      }
    }
  } finally {
    closeSync(ballast);
  }
  if (left > 0) truncateSync(path, statSync(path).size - left);
}
const empty = () => rmSync(space.outside(join(root, 'disk', 'ballast')));

/** What a restore of now has of a file of the workspace. */
async function restored(name: string, id = 'a'): Promise<string | null> {
  const copy = mkdtempSync(join(root, 'copy-'));
  cpSync(space.outside(join(root, 'store')), join(copy, 'store'), { recursive: true });
  const store = await openObjectStore(pathToFileURL(join(copy, 'store')).href, {
    ...{ endpoint: null, region: 'x', pathStyle: false, encryption: null, credentials: {} },
  });
  const moment = await findMoment(store, id, null, null);
  if (moment === null) return null;
  const target = join(copy, 'restored.sqlite');
  await restoreMoment(store, moment, { target, tmp: join(copy, 'tmp'), atRest: true });
  await store.close();
  const db = new DatabaseSync(target, { readOnly: true });
  try {
    const row = db.prepare("SELECT content FROM vfs WHERE volume = 'workspace' AND path = ?").get(`/${name}`);
    return row === undefined ? null : Buffer.from(row.content as Uint8Array).toString();
  } finally {
    db.close();
  }
}

/** Writes while the replica is away, more than the spool may have; says how far behind it is. */
async function writeOn(why: RegExp): Promise<void> {
  await put('f.txt', 'meanwhile');
  await vi.waitFor(async () => expect(await degraded()).toMatch(why), SOON);
  expect(await behind()).toBeGreaterThan(0);
  for (let round = 0; round < 12; round += 1) await put('big', noise(MIB));
  await put('f.txt', 'last');
  // What is spooled of one sandbox is one base more than the bound at most.
  const { json } = await server.call<{ replication: { spool: { bytes: number } } }>('GET', '/api/settings/storage');
  expect(json.replication.spool.bytes).toBeLessThan(SPOOL_BYTES + 4 * MIB);
}

async function comesBack(): Promise<void> {
  await vi.waitFor(async () => expect(await restored('f.txt')).toBe('last'), SOON);
  await inStep();
  expect(JSON.parse(await degraded())).toMatchObject({ status: 'ok' });
}

test.runIf(canMount)(
  'a replica that is full holds nobody up, says so, and has everything once there is room',
  async () => {
    await begin('store', 24 * MIB);
    fill();
    await writeOn(/it is full/);
    expect(await restored('f.txt')).toBe('first');
    empty();
    await comesBack();
  },
);

test.runIf(canMount)('a replica that is read-only for a while has everything afterwards', async () => {
  await begin('store', 64 * MIB);
  await vi.waitFor(() => space.run(`mount -o remount,ro ${root}/store`), SOON);
  await writeOn(/refuses/);
  space.run(`mount -o remount,rw ${root}/store`);
  await comesBack();
});

test.runIf(canMount)(
  'a replica whose disk is taken away is written to nowhere else, and goes on when it is back',
  async () => {
    await begin('store', 64 * MIB);
    space.run(`umount -l ${root}/store`);
    await writeOn(/folder is not there/);
    expect(statSync(join(root, 'store')).nlink).toBe(2);
    space.run(`mount --bind ${root}/disk ${root}/store`);
    await comesBack();
  },
);

test.runIf(canMount)(
  'a spool whose disk is full refuses no write, and all of it is shipped once there is room',
  async () => {
    await begin('data/replica', 256 * MIB);
    fill();
    await put('f.txt', 'meanwhile');
    await vi.waitFor(async () => expect(await behind()).toBeGreaterThan(0), SOON);
    for (let round = 0; round < 100; round += 1) await put('big', noise(MIB));
    await put('f.txt', 'last');
    expect(await restored('f.txt')).toBe('first');
    // The log stays bounded although nothing of it could be cut.
    const log = space.outside(join(root, 'data', 'live', 'a', 'vfs.sqlite-wal'));
    expect(statSync(log).size).toBeLessThan(LONGEST_LOG_BYTES);
    await vi.waitFor(() => expect(server.output()).toContain('the spool has no room for all pages of a sandbox'), SOON);
    empty();
    await comesBack();
  },
);

test.runIf(canMount)(
  'a spool without room refuses what would wait for the store, never holds it up, and lets it go on afterwards',
  async () => {
    await begin('data/replica', 96 * MIB);
    for (const id of ['b', 'c']) {
      await server.call('POST', '/api/instances', { id, tenant: 'acme', replicate: 'sync' });
      await vi.waitFor(() => put('f.txt', 'first', id), SOON);
    }
    // Room for a few pages, and not for what is written.
    fill(512 * 1024);
    const timed = async (work: () => Promise<{ status: number; json: Refused }>) => {
      const began = performance.now();
      const { status, json } = await work();
      return { status, ...json, isSoon: performance.now() - began < SOON_ENOUGH_MS };
    };
    const local = { status: 503, code: 'not_replicated', committed: 'local', isSoon: true };
    const big = noise(2 * MIB);
    expect(await timed(() => write('b', 'big', big))).toMatchObject(local);
    const refused = await timed(() => write('b', 'f.txt', 'refused'));
    expect(refused).toMatchObject({ status: 503, code: 'not_replicated', isSoon: true });
    expect(refused.detail).toMatch(/whose spool on this machine has no room/);
    expect(refused).not.toHaveProperty('committed');
    // What is tried of the other one may take all of it for a moment.
    await vi.waitFor(() => put('f.txt', 'small', 'c'), SOON);
    expect(await restored('f.txt', 'c')).toBe('small');
    const read = () => server.call<Refused>('GET', '/api/instances/b/volumes/workspace/f.txt');
    expect(await timed(read)).toMatchObject(local);
    expect(await timed(() => server.call('POST', '/api/instances/b/suspend'))).toMatchObject(local);
    expect(await timed(read)).toMatchObject(local);

    fill();
    expect(await timed(() => write('c', 'f.txt', 'refused'))).not.toHaveProperty('committed');
    const made = () => server.call<Refused>('POST', '/api/instances', { id: 'd', tenant: 'acme', replicate: 'sync' });
    expect(await timed(made)).toMatchObject({ status: 503, code: 'not_replicated', isSoon: true });
    expect((await server.call('GET', '/api/instances/d')).status).toBe(404);
    // One whose answers wait for nobody goes on.
    await put('f.txt', 'meanwhile');
    expect(await restored('f.txt')).toBe('first');

    empty();
    await vi.waitFor(async () => expect((await read()).text).toBe('first'), SOON);
    expect(await restored('big', 'b')).toBe(big.toString());
    await put('f.txt', 'again', 'c');
    expect(await restored('f.txt', 'c')).toBe('again');
    await inStep();
    expect(await restored('f.txt')).toBe('meanwhile');
  },
);

test.runIf(canMount)('a spool on a disk of its own costs no series, and keeps what is to be merged', async () => {
  await begin('data/replica/spool', 64 * MIB);
  for (const text of ['one', 'two', 'three']) {
    await put('f.txt', text);
    await server.call('POST', '/api/instances/a/suspend');
    await inStep();
    expect(await restored('f.txt')).toBe(text);
  }
  const series = filesIn(join(root, 'store')).map((path) => /^replica\/a\/([^/]+)\//.exec(path)?.[1]);
  expect(new Set(series.filter((name) => name !== undefined)).size).toBe(1);
  expect(server.output()).not.toMatch(/segments were not merged|what is to be merged was not kept/);
  // Of the minute that is under way; what is of one before is merged.
  await vi.waitFor(async () => {
    await put('f.txt', 'four');
    expect(filesIn(join(root, 'data', 'replica', 'levels')).some((path) => path.startsWith('a/'))).toBe(true);
  }, SOON);
  await inStep();
  expect(await restored('f.txt')).toBe('four');
});
