import { mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemClock } from '../base/clock.ts';
import { readConfig } from '../base/config.ts';
import { createLogger } from '../base/log.ts';
import type { Registry } from '../registry/registry.ts';
import { openRegistryOfTests } from '../registry/testing/registry-of-tests.ts';
import { cookieOf, firstAdmin, PASSWORD, visitor } from '../testing/people.ts';
import { type Auth, createAuth } from './auth.ts';
import { resignedCookies } from './resigned-cookies.ts';

let folder: string;
let registry: Registry;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-auth-keys-'));
  registry = await openRegistryOfTests(null);
});
afterEach(async () => {
  await registry.close();
  rmSync(folder, { recursive: true, force: true });
});

function open(before: { auth?: string; admin?: string } = {}): Auth {
  const config = readConfig({ WB_DATA: folder });
  return createAuth({ config, log: createLogger('error'), clock: systemClock, registry, before });
}

/** Puts a key aside, so that the next start makes another. Returns its text. */
function aside(file: string): string {
  const text = readFileSync(join(folder, file), 'utf8');
  renameSync(join(folder, file), join(folder, `${file}.aside`));
  return text;
}

const actorOf = async (auth: Auth, cookie: string) => (await auth.callerFromHeaders({ cookie }))?.actor ?? null;

test('sessions from before a rotation of the secret go on while it is rotated, and end with it', async () => {
  const first = open();
  const cookie = await firstAdmin(first);
  const actor = await actorOf(first, cookie);
  expect(actor).toMatch(/^user:/);
  const secret = aside('auth.secret');

  const rotating = open({ auth: secret });
  expect(await actorOf(rotating, cookie)).toBe(actor);
  expect(
    await actorOf(
      rotating,
      cookie.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A')),
    ),
  ).toBeNull();
  const second = cookieOf(await rotating.signIns.signIn({ email: 'ada@example.com', password: PASSWORD }, visitor()));
  const finished = open();
  expect(await actorOf(finished, cookie)).toBeNull();
  expect(await actorOf(finished, second)).toBe(actor);
  const rotatingAgain = open({ auth: secret });
  await rotatingAgain.signOut({ cookie });
  expect(await actorOf(rotatingAgain, cookie)).toBeNull();
  expect(await actorOf(rotatingAgain, second)).toBe(actor);
});

test('both admin keys are taken while one is rotated, with the sessions that they opened', async () => {
  const first = open();
  const key = readFileSync(join(folder, 'admin.key'), 'utf8').trim();
  const cookie = cookieOf(await first.signIns.signIn({ key }, visitor()));
  expect(await actorOf(first, cookie)).not.toBeNull();
  const [admin, auth] = [aside('admin.key'), aside('auth.secret')];

  const rotating = open({ admin, auth });
  const made = readFileSync(join(folder, 'admin.key'), 'utf8').trim();
  expect(made).not.toBe(key);
  for (const one of [key, made]) {
    expect(await rotating.callerFromHeaders({ authorization: `Bearer ${one}` })).toMatchObject({ actor: 'key:admin' });
  }
  expect(await actorOf(rotating, cookie)).not.toBeNull();
  const finished = open();
  expect(await finished.callerFromHeaders({ authorization: `Bearer ${key}` })).toBeNull();
  expect(await actorOf(finished, cookie)).toBeNull();
});

test('only what the secret before has signed is signed anew, and nothing else of a header is touched', () => {
  const keys = { secret: 'the-new-secret-of-it', before: 'the-old-secret-of-it' };
  const foreign = resignedCookies('a=b', keys);
  expect(foreign).toBe('a=b');
  for (const header of ['', '=', 'a', 'a=%E0%A4%A', `s=token.${'A'.repeat(43)}=`, 'x=1; y=2; z=a.b.c']) {
    expect(resignedCookies(header, keys)).toBe(header);
  }
});
