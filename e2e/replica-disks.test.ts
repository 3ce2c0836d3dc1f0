/**
 * A replica on real disks that fill up, become read-only or are taken away while sandboxes write, and a spool on a full
 * one: no write is refused, no answered one is lost, and the replica comes back by itself.
 */
import { closeSync, cpSync, mkdirSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { afterEach, expect, test, vi } from 'vitest';
import { findMoment, restoreMoment } from '../lib/replication/replica-reader.ts';
import { openObjectStore } from '../lib/storage/object-store/open-store.ts';
import { holdNamespace, type Namespace } from '../lib/testing/namespace.ts';
import { canMount } from '../lib/testing/private-mounts.ts';
import { type ServerProcess, spawnServer } from '../lib/testing/process.ts';

if (!canMount) process.stderr.write('Disks of a replica were NOT tried: nothing can be mounted in a namespace here.\n');

const MIB = 1024 * 1024;
const SPOOL_BYTES = 8 * MIB;
/** The worker of a log waits for a confirmation at this length. */
const LONGEST_LOG_BYTES = 80 * MIB;
const SOON = { timeout: 240_000, interval: 100 };

let root: string;
let space: Namespace;
let server: ServerProcess;
afterEach(async () => {
  await server.end('SIGKILL');
  await space.end();
  rmSync(root, { recursive: true, force: true });
});

interface Shown {
  recovery_point: { at: number | null; behind_s: number | null } | null;
}

/** `disk`: a folder that lies on a disk of its own, of so many bytes. */
async function begin(disk: 'store' | 'data/replica', bytes: number): Promise<void> {
  root = mkdtempSync(join(tmpdir(), 'winterdock-disks-'));
  for (const folder of ['data/replica', 'disk', 'store']) mkdirSync(join(root, folder), { recursive: true });
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

async function put(name: string, text: string | Buffer): Promise<void> {
  const { status, text: said } = await server.call('PUT', `/api/instances/a/volumes/workspace/${name}`, text);
  expect(status, said).toBeLessThan(300);
}

const noise = (bytes: number) =>
  Buffer.from(Array.from({ length: bytes / 16 }, () => Math.random().toString(36).padEnd(16).slice(0, 16)).join(''));
const behind = async () => (await server.call<Shown>('GET', '/api/instances/a')).json.recovery_point?.behind_s ?? null;
/** Waits until the store has everything. */
const inStep = () => vi.waitFor(async () => expect(await behind()).toBe(0), SOON);
const degraded = async () => (await server.call('GET', '/readyz')).text;

function fill(): void {
  const ballast = openSync(space.outside(join(root, 'disk', 'ballast')), 'w');
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
}
const empty = () => rmSync(space.outside(join(root, 'disk', 'ballast')));

/** What a restore of now has of a file of the workspace. */
async function restored(name: string): Promise<string | null> {
  const copy = mkdtempSync(join(root, 'copy-'));
  cpSync(space.outside(join(root, 'store')), join(copy, 'store'), { recursive: true });
  const store = await openObjectStore(pathToFileURL(join(copy, 'store')).href, {
    ...{ endpoint: null, region: 'x', pathStyle: false, encryption: null, credentials: {} },
  });
  const moment = await findMoment(store, 'a', null, null);
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
  // Until the log has been looked at it is not known to be behind.
  await vi.waitFor(async () => expect(await behind()).toBeGreaterThan(0), SOON);
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
    expect(server.output()).toContain('the spool has no room for all pages of a sandbox');
    empty();
    await comesBack();
  },
);
