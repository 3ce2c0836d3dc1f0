import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openSigner } from '../lib/base/signing.ts';
import type { LedgerHead } from '../lib/ledger/documents.ts';
import { parseHead } from '../lib/ledger/head-file.ts';
import { signed } from '../lib/ledger/sign.ts';
import { orphansIn } from '../lib/testing/orphans.ts';
import { type ServerProcess, spawnServer } from '../lib/testing/process.ts';
import { programOf } from '../lib/testing/program.ts';
import { TEST_KEY } from '../lib/testing/server.ts';

const DOCTOR = programOf(fileURLToPath(new URL('../scripts/doctor.ts', import.meta.url)));
const SERVER = programOf(fileURLToPath(new URL('../lib/front/server.ts', import.meta.url)));

let folder: string;
let server: ServerProcess | null;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-lost-'));
  server = null;
});
afterEach(async () => {
  await server?.end('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

const registry = (suffix = '') => join(folder, `registry.sqlite${suffix}`);

/** Every file of the folder with its size, except the lock, which a refused start may create. */
function everything(): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && !entry.name.startsWith('lock.sqlite'))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !path.startsWith(join(folder, 'cache')))
    .map((path) => `${path.slice(folder.length + 1)} ${statSync(path).size}`)
    .sort();
}

/** The same head as somebody signs it who has not the key of the folder. */
function signedByAnother(head: string): string {
  const other = mkdtempSync(join(tmpdir(), 'winterdock-signer-'));
  try {
    const { issuer: _issuer, signature: _signature, ...document } = parseHead(head);
    return `${JSON.stringify(signed<LedgerHead>(openSigner(other), document))}\n`;
  } finally {
    rmSync(other, { recursive: true });
  }
}

/** Starts a server that is to be refused, and returns its output. */
function refused(settings: Record<string, string> = {}): string {
  const before = everything();
  const { status, stdout, stderr } = spawnSync(process.execPath, [SERVER, '--api-only'], {
    env: { ...process.env, WB_DATA: folder, WB_ADMIN_KEY: TEST_KEY, WB_POOL: '1', PORT: '0', ...settings },
    encoding: 'utf8',
    timeout: 240_000,
  });
  expect({ status, stdout }, stderr).toEqual({ status: 3, stdout: '' });
  expect(stderr).not.toMatch(/^\s+at /m);
  expect(stderr).toContain('npm run doctor');
  expect(everything()).toEqual(before);
  return stderr;
}

async function make(...ids: string[]): Promise<void> {
  for (const id of ids) {
    expect((await server?.call('POST', '/api/instances', { id, tenant: 'acme' }))?.status).toBe(201);
    const run = await server?.call('POST', `/api/instances/${id}/exec`, { command: `printf 'of ${id}' > kept` });
    expect(run?.status).toBe(200);
  }
}

async function read(id: string): Promise<string | undefined> {
  return (await server?.call('GET', `/api/instances/${id}/volumes/workspace/kept`))?.text;
}

test('without its registry a data folder with files does not start, not even at a second attempt, and starts when the registry is restored', async () => {
  server = await spawnServer({ folder });
  await make('a', 'b');
  await server.end();
  const away = mkdtempSync(join(tmpdir(), 'winterdock-away-'));
  cpSync(registry(), join(away, 'registry.sqlite'));
  rmSync(registry());

  const message = refused();
  expect(message).toMatch(/there is no registry \S+, and its signed head registry\.sqlite\.head is at line \d+/);
  expect(message).toMatch(/hold 2 files, of which no row names 2\./);
  refused();
  const head = readFileSync(registry('.head'));
  rmSync(registry('.head'));
  expect(refused()).toMatch(/there is no registry \S+, but there are files of sandboxes/);
  refused({ WB_REGISTRY: ':memory:' });
  writeFileSync(registry(), '');
  expect(refused()).toMatch(/has no rows, but there are files/);

  writeFileSync(registry('.head'), head);
  cpSync(join(away, 'registry.sqlite'), registry());
  rmSync(away, { recursive: true });
  server = await spawnServer({ folder });
  expect([await read('a'), await read('b')]).toEqual(['of a', 'of b']);
});

test('an older registry and a foreign one do not start', async () => {
  server = await spawnServer({ folder });
  await make('a');
  await server.end();
  cpSync(registry(), registry('.older'));
  server = await spawnServer({ folder });
  await make('b');
  await server.end();
  cpSync(registry(), registry('.newer'));

  cpSync(registry('.older'), registry());
  const message = refused();
  expect(message).toMatch(
    /is not the newest one\. Its signed head registry\.sqlite\.head is at line \d+ \(\d{4}-.*\), the ledger in it ends at line \d+/,
  );
  expect(message).toMatch(/hold 2 files, of which no row names 1\./);

  const other = mkdtempSync(join(tmpdir(), 'winterdock-other-'));
  server = await spawnServer({ folder: other });
  await make('a', 'b', 'c', 'd');
  await server.end();
  cpSync(join(other, 'registry.sqlite'), registry());
  rmSync(other, { recursive: true });
  expect(refused()).toMatch(/is another one than was signed\. Line \d+ of its ledger is not the one/);

  rmSync(registry('.head'));
  cpSync(registry('.older'), registry());
  expect(refused()).toMatch(/signed head registry\.sqlite\.head is missing or none/);

  cpSync(registry('.newer'), registry());
  server = await spawnServer({ folder });
  expect([await read('a'), await read('b')]).toEqual(['of a', 'of b']);
});

