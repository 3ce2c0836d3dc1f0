import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { FakeClock, systemClock } from '../base/clock.ts';
import { readConfig } from '../base/config.ts';
import { createLogger } from '../base/log.ts';
import type { Registry } from '../registry/registry.ts';
import { openRegistryOfTests } from '../registry/testing/registry-of-tests.ts';
import { type SqlOfTests, sqlOfTests } from '../registry/testing/sql-of-tests.ts';
import { cookieOf, firstAdmin, PASSWORD, tokenOf, visitor } from '../testing/people.ts';
import { type Auth, createAuth } from './auth.ts';
import { readOrMakeSecret, secretComparison } from './secrets.ts';
import { createSessionCache } from './session-cache.ts';
import { MAX_SESSIONS } from './sign-ins.ts';

let folder: string;
let registry: Registry;
/** The registry, as another program sees it. */
let disk: SqlOfTests;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-auth-'));
  registry = await openRegistryOfTests(folder, {
    thresholds: { hotToWarmSeconds: 0, idleToSuspendSeconds: 900, idleToFreezeSeconds: 900 },
  });
  disk = await sqlOfTests(folder);
});

afterEach(async () => {
  await disk.close();
  await registry.close();
  rmSync(folder, { recursive: true, force: true });
  vi.useRealTimers();
});

function open(settings: Record<string, string> = {}): Auth {
  const config = readConfig({ WB_DATA: folder, ...settings });
  return createAuth({ config, log: createLogger('error'), clock: systemClock, registry });
}

const ADA = { email: 'ada@example.com', name: 'Ada', password: PASSWORD };
const sql = (text: string) => disk.ask(text);
const linesOf = async (type: string) => (await registry.ledger.page({ type }, 100)).rows;

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

test('an empty key file stops the start instead of letting everyone in', () => {
  writeFileSync(join(folder, 'admin.key'), '\n');
  expect(() => open()).toThrow('holds no usable secret');
  expect(readOrMakeSecret(join(folder, 'deep', 'other.key'))).toHaveLength(43);
});

test('the key of the settings is used, and is not written down', async () => {
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
  const isKey = secretComparison('correct');
  expect(['correct', 'correc', 'correctt', '', 'CORRECT'].map(isKey)).toEqual([true, false, false, false, false]);
});

test('the link of a first start makes the first admin, once, and the session is known by its cookie', async () => {
  const auth = open();
  expect(await auth.signIns.hasAdmin()).toBe(false);
  const link = await auth.signInLink('http://localhost:4000');
  expect(link).toMatch(/^http:\/\/localhost:4000\/signin\?token=[\w-]{43}$/);
  expect(await auth.signIns.offerOf(tokenOf(link))).toEqual({
    first: true,
    email: null,
    role: 'admin',
    tenants: null,
  });
  expect(await sql('SELECT count(*) AS n FROM "user"')).toEqual([{ n: 0 }]);

  const person = { ...ADA, email: 'Ada@Example.com' };
  const entered = await auth.signIns.join(tokenOf(link), person, visitor());
  expect(entered?.setCookie.join()).toMatch(
    /^__Host-winterdock\.session_token=[^;]+; Max-Age=\d+; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
  );
  const cookie = cookieOf(entered);
  const caller = await auth.callerFromHeaders(new Headers({ cookie: `theme=dark; ${cookie}` }), {
    via: 'console',
    requestId: 'r1',
    address: '192.0.2.9',
  });
  expect(caller).toEqual({
    actor: expect.stringMatching(/^user:.+/),
    via: 'console',
    requestId: 'r1',
    role: 'admin',
    tenants: null,
    address: '192.0.2.9',
    session: expect.any(String),
  });
  expect(await sql('SELECT email, role FROM "user"')).toEqual([{ email: 'ada@example.com', role: 'admin' }]);
  expect(await auth.signIns.hasAdmin()).toBe(true);

  expect(await auth.signIns.offerOf(tokenOf(link))).toBeNull();
  const eve = { email: 'eve@example.com', name: 'Eve', password: PASSWORD };
  expect(await auth.signIns.join(tokenOf(link), eve, visitor())).toBeNull();
  expect(await auth.signIns.join('made-up', eve, visitor())).toBeNull();
  expect(await linesOf('person.joined')).toHaveLength(1);
});

