import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { drizzle } from 'drizzle-orm/better-sqlite3';
import { migrate } from 'drizzle-orm/better-sqlite3/migrator';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type Auth, createAuth } from '../auth.ts';
import { readConfig } from '../config.ts';
import { createLogger } from '../log.ts';
import { keyChecker, readOrMakeSecret } from './keys.ts';
import { createSessionCache } from './session-cache.ts';

let folder: string;
let sqlite: Database.Database;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-auth-'));
  sqlite = new Database(':memory:');
  migrate(drizzle(sqlite), { migrationsFolder: join(import.meta.dirname, '../../db/migrations') });
});

afterEach(() => {
  sqlite.close();
  rmSync(folder, { recursive: true, force: true });
  vi.useRealTimers();
});

function open(settings: Record<string, string> = {}): Auth {
  const config = readConfig({ WB_DATA: folder, ...settings });
  return createAuth({ config, log: createLogger('error'), database: drizzle(sqlite) });
}

const tokenOf = (link: string) => new URL(link).searchParams.get('token') ?? '';
const cookieOf = (setCookie: string[]) => setCookie.map((line) => line.split(';', 1)[0]).join('; ');

test('the first start writes a key and a secret that only their owner can read, and later starts keep them', () => {
  open();
  const paths = ['admin.key', 'auth.secret'].map((name) => join(folder, name));
  const first = paths.map((path) => readFileSync(path, 'utf8'));
  expect(paths.map((path) => statSync(path).mode & 0o777)).toEqual([0o600, 0o600]);
  expect(first.map((text) => text.trim().length)).toEqual([43, 43]);
  expect(first[0]).not.toBe(first[1]);
  open();
  expect(paths.map((path) => readFileSync(path, 'utf8'))).toEqual(first);
});

test('an empty key file stops the start instead of opening the door', () => {
  writeFileSync(join(folder, 'admin.key'), '\n');
  expect(() => open()).toThrow('holds no usable secret');
  expect(readOrMakeSecret(join(folder, 'deep', 'other.key'))).toHaveLength(43);
});

test('the key of the settings is the key, and is not written down', async () => {
  const auth = open({ WB_ADMIN_KEY: 'sixteen-characters' });
  expect(() => statSync(join(folder, 'admin.key'))).toThrow('ENOENT');
  const ask = (authorization: string) => auth.callerFromHeaders({ authorization });
  expect(await ask('Bearer sixteen-characters')).toMatchObject({ actor: 'key:admin', via: 'api' });
  expect(await ask('bearer sixteen-characters')).toMatchObject({ actor: 'key:admin' });
  for (const wrong of [
    'Bearer sixteen-character',
    'Bearer sixteen-characters2',
    'Bearer ',
    'sixteen-characters',
    'Basic sixteen-characters',
  ]) {
    expect(await ask(wrong)).toBeNull();
  }
  expect(await auth.callerFromHeaders({})).toBeNull();
});

test('keys are equal only when they are', () => {
  const isKey = keyChecker('correct');
  expect(['correct', 'correc', 'correctt', '', 'CORRECT'].map(isKey)).toEqual([true, false, false, false, false]);
});

test('a sign-in link works once, makes the first admin, and its session is known by its cookie', async () => {
  const auth = open();
  const link = await auth.signInLink('http://localhost:4000');
  expect(link).toMatch(/^http:\/\/localhost:4000\/signin\?token=[A-Za-z]{32}$/);
  expect(sqlite.prepare('SELECT count(*) AS n FROM user').get()).toEqual({ n: 0 });

  const entered = await auth.signIn({ token: tokenOf(link) });
  expect(entered?.setCookie.join()).toMatch(
    /^__Host-winterdock\.session_token=[^;]+; Max-Age=\d+; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
  );
  const cookie = cookieOf(entered?.setCookie ?? []);
  const caller = await auth.callerFromHeaders(new Headers({ cookie: `theme=dark; ${cookie}` }), {
    via: 'console',
    requestId: 'r1',
  });
  expect(caller).toMatchObject({
    actor: expect.stringMatching(/^user:.+/),
    via: 'console',
    requestId: 'r1',
    role: 'admin',
  });
  expect(sqlite.prepare('SELECT role FROM user').all()).toEqual([{ role: 'admin' }]);
  expect(sqlite.prepare('SELECT * FROM verification').all()).toEqual([]);

  expect(await auth.signIn({ token: tokenOf(link) })).toBeNull();
  expect(await auth.signIn({ token: 'made-up' })).toBeNull();
});

test('the token of a link is not in the database', async () => {
  const token = tokenOf(await open().signInLink());
  expect(JSON.stringify(sqlite.prepare('SELECT * FROM verification').all())).not.toContain(token);
});

test('a sign-in link is over after fifteen minutes', async () => {
  const auth = open();
  const link = await auth.signInLink();
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 15 * 60_000 + 1000 });
  expect(await auth.signIn({ token: tokenOf(link) })).toBeNull();
});

