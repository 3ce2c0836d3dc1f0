/** Keys and sessions while another process changes them in the same registry, with the listener and without it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { systemClock } from '../base/clock.ts';
import { readConfig } from '../base/config.ts';
import { createLogger } from '../base/log.ts';
import { registryDriver } from '../registry/drivers.ts';
import type { Registry } from '../registry/registry.ts';
import { entry, START, THRESHOLDS } from '../registry/testing/fixtures.ts';
import { administer, newDatabase } from '../registry/testing/postgres-driver.ts';
import { type PostgresProxy, postgresProxy } from '../registry/testing/postgres-proxy.ts';
import { HAS_POSTGRES } from '../registry/testing/postgres-server.ts';
import { firstAdmin, invited } from '../testing/people.ts';
import { type Auth, createAuth } from './auth.ts';
import type { Caller } from './caller.ts';

const LISTENER = 'winterdock listener';
/** Nothing that was read is answered from memory for longer, in milliseconds. */
const OLDEST_MS = 1000;

let made = 0;

describe.skipIf(!HAS_POSTGRES)('beside another process with the same registry', () => {
  let name: string;
  let folder: string;
  let proxy: PostgresProxy;
  /** The registry of this process, and that of the other one. */
  let own: Registry;
  let other: Registry;
  let auth: Auth;
  /** How often this process read a key, and a session. */
  const reads = { keys: 0, sessions: 0 };

  beforeEach(async () => {
    made += 1;
    name = `beside_${made}`;
    folder = mkdtempSync(join(tmpdir(), 'winterdock-beside-'));
    const address = await newDatabase(name);
    proxy = await postgresProxy(address);
    const open = (server: typeof address) =>
      registryDriver({ driver: 'postgres', server, headFolder: folder, connections: 4 }).open({
        thresholds: THRESHOLDS,
        follow: true,
      });
    own = await open(proxy.address);
    other = await open(address);
    const { keys, people } = own;
    const registry: Registry = {
      ...own,
      keys: {
        ...withMethods(keys),
        get(id) {
          reads.keys += 1;
          return keys.get(id);
        },
      },
      people: {
        ...withMethods(people),
        find(kind, where) {
          if (kind === 'session') reads.sessions += 1;
          return people.find(kind, where);
        },
      },
    };
    auth = createAuth({
      config: readConfig({ WB_DATA: folder }),
      log: createLogger('error'),
      clock: systemClock,
      registry,
    });
  });
  afterEach(async () => {
    await auth.close();
    await own.close();
    await other.close();
    await proxy.end();
    await administer(`drop database if exists ${name} with (force)`);
    rmSync(folder, { recursive: true, force: true });
  });

  const makeKey = async () => {
    const input = { name: 'a program', role: 'viewer', tenant: null, createdBy: 'key:admin' };
    const [row, key] = await auth.keys.make({ ...input, expires: null, maxCallSeconds: null }, () => entry());
    return { id: row.id, authorization: `Bearer ${key}` };
  };
  const enter = async (headers: Record<string, string>): Promise<Caller> => {
    const caller = await auth.callerFromHeaders(headers);
    if (caller === null) throw new Error('Nobody is let in with these.');
    return caller;
  };
  /** Whoever is let in with these headers now. */
  const isIn = async (headers: Record<string, string>) => (await auth.callerFromHeaders(headers)) !== null;
  /** Until `holds`: when it was asked for last and did not hold yet, in milliseconds from now. */
  const lastBefore = async (holds: () => Promise<boolean>) => {
    const began = performance.now();
    let last = 0;
    await expect
      .poll(
        async () => {
          const askedAt = performance.now();
          const isSo = await holds();
          if (!isSo) last = askedAt - began;
          return isSo;
        },
        { interval: 10 },
      )
      .toBe(true);
    return last;
  };
  const lastIn = (headers: Record<string, string>) => lastBefore(async () => !(await isIn(headers)));
  const isIt = (value: string | null) => [{ field: 'id', operator: 'eq', value, connector: 'and' }] as const;

  test('a key that the other revokes is refused within a second, a cached one too', async () => {
    const { id, ...headers } = await makeKey();
    expect(await isIn(headers)).toBe(true);
    await expect
      .poll(async () => {
        const before = reads.keys;
        for (let n = 0; n < 5; n += 1) await isIn(headers);
        return reads.keys - before;
      })
      .toBe(0);
    await other.keys.revoke(id, START, entry());
    expect(await lastIn(headers)).toBeLessThan(OLDEST_MS);
  });

  test('a session that the other ends, and a person whose rights it changes or who is disabled, within a second', async () => {
    await firstAdmin(auth);
    const headers = { cookie: await invited(auth, 'operator') };
    const { session, actor } = await enter(headers);
    const person = actor.slice('user:'.length);
    await other.people.change('user', isIt(person), { role: 'viewer' });
    expect(await lastBefore(async () => (await enter(headers)).role === 'viewer')).toBeLessThan(OLDEST_MS);
    await other.people.removeAll('session', isIt(session));
    expect(await lastIn(headers)).toBeLessThan(OLDEST_MS);
    const again = { cookie: await invited(auth, 'viewer') };
    const { actor: next } = await enter(again);
    await other.people.change('user', isIt(next.slice('user:'.length)), { banned: true });
    expect(await lastIn(again)).toBeLessThan(OLDEST_MS);
  });

  test('what is open ends when the other ends its key or session or changes its rights, and nothing else does', async () => {
    await firstAdmin(auth);
    const key = await makeKey();
    const bystander = await enter({ authorization: (await makeKey()).authorization });
    const [gone, changed] = [
      await enter({ cookie: await invited(auth, 'operator') }),
      await enter({ cookie: await invited(auth, 'viewer') }),
    ];
    const ends: [string, string][] = [];
    const watched = { key: await enter({ authorization: key.authorization }), gone, changed, bystander };
    for (const [who, caller] of Object.entries(watched)) auth.onAccessChange(caller, (how) => ends.push([who, how]));
    await other.keys.revoke(key.id, START, entry());
    await expect.poll(() => ends).toEqual([['key', 'over']]);
    await other.people.removeAll('session', isIt(gone.session));
    await expect.poll(() => ends.slice(1)).toEqual([['gone', 'over']]);
    // Also while nobody listens.
    proxy.refuse(LISTENER);
    await expect.poll(() => own.commitEvents.mayCache).toBe(false);
    await other.people.change('user', isIt(changed.actor.slice('user:'.length)), { tenants: '["acme"]' });
    await expect.poll(() => ends.slice(2)).toEqual([['changed', 'changed']]);
    proxy.open();
    await expect.poll(() => own.commitEvents.mayCache).toBe(true);
    expect(ends).toHaveLength(3);
  });

  test('without its listener nothing is answered from memory: what the other revokes is refused at once', async () => {
    await firstAdmin(auth);
    const keys = [await makeKey(), await makeKey(), await makeKey()];
    const cookies = [await invited(auth, 'operator'), await invited(auth, 'viewer')];
    const everybody = [
      ...keys.map(({ authorization }) => ({ authorization })),
      ...cookies.map((cookie) => ({ cookie })),
    ];
    for (const headers of everybody) expect(await isIn(headers)).toBe(true);
    proxy.refuse(LISTENER);
    await expect.poll(() => own.commitEvents.mayCache).toBe(false);
    for (const headers of everybody) {
      const before = { ...reads };
      for (let n = 0; n < 3; n += 1) expect(await isIn(headers)).toBe(true);
      const read = 'cookie' in headers ? reads.sessions - before.sessions : reads.keys - before.keys;
      // A lookup during which something changed is made again.
      expect(read).toBeGreaterThanOrEqual(3);
    }
    for (const { id, authorization } of keys) {
      await other.keys.revoke(id, START, entry());
      expect(await isIn({ authorization })).toBe(false);
    }
    for (const cookie of cookies) {
      const { session } = await enter({ cookie });
      await other.people.removeAll('session', isIt(session));
      expect(await isIn({ cookie })).toBe(false);
    }
    proxy.open();
    await expect.poll(() => own.commitEvents.mayCache).toBe(true);
    const { authorization } = await makeKey();
    await expect
      .poll(async () => {
        const before = reads.keys;
        for (let n = 0; n < 5; n += 1) expect(await isIn({ authorization })).toBe(true);
        return reads.keys - before;
      })
      .toBe(0);
  });

  test('a name that the other changes is the new one when it is looked up next', async () => {
    await firstAdmin(auth);
    const { actor } = await enter({ cookie: await invited(auth, 'viewer') });
    await auth.actors.load([actor]);
    expect(auth.actors.nameOf(actor)).toBe('viewer');
    await other.people.change('user', isIt(actor.slice('user:'.length)), { name: 'Grace' });
    await expect
      .poll(async () => {
        await auth.actors.load([actor]);
        return auth.actors.nameOf(actor);
      })
      .toBe('Grace');
  });
});

/** The methods of a store, which may be those of a class. */
function withMethods<T extends object>(store: T): T {
  const names = Object.getOwnPropertyNames(Object.getPrototypeOf(store)).filter((name) => name !== 'constructor');
  const methods = [...names, ...Object.keys(store)].map((name) => {
    const method = (store as Record<string, (...args: unknown[]) => unknown>)[name];
    return [name, method?.bind(store)];
  });
  return Object.fromEntries(methods) as T;
}
