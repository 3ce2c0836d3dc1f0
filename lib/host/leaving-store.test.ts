import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Storage } from '../contract/schema.ts';
import { lockStores } from '../front/lock.ts';
import { driverOfTests, registryOfTests, settingsOfTests } from '../registry/testing/registry-of-tests.ts';
import { programOf } from '../testing/program.ts';
import { startServer, type TestServer, type TestServerOptions } from '../testing/server.ts';
import { LEAVING, leavingProgress } from './leaving-store.ts';

let folder: string;
let server: TestServer;
let unlock: () => Promise<void>;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-leaving-'));
});
afterEach(async () => {
  await stop();
  rmSync(folder, { recursive: true, force: true });
});

const data = () => join(folder, 'data');
const bucket = () => join(folder, 'bucket');
const url = () => pathToFileURL(bucket()).href;
async function stop(): Promise<void> {
  await server.stop();
  await unlock();
}
/** Starts the server as its process does, with its locks. */
async function start(settings: Record<string, string>, options: TestServerOptions<never> = {}): Promise<void> {
  await registryOfTests(data());
  unlock = await lockStores({ dataFolder: data() }, driverOfTests(data()));
  server = await startServer({ folder: data(), settings: { WB_LOG: 'silent', ...settings }, ...options });
}
const stored = { WB_STORE_CACHE: '0' };
const post = async (path: string, body: unknown = {}) => {
  const answer = await server.call('POST', `/api${path}`, body);
  expect(answer.status, `${path}: ${answer.text}`).toBeLessThan(300);
  return answer.json;
};
const left = () => server.host.registry.instances.countInStore();
const told = async () => (await server.call<Storage>('GET', '/api/settings/storage')).json.store?.leaving ?? null;
const fact = async () => leavingProgress(await server.host.registry.facts.read(LEAVING));

/** Runs the command, and resolves with what it said. */
function move(settings: Record<string, string>): Promise<{ status: number | null; text: string }> {
  const script = programOf(fileURLToPath(new URL('../../scripts/store-move.ts', import.meta.url)));
  const child = spawn(process.execPath, [script, '--to', 'disk'], {
    env: { ...process.env, WB_DATA: data(), ...settingsOfTests(data()), ...settings },
  });
  const said: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => said.push(chunk));
  return new Promise((resolve) =>
    child.on('close', (status) => resolve({ status, text: Buffer.concat(said).toString() })),
  );
}

const IDS = Array.from({ length: 5 }, (_, n) => `s${n}`);
const isPacked = (id: string) => Number(id.slice(1)) % 3 === 0;

/** Sandboxes of which only the store has the files, and a snapshot. */
async function fill(): Promise<void> {
  await start({ WB_COLD_URL: url(), ...stored });
  for (const id of IDS) {
    await post('/instances', { id, tenant: 'acme' });
    await post(`/instances/${id}/exec`, { command: `echo of ${id} > kept` });
    for (const verb of ['suspend', 'freeze', ...(isPacked(id) ? ['archive'] : [])])
      await post(`/instances/${id}/${verb}`);
  }
  await post('/instances/s1/snapshots');
  await expect.poll(() => server.host.registry.storeNames.copiesToStore(9, []), { timeout: 240_000 }).toEqual([]);
  await stop();
  for (const drawer of ['cold', 'archive', 'snapshots']) rmSync(join(data(), drawer), { recursive: true });
}