test('the registry file alone is complete after a stop, has the tables from the start on, and its rows a while later', async () => {
  server = await spawnServer({ folder });
  expect(statSync(registry()).size).toBeGreaterThan(50_000);
  await make('a', 'b');
  await server.end();
  expect(existsSync(registry('-wal'))).toBe(false);
  server = await spawnServer({ folder });
  expect(await read('b')).toBe('of b');
});

test('a file copied without its log is refused, and so is an empty one whose log is beside it, which keeps the log', async () => {
  server = await spawnServer({ folder });
  await make('a');
  await vi.waitFor(() => expect(JSON.parse(readFileSync(registry('.head'), 'utf8')).seq).toBeGreaterThan(1), 240_000);
  await server.end('SIGKILL');
  const log = readFileSync(registry('-wal'));
  const file = readFileSync(registry());
  rmSync(registry('-wal'));
  rmSync(registry('-shm'), { force: true });
  expect(refused()).toMatch(/is not the newest one/);
  writeFileSync(registry(), '');
  writeFileSync(registry('-wal'), log);
  expect(refused()).toMatch(/is empty, and beside it lies a log of \d+ bytes/);
  expect(readFileSync(registry('-wal')).equals(log)).toBe(true);
  writeFileSync(registry(), file);
  server = await spawnServer({ folder });
  expect(await read('a')).toBe('of a');
});

test('a server whose head is signed by another key sets no file aside, until a person has begun an epoch with a reason', async () => {
  server = await spawnServer({ folder });
  await make('a');
  await server.end();
  const head = readFileSync(registry('.head'), 'utf8');
  cpSync(join(folder, 'live/a/vfs.sqlite'), join(folder, 'cold/newer.sqlite'));
  writeFileSync(registry('.head'), 'scribble');
  expect(refused()).toMatch(/signed head registry\.sqlite\.head is missing or none/);
  const foreign = signedByAnother(head);
  writeFileSync(registry('.head'), foreign);
  const left = () => [existsSync(join(folder, 'cold/newer.sqlite')), orphansIn(folder).length];
  server = await spawnServer({ folder });
  expect(await read('a')).toBe('of a');
  expect((await server.call<unknown[]>('GET', '/api/events?type=ledger.broken')).json).toHaveLength(1);
  await server.end();
  expect(left()).toEqual([true, 0]);
  expect(readFileSync(registry('.head'), 'utf8')).toBe(foreign);

  const doctor = (...args: string[]) =>
    spawnSync(process.execPath, [DOCTOR, ...args], { env: { ...process.env, WB_DATA: folder }, encoding: 'utf8' });
  expect(doctor().stdout).toMatch(/the head is not signed with the signing\.key of this data folder; .* \[--accept\]/);
  expect(doctor('--accept', 'the head was lost').stdout).toMatch(/done: epoch 2 of the ledger was begun/);
  server = await spawnServer({ folder });
  await vi.waitFor(() => expect(left()).toEqual([false, 1]), 240_000);
  expect(await read('a')).toBe('of a');
});

test('a wrong head is named at the start, with the command that goes on: no head, one of another key, one that cannot be read', async () => {
  server = await spawnServer({ folder });
  await make('a');
  await server.end();
  const head = readFileSync(registry('.head'), 'utf8');
  const other = mkdtempSync(join(tmpdir(), 'winterdock-other-'));
  const elsewhere = await spawnServer({ folder: other });
  for (let nth = 0; nth < 20; nth += 1) {
    await elsewhere.call('POST', '/api/instances', { id: `other-${nth}`, tenant: 'acme' });
  }
  await elsewhere.end();
  const foreign = readFileSync(join(other, 'registry.sqlite.head'), 'utf8');
  rmSync(other, { recursive: true, force: true });

  writeFileSync(registry('.head'), 'scribble');
  server = await spawnServer({ folder });
  expect(server.output()).toMatch(
    /^ledger: the signed head registry\.sqlite\.head is none: .*npm run doctor -- --accept/m,
  );
  await server.end();

  writeFileSync(registry('.head'), foreign);
  expect(refused()).toMatch(
    /That head is signed with another key than the signing\.key of this folder[\s\S]*npm run doctor -- --accept REASON/,
  );

  rmSync(registry('.head'));
  mkdirSync(registry('.head'));
  const started = spawnSync(process.execPath, [SERVER, '--api-only'], {
    env: { ...process.env, WB_DATA: folder, WB_ADMIN_KEY: TEST_KEY, PORT: '0' },
    encoding: 'utf8',
    timeout: 240_000,
  });
  expect(started.status).toBe(1);
  expect(started.stderr).toContain(`The signed head ${registry('.head')} cannot be read (EISDIR at read)`);
  rmdirSync(registry('.head'));

  writeFileSync(registry('.head'), signedByAnother(head));
  server = await spawnServer({ folder });
  expect(server.output()).toMatch(/^ledger: the signed head registry\.sqlite\.head is signed with another key than /m);
  expect(await read('a')).toBe('of a');
});
