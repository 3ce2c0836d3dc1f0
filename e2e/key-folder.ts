/** For tests: a server whose keys lie in a folder of their own, and the commands around them, as processes. */
import { spawnSync } from 'node:child_process';
import { hash, randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect } from 'vitest';
import { openSigner } from '../lib/base/signing.ts';
import { caller } from '../lib/testing/call.ts';
import { type ServerProcess, spawnServer } from '../lib/testing/process.ts';
import { programOf } from '../lib/testing/program.ts';

const SERVER = programOf(fileURLToPath(new URL('../lib/front/server.ts', import.meta.url)));
const script = (name: string) => programOf(fileURLToPath(new URL(`../scripts/${name}.ts`, import.meta.url)));
/** The key files of a server. */
export const FILES = ['admin.key', 'auth.secret', 'secrets.key', 'signing.key'];
const SECRET = 'the-value-of-a-secret';

export let root: string;
export let folder: string;
export let keys: string;
export let server: ServerProcess | null;
/** Everything that any program of the test wrote. */
let written: string;

/** Makes the folders before each test, and proves after it that nothing that was written has a part of a key. */
export function stageKeys(): void {
  // Each test starts several processes.
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
}

/** Counts a text among what programs of the test wrote. */
export function wrote(text: string): void {
  written += text;
}

/** Starts a server with these settings. */
export async function startWith(settings: Record<string, string>): Promise<void> {
  server = await spawnServer({ folder, settings: { WB_KEYS: keys, ...settings } });
}

const environment = (settings: Record<string, string> = {}) => {
  const { WB_ADMIN_KEY: _key, ...own } = process.env;
  return { ...own, WB_DATA: folder, WB_KEYS: keys, WB_POOL: '0', PORT: '0', ...settings };
};

export async function start(): Promise<ServerProcess> {
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

export async function stop(): Promise<void> {
  await server?.end();
  written += server?.output() ?? '';
  server = null;
}

/** Runs a script and returns its exit code and all that it wrote. */
export function run(name: string, args: string[], settings: Record<string, string> = {}) {
  const { status, signal, stdout, stderr } = spawnSync(process.execPath, [script(name), ...args], {
    env: environment(settings),
    encoding: 'utf8',
    timeout: 120_000,
  });
  written += stdout + stderr;
  return { status, signal, text: stdout + stderr };
}

/** Starts a server that is to be refused for its keys. Nothing may change. Returns what it said. */
export function refused(settings: Record<string, string> = {}): string {
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
export function everything(): string[] {
  return readdirSync(root, { withFileTypes: true, recursive: true })
    .filter(({ name, parentPath }) => !name.startsWith('lock.sqlite') && !parentPath.startsWith(join(folder, 'cache')))
    .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return `${path} ${entry.isFile() ? hash('sha256', readFileSync(path)).slice(0, 16) : ''}`;
    })
    .sort();
}

/** A server that has a sandbox, a secret and a webhook, and is stopped. */
export async function fill(): Promise<void> {
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
export const opens = async () =>
  (await server?.call<{ opens: boolean }[]>('GET', '/api/tenants/acme/secrets'))?.json.map((secret) => secret.opens);

/** What the registry says of its keys. */
export function row(): { keys: Record<string, { makes: string; accepts: string | null }> } | null {
  // One that only reads would leave a log behind.
  const client = new Database(join(folder, 'registry.sqlite'));
  const value = client.prepare("SELECT value FROM settings WHERE key = 'fact.keys'").pluck().get();
  client.close();
  return value === undefined ? null : JSON.parse(String(value));
}

/** As a server before fingerprints left it. */
export function forgetFingerprints(): void {
  const client = new Database(join(folder, 'registry.sqlite'));
  client.exec("DELETE FROM settings WHERE key = 'fact.keys'");
  client.close();
}

/** Puts the keys of another server in the place of these, or of some. */
export function exchange(names: readonly string[] = FILES): void {
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
