/**
 * A server of a plain user that may not write into its spool, or its replica in a folder, for a while, or no file as
 * long as what was committed: no write is refused, how far it is behind is said, and all of it is there afterwards.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Event, Instance, Storage } from '../lib/contract/schema.ts';
import { findMoment, restoreMoment } from '../lib/replication/moments/replica-reader.ts';
import { openObjectStore } from '../lib/storage/object-store/open-store.ts';
import { type ServerProcess, spawnServer } from '../lib/testing/process.ts';

const MIB = 1024 * 1024;
const SOON = { timeout: 240_000, interval: 100 };
const USER = 65_534;
const isRoot = process.getuid?.() === 0;
const AS_USER = isRoot ? ['setpriv', `--reuid=${USER}`, `--regid=${USER}`, '--clear-groups'] : [];
const run = ([command = '', ...args]: readonly string[]) => spawnSync(command, args, { encoding: 'utf8' });
const canLimit = run([...AS_USER, 'prlimit', '--fsize', '--noheadings']).status === 0;

let root: string;
let server: ServerProcess;
beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), 'winterdock-refusals-'));
  chmodSync(root, 0o755);
  for (const folder of ['data', 'cache', 'store']) {
    mkdirSync(join(root, folder));
    if (isRoot) chownSync(join(root, folder), USER, USER);
  }
  server = await spawnServer({
    folder: join(root, 'data'),
    within: AS_USER,
    settings: {
      WB_REPLICA_URL: pathToFileURL(join(root, 'store')).href,
      ...{ WB_CACHE: join(root, 'cache'), HOME: root, WB_LOG: 'error', WB_RATE_KEY: '0', WB_RATE_ADDRESS: '0' },
    },
  });
  expect((await server.call('POST', '/api/instances', { id: 'a', tenant: 'acme' })).status).toBe(201);
  await vi.waitFor(() => put('f.txt', 'first'), SOON);
  await vi.waitFor(async () => expect(await restored('f.txt')).toBe('first'), SOON);
});
afterEach(async () => {
  await server.end('SIGKILL');
  rmSync(root, { recursive: true, force: true });
});

async function put(name: string, text: string | Buffer): Promise<void> {
  const { status, text: said } = await server.call('PUT', `/api/instances/a/volumes/workspace/${name}`, text);
  expect(status, said).toBeLessThan(300);
}
const noise = (bytes: number) =>
  Buffer.from(Array.from({ length: bytes / 16 }, () => Math.random().toString(36).padEnd(16).slice(0, 16)).join(''));
const point = async () => (await server.call<Instance>('GET', '/api/instances/a')).json.recovery_point;
const degraded = async () => (await server.call('GET', '/readyz')).text;
const replication = async () => (await server.call<Storage>('GET', '/api/settings/storage')).json.replication;
const told = async (type: string) => (await server.call<Event[]>('GET', `/api/events?type=${type}`)).json;

/** Every folder at or below one, the deepest last. */
function foldersIn(path: string): string[] {
  const entries = readdirSync(path, { withFileTypes: true, recursive: true });
  const below = entries.filter((entry) => entry.isDirectory()).map(({ parentPath, name }) => join(parentPath, name));
  return [path, ...below.sort()];
}
function refuse(path: string): void {
  for (const folder of foldersIn(path)) chmodSync(folder, 0o500);
}
function allow(path: string): void {
  for (const folder of foldersIn(path)) chmodSync(folder, 0o700);
}
/** Bytes of a file that the server may write, at most; null: any. */
function limit(bytes: number | null): void {
  // The hard limit stays: raising that is not everybody's.
  const { status, stderr } = run([
    ...[...AS_USER, 'prlimit', '--pid', `${server.child.pid}`],
    `--fsize=${bytes ?? 'unlimited'}:`,
  ]);
  expect(status, stderr).toBe(0);
}

/** What a restore of now has of a file of the workspace. */
async function restored(name: string): Promise<string | null> {
  const copy = mkdtempSync(join(root, 'copy-'));
  cpSync(join(root, 'store'), join(copy, 'store'), { recursive: true });
  const store = await openObjectStore(pathToFileURL(join(copy, 'store')).href, {
    ...{ endpoint: null, region: 'x', pathStyle: false, encryption: null, credentials: {} },
  });
  try {
    const moment = await findMoment(store, 'a', null, null);
    if (moment === null) return null;
    const target = join(copy, 'restored.sqlite');
    await restoreMoment(store, moment, { target, tmp: join(copy, 'tmp'), atRest: true });
    const db = new DatabaseSync(target, { readOnly: true });
    const row = db.prepare("SELECT content FROM vfs WHERE volume = 'workspace' AND path = ?").get(`/${name}`);
    db.close();
    return row === undefined ? null : Buffer.from(row.content as Uint8Array).toString();
  } finally {
    await store.close();
    rmSync(copy, { recursive: true });
  }
}

/** Writes meanwhile, and looks whether what is said of it is true. */
async function writesOn(says: RegExp): Promise<void> {
  const began = performance.now();
  await put('f.txt', 'meanwhile');
  expect((await point()).behind_s).toBeGreaterThan(0);
  await vi.waitFor(async () => expect(await degraded()).toMatch(says), SOON);
  for (let round = 0; round < 4; round += 1) await put('f.txt', `meanwhile ${round}`);
  await put('f.txt', 'last');
  await vi.waitFor(async () => expect((await point()).behind_s).toBeGreaterThan(2), SOON);
  expect((await point()).behind_s).toBeLessThan((performance.now() - began) / 1000 + 1);
  expect(await restored('f.txt')).toBe('first');
}
async function goesOn(): Promise<void> {
  await vi.waitFor(async () => expect(await restored('f.txt')).toBe('last'), SOON);
  await vi.waitFor(async () => expect((await point()).behind_s).toBe(0), SOON);
  await vi.waitFor(async () => {
    expect(JSON.parse(await degraded())).toMatchObject({ status: 'ok' });
    expect(await replication()).toMatchObject({ away: null, late: null, spool: { refused: null } });
  }, SOON);
}

test('a spool into which the server may not write for a while costs nothing, and is a fault that says why', async () => {
  const spool = join(root, 'data', 'replica', 'spool');
  refuse(spool);
  await writesOn(/spool takes nothing: the server may not write there/);
  expect(await replication()).toMatchObject({
    away: null,
    spool: { refused: { why: 'the server may not write there' } },
  });
  // After a minute it is told.
  await vi.waitFor(async () => expect((await replication())?.late).toMatchObject({ sandboxes: 1 }), SOON);
  const [behind] = await told('replica.behind');
  expect(behind?.reason).toMatch(/behind than promised.*spool takes nothing: the server may not write there$/);
  allow(spool);
  await goesOn();
  expect(await told('replica.gap')).toEqual([]);
});

test('a replica in a folder into which the server may not write for a while has everything afterwards', async () => {
  refuse(join(root, 'store'));
  await writesOn(/The replica is behind: .*refuses/);
  expect(await replication()).toMatchObject({ away: { why: expect.any(String) }, spool: { refused: null } });
  allow(join(root, 'store'));
  await goesOn();
  expect(await told('replica.gap')).toEqual([]);
});

test.runIf(canLimit)('what is longer than a file in the spool may be waits, and goes once it may', async () => {
  limit(4 * MIB);
  const big = noise(8 * MIB);
  await put('big', big);
  await writesOn(/spool takes nothing: no file there may become as long as what was committed/);
  expect(await restored('big')).toBeNull();
  limit(null);
  await goesOn();
  expect(await restored('big')).toBe(big.toString());
  expect(await told('replica.gap')).toEqual([]);
});
