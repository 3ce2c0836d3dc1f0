import { spawnSync } from 'node:child_process';
import { hash, randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openSigner } from '../lib/base/signing.ts';
import { caller } from '../lib/testing/call.ts';
import { type ServerProcess, spawnServer } from '../lib/testing/process.ts';
import { programOf } from '../lib/testing/program.ts';

/** Each test starts several processes. */
vi.setConfig({ testTimeout: 180_000, hookTimeout: 60_000 });

const SERVER = programOf(fileURLToPath(new URL('../lib/front/server.ts', import.meta.url)));
const script = (name: string) => programOf(fileURLToPath(new URL(`../scripts/${name}.ts`, import.meta.url)));
const FILES = ['admin.key', 'auth.secret', 'secrets.key', 'signing.key'];
const SECRET = 'the-value-of-a-secret';

let root: string;
let folder: string;
let keys: string;
let server: ServerProcess | null;
/** Everything that any program of the test wrote. */
let written: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'winterdock-keys-'));
  folder = join(root, 'data');
  keys = join(root, 'keys');
  mkdirSync(keys, { mode: 0o700 });
  server = null;
  written = '';
});
afterEach(async () => {
  await server?.end('SIGKILL');
  written += server?.output() ?? '';
  const texts = existsSync(keys)
    ? readdirSync(keys)
        .filter((name) => statSync(join(keys, name), { throwIfNoEntry: false })?.isFile())
        .map((name) => readFileSync(join(keys, name), 'utf8'))
    : [];
  rmSync(root, { recursive: true, force: true });
  // Ten characters of any key would be a piece of it.
  const pieces = texts
    .flatMap((text) => text.split('\n'))
    .filter((line) => /^[A-Za-z0-9_+/=-]{40,}$/.test(line))
    .flatMap((line) => Array.from({ length: line.length - 9 }, (_, at) => line.slice(at, at + 10)))
    // What every Ed25519 key in PEM begins with.
    .filter((piece) => !'MC4CAQAwBQYDK2VwBCIEI'.includes(piece));
  expect(pieces.filter((piece) => written.includes(piece))).toEqual([]);
});

const environment = (settings: Record<string, string> = {}) => {
  const { WB_ADMIN_KEY: _key, ...own } = process.env;
  return { ...own, WB_DATA: folder, WB_KEYS: keys, WB_POOL: '0', PORT: '0', ...settings };
};

async function start(): Promise<ServerProcess> {
  const admin = join(keys, 'admin.key');
  server = await spawnServer({ folder, settings: { WB_KEYS: keys, WB_ADMIN_KEY: '' } });
  const { url } = server;
  const call = caller(url, readFileSync(admin, 'utf8').trim());
  server.call = async (...asked) => {
    const answer = await call(...asked);
    written += answer.text;
    return answer as never;
  };
  return server;
}

async function stop(): Promise<void> {
  await server?.end();
  written += server?.output() ?? '';
  server = null;
}

/** Runs a script and returns its exit code and all that it wrote. */
function run(name: string, args: string[], settings: Record<string, string> = {}) {
  const { status, signal, stdout, stderr } = spawnSync(process.execPath, [script(name), ...args], {
    env: environment(settings),
    encoding: 'utf8',
    timeout: 120_000,
  });
  written += stdout + stderr;
  return { status, signal, text: stdout + stderr };
}

/** Starts a server that is to be refused for its keys. Nothing may change. Returns what it said. */
function refused(settings: Record<string, string> = {}): string {
  const before = everything();
  const { status, stdout, stderr } = spawnSync(process.execPath, [SERVER, '--api-only'], {
    env: environment(settings),
    encoding: 'utf8',
    timeout: 120_000,
  });
  written += stdout + stderr;
  expect([status, stdout]).toEqual([3, '']);
  expect(everything()).toEqual(before);
  return stderr;
}

/** Every file with its bytes, but for the locks and the cache. */
function everything(): string[] {
  return readdirSync(root, { withFileTypes: true, recursive: true })
    .filter(({ name, parentPath }) => !name.startsWith('lock.sqlite') && !parentPath.startsWith(join(folder, 'cache')))
    .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return `${path} ${entry.isFile() ? hash('sha256', readFileSync(path)).slice(0, 16) : ''}`;
    })
    .sort();
}