test('a server that runs brings every file home, whatever is woken and filed meanwhile, and starts without its store', async () => {
  await fill();
  await start({ WB_COLD_URL: url(), ...stored });
  expect(await move({ WB_COLD_URL: url() })).toEqual({
    status: 1,
    text: expect.stringContaining('WB_STORE_LEAVING=1'),
  });
  await stop();

  // Between any two parts of bringing one, others, and that one itself, are woken and filed again.
  const busy: Promise<unknown>[] = [];
  let steps = 0;
  const failpoint = (step: string) => {
    if (!/^bring\./.test(step) || steps >= 10) return;
    const id = IDS[steps++ % IDS.length] ?? '';
    if (isPacked(id)) return;
    const path = `/api/instances/${id}`;
    const use = async () => {
      const ran = await server.call('POST', `${path}/exec`, { command: `echo ${step} >> kept; head -n 1 kept` });
      expect(ran.json).toMatchObject({ stdout: `of ${id}\n` });
      await server.call('POST', `${path}/suspend`);
      await server.call('POST', `${path}/freeze`);
    };
    busy.push(use());
  };
  const before = readdirSync(bucket(), { recursive: true }).length;
  await start({ WB_COLD_URL: url(), WB_STORE_LEAVING: '1', ...stored }, { failpoint });
  const beside = move({ WB_COLD_URL: url() });
  expect(await beside).toEqual({ status: 0, text: expect.stringContaining('Every file is on this machine') });
  await Promise.all(busy);
  expect(busy.length).toBeGreaterThan(2);
  // What is filed now stays here, and nobody waits for an upload.
  await post('/instances/s2/exec', { command: 'echo last >> kept' });
  await post('/instances/s2/suspend');
  await post('/instances/s2/freeze');
  await expect.poll(left, { timeout: 240_000 }).toBe(0);
  await expect.poll(told, { timeout: 240_000 }).toMatchObject({ done: true });
  expect(await told()).toMatchObject({
    sandboxes: { left: 0, of: 5 },
    copies: { left: 0, of: 1 },
    bytes: { left: 0, of: expect.any(Number) },
    stays: [],
  });
  expect((await told())?.bytes.of).toBeGreaterThan(5 * 4096);
  expect(readdirSync(bucket(), { recursive: true }).length).toBe(before);
  await stop();

  await start({ WB_COLD_URL: '' });
  expect(await fact()).toBeNull();
  expect((await server.call<Storage>('GET', '/api/settings/storage')).json.store).toBeNull();
  rmSync(bucket(), { recursive: true });
  for (const id of IDS) {
    const read = await server.call('GET', `/api/instances/${id}/volumes/workspace/kept`);
    expect([id, read.status, read.text.split('\n')[0]]).toEqual([id, 200, `of ${id}`]);
    if (id !== 's0' && id !== 's4') continue;
    await post(`/instances/${id}/resume`);
    await post(`/instances/${id}/exec`, { command: 'cat kept' });
  }
  expect(readdirSync(join(data(), 'snapshots')).filter((name) => name.endsWith('.sqlite'))).toHaveLength(1);
  expect((await server.call('GET', '/api/events?type=fault.raised')).json).toEqual([]);
});

test('what stops in the middle goes on at the next start, and while the store is away it waits', async () => {
  await fill();
  let brought = 0;
  const enough = Promise.withResolvers<void>();
  const failpoint = (step: string) => {
    if (step === 'bring.brought' && ++brought === 2) enough.resolve();
  };
  await start({ WB_COLD_URL: url(), WB_STORE_LEAVING: '1', ...stored }, { failpoint });
  await enough.promise;
  await stop();
  renameSync(bucket(), join(folder, 'unplugged'));
  await start({ WB_COLD_URL: url(), WB_STORE_LEAVING: '1', ...stored });
  await expect.poll(async () => (await told())?.stays.length, { timeout: 240_000 }).toBeGreaterThan(0);
  const away = await left();
  // The next start says how much of all is done, and of each that stays why.
  const progress = await told();
  expect(progress).toMatchObject({ sandboxes: { left: away, of: IDS.length }, done: false });
  expect(progress?.bytes.left).toBe((await server.host.registry.instances.sizeInStore()).bytes);
  expect(progress?.stays.map(({ name }) => name)).toEqual(
    expect.arrayContaining((await server.host.registry.instances.inStore('', 9)).map(({ id }) => id)),
  );
  for (const { why } of progress?.stays ?? []) expect(why).toMatch(/store/);
  expect([away > 0, away < IDS.length]).toEqual([true, true]);
  expect((await server.call('GET', '/api/events?type=fault.raised')).json).toEqual([]);
  if (existsSync(bucket())) rmSync(bucket(), { recursive: true });
  renameSync(join(folder, 'unplugged'), bucket());
  await expect.poll(async () => (await fact())?.isDone, { timeout: 90_000 }).toBe(true);
  expect(await left()).toBe(0);
});