test('the admin key opens a session of the same person', async () => {
  const auth = open({ WB_ADMIN_KEY: 'sixteen-characters' });
  expect(await auth.signIn({ key: 'sixteen-characterz' })).toBeNull();
  const byLink = await auth.signIn({ token: tokenOf(await auth.signInLink()) });
  const byKey = await auth.signIn({ key: 'sixteen-characters' });
  const actors = await Promise.all(
    [byLink, byKey].map(
      async (entered) => (await auth.callerFromHeaders({ cookie: cookieOf(entered?.setCookie ?? []) }))?.actor,
    ),
  );
  expect(actors[0]).toMatch(/^user:/);
  expect(actors[1]).toBe(actors[0]);
});

test('a session ends with its sign-out at once, though it was remembered', async () => {
  const auth = open();
  const entered = await auth.signIn({ token: tokenOf(await auth.signInLink()) });
  const headers = { cookie: cookieOf(entered?.setCookie ?? []) };
  expect(await auth.callerFromHeaders(headers)).not.toBeNull();
  const left = await auth.signOut(headers);
  expect(left.setCookie.join()).toMatch(/winterdock\.session_token=;.*Max-Age=0/);
  expect(await auth.callerFromHeaders(headers)).toBeNull();
  expect((await auth.signOut({})).setCookie.join()).toContain('Max-Age=0');
});

test('a forged cookie, a person without the role and a wrong key beside a good cookie get nothing', async () => {
  const auth = open();
  const entered = await auth.signIn({ token: tokenOf(await auth.signInLink()) });
  const cookie = cookieOf(entered?.setCookie ?? []);
  expect(await auth.callerFromHeaders({ cookie: cookie.replace(/.{6}$/, 'AAAAAA') })).toBeNull();
  expect(await auth.callerFromHeaders({ cookie: '__Host-winterdock.session_token=x.y' })).toBeNull();
  expect(await auth.callerFromHeaders({ cookie, authorization: 'Bearer wrong' })).toBeNull();
  sqlite.exec("UPDATE user SET role = 'user'");
  expect(await auth.callerFromHeaders({ cookie })).toBeNull();
});

test('cookies are Secure and bound to the host when people come by https, and no other cookie counts', async () => {
  const auth = open({ WB_PUBLIC_URL: 'https://dock.example/' });
  const link = await auth.signInLink();
  expect(link).toMatch(/^https:\/\/dock\.example\/signin\?token=/);
  const entered = await auth.signIn({ token: tokenOf(link) });
  expect(entered?.setCookie.join()).toMatch(/^__Host-winterdock\.session_token=.*; Secure/);
  expect(entered?.setCookie.join()).not.toMatch(/Domain/i);
  const cookie = cookieOf(entered?.setCookie ?? []);
  expect(await auth.callerFromHeaders({ cookie })).not.toBeNull();
  for (const prefix of ['', '__Secure-', 'x__Host-']) {
    expect(await auth.callerFromHeaders({ cookie: cookie.replace('__Host-', prefix) })).toBeNull();
  }
});

test('cookies are plain where browsers would refuse Secure ones', async () => {
  const auth = open({ WB_PUBLIC_URL: 'http://192.168.1.20:3000' });
  const entered = await auth.signIn({ token: tokenOf(await auth.signInLink()) });
  expect(entered?.setCookie.join()).toMatch(
    /^winterdock\.session_token=[^;]+; Max-Age=\d+; Path=\/; HttpOnly; SameSite=Lax$/,
  );
  expect(await auth.callerFromHeaders({ cookie: cookieOf(entered?.setCookie ?? []) })).not.toBeNull();
});

test('the library answers its own routes, but nobody can sign up or redeem a link by fetching an address', async () => {
  const auth = open();
  const ask = (method: string, path: string, body?: unknown) =>
    auth.handle(
      new Request(`http://localhost/api/auth${path}`, {
        method,
        headers: { 'content-type': 'application/json', origin: 'http://localhost' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    );
  const token = tokenOf(await auth.signInLink());
  expect((await ask('GET', `/magic-link/verify?token=${token}`)).status).toBe(404);
  expect((await ask('POST', '/sign-in/magic-link', { email: 'admin@winterdock.internal' })).status).toBe(404);
  const person = { email: 'eve@evil.example', password: 'long-enough-password', name: 'Eve' };
  for (const path of ['/sign-up/email', '/sign-in/email', '/sign-in/social'])
    expect((await ask('POST', path, person)).status).toBe(404);
  expect((await ask('POST', '/admin/create-user', person)).status).toBe(401);
  expect(sqlite.prepare('SELECT count(*) AS n FROM user').get()).toEqual({ n: 0 });
  expect(await (await ask('GET', '/get-session')).json()).toBeNull();
  expect(await auth.signIn({ token })).not.toBeNull();
});

test('the memory of sessions forgets by age and by number', () => {
  let now = 0;
  const cache = createSessionCache({ entries: 2, lifeMs: 10, now: () => now });
  cache.set('a', 'user:a');
  cache.set('b', 'user:b');
  cache.set('a', 'user:a');
  cache.set('c', 'user:c');
  expect(['a', 'b', 'c'].map((cookie) => cache.get(cookie))).toEqual(['user:a', undefined, 'user:c']);
  now = 10;
  expect(cache.get('a')).toBeUndefined();
  cache.set('a', 'user:a');
  cache.clear();
  expect(cache.get('a')).toBeUndefined();
});