/** A server that has a sandbox, a secret and a webhook, and is stopped. */
async function fill(): Promise<void> {
  await start();
  await server?.call('POST', '/api/instances', { id: 'a', tenant: 'acme' });
  const set = await server?.call('PUT', '/api/tenants/acme/secrets/TOKEN', {
    url: 'https://api.example.com/',
    value: SECRET,
  });
  expect(set?.status).toBe(200);
  const hook = await server?.call('POST', '/api/webhooks', { name: 'hook', url: 'https://hooks.example.com/' });
  expect(hook?.status).toBe(201);
  await stop();
}

/** Whether the server opens the secrets of the tenant. */
const opens = async () =>
  (await server?.call<{ opens: boolean }[]>('GET', '/api/tenants/acme/secrets'))?.json.map((secret) => secret.opens);

/** What the registry says of its keys. */
function row(): { keys: Record<string, { makes: string; accepts: string | null }> } | null {
  // One that only reads would leave a log behind.
  const client = new Database(join(folder, 'registry.sqlite'));
  const value = client.prepare("SELECT value FROM settings WHERE key = 'fact.keys'").pluck().get();
  client.close();
  return value === undefined ? null : JSON.parse(String(value));
}

/** As a server before fingerprints left it. */
function forgetFingerprints(): void {
  const client = new Database(join(folder, 'registry.sqlite'));
  client.exec("DELETE FROM settings WHERE key = 'fact.keys'");
  client.close();
}

/** Puts the keys of another server in the place of these, or of some. */
function exchange(names: readonly string[] = FILES): void {
  const other = join(root, 'other-keys');
  if (!existsSync(other)) {
    mkdirSync(other);
    writeFileSync(join(other, 'auth.secret'), `${randomBytes(32).toString('base64url')}\n`);
    writeFileSync(join(other, 'admin.key'), `${randomBytes(32).toString('base64url')}\n`);
    writeFileSync(join(other, 'secrets.key'), `${randomBytes(32).toString('base64url')}\n`);
    openSigner(other);
  }
  for (const name of names) {
    writeFileSync(join(keys, name), readFileSync(join(other, name)), { mode: 0o600 });
  }
}

test('the keys lie in their own folder, and the registry knows them by fingerprints that hold no part of one', async () => {
  await fill();
  expect(readdirSync(keys).sort()).toEqual(FILES);
  expect(FILES.map((name) => statSync(join(keys, name)).mode & 0o777)).toEqual([0o600, 0o600, 0o600, 0o600]);
  expect(readdirSync(folder).filter((name) => FILES.includes(name))).toEqual([]);
  expect(Object.keys(row()?.keys ?? {}).sort()).toEqual(['admin', 'auth', 'secrets', 'signing']);
  written += readFileSync(join(folder, 'registry.sqlite'), 'latin1');
  await start();
  expect(await opens()).toEqual([true]);
  await stop();
  // Moved without the setting, and the setting without the move.
  expect(refused({ WB_KEYS: folder })).toMatch(/auth\.secret is missing[\s\S]*secrets\.key is missing/);
  for (const name of FILES) renameSync(join(keys, name), join(folder, name));
  expect(refused()).toContain(`There is ${join(folder, 'signing.key')}: move it.`);
});

