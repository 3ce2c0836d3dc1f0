/** What every registry guarantees of a search for words. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { PlainIds } from '../../testing/plain-ids.ts';
import type { Registry } from '../registry.ts';
import { entry, HOSTILE, makeInstance, type RegistryUnderTest, START, transitionTo } from './fixtures.ts';

export function textSuite(driver: RegistryUnderTest): void {
  let registry: PlainIds<Registry>;
  beforeEach(async () => {
    registry = await driver.open();
  });
  afterEach(() => driver.discard());

  describe('text', () => {
    const search = async (text: string) => {
      const found = await registry.instances.list({ text, sort: 'name', reverse: false, limit: 50 });
      expect(await registry.instances.count({ text }, 50)).toBe(found.rows.length);
      return found.rows.map((row) => row.id).sort();
    };

    test('terms are found in id, name, tenant and label values, all of them, ignoring case and accents', async () => {
      await makeInstance(registry, 'sb-0001', 'active', {
        tenant: 'acme-prod',
        name: 'Größe Łódź 数据 run',
        labels: { team: 'Search & Rescue' },
      });
      await makeInstance(registry, 'other', 'active', { tenant: 'globex', name: 'run' });
      for (const text of [
        'sb',
        'sb-0001',
        '0001 sb',
        'ACME',
        'prod',
        'grosse'.slice(0, 2),
        'groß',
        'Größe',
        'łód',
        '数',
        'resc',
        'SEARCH run',
        'se re',
      ]) {
        expect(await search(text), text).toEqual(['sb-0001']);
      }
      expect(await search('run')).toEqual(['other', 'sb-0001']);
      for (const text of ['un', 'acme globex', 'b-0001x', 'team']) expect(await search(text), text).toEqual([]);
    });

    test('three characters are found anywhere in a word and across its marks, one or two only where a word begins', async () => {
      const labels = { team: 'harbour watch' };
      await makeInstance(registry, 'sess-7f3a-lighthouse', 'active', {
        tenant: 'northwind',
        name: 'Leuchttürme',
        labels,
      });
      await makeInstance(registry, 'other', 'active', { tenant: 'globex', name: 'house of light', labels: {} });
      const found = [
        'ghthou',
        'f3a',
        '7f3a-lig',
        'ess-7f',
        'SS_7F3',
        'chttur',
        'htTÜ',
        'hwi',
        'our wat',
        'ess thwi rbo',
      ];
      for (const text of found) expect(await search(text), text).toEqual(['sess-7f3a-lighthouse']);
      expect(await search('house')).toEqual(['other', 'sess-7f3a-lighthouse']);
      expect(await search('ho li')).toEqual(['other']);
      // Two fields, or two words that are not neighbours, are no text of their own.
      const absent = [
        'ss',
        'ight-house',
        'lighthouse-northwind',
        'sess-lighthouse',
        'gh',
        '7f3a lighthouses',
        'light-of',
      ];
      for (const text of absent) expect(await search(text), text).toEqual([]);
      const long = `${'n'.repeat(150)}q7z${'n'.repeat(40)}`;
      await registry.instances.patch('other', { name: long }, START, entry());
      expect([await search('nq7zn'), await search(long)]).toEqual([['other'], ['other']]);
      expect(await search('house')).toEqual(['sess-7f3a-lighthouse']);
    });

    test('a renamed, relabelled or deleted sandbox is found by its current words', async () => {
      await makeInstance(registry, 'a', 'archived', { name: 'before', labels: { x: 'early' } });
      expect(await search('before early')).toEqual(['a']);
      await registry.instances.patch('a', { name: 'after', labels: { x: 'later' } }, START, entry());
      expect(await search('before')).toEqual([]);
      expect(await search('early')).toEqual([]);
      expect(await search('after later')).toEqual(['a']);
      const row = await registry.instances.get('a');
      if (row !== null) await registry.instances.commit(transitionTo(row, 'deleted'));
      expect(await search('after')).toEqual([]);
      const buried = await registry.instances.list({
        state: 'deleted',
        text: 'after',
        sort: 'name',
        reverse: false,
        limit: 5,
      });
      expect(buried.rows.map((one) => one.id)).toEqual(['a']);
    });

    test('odd text is never syntax: it matches literally, and nothing when it has no letter and no digit', async () => {
      await makeInstance(registry, 'plain', 'created', { name: 'near and or not' });
      await makeInstance(registry, 'star', 'created', { name: 'c*d "quoted" col:umn' });
      for (const text of ['', ' ']) expect(await search(text), text).toEqual(['plain', 'star']);
      for (const text of ['"', '*', '""*', "'", '- + ^ ( )', '\u0000', '\ud800'])
        expect(await search(text), text).toEqual([]);
      for (const text of ['near', 'AND', 'not OR', 'near(and or)']) expect(await search(text), text).toEqual(['plain']);
      for (const text of ['d*', '"quoted', 'col:umn', 'umn col']) expect(await search(text), text).toEqual(['star']);
      const hostile = [
        ...HOSTILE.filter((text) => /[a-z]/i.test(text)),
        'x'.repeat(5000),
        'w '.repeat(2500),
        '"q" NEAR',
      ];
      for (const text of hostile) expect(await search(text), text.slice(0, 40)).toEqual([]);
      expect(await search(`near${' and'.repeat(1000)}`)).toEqual(['plain']);
    });
  });
}
