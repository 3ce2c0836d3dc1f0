/** What every registry guarantees of the auth library's records. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { PlainIds } from '../../testing/plain-ids.ts';
import type { PeopleCondition, PeopleRecord } from '../people.ts';
import type { Registry } from '../registry.ts';
import { HOSTILE, type RegistryUnderTest } from './fixtures.ts';

const AT = new Date('2026-03-01T10:00:00.123Z');
const LATER = new Date(AT.getTime() + 1);

function person(id: string, over: PeopleRecord = {}): PeopleRecord {
  return {
    id,
    name: `person ${id}`,
    email: `${id}@example.com`,
    emailVerified: true,
    createdAt: AT,
    updatedAt: AT,
    ...over,
  };
}

function session(id: string, over: PeopleRecord = {}): PeopleRecord {
  return { id, token: `token ${id}`, userId: 'ada', expiresAt: LATER, createdAt: AT, updatedAt: AT, ...over };
}

function waiting(id: string, over: PeopleRecord = {}): PeopleRecord {
  return { id, identifier: 'link', value: id, expiresAt: AT, createdAt: AT, updatedAt: AT, ...over };
}

const is = (
  field: string,
  value: PeopleCondition['value'],
  operator: PeopleCondition['operator'] = 'eq',
  connector: PeopleCondition['connector'] = 'and',
): PeopleCondition => ({ field, operator, value, connector });

export function peopleSuite(driver: RegistryUnderTest): void {
  let registry: PlainIds<Registry>;
  beforeEach(async () => {
    registry = await driver.open();
  });
  afterEach(() => driver.discard());

  const namesOf = async (where: PeopleCondition[]) => {
    const found = await registry.people.findAll('user', {
      where,
      limit: 100,
      sort: { field: 'id', descending: false },
    });
    return found.map(({ id }) => id);
  };

  describe('a record', () => {
    test('comes back as it was given, with nulls for absent fields, on another connection too', async () => {
      const made = await registry.people.create('user', person('ada', { banned: false }));
      expect(made).toEqual({
        ...person('ada'),
        image: null,
        role: null,
        banned: false,
        banReason: null,
        banExpires: null,
        tenants: null,
      });
      const again = await driver.again();
      expect(await again.people.find('user', [is('id', 'ada')])).toEqual(made);
      expect(await registry.people.find('user', [is('id', 'bob')])).toBeNull();
    });

    test('gets the current time when none is given', async () => {
      const times: number[] = [];
      for (const id of ['a', 'b']) {
        const before = Date.now();
        const made = await registry.people.create('user', { id, name: id, email: id });
        const { updatedAt } = (await registry.people.change('user', [is('id', id)], { name: 'new' })) ?? {};
        for (const time of [made.createdAt, made.updatedAt, updatedAt]) {
          expect(Number(time)).toBeGreaterThanOrEqual(before);
          expect(Number(time)).toBeLessThanOrEqual(Date.now());
        }
        times.push(Number(updatedAt));
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      expect(times[1]).toBeGreaterThan(times[0] ?? Infinity);
    });

    test('with a taken address, token or id, or without its user, is a conflict and leaves nothing', async () => {
      const { people } = registry;
      await people.create('user', person('ada'));
      await people.create('session', session('one'));
      const refused: Promise<unknown>[] = [
        people.create('user', person('ada', { email: 'other' })),
        people.create('user', person('bob', { email: 'ada@example.com' })),
        people.create('session', session('two', { token: 'token one' })),
        people.create('session', session('two', { userId: 'nobody' })),
      ];
      await Promise.all(refused.map((answer) => expect(answer).rejects.toMatchObject({ code: 'conflict' })));
      expect([await people.count('user', []), await people.count('session', [])]).toEqual([1, 1]);
    });

    test('with an unknown field is refused, and so is a search by one', async () => {
      const { people } = registry;
      await expect(people.create('user', person('ada', { nickname: 'a' }))).rejects.toThrow('no field "nickname"');
      await expect(people.find('user', [is('constructor', 'a')])).rejects.toThrow('no field "constructor"');
      await expect(people.change('user', [], { 'id" = 1 --': 'a' })).rejects.toThrow('no field');
    });

    test('of a session is deleted with its person', async () => {
      const { people } = registry;
      await people.create('user', person('ada'));
      await people.create('session', session('one'));
      expect(await people.removeAll('user', [is('id', 'ada')])).toBe(1);
      expect(await people.count('session', [])).toBe(0);
    });
  });

  describe('conditions', () => {
    beforeEach(async () => {
      const { people } = registry;
      await people.create('user', person('ada', { role: 'admin', banned: true }));
      await people.create('user', person('bob', { role: 'operator', banned: false, createdAt: LATER }));
      await people.create('user', person('cyd', { banned: false }));
    });

    test.each<[string, PeopleCondition[], string[]]>([
      ['no condition', [], ['ada', 'bob', 'cyd']],
      ['equal', [is('email', 'bob@example.com')], ['bob']],
      ['equal, a truth', [is('banned', true)], ['ada']],
      ['equal, a time', [is('createdAt', LATER)], ['bob']],
      ['equal to null', [is('role', null)], ['cyd']],
      ['unequal to null', [is('role', null, 'ne')], ['ada', 'bob']],
      ['unequal', [is('role', 'admin', 'ne')], ['bob']],
      ['earlier', [is('createdAt', LATER, 'lt')], ['ada', 'cyd']],
      ['not later', [is('createdAt', LATER, 'lte')], ['ada', 'bob', 'cyd']],
      ['later', [is('createdAt', AT, 'gt')], ['bob']],
      ['not earlier', [is('createdAt', AT, 'gte')], ['ada', 'bob', 'cyd']],
      ['among', [is('id', ['ada', 'cyd', 'dan'], 'in')], ['ada', 'cyd']],
      ['among none', [is('id', [], 'in')], []],
      ['not among', [is('id', ['ada', 'cyd'], 'not_in')], ['bob']],
      ['not among none', [is('id', [], 'not_in')], ['ada', 'bob', 'cyd']],
      ['both', [is('banned', false), is('role', null)], ['cyd']],
      ['either', [is('id', 'ada', 'eq', 'or'), is('id', 'bob', 'eq', 'or')], ['ada', 'bob']],
      ['one, and either', [is('banned', false), is('id', 'ada', 'eq', 'or'), is('id', 'bob', 'eq', 'or')], ['bob']],
      ['a single "or"', [is('id', 'ada', 'eq', 'or')], ['ada']],
    ])('%s', async (_, where, expected) => {
      expect(await namesOf(where)).toEqual(expected);
      expect(await registry.people.count('user', where)).toBe(expected.length);
    });

    test('the same query with other values uses those values', async () => {
      for (const id of ['ada', 'bob', 'cyd']) expect(await namesOf([is('id', id)])).toEqual([id]);
      for (const ids of [['ada'], ['bob', 'cyd'], []]) expect(await namesOf([is('id', ids, 'in')])).toEqual(ids);
      expect(await namesOf([is('role', 'admin')])).toEqual(['ada']);
      expect(await namesOf([is('role', null)])).toEqual(['cyd']);
    });

    test('text is compared literally, whatever it contains', async () => {
      const wellFormed = HOSTILE.filter((text) => !text.includes('\u0000'));
      for (const [n, text] of wellFormed.entries()) {
        await registry.people.create('user', person(`h${n}`, { email: text, name: text }));
        expect(await namesOf([is('name', text)])).toEqual([`h${n}`]);
        expect(await namesOf([is('name', [text], 'in')])).toEqual([`h${n}`]);
      }
      expect(await registry.people.count('user', [])).toBe(3 + wellFormed.length);
    });

    test('pages are sorted by a field, ascending or descending', async () => {
      const page = async (offset: number, descending: boolean) => {
        const query = { where: [], limit: 2, offset, sort: { field: 'email', descending } };
        return (await registry.people.findAll('user', query)).map(({ id }) => id);
      };
      expect(await page(0, false)).toEqual(['ada', 'bob']);
      expect(await page(2, false)).toEqual(['cyd']);
      expect(await page(0, true)).toEqual(['cyd', 'bob']);
    });
  });

  describe('changing and removing', () => {
    beforeEach(async () => {
      for (const id of ['one', 'two', 'three']) await registry.people.create('verification', waiting(id));
    });

    test('one changes exactly one, although more match', async () => {
      const { people } = registry;
      const changed = await people.change('verification', [is('identifier', 'link')], {
        value: 'new',
        updatedAt: LATER,
      });
      expect(changed).toMatchObject({ value: 'new', updatedAt: LATER, createdAt: AT });
      expect(await people.count('verification', [is('value', 'new')])).toBe(1);
      expect(await people.change('verification', [is('identifier', 'none')], { value: 'new' })).toBeNull();
    });

    test('all changes every match and returns their number', async () => {
      const { people } = registry;
      const where = [is('id', ['one', 'two', 'four'], 'in')];
      expect(await people.changeAll('verification', where, { value: 'x', expiresAt: LATER })).toBe(2);
      expect(await people.count('verification', [is('expiresAt', LATER)])).toBe(2);
      expect(await people.removeAll('verification', where)).toBe(2);
      expect(await people.removeAll('verification', where)).toBe(0);
      expect(await people.count('verification', [])).toBe(1);
    });

    test('a change may affect the condition’s own field', async () => {
      const { people } = registry;
      expect(await people.change('verification', [is('value', 'one')], { value: 'uno' })).toMatchObject({
        id: 'one',
        value: 'uno',
      });
    });

    test('of several concurrent takers exactly one gets the record', async () => {
      const again = await driver.again();
      const takers = [registry, again, registry, again];
      const got = await Promise.all(takers.map(({ people }) => people.take('verification', [is('id', 'one')])));
      expect(got.filter((record) => record !== null)).toEqual([waiting('one')]);
      expect(await registry.people.count('verification', [])).toBe(2);
      await registry.people.take('verification', [is('identifier', 'link')]);
      expect(await registry.people.count('verification', [])).toBe(1);
    });
  });
}
