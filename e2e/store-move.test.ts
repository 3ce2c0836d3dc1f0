import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Instance } from '#lib/contract/schema.ts';
import { filesIn } from '#lib/testing/files-in.ts';
import { startServer, type TestServer } from '#lib/testing/server.ts';
import { ROOT } from '../scripts/build.ts';

let root: string;
let server: TestServer;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'winterdock-store-move-'));
});
afterEach(async () => {
  await server.stop();
  rmSync(root, { recursive: true, force: true });
});

const url = (name: string) => `file://${join(root, name)}`;
const start = async (store: string) => {
  server = await startServer({ folder: join(root, 'data'), settings: { WB_COLD_URL: store, WB_POOL: '0' } });
};
const objects = (name: string) => filesIn(join(root, name)).filter((path) => path.startsWith('drawers/'));
const read = async (id: string) => (await server.call('GET', `/api/instances/${id}/volumes/workspace/kept`)).text;

/** `began` is given the process at once. */
async function move(
  to: string,
  began: (child: ChildProcess) => void = () => undefined,
): Promise<{ code: number | null; says: string }> {
  const child = spawn(process.execPath, ['--no-warnings', 'bin/run.cjs', 'scripts/store-move.ts', '--to', to], {
    cwd: ROOT,
    env: { ...process.env, WB_DATA: join(root, 'data'), WB_COLD_URL: url('one') },
  });
  began(child);
  const [out, error, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number | null>((done) => child.on('exit', done)),
  ]);
  return { code, says: out + error };
}

/** A frozen, an archived one, and a snapshot: three objects. */
async function fill(): Promise<void> {
  for (const id of ['cold', 'packed']) {
    await server.call('POST', '/instances', { id, tenant: 'acme' });
    await server.call('PUT', `/api/instances/${id}/volumes/workspace/kept`, `of ${id}`);
    await server.call('POST', `/instances/${id}/suspend`);
    expect((await server.call('POST', `/instances/${id}/freeze`)).status).toBe(200);
  }
  expect((await server.call('POST', '/instances/packed/archive')).status).toBe(200);
  await server.call('POST', '/api/instances/cold/snapshots', {});
  await vi.waitFor(async () => {
    const names = await server.host.registry.storeNames.ofTenant('acme', '', 10);
    expect(names.filter(({ state }) => state === 'current')).toHaveLength(3);
  }, 240_000);
}

test('a store is moved beside its server, again until nothing is new, and the server starts on the other one', async () => {
  await start(url('one'));
  await fill();
  const first = await move(url('two'));
  expect(first).toMatchObject({ code: 0, says: expect.stringContaining('3 objects of ') });
  expect(first.says).toContain('Run this again until nothing is copied');
  await server.stop();
  const second = await move(url('two'));
  expect(second).toMatchObject({ code: 0, says: expect.stringContaining('0 objects of 0 B were copied') });
  expect(second.says).toContain('3 were there already');
  expect(objects('two').filter((path) => path.endsWith('.row.json'))).toHaveLength(3);
  rmSync(join(root, 'one'), { recursive: true });
  for (const folder of ['cold', 'archive', 'snapshots']) rmSync(join(root, 'data', folder), { recursive: true });
  await start(url('two'));
  expect((await server.call('POST', '/instances/cold/resume')).json).toMatchObject({ source: 'cloud' });
  expect((await server.call('POST', '/instances/packed/revive', { reason: 'moved' })).status).toBe(200);
  for (const id of ['cold', 'packed']) expect(await read(id)).toBe(`of ${id}`);
});

test('a move that is killed at any object goes on where it was, and both stores are whole', async () => {
  await start(url('one'));
  await fill();
  await server.stop();
  // What was superseded when it was archived is not moved.
  const before = objects('one').filter((path) => !path.startsWith('drawers/cold/packed/'));
  for (const already of [1, 5]) {
    const killed = await move(url('two'), (child) => {
      const watching = setInterval(() => {
        try {
          if (objects('two').length >= already) child.kill('SIGKILL');
        } catch {
          // It is not there yet, or a folder went while it was listed.
        }
      }, 1);
      child.on('exit', () => clearInterval(watching));
    });
    expect(killed.code).toBeNull();
    expect(objects('one')).toEqual(expect.arrayContaining(before));
  }
  const rest = await move(url('two'));
  expect(rest).toMatchObject({ code: 0, says: expect.not.stringContaining('3 objects of ') });
  expect(objects('two')).toEqual(before);
  for (const path of before)
    expect(readFileSync(join(root, 'two', path))).toEqual(readFileSync(join(root, 'one', path)));
  // What the killed ones had on this machine is gone.
  expect(readdirSync(join(root, 'data')).filter((name) => name.startsWith('.store-move'))).toEqual([]);
  const last = await move(url('two'));
  expect(last.says).toContain('0 objects of 0 B were copied');
  rmSync(join(root, 'one'), { recursive: true });
  for (const folder of ['cold', 'archive', 'snapshots']) rmSync(join(root, 'data', folder), { recursive: true });
  await start(url('two'));
  for (const id of ['cold', 'packed']) expect(await read(id)).toBe(`of ${id}`);
});

test('an object with wrong bytes is named and not copied, and another installation’s store is refused', async () => {
  await start(url('one'));
  await fill();
  await server.stop();
  const [object = ''] = objects('one').filter(
    (path) => path.startsWith('drawers/archive/') && !/\.(json|listing)$/.test(path),
  );
  rmSync(join(root, 'one', object));
  const moved = await move(url('two'));
  expect(moved.code).toBe(1);
  expect(moved.says).toContain(object);
  expect(moved.says).toContain('1 could not be copied');
  expect(objects('two')).not.toContain(object);
  writeFileSync(join(root, 'two', 'winterdock.json'), '{"id":"somebody","term":1}');
  expect(await move(url('two'))).toMatchObject({
    code: 1,
    says: expect.stringContaining('belongs to another installation'),
  });
  await start(url('one'));
});

test('every file comes home, and the server starts without a store', async () => {
  await start(url('one'));
  await fill();
  await server.stop();
  for (const folder of ['cold', 'archive', 'snapshots']) rmSync(join(root, 'data', folder), { recursive: true });
  const home = await move('disk');
  expect(home).toMatchObject({ code: 0, says: expect.stringContaining('2 of 2 files are on this machine now.') });
  expect(existsSync(join(root, 'data', 'cold', 'cold.sqlite'))).toBe(true);
  expect(readdirSync(join(root, 'data', 'snapshots')).filter((name) => name.endsWith('.sqlite'))).toHaveLength(1);
  rmSync(join(root, 'one'), { recursive: true });
  await start('');
  expect((await server.call<Instance>('GET', '/instances/cold')).json.vfs_path).toBe('cold/cold.sqlite');
  expect((await server.call('POST', '/instances/packed/revive', { reason: 'home' })).status).toBe(200);
  for (const id of ['cold', 'packed']) expect(await read(id)).toBe(`of ${id}`);
  expect(readFileSync(join(root, 'data', 'registry.sqlite')).length).toBeGreaterThan(0);
});
