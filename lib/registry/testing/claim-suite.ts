/** What every registry guarantees of claims: one holder, tokens in every comparison, nothing taken by a clock. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { PlainIds } from '../../testing/plain-ids.ts';
import type { ClaimTicket } from '../claims.ts';
import type { Registry } from '../registry.ts';
import type { RegistryUnderTest } from './fixtures.ts';

function ticket(token: string, over: Partial<ClaimTicket> = {}): ClaimTicket {
  return { kind: 'job', work: 'j-1', host: 'one', term: 1, token, lastsMs: 30_000, ...over };
}

export function claimSuite(driver: RegistryUnderTest): void {
  let registry: PlainIds<Registry>;
  beforeEach(async () => {
    registry = await driver.open();
  });
  afterEach(() => driver.discard());

  const holders = async () =>
    (await registry.claims.list()).map(({ kind, work, token }) => `${kind}/${work}: ${token}`).sort();

  test('one of many that ask at the same time has a piece of work, and other pieces are free', async () => {
    const second = await driver.again();
    const asked = Array.from({ length: 20 }, (_, nth) =>
      (nth % 2 === 0 ? registry : second).claims.acquire(ticket(`t-${nth}`, { host: nth % 2 === 0 ? 'one' : 'two' })),
    );
    expect((await Promise.all(asked)).filter((has) => has)).toHaveLength(1);
    expect(await registry.claims.acquire(ticket('b', { work: 'j-2' }))).toBe(true);
    expect(await registry.claims.acquire(ticket('c', { kind: 'forgetting' }))).toBe(true);
    expect(await registry.claims.acquire(ticket('d', { work: 'j-2' }))).toBe(false);
    expect(await holders()).toHaveLength(3);
  });

  test('a renewal counts, and fails for a token that is not its own any more', async () => {
    await registry.claims.acquire(ticket('a'));
    await registry.claims.acquire(ticket('b', { work: 'j-2' }));
    expect((await registry.claims.renew(['a', 'b', 'gone'], 30_000)).sort()).toEqual(['a', 'b']);
    expect(await registry.claims.renew(['a'], 30_000)).toEqual(['a']);
    const renewals = (await registry.claims.list()).map(({ token, renewals: times }) => [token, times]);
    expect(renewals.sort()).toEqual([
      ['a', 2],
      ['b', 1],
    ]);
    expect(await registry.claims.acquire(ticket('taken', { host: 'two' }), { token: 'a', renewals: 2 })).toBe(true);
    expect(await registry.claims.renew(['a', 'b'], 30_000)).toEqual(['b']);
    expect(await registry.claims.renew([], 30_000)).toEqual([]);
  });

  test('a claim is replaced only when it is as it was seen: neither renewed nor acquired anew', async () => {
    await registry.claims.acquire(ticket('a'));
    const seen = { token: 'a', renewals: 0 };
    await registry.claims.renew(['a'], 30_000);
    expect(await registry.claims.acquire(ticket('b', { host: 'two' }), seen)).toBe(false);
    const second = await driver.again();
    const both = await Promise.all([
      registry.claims.acquire(ticket('b', { host: 'two' }), { token: 'a', renewals: 1 }),
      second.claims.acquire(ticket('c', { host: 'three' }), { token: 'a', renewals: 1 }),
    ]);
    expect(both.filter((has) => has)).toHaveLength(1);
    const [now] = await registry.claims.list();
    expect(now).toMatchObject({ host: both[0] ? 'two' : 'three', renewals: 0 });
  });

  test('a claim whose time is long over by the database’s clock stays: nobody’s clock takes it', async () => {
    await registry.claims.acquire(ticket('a', { lastsMs: -86_400_000 }));
    expect(await registry.claims.acquire(ticket('b', { host: 'two' }))).toBe(false);
    expect(await registry.claims.renew(['a'], -86_400_000)).toEqual(['a']);
  });

  test('a stale holder gives back nothing that is another’s', async () => {
    await registry.claims.acquire(ticket('a'));
    await registry.claims.acquire(ticket('b', { host: 'two' }), { token: 'a', renewals: 0 });
    await registry.claims.release(['a']);
    expect(await holders()).toEqual(['job/j-1: b']);
    await registry.claims.release(['b', 'a']);
    expect(await holders()).toEqual([]);
    expect(await registry.claims.acquire(ticket('c'))).toBe(true);
    await registry.claims.revoke({ kind: 'job', work: 'j-1' });
    expect(await registry.claims.renew(['c'], 30_000)).toEqual([]);
  });

  test('a start ends the claims of its own host before, and of all hosts when it is alone', async () => {
    for (const host of ['one', 'two', 'three']) await registry.claims.acquire(ticket(host, { work: host, host }));
    await registry.claims.removeFormer('two');
    expect(await holders()).toEqual(['job/one: one', 'job/three: three']);
    await registry.claims.removeFormer(null);
    expect(await holders()).toEqual([]);
  });
}
