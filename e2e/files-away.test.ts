/**
 * A server whose registry and keys are right and whose files are not there: another folder, a disk that is not mounted,
 * a drawer that is away. It does not start, changes nothing, and starts again when they are back.
 */
import { spawnSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type ServerProcess, spawnServer } from '../lib/testing/process.ts';
import { programOf } from '../lib/testing/program.ts';
import { TEST_KEY } from '../lib/testing/server.ts';

const SERVER = programOf(fileURLToPath(new URL('../lib/front/server.ts', import.meta.url)));
const DOCTOR = programOf(fileURLToPath(new URL('../scripts/doctor.ts', import.meta.url)));

let root: string;
let server: ServerProcess | null;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'winterdock-away-'));
  mkdirSync(at('keys'), { mode: 0o700 });
  server = null;
});
afterEach(async () => {
  await server?.end('SIGKILL');
  rmSync(root, { recursive: true, force: true });
});

const at = (name: string) => join(root, name);
const settings = () => ({ WB_REGISTRY: at('r/registry.sqlite'), WB_KEYS: at('keys'), WB_CACHE: at('cache') });

async function start(folder = 'data'): Promise<ServerProcess> {
  server = await spawnServer({ folder: at(folder), settings: settings() });
  return server;
}

/**
 * Every file and folder with its bytes, but for the cache and for SQLite's index of a log, which whoever reads the log
 * makes again.
 */
function everything(): string[] {
  return readdirSync(root, { withFileTypes: true, recursive: true })
    .map((entry) => ({ entry, path: join(entry.parentPath, entry.name) }))
    .filter(({ path }) => !path.startsWith(at('cache')) && !path.endsWith('-shm'))
    .map(({ entry, path }) => `${path} ${entry.isFile() ? hash('sha256', readFileSync(path)) : ''}`)
    .sort();
}

function run(program: string, args: string[], folder: string, more: Record<string, string> = {}) {
  const env = { ...process.env, ...settings(), WB_DATA: at(folder), WB_ADMIN_KEY: TEST_KEY, WB_POOL: '0', PORT: '0' };
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], {
    env: { ...env, ...more },
    encoding: 'utf8',
    timeout: 120_000,
  });
  return { status, stdout, stderr };
}

/** Starts a server that is to be refused, and returns what it said. */
function refused(folder = 'data', more: Record<string, string> = {}): string {
  const before = everything();
  const { status, stdout, stderr } = run(SERVER, ['--api-only'], folder, more);
  expect({ status, stdout }, stderr).toEqual({ status: 3, stdout: '' });
  expect(everything()).toEqual(before);
  return stderr;
}

async function make(id: string, state: 'suspended' | 'frozen' | 'archived' | 'active' = 'suspended'): Promise<void> {
  await server?.call('POST', '/api/instances', { id, tenant: 'acme' });
  const put = await server?.call('PUT', `/api/instances/${id}/volumes/workspace/what`, `of ${id}`);
  expect(put?.status, put?.text).toBe(201);
  if (state === 'active') return;
  expect((await server?.call('POST', `/api/instances/${id}/plan`, { to: state }))?.status).toBe(200);
}
const read = async (id: string) => (await server?.call('GET', `/api/instances/${id}/volumes/workspace/what`))?.text;
const faultOf = async (id: string) =>
  (await server?.call<{ fault: unknown }>('GET', `/api/instances/${id}`))?.json.fault;

test('a server whose data folder is empty, another’s or missing does not start, and starts when it is back', async () => {
  await start();
  for (const id of ['a', 'b']) await make(id);
  await make('c', 'frozen');
  await make('hot', 'active');
  await server?.end('SIGKILL');
  renameSync(at('data'), at('mounted'));

  expect(refused()).toMatch(
    /^The server does not start: rows of the registry \S+ name files, and none of them is there: in live\/ \(3 files looked for\), in cold\/ \(1 file looked for\)\.\nThe drawers in \S+ hold 0 files/,
  );
  expect(existsSync(at('data'))).toBe(false);
  mkdirSync(at('data'));
  const said = refused();
  expect(said).toMatch(/mount the disk of the files, or set WB_DATA[\s\S]*npm run doctor -- --accept REASON/);

  mkdirSync(at('other'), { mode: 0o700 });
  const others = { WB_REGISTRY: at('other/registry.sqlite'), WB_KEYS: at('other') };
  const other = await spawnServer({ folder: at('other'), settings: { ...others, WB_CACHE: at('cache') } });
  for (const id of ['x', 'a', 'b', 'c', 'hot']) {
    await other.call('POST', '/api/instances', { id, tenant: 'acme' });
    await other.call('PUT', `/api/instances/${id}/volumes/workspace/what`, 'x'.repeat(200_000));
    await other.call('POST', `/api/instances/${id}/suspend`, {});
  }
  await other.end();
  rmSync(at('other/live/hot'), { recursive: true });
  rmSync(at('other/live/c'), { recursive: true });
  expect(refused('other')).toContain('in live/ (3 files looked for)');

  rmSync(at('data'), { recursive: true });
  renameSync(at('mounted'), at('data'));
  await start();
  for (const id of ['a', 'b', 'c', 'hot']) expect([await read(id), await faultOf(id)]).toEqual([`of ${id}`, null]);
});

