/** What every registry guarantees of keys and invitations, and of lists limited to some tenants. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { PlainIds } from '../../testing/plain-ids.ts';
import type { InvitationRow } from '../invitations.ts';
import type { NewKey } from '../keys.ts';
import type { Registry } from '../registry.ts';
import type { InstanceRow } from '../types.ts';
import { entry, makeInstance, type RegistryUnderTest, START } from './fixtures.ts';

function key(id: string, over: Partial<NewKey> = {}): NewKey {
  return {
    id,
    name: `key ${id}`,
    role: 'tenant',
    tenant: 'acme',
    hash: `hash of ${id}`,
    created: START,
    createdBy: 'user:one',
    expires: null,
    maxCallSeconds: null,
    ...over,
  };
}

function invitation(id: string, over: Partial<InvitationRow> = {}): InvitationRow {
  return {
    id,
    hash: `hash of ${id}`,
    email: null,
    role: 'operator',
    tenants: ['acme', 'globex'],
    created: START,
    createdBy: 'user:one',
    expires: START + 100,
    ...over,
  };
}

export function accessSuite(driver: RegistryUnderTest): void {
  let registry: PlainIds<Registry>;
  beforeEach(async () => {
    registry = await driver.open();
  });
  afterEach(() => driver.discard());

  const typesOf = async () => (await registry.ledger.page({}, 100)).rows.map(({ type }) => type);

  describe('keys', () => {
    test('a key reads back complete after another start, and its line is in the ledger', async () => {
      const whole = key('k1', { tenant: null, role: 'support', expires: START + 5 });
      expect(await registry.keys.add(whole, entry({ type: 'key.created' }))).toEqual({
        ...whole,
        lastUsed: null,
        revoked: null,
      });
      const again = await driver.again();
      expect(await again.keys.get('k1')).toEqual({ ...whole, lastUsed: null, revoked: null });
      expect(await again.keys.get('k2')).toBeNull();
      expect(await typesOf()).toEqual(['key.created']);
    });

    test('an id can be taken once, and a refused one leaves no line', async () => {
      await registry.keys.add(key('k1'), entry({ type: 'key.created' }));
      await expect((async () => registry.keys.add(key('k1'), entry({ type: 'key.again' })))()).rejects.toThrow();
      expect(await typesOf()).toEqual(['key.created']);
    });

    test('a revoked key leaves the list, once, and keeps its row', async () => {
      await registry.keys.add(key('k1'), entry());
      await registry.keys.add(key('k2', { created: START + 1 }), entry());
      expect((await registry.keys.list()).map(({ id }) => id)).toEqual(['k2', 'k1']);
      expect(await registry.keys.revoke('k1', START + 9, entry({ type: 'key.revoked' }))).toBe(true);
      expect(await registry.keys.revoke('k1', START + 10, entry({ type: 'key.again' }))).toBe(false);
      expect(await registry.keys.revoke('k3', START + 10, entry({ type: 'key.again' }))).toBe(false);
      expect((await registry.keys.list()).map(({ id }) => id)).toEqual(['k2']);
      expect((await registry.keys.get('k1'))?.revoked).toBe(START + 9);
      expect(await typesOf()).not.toContain('key.again');
    });

    test('last uses are stamped together and never backwards', async () => {
      await registry.keys.add(key('k1'), entry());
      await registry.keys.add(key('k2'), entry());
      await registry.keys.recordUse([
        { id: 'k1', at: START + 50 },
        { id: 'gone', at: START + 50 },
      ]);
      await registry.keys.recordUse([{ id: 'k1', at: START + 20 }]);
      await registry.keys.recordUse([]);
      expect((await registry.keys.get('k1'))?.lastUsed).toBe(START + 50);
      expect((await registry.keys.get('k2'))?.lastUsed).toBeNull();
    });
  });

  describe('invitations', () => {
    test('an invitation reads back complete until it is used, once', async () => {
      const whole = invitation('i1', { email: 'mara@example.com' });
      await registry.invitations.add(whole, [entry({ type: 'person.invited' })]);
      expect(await registry.invitations.find('hash of i1', START)).toEqual(whole);
      expect(await registry.invitations.find('hash of i2', START)).toBeNull();
      expect(await registry.invitations.use('i1', START + 1)).toBe(true);
      expect(await registry.invitations.use('i1', START + 1)).toBe(false);
      expect(await registry.invitations.find('hash of i1', START)).toBeNull();
      await registry.invitations.release('i1');
      expect(await registry.invitations.find('hash of i1', START)).toEqual(whole);
      expect(await typesOf()).toEqual(['person.invited']);
    });

    test('an invitation ends when it expires', async () => {
      await registry.invitations.add(invitation('i1'), []);
      await registry.invitations.add(invitation('i2', { tenants: null, created: START + 1, expires: START + 200 }), []);
      expect((await registry.invitations.list(START)).map(({ id }) => id)).toEqual(['i2', 'i1']);
      expect((await registry.invitations.list(START + 100)).map(({ id }) => id)).toEqual(['i2']);
      expect(await registry.invitations.find('hash of i1', START + 100)).toBeNull();
      expect(await registry.invitations.use('i1', START + 100)).toBe(false);
      expect((await registry.invitations.find('hash of i2', START + 100))?.tenants).toBeNull();
    });

    test('one invitation can be withdrawn, or all that one person made', async () => {
      await registry.invitations.add(invitation('i1'), []);
      await registry.invitations.add(invitation('i2', { createdBy: 'start' }), []);
      await registry.invitations.add(invitation('i3', { createdBy: 'start' }), []);
      await registry.invitations.withdrawAllOf('start');
      expect((await registry.invitations.list(START)).map(({ id }) => id)).toEqual(['i1']);
      const line = [entry({ type: 'invitation.withdrawn' })];
      expect(await registry.invitations.withdraw('i1', START, line)).toBe(true);
      expect(await registry.invitations.withdraw('i1', START, line)).toBe(false);
      expect(await registry.invitations.find('hash of i1', START)).toBeNull();
      expect(await typesOf()).toEqual(['invitation.withdrawn']);
    });
  });

  describe('some tenants only', () => {
    const TENANTS = ['acme', 'globex', 'initech', 'umbrella'];
    const some = ['initech', 'acme', 'nobody'];
    let rows: InstanceRow[];
    beforeEach(async () => {
      rows = [];
      for (let n = 0; n < 40; n += 1) {
        const over = { tenant: TENANTS[n % 4], name: n % 3 === 0 ? null : `näme ${'\u{1F9CA}￼z'[n % 3]} ${n}` };
        rows.push(await makeInstance(registry, `i${n}`, n % 5 === 0 ? 'suspended' : 'created', over, START + (n % 7)));
      }
    });
    const theirs = () => rows.filter(({ tenant }) => some.includes(tenant)).map(({ id }) => id);

    test.each(['updated', 'created', 'name', 'bytes'] as const)(
      'a list by %s pages through them in one order',
      async (sort) => {
        for (const reverse of [false, true]) {
          const all: string[] = [];
          for (let cursor: string | undefined; ; ) {
            const page = await registry.instances.list({ sort, reverse, limit: 500, cursor });
            all.push(...page.rows.filter(({ tenant }) => some.includes(tenant)).map(({ id }) => id));
            if (page.next === null) break;
            cursor = page.next;
          }
          const paged: string[] = [];
          for (let cursor: string | undefined; ; ) {
            const page = await registry.instances.list({ sort, reverse, limit: 3, cursor, tenants: some });
            paged.push(...page.rows.map(({ id }) => id));
            if (page.next === null) break;
            cursor = page.next;
          }
          expect(paged).toEqual(all);
          expect(paged.toSorted()).toEqual(theirs().toSorted());
        }
      },
    );

    test('counts cover only these tenants, with any filter, and no tenants have none', async () => {
      expect(await registry.instances.count({ tenants: some }, 1000)).toBe(20);
      expect(await registry.instances.count({ tenants: some }, 15)).toBe(16);
      expect(await registry.instances.count({ tenants: some, tenant: 'acme' }, 1000)).toBe(10);
      expect(await registry.instances.count({ tenants: some, tenant: 'globex' }, 1000)).toBe(0);
      expect(await registry.instances.count({ tenants: [] }, 1000)).toBe(0);
      const suspended = rows.filter(({ state, tenant }) => state === 'suspended' && some.includes(tenant)).length;
      expect((await registry.instances.countsByState(some)).suspended).toBe(suspended);
      expect(await registry.instances.countsByState(['nobody'])).toMatchObject({ created: 0, suspended: 0 });
      await registry.instances.setFault('i0', { fault: 'corrupt', reason: 'rot' }, entry());
      await registry.instances.setFault('i1', { fault: 'corrupt', reason: 'rot' }, entry());
      expect(await registry.instances.countsByFault(some)).toEqual({ error: 0, unknown: 0, corrupt: 1, missing: 0 });
      expect((await registry.instances.countsByFault()).corrupt).toBe(2);
    });

    test('due rows are theirs', async () => {
      const due = await registry.instances.dueUntil(9_000_000_000, 100);
      const expected = due.filter(({ row }) => some.includes(row.tenant)).map(({ row }) => row.id);
      expect(expected.length).toBeGreaterThan(0);
      expect((await registry.instances.dueUntil(9_000_000_000, 100, some)).map(({ row }) => row.id)).toEqual(expected);
    });

    test('ledger lines are theirs, in order, and lines without a tenant are left out', async () => {
      await registry.ledger.append([entry({ tenant: null, type: 'settings.changed' })]);
      for (let n = 0; n < 30; n += 1) {
        await registry.ledger.append([
          entry({ tenant: TENANTS[n % 4], type: 'visited', timeMs: START * 1000 + (n % 4) }),
        ]);
      }
      const all = (await registry.ledger.page({ type: 'visited' }, 500)).rows.filter(({ tenant }) =>
        some.includes(tenant ?? ''),
      );
      const paged: number[] = [];
      for (let cursor: string | undefined; ; ) {
        const page = await registry.ledger.page({ type: 'visited', tenants: some }, 4, cursor);
        paged.push(...page.rows.map(({ seq }) => seq));
        if (page.next === null) break;
        cursor = page.next;
      }
      expect(paged).toEqual(all.map(({ seq }) => seq));
      expect((await registry.ledger.page({ tenants: some, tenant: 'globex' }, 10)).rows).toEqual([]);
      expect((await registry.ledger.page({ tenants: some, type: 'settings.changed' }, 10)).rows).toEqual([]);
    });

    test('the tenant of an id is known for every row that ever existed', async () => {
      expect(await registry.instances.tenantOf('i1')).toBe('globex');
      expect(await registry.instances.tenantOf('never')).toBeNull();
    });
  });
}