test('of the links of several first starts only the last one works, and none once there is an admin', async () => {
  const auth = open();
  const [first, second] = [tokenOf(await auth.signInLink()), tokenOf(await auth.signInLink())];
  expect(await auth.signIns.offerOf(first)).toBeNull();
  expect(await auth.signIns.offerOf(second)).not.toBeNull();
  await firstAdmin(auth);
  expect(await auth.signIns.offerOf(second)).toBeNull();
});

test('the link of a later start signs in the first admin, once, with a new password if one is given', async () => {
  const auth = open();
  await firstAdmin(auth);
  const token = tokenOf(await auth.signInLink());
  expect(await auth.signIns.offerOf(token)).toBeNull();
  const entered = await auth.signIns.signIn({ token, newPassword: 'quite another password' }, visitor());
  expect(entered?.person.email).toBe('ada@example.com');
  expect(await auth.signIns.signIn({ token }, visitor())).toBeNull();
  const byPassword = (password: string) =>
    auth.signIns.signIn({ email: 'ada@example.com', password }, visitor({ address: '192.0.2.77' }));
  expect(await byPassword(PASSWORD)).toBeNull();
  expect(await byPassword('quite another password')).not.toBeNull();
  expect(await linesOf('password.changed')).toHaveLength(1);
});

test('a new password by a recovery link ends every other session of that person, open streams included', async () => {
  const auth = open();
  const cookie = await firstAdmin(auth);
  const thief = await auth.callerFromHeaders({ cookie });
  const cut = vi.fn();
  if (thief !== null) auth.onAccessChange(thief, cut);
  const token = tokenOf(await auth.signInLink());
  const entered = await auth.signIns.signIn({ token, newPassword: 'quite another password' }, visitor());
  expect(await auth.callerFromHeaders({ cookie })).toBeNull();
  expect(cut).toHaveBeenCalledOnce();
  expect(await auth.callerFromHeaders({ cookie: cookieOf(entered) })).not.toBeNull();
});

test('of many concurrent uses of one link exactly one signs in', async () => {
  const auth = open();
  const first = tokenOf(await auth.signInLink());
  const people = ['a', 'b', 'c', 'd'].map((name) => ({ email: `${name}@example.com`, name, password: PASSWORD }));
  const joined = await Promise.all(people.map((person) => auth.signIns.join(first, person, visitor())));
  expect(joined.filter((entered) => entered !== null)).toHaveLength(1);
  expect(await sql('SELECT count(*) AS n FROM "user"')).toEqual([{ n: 1 }]);
  const token = tokenOf(await auth.signInLink());
  const entered = await Promise.all(people.map(() => auth.signIns.signIn({ token }, visitor())));
  expect(entered.filter((one) => one !== null)).toHaveLength(1);
  expect(await sql('SELECT count(*) AS n FROM session')).toEqual([{ n: 2 }]);
});

test('neither the tokens of links nor passwords are in the database', async () => {
  const auth = open();
  const tokens = [tokenOf(await auth.signInLink())];
  await firstAdmin(auth);
  tokens.push(tokenOf(await auth.signInLink()));
  const tables = ['verification', 'invitations', 'account', 'session'];
  const kept = (await Promise.all(tables.map((table) => sql(`SELECT * FROM ${table}`)))).flat();
  expect(kept.length).toBeGreaterThan(2);
  for (const secret of [...tokens, PASSWORD]) expect(JSON.stringify(kept)).not.toContain(secret);
});

test('the links of a start expire after fifteen minutes', async () => {
  const auth = open();
  const first = tokenOf(await auth.signInLink());
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 15 * 60_000 + 1000 });
  expect(await auth.signIns.offerOf(first)).toBeNull();
  await firstAdmin(auth);
  const later = tokenOf(await auth.signInLink());
  vi.setSystemTime(Date.now() + 15 * 60_000 + 1000);
  expect(await auth.signIns.signIn({ token: later }, visitor())).toBeNull();
});