test('key files that cannot be used are named at once, whatever is wrong, and nothing is changed', async () => {
  await fill();
  const whole = join(root, 'whole');
  cpSync(keys, whole, { recursive: true });
  const again = () => {
    rmSync(keys, { recursive: true });
    cpSync(whole, keys, { recursive: true });
    chmodSync(keys, 0o700);
    for (const name of FILES) chmodSync(join(keys, name), 0o600);
  };
  const at = (name: string) => join(keys, name);

  renameSync(at('auth.secret'), at('elsewhere'));
  symlinkSync(at('elsewhere'), at('auth.secret'));
  truncateSync(at('secrets.key'), 20);
  truncateSync(at('signing.key'), 60);
  chmodSync(at('admin.key'), 0o644);
  const first = refused();
  expect(first).toContain(`  ${at('auth.secret')} is a link.`);
  expect(first).toContain(`  ${at('secrets.key')} holds no key of 32 bytes.`);
  expect(first).toContain(`  ${at('signing.key')} holds no private key.`);
  expect(first).toContain(`  Others may use ${at('admin.key')} (its mode is 0644). Run chmod 600 ${at('admin.key')}.`);

  again();
  truncateSync(at('auth.secret'), 0);
  rmSync(at('secrets.key'));
  mkdirSync(at('secrets.key'));
  rmSync(at('signing.key'));
  spawnSync('mkfifo', ['-m', '600', at('signing.key')]);
  rmSync(at('admin.key'));
  const second = refused();
  expect(second).toContain(`  ${at('auth.secret')} is empty.`);
  expect(second).toContain(`  ${at('secrets.key')} is a folder and should be a file.`);
  expect(second).toContain(`  ${at('signing.key')} is not a plain file.`);
  expect(second).toContain(`  ${at('admin.key')} is missing: the registry knows `);

  again();
  truncateSync(at('auth.secret'), 30);
  expect(refused()).toMatch(/auth\.secret is another key: the registry knows hkdf:[0-9a-f]{32}, this one is scrypt:/);
  again();
  if (process.getuid?.() === 0) {
    chownSync(at('auth.secret'), 65_534, 65_534);
    expect(refused()).toContain(`  ${at('auth.secret')} belongs to the user 65534, and this server runs as 0.`);
    again();
  }

  chmodSync(keys, 0o777);
  expect(refused()).toContain(`  Others may write to ${keys} (its mode is 0777).`);
  renameSync(keys, `${keys}-moved`);
  expect(refused()).toContain(`  There is no folder ${keys}. Make it`);
  symlinkSync(`${keys}-moved`, keys);
  expect(refused()).toContain(`  ${keys} is a link. Set WB_KEYS to the folder itself.`);
  rmSync(keys);
  writeFileSync(keys, '');
  expect(refused()).toContain(`  WB_KEYS is ${keys}, and that is no folder.`);
  rmSync(keys);
  renameSync(`${keys}-moved`, keys);
  again();
  await start();
  expect(await opens()).toEqual([true]);
});

test('a server with the keys of another one says which differ, and starts again once they are back', async () => {
  await fill();
  const whole = join(root, 'whole');
  cpSync(keys, whole, { recursive: true });
  const known = row();
  for (const names of [['secrets.key'], ['auth.secret'], ['signing.key'], ['admin.key'], FILES]) {
    exchange(names);
    const said = refused();
    for (const name of FILES) expect(said.includes(`${join(keys, name)} is another key`)).toBe(names.includes(name));
    expect(run('keys', ['list']).status).toBe(3);
    for (const name of FILES) cpSync(join(whole, name), join(keys, name));
  }
  rmSync(join(keys, 'secrets.key'));
  expect(refused()).toMatch(/secrets\.key is missing: the registry knows hkdf:/);
  cpSync(join(whole, 'secrets.key'), join(keys, 'secrets.key'));
  expect(row()).toEqual(known);
  await start();
  expect(await opens()).toEqual([true]);
  await stop();
  // A key of the settings is no file: it may change at any time.
  server = await spawnServer({ folder, settings: { WB_KEYS: keys, WB_ADMIN_KEY: 'of-the-settings-and-no-file' } });
  expect(row()).toEqual(known);
});

test('a registry without fingerprints takes only keys that open what is there', async () => {
  await fill();
  const whole = join(root, 'whole');
  cpSync(keys, whole, { recursive: true });
  const known = row();
  forgetFingerprints();
  exchange(['secrets.key']);
  expect(refused()).toContain('secrets.key is another key: it opens none of the 2 sealed secrets.');
  rmSync(join(keys, 'secrets.key'));
  exchange(['signing.key']);
  const said = refused();
  expect(said).toContain('secrets.key is missing: 2 sealed secrets are in the registry.');
  expect(said).toMatch(/signing\.key is another key: the signed head of the ledger is signed by did:key:z6Mk/);
  expect(row()).toBeNull();
  for (const name of FILES) cpSync(join(whole, name), join(keys, name));
  expect(run('keys', ['list']).text).toMatch(/^secrets\.key +not recorded yet: the next start does$/m);
  await start();
  await stop();
  expect(row()?.keys.signing?.makes).toBe(known?.keys.signing?.makes);
  exchange(['secrets.key']);
  expect(refused()).toMatch(/secrets\.key is another key: the registry knows /);
});

