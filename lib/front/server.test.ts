import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { expectWhole } from '../backup/testing/server-content.ts';
import { unknownSettings } from '../base/config.ts';
import type { Event, Instance } from '../contract/schema.ts';
import { CONTENT, everyFileIn, FORMER, KNOWN, layLastState, makeOlder } from '../registry/testing/last-state.ts';
import { fileDriver } from '../registry/testing/open-test-registry.ts';
import { onPostgres, registryOfTests } from '../registry/testing/registry-of-tests.ts';
import { sqlOfTests } from '../registry/testing/sql-of-tests.ts';
import { type ServerProcess, spawnServer } from '../testing/process.ts';
import { TEST_KEY } from '../testing/server.ts';
import { WORKER_USER } from '../workers/walls/user.ts';
import { lockDataFolder, lockStores } from './lock.ts';
import { preflight, startFailureText } from './start-problems.ts';

let folder: string;
const running: ServerProcess[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-'));
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.end('SIGKILL')));
  rmSync(folder, { recursive: true, force: true });
});

async function start(settings: Record<string, string> = {}): Promise<ServerProcess> {
  const server = await spawnServer({ folder, settings });
  running.push(server);
  return server;
}

/** Sends a request whose answer is read as it comes. */
function open(server: ServerProcess, method: string, path: string, body?: string): Promise<[IncomingMessage]> {
  const headers = { authorization: `Bearer ${TEST_KEY}`, accept: 'text/event-stream' };
  const req = request(`${server.url}${path}`, { method, headers });
  req.on('error', () => undefined);
  req.end(body);
  return once(req, 'response') as Promise<[IncomingMessage]>;
}

/** Starts a command that runs for long and returns once it has said something. */
async function runUntilBegun(server: ServerProcess, id: string): Promise<void> {
  const body = JSON.stringify({ command: 'echo begun\nsleep 55; echo over > over', timeout_ms: 60_000 });
  const [res] = await open(server, 'POST', `/api/instances/${id}/exec`, body);
  let output = '';
  res.on('data', (chunk) => {
    output += chunk;
  });
  res.on('error', () => undefined);
  await vi.waitFor(() => expect(output).toContain('begun'), { timeout: 240_000 });
}

async function startAndEnd(settings: Record<string, string>, cwd = process.cwd()) {
  const ofTests = onPostgres() && settings.WB_REGISTRY === undefined ? await registryOfTests(folder) : {};
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(import.meta.dirname, './server.ts'), '--api-only'],
    {
      env: { ...process.env, WB_DATA: folder, PORT: '0', WB_ADMIN_KEY: TEST_KEY, ...ofTests, ...settings },
      cwd,
      encoding: 'utf8',
      timeout: 120_000,
    },
  );
  return { status, stdout, stderr };
}

test('what a server keeps is closed to other users, in a folder that others may enter too', async () => {
  chmodSync(folder, 0o777);
  mkdirSync(join(folder, 'snapshots'), { mode: 0o755 });
  if (!onPostgres()) writeFileSync(join(folder, 'registry.sqlite'), '', { mode: 0o644 });
  writeFileSync(join(folder, 'not-ours'), '', { mode: 0o644 });
  const server = await start();
  await server.call('POST', '/api/instances', { id: 'kept', tenant: 'acme' });
  await server.call('PUT', '/api/instances/kept/volumes/workspace/a', 'secret');
  expect((await server.call('POST', '/api/instances/kept/snapshots', {})).status).toBe(201);
  await server.call('POST', '/api/blueprints', { name: 'base', from_instance: 'kept' });
  expect((await server.call('GET', '/api/instances/kept/volumes/workspace/a')).text).toBe('secret');
  expect((await server.call('POST', '/api/instances/kept/suspend', {})).status).toBe(200);
  expect((await server.call('GET', '/api/instances/kept/volumes/workspace/a')).text).toBe('secret');
  await server.end();
  const open = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => {
    const { mode, gid } = statSync(join(folder, name));
    // Who opens guests' files passes through the folders above them, and workers write into that of spill files; they
    // list none. What each worker compiled all of them read.
    if (name.startsWith('cache/')) return (mode & 0o002) !== 0;
    const allowed = statSync(join(folder, name)).isDirectory() ? 0o011 : 0o040;
    return (mode & 0o077 & ~allowed) !== (gid === WORKER_USER ? mode & 0o030 & ~allowed : 0);
  });
  expect(open).toEqual(['not-ours']);
  expect(readdirSync(folder)).toContain('blueprints');
  // Nor may they put something else in its place.
  expect(statSync(folder).mode & 0o777).toBe(0o775);
});

