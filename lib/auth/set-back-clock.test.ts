/** What gives access lasts for no longer because the clock was set back. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { systemClock } from '../base/clock.ts';
import { readConfig } from '../base/config.ts';
import { createLogger } from '../base/log.ts';
import type { Registry } from '../registry/registry.ts';
import { entry } from '../registry/testing/fixtures.ts';
import { openRegistryOfTests } from '../registry/testing/registry-of-tests.ts';
import { cookieOf, PASSWORD, tokenOf, visitor } from '../testing/people.ts';
import { type Auth, createAuth } from './auth.ts';

const MINUTE = 60_000;
const DAY = 86_400_000;

let folder: string;
let registry: Registry;
let auth: Auth;

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  folder = mkdtempSync(join(tmpdir(), 'winterdock-set-back-'));
  registry = await openRegistryOfTests(folder, {
    thresholds: { hotToWarmSeconds: 0, idleToSuspendSeconds: 900, idleToFreezeSeconds: 900 },
  });
  const config = readConfig({ WB_DATA: folder });
  auth = createAuth({ config, log: createLogger('error'), clock: systemClock, registry });
});
afterEach(async () => {
  vi.useRealTimers();
  await registry.close();
  rmSync(folder, { recursive: true, force: true });
});

const setBack = (by: number) => vi.setSystemTime(Date.now() - by);
const invite = () =>
  auth.signIns.invite({ email: 'eva@example.com', role: 'viewer', tenants: null, createdBy: 'key:admin' }, () => []);

/** Signs the first admin in, and returns their cookie. */
async function admin(): Promise<string> {
  const person = { email: 'ada@example.com', name: 'Ada', password: PASSWORD };
  return cookieOf(await auth.signIns.join(tokenOf(await auth.signInLink()), person, visitor()));
}

test('sessions, links, invitations and keys that end are over when they were made ahead of the clock', async () => {
  const cookie = await admin();
  const link = tokenOf(await auth.signInLink());
  const { token } = await invite();
  const input = {
    name: 'a program',
    role: 'viewer',
    tenant: null,
    maxCallSeconds: null,
    createdBy: 'key:admin',
  } as const;
  const make = async (expires: number | null) => (await auth.keys.make({ ...input, expires }, () => entry()))[1];
  const [ending, lasting] = [await make(Math.floor((Date.now() + DAY) / 1000)), await make(null)];
  const access = async () => ({
    session: (await auth.callerFromHeaders({ cookie })) !== null,
    link: await auth.signIns.linkState(link),
    invitation: await auth.signIns.linkState(token),
    offer: (await auth.signIns.offerOf(token)) !== null,
    ending: (await auth.keys.check(ending)) !== null,
    lasting: (await auth.keys.check(lasting)) !== null,
  });
  const whole = { session: true, link: 'good', invitation: 'good', offer: true, ending: true, lasting: true };
  expect(await access()).toEqual(whole);
  // A correction is none.
  setBack(MINUTE / 2);
  expect(await access()).toEqual(whole);

  setBack(365 * DAY);
  expect(await access()).toEqual({
    ...{ session: false, link: 'expired', invitation: 'expired', offer: false, ending: false },
    // It has no end that could be put off.
    lasting: true,
  });
  expect(await auth.signIns.signIn({ token: link }, visitor())).toBeNull();
});

test('the stream of a session that was open when the clock was set back ends after the time that it had', async () => {
  const cookie = await admin();
  // A second before the session ends.
  vi.setSystemTime(Date.now() + 30 * DAY - 1000);
  const caller = await auth.callerFromHeaders({ cookie });
  expect(caller).not.toBeNull();
  if (caller === null) return;
  const over = new Promise((resolve) => auth.onAccessChange(caller, resolve));
  setBack(20 * DAY);
  expect(await over).toBe('over');
});
