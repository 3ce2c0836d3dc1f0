/** Callers that another host vouches for: an identity, whose rights are those of the registry now. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Clock, FakeClock, systemClock } from '../base/clock.ts';
import { readConfig } from '../base/config.ts';
import { createLogger } from '../base/log.ts';
import type { Registry } from '../registry/registry.ts';
import { entry } from '../registry/testing/fixtures.ts';
import { openRegistryOfTests } from '../registry/testing/registry-of-tests.ts';
import { cookieOf, firstAdmin, invited, visitor } from '../testing/people.ts';
import { type Auth, createAuth } from './auth.ts';
import type { Caller } from './caller.ts';

let folder: string;
let registry: Registry;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-vouched-'));
  registry = await openRegistryOfTests(folder, {
    thresholds: { hotToWarmSeconds: 0, idleToSuspendSeconds: 900, idleToFreezeSeconds: 900 },
  });
});
afterEach(async () => {
  await registry.close();
  rmSync(folder, { recursive: true, force: true });
});

function open(settings: Record<string, string> = {}, clock: Clock = systemClock): Auth {
  const config = readConfig({ WB_DATA: folder, ...settings });
  return createAuth({ config, log: createLogger('error'), clock, registry });
}

async function enter(auth: Auth, headers: Record<string, string>): Promise<Caller> {
  const caller = await auth.callerFromHeaders(headers);
  if (caller === null) throw new Error('Nobody is let in with these.');
  return caller;
}

/** What crosses between two hosts: text. */
const crossed = (auth: Auth, caller: Caller) =>
  JSON.parse(JSON.stringify(auth.vouchFor(caller))) as ReturnType<Auth['vouchFor']>;

test('what one host says of a caller has no rights in it, and no secret', async () => {
  const auth = open({ WB_ADMIN_KEY: 'sixteen-characters' });
  const cookie = await firstAdmin(auth);
  const ways: Record<string, string>[] = [{ authorization: 'Bearer sixteen-characters' }, { cookie }];
  for (const headers of ways) {
    const caller = await enter(auth, headers);
    const said = crossed(auth, caller);
    expect(Object.keys(said).toSorted()).toEqual(['actor', 'proof', 'session']);
    expect(JSON.stringify(said)).not.toMatch(/sixteen|role|tenants/);
    const as = { requestId: 'r', address: '192.0.2.1', via: 'cli' } as const;
    expect(await auth.vouchedCaller(said, as)).toEqual({ ...caller, ...as });
  }
});

test('the admin key of one host is none on a host that has another one', async () => {
  const said = crossed(open({ WB_ADMIN_KEY: 'sixteen-characters' }), {
    ...{ actor: 'key:admin', via: 'api', requestId: '', role: 'admin', tenants: null, address: null, session: null },
  });
  expect(await open({ WB_ADMIN_KEY: 'sixteen-characters' }).vouchedCaller(said)).not.toBeNull();
  expect(await open({ WB_ADMIN_KEY: 'seventeen-characters' }).vouchedCaller(said)).toBeNull();
  expect(await open({ WB_ADMIN_KEY: 'sixteen-characters' }).vouchedCaller({ ...said, proof: null })).toBeNull();
});

test('a key has the rights of its row, until it is revoked or has expired', async () => {
  const clock = new FakeClock();
  const auth = open({}, clock);
  const input = { name: 'a program', role: 'tenant', tenant: 'acme', createdBy: 'key:admin', maxCallSeconds: 7 };
  const make = (expires: number | null) => auth.keys.make({ ...input, expires }, () => entry());
  const [lasting, lastingKey] = await make(null);
  const [, endingKey] = await make(Math.floor(clock.now() / 1000) + 60);
  const of = async (key: string) => crossed(auth, await enter(auth, { authorization: `Bearer ${key}` }));
  const [lastingSaid, endingSaid] = [await of(lastingKey), await of(endingKey)];
  expect(await auth.vouchedCaller(lastingSaid)).toMatchObject({ role: 'tenant', tenants: ['acme'], maxCallSeconds: 7 });
  expect(await auth.vouchedCaller(endingSaid)).not.toBeNull();
  clock.advance(61);
  expect(await auth.vouchedCaller(endingSaid)).toBeNull();
  await auth.keys.revoke(lasting.id, entry());
  expect(await auth.vouchedCaller(lastingSaid)).toBeNull();
  for (const actor of ['key:unknown', 'key:', 'user:x', 'nobody', '']) {
    expect(await auth.vouchedCaller({ actor, session: null, proof: null })).toBeNull();
  }
  await auth.close();
});

test('a session has the rights of its person now, until either has ended', async () => {
  const auth = open();
  await firstAdmin(auth);
  const cookie = await invited(auth, 'operator', { tenants: ['acme'] });
  const caller = await enter(auth, { cookie });
  const said = crossed(auth, caller);
  expect(await auth.vouchedCaller(said)).toMatchObject({
    role: 'operator',
    tenants: ['acme'],
    session: caller.session,
  });
  await auth.people.change(caller.actor.slice('user:'.length), { role: 'viewer', tenants: ['globex'] });
  expect(await auth.vouchedCaller(said)).toMatchObject({ role: 'viewer', tenants: ['globex'] });
  await auth.signOut({ cookie });
  expect(await auth.vouchedCaller(said)).toBeNull();
});

test('a session is that of its person alone, and a disabled person has none', async () => {
  const auth = open();
  const admin = await enter(auth, { cookie: await firstAdmin(auth) });
  const viewer = await enter(auth, { cookie: await invited(auth, 'viewer') });
  const said = crossed(auth, viewer);
  expect(await auth.vouchedCaller({ ...said, session: admin.session })).toBeNull();
  expect(await auth.vouchedCaller({ ...said, actor: admin.actor })).toBeNull();
  expect(await auth.vouchedCaller({ ...said, actor: 'key:admin' })).toBeNull();
  expect(await auth.vouchedCaller({ ...said, session: 'unknown' })).toBeNull();
  await auth.people.change(viewer.actor.slice('user:'.length), { disabled: true });
  expect(await auth.vouchedCaller(said)).toBeNull();
});

test('whoever signed in with the admin key is its holder at the other host, too', async () => {
  const auth = open({ WB_ADMIN_KEY: 'sixteen-characters' });
  const opened = await auth.signIns.signIn({ key: 'sixteen-characters' }, visitor());
  const said = crossed(auth, await enter(auth, { cookie: cookieOf(opened) }));
  expect(await auth.vouchedCaller(said)).toMatchObject({ role: 'admin', tenants: null });
  expect(await open({ WB_ADMIN_KEY: 'seventeen-characters' }).vouchedCaller(said)).toBeNull();
});