test('a list changes nothing, beside a server and on a registry of any version', async () => {
  await fill();
  const before = everything();
  const { status, text } = run('keys', ['list']);
  expect(status).toBe(0);
  expect(text).toMatch(/^auth\.secret +hkdf:[0-9a-f]{32} since \d{4}-\d{2}-\d{2}$/m);
  expect(text).toMatch(/^signing\.key +did:key:z6Mk\w+ since /m);
  expect(everything()).toEqual(before);
  const client = new Database(join(folder, 'registry.sqlite'));
  client.exec('DROP TABLE secrets; DELETE FROM __drizzle_migrations');
  client.close();
  const older = everything();
  expect(run('keys', ['list']).status).toBe(0);
  expect(everything()).toEqual(older);
  for (const args of [[], ['rotate'], ['rotate', 'users'], ['list', 'auth'], ['finish', 'auth', 'admin']]) {
    expect(run('keys', args)).toMatchObject({ status: 1, text: expect.stringContaining('Usage: npm run keys') });
  }
  expect(run('keys', ['rotate', 'auth'], { WB_DATA: join(root, 'nothing') }).text).toContain('There is no registry at');
  expect(existsSync(join(root, 'nothing'))).toBe(false);
});

test('a lost key is given up by a person: what it opened is named, and months that it sealed stay proved', async () => {
  await fill();
  for (const name of ['secrets.key', 'signing.key', 'auth.secret']) rmSync(join(keys, name));
  expect(refused()).toMatch(/auth\.secret is missing[\s\S]*secrets\.key is missing[\s\S]*signing\.key is missing/);
  const { status, text } = run('keys', ['accept', 'secrets']);
  expect(status).toBe(0);
  expect(text).toMatch(
    /secrets\.key is a new key\.\nDoes not open and has to be set again: TOKEN of acme, the webhook hook/,
  );
  expect(run('keys', ['accept', 'secrets'])).toMatchObject({
    status: 1,
    text: expect.stringContaining('secrets.key is the key that the registry knows.'),
  });
  expect(run('keys', ['accept', 'signing']).status).toBe(0);
  expect(run('keys', ['accept', 'auth']).status).toBe(0);
  await start();
  expect(server?.output()).not.toMatch(/^ledger:/m);
  expect(await opens()).toEqual([false]);
  expect((await server?.call('GET', '/api/events?type=keys.accepted'))?.json).toHaveLength(3);
  await stop();
  expect(run('ledger-verify', []).text).toContain('Proved: no line was changed, removed or reordered.');
});

test('a restore says which secrets do not open with the keys that are there, before anything is changed', async () => {
  await fill();
  const backups = join(root, 'backups');
  mkdirSync(backups);
  const passphrase = { WB_BACKUP_PASSPHRASE: 'a long passphrase' };
  expect(run('backup', [backups, '--with-keys'], passphrase).status).toBe(0);
  const tar = join(root, 'one.tar');
  expect(run('backup', [tar, '--with-keys'], passphrase).status).toBe(0);
  rmSync(folder, { recursive: true });
  cpSync(keys, join(root, 'whole'), { recursive: true });
  for (const name of FILES) rmSync(join(keys, name));

  const closed = /Secrets that do not open .*: TOKEN of acme, the webhook hook \(hook-\w+\)\.\n/;
  for (const from of [backups, tar]) {
    const before = everything();
    const { status, text } = run('restore', ['--from', from, '--dry-run']);
    expect([status, text]).toEqual([0, expect.stringMatching(closed)]);
    expect(run('restore', ['--from', from, '--dry-run'], passphrase).text).not.toContain('do not open');
    expect(everything()).toEqual(before);
  }
  exchange(['secrets.key']);
  expect(run('restore', ['--from', backups], passphrase).text).toMatch(closed);
  expect(run('keys', ['list']).status).toBe(0);
  await start();
  expect(await opens()).toEqual([false]);
  await stop();

  rmSync(folder, { recursive: true });
  for (const name of FILES) rmSync(join(keys, name));
  expect(run('restore', ['--from', tar], passphrase).text).not.toContain('do not open');
  expect(readdirSync(keys).sort()).toEqual(FILES);
  await start();
  expect(await opens()).toEqual([true]);
});