test('a wrong setting stops the start with its name, its value and what is allowed', async () => {
  const { status, stderr, stdout } = await startAndEnd({ PORT: 'eighty', WB_POOL: '-1', WB_ADMIN_KEY: 'too-short' });
  expect([status, stdout]).toEqual([1, '']);
  expect(stderr).toContain('PORT="eighty": must be a whole number from 0 to 65535');
  expect(stderr).toContain('WB_POOL="-1"');
  expect(stderr).toContain('WB_ADMIN_KEY=(hidden): must have at least 16 characters');
  expect(stderr).not.toMatch(/too-short|at .*\.ts/);
});

/** What is said of a port that is taken, with another one to be copied. */
function portTaken(port: number): string {
  const other = port < 65_535 ? port + 1 : port - 1;
  return `Port ${port} on 127.0.0.1 is taken by another program. Set PORT to a free one, as in PORT=${other} npm start; clients then need WINTERDOCK_URL=http://localhost:${other}.`;
}

test('a port that is taken is said in one line', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const { port } = taken.address() as AddressInfo;
  const { status, stderr } = await startAndEnd({ PORT: String(port) });
  taken.close();
  expect([status, stderr]).toEqual([1, `${portTaken(port)}\n`]);
});

test('a data folder that cannot be used is said in one line that names WB_DATA', async () => {
  const file = join(folder, 'file');
  writeFileSync(file, '');
  const { status, stderr } = await startAndEnd({ WB_DATA: file });
  expect([status, stderr]).toEqual([
    1,
    `WB_DATA is ${file}, and that is no folder. Move what is there, or set WB_DATA to another folder.\n`,
  ]);
});

test('a key file that is a folder, or holds no key, stops the start with its path', async () => {
  mkdirSync(join(folder, 'auth.secret'));
  const first = await startAndEnd({});
  expect(first.status).toBe(3);
  expect(first.stderr).toContain(`  ${folder}/auth.secret is a folder and should be a file.\n`);
  rmSync(join(folder, 'auth.secret'), { recursive: true });
  // Only root's server needs it: with an empty one anybody knows which user a sandbox has.
  if (process.getuid?.() !== 0) return;
  for (const text of ['', 'abc', '\n']) {
    writeFileSync(join(folder, 'users.key'), text);
    const { status, stderr } = await startAndEnd({});
    expect([status, stderr]).toEqual([1, `${folder}/users.key holds no key: delete it and a new one is made.\n`]);
  }
});

test('a misspelt setting is named with the one that is meant, and its value is not shown', async () => {
  const { stderr } = await startAndEnd({ WB_IDLE_TO_SUSPENT: '60', PORT: '65536', WB_ZEBRA: 'red' });
  expect(stderr).toContain('PORT="65536": must be a whole number from 0 to 65535');
  expect(stderr).toContain('Did you mean WB_IDLE_TO_SUSPEND?\n');
  expect(stderr).not.toContain('red');
  expect(unknownSettings({ WB_IDLE_TO_SUSPENT: '60', WB_ZEBRA: 'red', WB_POOL: '1', WBX: '1' })).toEqual([
    'WB_IDLE_TO_SUSPENT is not a setting of Winterdock and does nothing. Did you mean WB_IDLE_TO_SUSPEND?',
    'WB_ZEBRA is not a setting of Winterdock and does nothing.',
  ]);
});

test('what stands in the way of a start is foreseen before anything is built for it', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const { port } = taken.address() as AddressInfo;
  const there = {
    port,
    host: '127.0.0.1',
    dataFolder: folder,
    registry: { driver: 'sqlite' as const, path: join(folder, 'registry.sqlite') },
  };
  expect(await preflight(there)).toBe(portTaken(port));
  taken.close();
  expect(await preflight({ ...there, port: 0 })).toBe(null);
  expect(await preflight({ ...there, port: 0, host: '203.0.113.1' })).toContain('HOST=203.0.113.1 is no address');
  const denied = Object.assign(new Error('x'), { code: 'EACCES' });
  expect(startFailureText(denied, there)).toContain(`${folder} cannot be written by this user`);
  const full = new Error('Failed to run the query', { cause: Object.assign(new Error('x'), { code: 'SQLITE_FULL' }) });
  expect(startFailureText(full, there)).toContain(`There is no room on the disk of the data folder ${folder}`);
  expect(startFailureText(new Error('another thing'), there)).toBe('another thing');
});

test('a registry that is no database, or has damaged pages, is named with the way out and not with a stack', async () => {
  const path = join(folder, 'registry.sqlite');
  const damaged = expect.stringMatching(
    new RegExp(`^The registry ${path} is damaged \\(.+\\); nothing was changed\\. .*npm run restore.*\\n$`),
  );
  writeFileSync(path, 'something else entirely, and long enough for a header. '.repeat(100));
  const before = readFileSync(path);
  const first = await startAndEnd({});
  expect([first.status, first.stdout, first.stderr]).toEqual([3, '', damaged]);
  expect(readFileSync(path).equals(before)).toBe(true);
  rmSync(path);
  await (await start()).end();
  const pages = readFileSync(path);
  pages.fill(0x5a, 2048);
  writeFileSync(path, pages);
  const second = await startAndEnd({});
  expect([second.status, second.stdout, second.stderr]).toEqual([3, '', damaged]);
});

