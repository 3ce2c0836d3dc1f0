import { expect, test } from 'vitest';
import { COLUMNS, moveColumn, parseListSettings, withSaved, writeListSettings } from './list-settings.ts';

const names = (cookie?: string) =>
  parseListSettings(cookie).columns.map(({ name, shown }) => (shown ? name : `-${name}`));

test('columns keep their order and whether they are shown, and one that is not named comes last as it is at first', () => {
  const all = Object.keys(COLUMNS);
  expect(names().map((name) => name.replace('-', ''))).toEqual(all);
  const chosen = JSON.stringify({ columns: ['size', '-idle', 'created', 'size', 'nothing'] });
  expect(names(chosen).slice(0, 4)).toEqual(['size', '-idle', 'created', 'where']);
  expect(names(chosen)).toHaveLength(all.length);
  expect(names(writeListSettings(parseListSettings(chosen)))).toEqual(names(chosen));
});

test('a cookie that says something else says nothing', () => {
  for (const cookie of ['', '{', 'null', '[]', '{"columns":7,"density":"huge","saved":[{"name":""}]}']) {
    expect(parseListSettings(cookie), cookie).toEqual(parseListSettings(undefined));
  }
});

test('a column moves by one place, and not beyond the ends', () => {
  const { columns } = parseListSettings(undefined);
  expect(
    moveColumn(columns, 'down:where')
      .map(({ name }) => name)
      .slice(0, 2),
  ).toEqual(['idle', 'where']);
  expect(
    moveColumn(columns, 'up:idle')
      .map(({ name }) => name)
      .slice(0, 2),
  ).toEqual(['idle', 'where']);
  for (const nothing of ['up:where', 'down:host', 'up:nobody', 'away:idle', '']) {
    expect(moveColumn(columns, nothing), nothing).toEqual(columns);
  }
});

test('a filter is saved once under a name, and as many as fit', () => {
  const one = { name: 'idle', search: 'idle_over=3600' };
  expect(withSaved([], { ...one, name: ' idle ' })).toEqual([one]);
  expect(withSaved([one], { ...one, search: 'state=frozen' })).toEqual([{ name: 'idle', search: 'state=frozen' }]);
  const many = Array.from({ length: 12 }, (_, n) => ({ name: `f${n}`, search: 'q=x' }));
  for (const wrong of [
    withSaved([], { ...one, name: ' ' }),
    withSaved([], { ...one, search: '' }),
    withSaved(many, one),
  ]) {
    expect(wrong).toEqual(expect.any(String));
  }
  const long = many.map(({ name }) => ({ name, search: '=&'.repeat(100) }));
  let saved: typeof long = [];
  for (const each of long) {
    const next = withSaved(saved, each);
    if (typeof next === 'string') break;
    saved = next;
  }
  expect(saved.length).toBeGreaterThan(2);
  const settings = { ...parseListSettings(undefined), saved };
  expect(encodeURIComponent(writeListSettings(settings)).length).toBeLessThan(3900);
  expect(parseListSettings(writeListSettings(settings))).toEqual(settings);
});