test.each(['live', 'cold', 'archive', 'snapshots', 'blueprints'])(
  'a server whose %s drawer alone is away, as an empty folder or none, does not start',
  async (drawer) => {
    await start();
    for (const n of [1, 2]) {
      await make(`s${n}`);
      await make(`f${n}`, 'frozen');
      await make(`o${n}`, 'archived');
      await server?.call('POST', `/api/instances/s${n}/snapshots`, {});
      await server?.call('POST', '/api/blueprints', { name: `b${n}`, from_instance: `f${n}` });
    }
    await server?.end();
    renameSync(at(`data/${drawer}`), at('away'));
    expect(refused()).toContain(`none of them is there: in ${drawer}/ (2 files looked for).`);
    mkdirSync(at(`data/${drawer}`));
    expect(refused()).toContain(`in ${drawer}/ (2 files`);
    rmSync(at(`data/${drawer}`), { recursive: true });
    renameSync(at('away'), at(`data/${drawer}`));
    await start();
    for (const id of ['s1', 'f2']) expect(await read(id)).toBe(`of ${id}`);
  },
);

test('what is no sign of a wrong folder starts: nothing yet, rows without files, one lost file, a lost lock', async () => {
  await start();
  await server?.call('POST', '/api/instances', { id: 'new', tenant: 'acme' });
  await server?.end();
  renameSync(at('data'), at('first'));
  await start();
  await make('a');
  await server?.end();
  for (const name of readdirSync(at('data'))) {
    if (!['live', 'cold'].includes(name)) rmSync(at(`data/${name}`), { recursive: true, force: true });
  }
  await start();
  expect(await read('a')).toBe('of a');
  await make('b', 'frozen');
  await server?.end();
  rmSync(at('data/live/a'), { recursive: true });
  await start();
  expect((await server?.call('POST', '/api/instances/a/resume', {}))?.json.code).toBe('missing_file');
  expect([await faultOf('a'), await read('b')]).toEqual(['missing', 'of b']);
});

test('files that are really gone are given up by a person, with a reason, and the rest goes on', async () => {
  await start();
  for (const id of ['a', 'b']) await make(id);
  await make('c', 'frozen');
  await server?.call('POST', '/api/instances/c/snapshots', {});
  await server?.end();
  cpSync(at('data/live'), at('kept'), { recursive: true });
  rmSync(at('data/live'), { recursive: true });
  rmSync(at('data/snapshots'), { recursive: true });
  expect(refused()).toContain('in live/ (2 files looked for), in snapshots/ (1 file looked for)');
  const looked = run(DOCTOR, [], 'data');
  expect(looked.stdout).toMatch(
    /rows of the registry .* name files, and none of them is there: .* \[--accept\] \(registry\.no_files\)/,
  );
  expect(run(DOCTOR, ['--adopt', '--tenant', 'acme'], 'data').stdout).toContain(
    'not done: the files that rows name are not there',
  );
  refused();
  const given = run(DOCTOR, ['--accept', 'the disk burnt'], 'data');
  expect(given.stdout, given.stderr).toMatch(
    /done: 2 sandboxes have no file: fault missing\ndone: 1 snapshots and blueprints have no file/,
  );
  await start();
  expect([await faultOf('a'), await faultOf('b'), await faultOf('c'), await read('c')]).toEqual([
    'missing',
    'missing',
    null,
    'of c',
  ]);
  await server?.end();
  await start();
  await server?.end();
  // A file that comes back is taken, as that of any missing one.
  cpSync(at('kept'), at('data/live'), { recursive: true });
  await start();
  expect((await server?.call('POST', '/api/instances/a/resume', { force: true }))?.status).toBe(200);
  expect([await faultOf('a'), await read('a')]).toEqual([null, 'of a']);
});
