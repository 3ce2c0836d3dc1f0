/** What a sandbox says of its replica after its server was killed, while the store is away: what is known, no more. */
import { mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { recoveryInWords } from '../../contract/recovery-words.ts';
import type { Instance } from '../../contract/schema.ts';
import { filesIn } from '../../testing/files-in.ts';
import { type ServerProcess, spawnServer } from '../../testing/process.ts';

const SOON = { timeout: 240_000, interval: 50 };
/** How long the replica lacks something before the kill. */
const LAG_MS = 3000;
const LEAST_LAG_S = 2.5;
let root: string;
/** What the store lies on. */
let disk: string;
let server: ServerProcess;
beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), 'winterdock-lag-'));
  disk = join(root, 'disk');
  mkdirSync(disk);
  await start();
  expect((await server.call('POST', '/api/instances', { id: 'a', tenant: 'acme' })).status).toBe(201);
  await put('one');
  await vi.waitFor(async () => expect((await point()).behind_s).toBe(0), SOON);
});
afterEach(async () => {
  await server.end('SIGKILL');
  rmSync(root, { recursive: true, force: true });
});

async function start(): Promise<void> {
  const settings = { WB_REPLICA_URL: pathToFileURL(join(disk, 'store')).href, WB_LOG: 'error' };
  server = await spawnServer({ folder: join(root, 'data'), settings });
}
async function put(text: string): Promise<void> {
  const { status, text: said } = await server.call('PUT', '/api/instances/a/volumes/workspace/f', text);
  expect(status, said).toBeLessThan(300);
}
const shown = async () => (await server.call<Instance>('GET', '/api/instances/a')).json;
const point = async () => (await shown()).recovery_point;
const words = async () => recoveryInWords(await shown(), Date.now() / 1000, (seconds) => `${Math.round(seconds)} s`);
/** The time is noted once a minute. */
const upTo = (at: number | null) => (noted: number) => at !== null && noted <= at && noted > at - 120;
const spooled = () => filesIn(join(root, 'data', 'replica', 'spool')).filter((path) => path.startsWith('a/'));
const leaves = () => renameSync(disk, `${disk}-away`);
async function comesBack(): Promise<void> {
  renameSync(`${disk}-away`, disk);
  await vi.waitFor(async () => expect((await point()).behind_s).toBe(0), SOON);
}

test('what was answered is behind at once, also before its log is looked at', async () => {
  for (let time = 0; time < 4; time += 1) {
    leaves();
    await put(`time ${time}`);
    expect((await point()).behind_s).toBeGreaterThan(0);
    await comesBack();
  }
});

test('a lag goes on over a kill, asleep and awake, and ends with the store', async () => {
  const { at } = await point();
  const beganMs = Date.now();
  leaves();
  await put('two');
  await vi.waitFor(() => expect(spooled()).not.toEqual([]), SOON);
  await pause(LAG_MS);
  await server.end('SIGKILL');
  await start();
  const asleep = await point();
  const mostS = (Date.now() - beganMs) / 1000;
  expect(asleep).toMatchObject({ as: 'filed', at: expect.toSatisfy(upTo(at)) });
  expect(asleep.behind_s).toBeGreaterThan(LEAST_LAG_S);
  expect(asleep.behind_s).toBeLessThan(mostS + 1);
  await put('three');
  const awake = await point();
  expect(awake).toMatchObject({ as: 'live', at: asleep.at });
  expect(awake.behind_s).toBeGreaterThan(asleep.behind_s ?? 0);
  await comesBack();
});

test('a lag of which nothing is left after a kill is not known, and said so', async () => {
  const { at } = await point();
  leaves();
  await put('two');
  await vi.waitFor(() => expect(spooled()).not.toEqual([]), SOON);
  await server.end('SIGKILL');
  for (const path of spooled()) rmSync(join(root, 'data', 'replica', 'spool', path));
  await start();
  expect(await point()).toEqual({ as: 'filed', at: expect.toSatisfy(upTo(at)), behind_s: null });
  expect(await words()).toMatch(/^as it was \d+ s ago, not as it is$/);
  await put('three');
  expect(await point()).toEqual({ as: 'live', at: expect.toSatisfy(upTo(at)), behind_s: null });
  expect(await words()).toMatch(/^as it was \d+ s ago at least$/);
  await comesBack();
  expect(await words()).toBe('up to date');
});
