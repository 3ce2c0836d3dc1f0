import { expect, test } from 'vitest';
import { listQuerySchema } from './schema.ts';
import { parseTypedFilter, TYPED_PARAMETERS, typedFilterOf } from './typed-filter.ts';

test('each term is a parameter of the list, and everything else is searched for', () => {
  expect(parseTypedFilter('idle:>1h tenant:northwind state:frozen label:env=prod light house')).toEqual({
    parameters: { idle_over: '3600', tenant: 'northwind', state: 'frozen', label: 'env:prod', q: 'light house' },
    complaints: [],
  });
  expect(parseTypedFilter('')).toEqual({ parameters: {}, complaints: [] });
  expect(parseTypedFilter('  State:FROZEN  process:warm pending:stuck fault:error').parameters).toEqual({
    ...{ state: 'frozen', thermal: 'warm', pending: 'stuck', fault: 'error' },
  });
});

test.each([
  ['idle:>90s', { idle_over: '90' }],
  ['idle:1h30m', { idle_over: '5400' }],
  ['idle:>=2d', { idle_over: '172800' }],
  ['idle:<15min', { idle_under: '900' }],
  ['idle:>1h idle:<1d', { idle_over: '3600', idle_under: '86400' }],
  ['name:"Atlas run 7" x', { name: 'Atlas run 7', q: 'x' }],
  ['label:"note=two words"', { label: 'note:two words' }],
  ['label:url:http://x', { label: 'url:http://x' }],
  ['"col:umn" "state:frozen"', { q: 'col:umn state:frozen' }],
  ['"never closed', { q: 'never closed' }],
  ['colour:red', { label: 'colour:red' }],
  ['Customer:ada lovelace', { label: 'Customer:ada', q: 'lovelace' }],
  ['customer:"ada lovelace" #7', { label: 'customer:ada lovelace', q: '#7' }],
  ['url:http://x', { label: 'url:http://x' }],
  ['constructor:x', { label: 'constructor:x' }],
])('%s is understood', (text, parameters) => {
  expect(parseTypedFilter(text)).toEqual({ parameters, complaints: [] });
});

test.each([
  ['http://x', /“http:\/\/x” is no filter\. To search for it, put it in quotes/],
  [':x', /“:x” is no filter/],
  ['colour:', /“colour:” needs a value/],
  ['colour:red label:env=prod', /“label:env=prod”: a list has one label/],
  ['#', /“#” has no letter and no digit/],
  ['-- "💥"', /“-- 💥” has no letter and no digit/],
  ['state:asleep', /is no state: it is created, active, .* or deleted/],
  ['state:', /“state:” needs a value/],
  ['idle:>', /is no length of time/],
  ['idle:>1', /is no length of time/],
  ['idle:>1y', /is no length of time/],
  ['label:env', /needs a key and a value/],
  ['state:frozen state:active', /“state:” is there twice/],
  ['idle:>1h idle:>2h', /“idle:” is there twice/],
])('%s is a complaint', (text, complaint) => {
  const { complaints } = parseTypedFilter(text);
  expect(complaints).toHaveLength(1);
  expect(complaints[0]).toMatch(complaint);
});

test('what a filter says is typed so that it says the same again', () => {
  const said: Record<string, string>[] = [
    {},
    { q: 'light house' },
    { q: 'col:umn 7' },
    { idle_over: '5400', idle_under: '604800', tenant: 'acme', state: 'suspended', thermal: 'cold' },
    { label: 'note:two words', name: 'Atlas run 7', fault: 'unknown', pending: 'any', q: 'x' },
  ];
  for (const parameters of said) {
    const text = typedFilterOf(parameters);
    expect(parseTypedFilter(text), text).toEqual({ parameters, complaints: [] });
  }
  expect(typedFilterOf({ idle_over: '3600', state: 'frozen', q: 'x' })).toBe('idle:>1h state:frozen x');
  expect(typedFilterOf({ sort: '-updated', since: '5', idle_over: 'x' })).toBe('');
});

test('every parameter of a typed filter is one of the list', () => {
  expect(TYPED_PARAMETERS.filter((name) => !(name in listQuerySchema.shape))).toEqual([]);
});