test('the admin key opens a session that acts as the key and not as a person', async () => {
  const auth = open({ WB_ADMIN_KEY: 'sixteen-characters' });
  const enter = (key: string) => auth.signIns.signIn({ key }, visitor());
  expect(await enter('sixteen-characterz')).toBeNull();
  const cookie = cookieOf(await enter('sixteen-characters'));
  expect(await auth.callerFromHeaders({ cookie })).toMatchObject({
    actor: 'key:admin',
    role: 'admin',
    session: expect.any(String),
  });
  expect(await enter('sixteen-characters')).not.toBeNull();
  expect(await auth.people.list()).toEqual([]);
  expect(await auth.signIns.hasAdmin()).toBe(false);
  expect((await linesOf('signin.failed')).map(({ actor, reason, address }) => [actor, reason, address])).toEqual([
    ['nobody', 'key', '192.0.2.1'],
  ]);
});

test('a session of the admin key ends when the key is replaced', async () => {
  const before = open({ WB_ADMIN_KEY: 'sixteen-characters' });
  const cookie = cookieOf(await before.signIns.signIn({ key: 'sixteen-characters' }, visitor()));
  expect(await open({ WB_ADMIN_KEY: 'sixteen-characters' }).callerFromHeaders({ cookie })).not.toBeNull();
  const after = open({ WB_ADMIN_KEY: 'seventeen-characters' });
  expect(await after.callerFromHeaders({ cookie })).toBeNull();
  expect(await after.people.list()).toEqual([]);
  expect(JSON.stringify(await sql('SELECT * FROM "user"'))).not.toContain('sixteen');
});

test('a session ends with its sign-out at once, although it was cached', async () => {
  const auth = open();
  const headers = { cookie: await firstAdmin(auth) };
  expect(await auth.callerFromHeaders(headers)).not.toBeNull();
  const left = await auth.signOut(headers);
  expect(left.setCookie.join()).toMatch(/winterdock\.session_token=;.*Max-Age=0/);
  expect(await auth.callerFromHeaders(headers)).toBeNull();
  expect((await auth.signOut({})).setCookie.join()).toContain('Max-Age=0');
});

test('a forged cookie, a person without the role and a wrong key beside a good cookie get nothing', async () => {
  const auth = open();
  const cookie = await firstAdmin(auth);
  expect(await auth.callerFromHeaders({ cookie: cookie.replace(/.{6}$/, 'AAAAAA') })).toBeNull();
  expect(await auth.callerFromHeaders({ cookie: '__Host-winterdock.session_token=x.y' })).toBeNull();
  expect(await auth.callerFromHeaders({ cookie, authorization: 'Bearer wrong' })).toBeNull();
  await sql(`UPDATE "user" SET role = 'user'`);
  expect(await auth.callerFromHeaders({ cookie })).toBeNull();
});

test('cookies are Secure and bound to the host over https, and no other cookie counts', async () => {
  const auth = open({ WB_PUBLIC_URL: 'https://dock.example/' });
  const link = await auth.signInLink();
  expect(link).toMatch(/^https:\/\/dock\.example\/signin\?token=/);
  const entered = await auth.signIns.join(tokenOf(link), ADA, visitor());
  expect(entered?.setCookie.join()).toMatch(/^__Host-winterdock\.session_token=.*; Secure/);
  expect(entered?.setCookie.join()).not.toMatch(/Domain/i);
  const cookie = cookieOf(entered);
  expect(await auth.callerFromHeaders({ cookie })).not.toBeNull();
  for (const prefix of ['', '__Secure-', 'x__Host-']) {
    expect(await auth.callerFromHeaders({ cookie: cookie.replace('__Host-', prefix) })).toBeNull();
  }
});

