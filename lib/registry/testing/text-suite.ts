/** What every registry guarantees of a search for words. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { PlainIds } from '../../testing/plain-ids.ts';
import type { Registry } from '../registry.ts';
import { entry, HOSTILE, makeInstance, type RegistryDriver, START, transitionTo } from './fixtures.ts';

export function textSuite(driver: RegistryDriver): void {
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

    test('words are found by their prefix in id, name, tenant and label values, all of them, ignoring case', async () => {
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

    test('odd text is never syntax: it matches literally, or matches everything when it has no words', async () => {
      await makeInstance(registry, 'plain', 'created', { name: 'near and or not' });
      await makeInstance(registry, 'star', 'created', { name: 'c*d "quoted" col:umn' });
      for (const text of ['', ' ', '"', '*', '""*', "'", '- + ^ ( )', '\u0000', '\ud800'])
        expect(await search(text), text).toEqual(['plain', 'star']);
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