test('a registry of a newer version is refused in one line that names it', async () => {
  await (await start()).end();
  const { ask, close } = await sqlOfTests(folder);
  // One that takes away what this version needs.
  if (onPostgres()) await ask('INSERT INTO registry_steps (step, contracts) VALUES (999, 1)');
  else await ask("INSERT INTO __drizzle_migrations(hash, created_at) VALUES ('later', 9999999999999)");
  await close();
  const registry = onPostgres() ? '' : ` ${join(folder, 'registry.sqlite')}`;
  const { status, stdout, stderr } = await startAndEnd({});
  expect([status, stdout, stderr]).toEqual([
    3,
    '',
    expect.stringMatching(new RegExp(`^A newer version of Winterdock has written the registry${registry}: .*\\n$`)),
  ]);
});

test('a folder of the last state is carried over with one line and has everything; an older one is refused in one line and unchanged', async () => {
  layLastState(folder);
  const path = join(folder, 'registry.sqlite');
  const server = await start();
  expect(server.output()).toContain(`registry: ${FORMER} → ${KNOWN} migrations, copy at ${path}.before-${KNOWN}\n`);
  await expectWhole(server, CONTENT);
  await server.end();
  rmSync(folder, { recursive: true });
  layLastState(folder);
  makeOlder(path);
  const before = everyFileIn(folder);
  const { status, stdout, stderr } = await startAndEnd({});
  expect([status, stdout, stderr]).toEqual([
    3,
    '',
    expect.stringMatching(new RegExp(`^The registry ${path} is of an older version of Winterdock: .* 49ff4dee .*\\n$`)),
  ]);
  expect(everyFileIn(folder)).toEqual(before);
});

test('a second server in the same folder is refused, until the first is gone, however it went', async () => {
  const first = await start();
  const second = await startAndEnd({});
  expect([second.status, second.stderr]).toEqual([
    1,
    expect.stringMatching(/^Another Winterdock uses the data folder .*\n$/),
  ]);
  expect((await first.call('GET', '/healthz')).status).toBe(200);
  expect(await first.end('SIGKILL')).toBe('SIGKILL');
  expect((await (await start()).call('GET', '/readyz')).status).toBe(200);
});

test('a second server is refused also when the lock file was removed or replaced under the first', async () => {
  const first = await start();
  rmSync(join(folder, 'lock.sqlite'));
  const refused = [1, '', expect.stringMatching(/^Another Winterdock uses the data folder .*\n$/)];
  const second = await startAndEnd({});
  expect([second.status, second.stdout, second.stderr]).toEqual(refused);
  writeFileSync(join(folder, 'lock.sqlite'), '');
  const third = await startAndEnd({});
  expect([third.status, third.stdout, third.stderr]).toEqual(refused);
  expect((await first.call('POST', '/api/instances', { id: 'a', tenant: 'acme' })).status).toBe(201);
  await first.end('SIGKILL');
  expect((await (await start()).call('GET', '/api/instances/a')).status).toBe(200);
});

/** Locks a folder and a registry, as a server does that is about to start. */
const lock = (name: string, registryPath: string) =>
  lockStores({ dataFolder: join(folder, name) }, fileDriver(registryPath));

test.each([
  'postgres://me:hunter2@db:x/winterdock',
  'postgres:/me:hunter2@db/winterdock',
  'sqlite://hunter2/registry.sqlite',
])(
  'the registry %j ends the start with 3: nothing shows its password and no file has it in its name',
  async (address) => {
    mkdirSync(join(folder, 'here'));
    const { status, stdout, stderr } = await startAndEnd({ WB_REGISTRY: address }, join(folder, 'here'));
    expect([status, stdout]).toEqual([3, '']);
    expect(stderr).toMatch(
      /^Wrong settings:\n {2}WB_REGISTRY=\(hidden\): must be (a path, sqlite:\/\/\/PATH|postgres:\/\/USER).*\n$/,
    );
    expect(stderr).not.toContain('hunter2');
    expect(readdirSync(folder, { recursive: true })).toEqual(['here']);
  },
);

test('a registry that a URL names is the one of its path', async () => {
  const first = await start({ WB_REGISTRY: `sqlite://${join(folder, 'a%20b', 'r.sqlite')}` });
  expect((await first.call('POST', '/api/instances', { id: 'a', tenant: 'acme' })).status).toBe(201);
  await first.end();
  const second = await start({ WB_REGISTRY: join(folder, 'a b', 'r.sqlite') });
  expect((await second.call('GET', '/api/instances/a')).status).toBe(200);
});