test('cookies are plain where browsers would refuse Secure ones', async () => {
  const auth = open({ WB_PUBLIC_URL: 'http://192.168.1.20:3000' });
  const entered = await auth.signIns.join(tokenOf(await auth.signInLink()), ADA, visitor());
  expect(entered?.setCookie.join()).toMatch(
    /^winterdock\.session_token=[^;]+; Max-Age=\d+; Path=\/; HttpOnly; SameSite=Lax$/,
  );
  expect(await auth.callerFromHeaders({ cookie: cookieOf(entered) })).not.toBeNull();
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
  const closed = ['/sign-up/email', '/sign-in/email', '/sign-in/social', '/change-password', '/admin/create-user'];
  for (const path of closed) expect((await ask('POST', path, person)).status).toBe(404);
  expect(await sql('SELECT count(*) AS n FROM "user"')).toEqual([{ n: 0 }]);
  expect(await (await ask('GET', '/get-session')).json()).toBeNull();
  expect(await auth.signIns.offerOf(token)).not.toBeNull();
});

test('the session cache drops entries by age and by number', () => {
  let now = 0;
  const cache = createSessionCache<string>({ entries: 2, lifeMs: 10, now: () => now });
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

test('a person has at most fifty open sessions: further sign-ins end the first ones', async () => {
  const auth = open();
  const cookie = await firstAdmin(auth);
  const enter = async () => {
    const entered = await auth.signIns.signIn({ token: tokenOf(await auth.signInLink()) }, visitor());
    return cookieOf(entered);
  };
  let last = '';
  for (let n = 0; n < MAX_SESSIONS + 5; n += 1) last = await enter();
  expect(await sql('SELECT count(*) AS n FROM session')).toEqual([{ n: MAX_SESSIONS }]);
  expect(await auth.callerFromHeaders({ cookie })).toBeNull();
  expect(await auth.callerFromHeaders({ cookie: last })).not.toBeNull();
});

test('a person can sign in by password only a limited number of times an hour', async () => {
  const auth = open();
  await firstAdmin(auth);
  for (let n = 0; n < 120; n += 1) {
    await auth.limits.countAttempt('ada@example.com', `10.0.${n}.1`, true);
    await auth.limits.acceptPassword('ada@example.com', `10.0.${n}.1`);
  }
  const again = auth.signIns.signIn({ email: 'ada@example.com', password: PASSWORD }, visitor());
  await expect(again).rejects.toMatchObject({ code: 'rate_limited' });
});

test('the state of a link is known before it is used: valid, used, expired or unknown', async () => {
  const clock = new FakeClock(Date.now());
  const config = readConfig({ WB_DATA: folder });
  const auth = createAuth({ config, log: createLogger('error'), clock, registry });
  const { signIns } = auth;
  const other = tokenOf(await auth.signInLink());
  const first = tokenOf(await auth.signInLink());
  expect([await signIns.linkState(first), await signIns.linkState('made-up')]).toEqual(['good', 'unknown']);
  await signIns.join(first, ADA, visitor());
  expect([await signIns.linkState(first), await signIns.linkState(other)]).toEqual(['used', 'unknown']);

  const recovery = tokenOf(await auth.signInLink());
  expect(await signIns.linkState(recovery)).toBe('good');
  await signIns.signIn({ token: recovery }, visitor());
  expect(await signIns.linkState(recovery)).toBe('used');

  const invitation = { email: 'eva@example.com', role: 'viewer', tenants: null, createdBy: 'key:admin' } as const;
  const { token } = await signIns.invite(invitation, () => []);
  clock.advance(8 * 86_400);
  expect(await signIns.linkState(token)).toBe('expired');

  // Another start knows a link that is still good, and forgets which ones it used up itself.
  const printed = tokenOf(await auth.signInLink());
  const again = open();
  expect([await again.signIns.linkState(printed), await again.signIns.linkState(recovery)]).toEqual([
    'good',
    'unknown',
  ]);
  await sql('UPDATE verification SET expires_at = 1');
  expect(await again.signIns.linkState(printed)).toBe('expired');
});
