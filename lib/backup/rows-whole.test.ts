import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemClock } from '../base/clock.ts';
import { startServer, type TestServer } from '../testing/server.ts';
import { run } from './testing/server-content.ts';

let root: string;
let url: string;
let server: TestServer | null = null;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'winterdock-rows-whole-'));
  url = pathToFileURL(join(root, 'bucket')).href;
});
afterEach(async () => {
  await stop();
  rmSync(root, { recursive: true, force: true });
});

const data = () => join(root, 'data');
async function stop(): Promise<void> {
  await server?.stop();
  server = null;
}
async function start(): Promise<TestServer> {
  const settings = { WB_COLD_URL: url, WB_LOG: 'silent' };
  server = await startServer({ folder: data(), clock: systemClock, settings });
  return server;
}
async function ok(method: string, path: string, body: unknown = {}): Promise<{ id: string }> {
  const answer = await server?.call<{ id: string }>(method, `/api${path}`, body);
  expect(answer?.status, `${path}: ${answer?.text}`).toBeLessThan(300);
  return answer?.json ?? { id: '' };
}
async function make(id: string, ...verbs: string[]): Promise<void> {
  await ok('POST', '/instances', { id, tenant: 'acme', name: `n-${id}`, labels: { kind: id }, policy: 'minimal' });
  await ok('PUT', `/instances/${id}/volumes/workspace/what`, id);
  for (const verb of verbs) await ok('POST', `/instances/${id}/${verb}`);
}
const restore = (...args: string[]) => run('restore', data(), ['--from', url, ...args]);
const states = async () => {
  const { json } = (await server?.call<{ id: string; state: string }[]>('GET', '/api/instances?limit=200')) ?? {
    json: [],
  };
  return Object.fromEntries(json.map(({ id, state }) => [id, state]));
};
const text = async (id: string) => (await server?.call('GET', `/api/instances/${id}/volumes/workspace/what`))?.text;
const said = (done: { status: number | null; stdout: string; stderr: string }) => `${done.stdout}${done.stderr}`;

test('an empty machine and one command: what was stored is whole, of a server with sandboxes in every state', async () => {
  const { host } = await start();
  await ok('POST', '/instances', { id: 'created', tenant: 'acme' });
  await make('awake');
  await make('suspended', 'suspend');
  await make('frozen', 'suspend', 'freeze');
  await make('packed', 'archive');
  await make('newer', 'suspend', 'freeze');
  await ok('PUT', '/instances/newer/volumes/workspace/what', 'written since');
  const { id: snapshot } = await ok('POST', '/instances/frozen/snapshots', { tag: 'kept' });
  await ok('POST', '/blueprints', { name: 'base', from_instance: 'suspended' });
  const [file = ''] = readdirSync(join(data(), 'snapshots')).filter((name) => name.endsWith('.sqlite'));
  await ok('POST', '/blueprints?name=uploaded', readFileSync(join(data(), 'snapshots', file)));
  await expect.poll(() => host.registry.storeNames.copiesToStore(9, []), { timeout: 60_000 }).toEqual([]);
  await stop();
  rmSync(data(), { recursive: true });

  const dry = restore('--dry-run');
  expect([dry.status, dry.stderr], said(dry)).toEqual([0, '']);
  expect(dry.stdout).toMatch(
    /2 frozen, 1 archived; 1 snapshots, 2 blueprints[\s\S]*keys and secrets[\s\S]*Nothing was changed/,
  );
  expect(existsSync(data()) ? readdirSync(data()) : []).toEqual([]);
  const done = restore('--verify');
  expect([done.status, done.stderr], said(done)).toEqual([0, '']);
  expect(done.stdout).toMatch(/Tenants: acme \(3\)[\s\S]*Start the server with WB_COLD_URL=/);

  await start();
  expect(await states()).toEqual({ frozen: 'frozen', packed: 'archived', newer: 'frozen' });
  expect([await text('frozen'), await text('packed'), await text('newer')]).toEqual(['frozen', 'packed', 'newer']);
  expect((await server?.call('GET', '/api/instances/packed'))?.json).toMatchObject({
    ...{ name: 'n-packed', labels: { kind: 'packed' }, policy: 'minimal', tenant: 'acme', fault: null },
  });
  await ok('POST', '/instances/packed/resume');
  const ran = await server?.call('POST', '/api/instances/frozen/exec', { command: 'echo more >> what; cat what' });
  expect(ran?.json).toMatchObject({ stdout: 'frozenmore\n' });
  for (const path of [`/snapshots/${snapshot}/restore`, '/blueprints/base/clone', '/blueprints/uploaded/clone']) {
    const [clone] = (await ok('POST', path, { tenant: 'acme' })) as unknown as { id: string }[];
    expect([path, await text(clone?.id ?? '')]).toEqual([path, path.includes('base') ? 'suspended' : 'frozen']);
  }
  expect((await server?.call('GET', '/api/events/verify'))?.json).toMatchObject({ ok: true });

  // In a registry that is in use only what is not there is made.
  for (const verb of ['suspend', 'freeze']) await ok('POST', `/instances/frozen/${verb}`);
  await ok('POST', '/instances/newer/archive');
  await ok('DELETE', '/instances/newer');
  await stop();
  const again = restore('--rows');
  expect([again.status, again.stderr], said(again)).toEqual([0, '']);
  expect(again.stdout).toMatch(
    /no sandboxes; 0 snapshots, 0 blueprints[\s\S]*left as they are: 6, of which 1 are deleted/,
  );
  await start();
  expect(await states()).toMatchObject({ frozen: 'frozen', packed: 'suspended' });
  expect(await states()).not.toHaveProperty('newer');
  expect(await text('frozen')).toBe('frozenmore\n');
}, 180_000);

test('a store of another installation, another store than the server’s, and a place without drawers are refused', async () => {
  await start();
  await make('mine', 'suspend', 'freeze');
  await stop();
  const elsewhere = join(root, 'elsewhere');
  const other = run('restore', elsewhere, ['--from', url, '--dry-run'], {
    WB_COLD_URL: pathToFileURL(join(root, 'b')).href,
  });
  expect([other.status, other.stderr]).toEqual([1, expect.stringContaining('names another store')]);
  const mine = url;
  url = pathToFileURL(join(root, 'theirs')).href;
  server = await startServer({
    folder: elsewhere,
    clock: systemClock,
    settings: { WB_COLD_URL: url, WB_LOG: 'silent' },
  });
  await make('theirs', 'suspend', 'freeze');
  await stop();
  const foreign = run('restore', elsewhere, ['--from', mine]);
  expect([foreign.status, foreign.stderr]).toEqual([
    1,
    expect.stringMatching(/another installation[\s\S]*empty data folder/),
  ]);
  const none = run('restore', elsewhere, ['--from', pathToFileURL(join(root, 'none')).href]);
  expect([none.status, none.stderr]).toEqual([1, expect.stringContaining('no backup')]);
  for (const args of [['--all'], ['--at', '2026-01-01'], ['--instance', 'mine']]) {
    expect(restore('--rows', ...args)).toMatchObject({ status: 1, stderr: expect.stringContaining('Usage') });
  }
}, 180_000);