test('a registry that two folders share has one server also when its lock file was removed', async () => {
  const registryPath = join(folder, 'shared', 'registry.sqlite');
  mkdirSync(join(folder, 'shared'));
  writeFileSync(registryPath, '');
  const unlock = await lock('one', registryPath);
  rmSync(`${registryPath}.lock`);
  await expect(lock('two', registryPath)).rejects.toThrow('Another Winterdock uses the registry');
  await unlock();
  await (await lock('two', registryPath))();
});

test('a lock file that is damaged is named with the way out', () => {
  const path = join(folder, 'lock.sqlite');
  writeFileSync(path, 'something else entirely, and long enough for a header. '.repeat(100));
  expect(() => lockDataFolder(folder)).toThrow(`The lock file ${path} is damaged. It holds nothing: remove it`);
  rmSync(path);
  lockDataFolder(folder)();
});

test('the lock of a folder is held within a process too, and let go', () => {
  const unlock = lockDataFolder(folder);
  expect(() => lockDataFolder(folder)).toThrow('Another Winterdock uses the data folder');
  unlock();
  unlock();
  lockDataFolder(folder)();
});

test('two folders with one registry have one server: each would settle the sandboxes of the other', async () => {
  const registryPath = join(folder, 'shared', 'registry.sqlite');
  const unlock = await lock('one', registryPath);
  await expect(lock('two', registryPath)).rejects.toThrow('Another Winterdock uses the registry');
  await (await lock('two', join(folder, 'two', 'registry.sqlite')))();
  await unlock();
  await (await lock('two', registryPath))();
  await (await lock('one', registryPath))();
});

test('the first start makes a key, says where it is and never shows it', async () => {
  const server = await start({ WB_ADMIN_KEY: '' });
  const key = readFileSync(join(folder, 'admin.key'), 'utf8').trim();
  expect(statSync(join(folder, 'admin.key')).mode & 0o777).toBe(0o600);
  expect(server.output()).toContain(join(folder, 'admin.key'));
  expect(server.output()).not.toContain(key);
  expect((await server.call('GET', '/api/instances', undefined, { key })).status).toBe(200);
  expect((await server.call('GET', '/api/instances', undefined, { key: 'x' })).status).toBe(401);
});

test('a server that people reach by neither https nor the machine itself warns of it at its start', async () => {
  const plain = await start({ HOST: '0.0.0.0' });
  expect(plain.output()).toContain('neither https nor local');
  await plain.end('SIGTERM');
  const good: Record<string, string>[] = [{ HOST: '0.0.0.0', WB_PUBLIC_URL: 'https://dock.example' }, {}];
  for (const settings of good) {
    const careful = await start(settings);
    expect(careful.output()).not.toContain('https nor');
    await careful.end('SIGTERM');
  }
});

test('SIGTERM with open streams and a running command suspends active sandboxes and exits cleanly', async () => {
  const server = await start({ WB_DRAIN_MS: '300' });
  await server.call('POST', '/api/instances', { id: 'sleeper', tenant: 'acme' });
  await server.call('PUT', '/api/instances/sleeper/volumes/workspace/kept', 'kept');
  const [events] = await open(server, 'GET', '/api/events/stream');
  events.resume();
  const ended = once(events, 'end');
  await runUntilBegun(server, 'sleeper');

  expect(await server.end('SIGTERM')).toBe(0);
  await ended;
  expect(server.output()).not.toMatch(/"level":(50|60)/);

  const again = await start();
  expect((await again.call<Instance>('GET', '/api/instances/sleeper')).json).toMatchObject({
    state: 'suspended',
    fault: null,
  });
  expect((await again.call('GET', '/api/instances/sleeper/volumes/workspace/kept')).text).toBe('kept');
  // The stop has not waited for the command.
  expect((await again.call('GET', '/api/instances/sleeper/volumes/workspace/over')).status).toBe(404);
  const ledger = await again.call<Event[]>('GET', '/api/instances/sleeper/events?type=transition');
  expect(ledger.json[0]).toMatchObject({ from: 'active', to: 'suspended', trigger: 'stop' });
});

test('a second signal ends it at once', async () => {
  const server = await start({ WB_DRAIN_MS: '60000' });
  await server.call('POST', '/api/instances', { id: 'busy', tenant: 'acme' });
  await runUntilBegun(server, 'busy');
  server.child.kill('SIGTERM');
  await vi.waitFor(() => expect(server.call('GET', '/healthz')).rejects.toThrow(), { timeout: 240_000 });
  expect(await server.end('SIGINT')).toBe(130);
});
