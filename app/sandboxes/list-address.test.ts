import { expect, test } from 'vitest';
import { addressOfTerms, narrowing, parseListAddress } from './list-address.ts';

test('an address is shown as it would be typed, with its query', () => {
  const parsed = parseListAddress({ idle_over: '3600', state: 'frozen', label: 'env:prod', sort: '-updated' }, 50);
  expect(parsed.typed).toBe('idle:>1h state:frozen label:env=prod');
  expect(parsed.query).toEqual({ idle_over: 3600, state: 'frozen', label: 'env:prod', sort: '-updated', limit: 50 });
  expect(narrowing(parsed.filters)).not.toHaveProperty('sort');
});

test('a typed filter means its parameters in place of those it could say, and keeps the others', () => {
  const values = { filter: 'idle:>1h lighthouse', state: 'frozen', since: '5', sort: 'name' };
  expect(parseListAddress(values, 50).meant).toEqual({ idle_over: '3600', q: 'lighthouse', since: '5', sort: 'name' });
});

test('a term stands in an address as it is typed, beside the parameters that it keeps', () => {
  expect(parseListAddress({ idle: '>1m' }, 50).meant).toEqual({ idle_over: '60' });
  expect(parseListAddress({ process: 'warm', tenant: 'acme', sort: 'name' }, 50).meant).toEqual({
    ...{ thermal: 'warm', tenant: 'acme', sort: 'name' },
  });
  const wrong = parseListAddress({ idle: '>1', tenant: 'acme' }, 50);
  expect([wrong.query, wrong.meant, wrong.typed]).toEqual([null, null, 'tenant:acme idle:>1']);
});

test('whole terms for parameters are a typed filter, and none of them is dropped', () => {
  const typed = (search: string) => {
    const address = addressOfTerms(Object.fromEntries(new URLSearchParams(search)));
    return address === null ? null : Object.fromEntries(new URL(address, 'http://console').searchParams);
  };
  expect(typed('idle:>1m')).toEqual({ filter: 'idle:>1m' });
  expect(typed('idle:>=1h&label:env=prod&sort=name')).toEqual({ filter: 'idle:>=1h label:env=prod', sort: 'name' });
  expect(typed('tenant:acme idle:>1m&filter=lighthouse')).toEqual({ filter: 'lighthouse tenant:acme idle:>1m' });
  expect(typed('tenant=acme&state:asleep')).toEqual({ tenant: 'acme', filter: 'tenant:acme state:asleep' });
  expect(typed('tenant=acme&idle=>1m')).toBeNull();
});

test('a wrong filter, typed or not, has a complaint and no query', () => {
  const typed = parseListAddress({ filter: 'state:asleep lighthouse' }, 50);
  expect([typed.query, typed.meant, typed.typed]).toEqual([null, null, 'state:asleep lighthouse']);
  expect(typed.typedComplaints).toHaveLength(1);
  const plain = parseListAddress({ state: 'asleep', tenant: 'acme' }, 50);
  expect([plain.query, Object.keys(plain.complaints)]).toEqual([null, ['state']]);
  expect(parseListAddress({ since: 'soon' }, 50).query).toBeNull();
});
