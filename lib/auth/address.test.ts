import { expect, test } from 'vitest';
import { addressOf, clientOf } from './address.ts';

test('a request comes from its peer, whatever it says itself, unless a proxy is trusted', () => {
  const headers = { 'x-forwarded-for': '6.6.6.6, 10.0.0.9' };
  expect(addressOf(headers, '192.0.2.7', false)).toBe('192.0.2.7');
  expect(addressOf(headers, '192.0.2.7', true)).toBe('10.0.0.9');
  expect(addressOf({}, '192.0.2.7', true)).toBe('192.0.2.7');
  expect(addressOf({}, '::ffff:192.0.2.7', false)).toBe('192.0.2.7');
  expect(addressOf({}, null, false)).toBeNull();
});

test('clients are counted by address, and by /64 where a customer has so many', () => {
  expect(clientOf('192.0.2.7')).toBe('192.0.2.7');
  expect(clientOf('2001:db8:1:2:3:4:5:6')).toBe('2001:db8:1:2');
  expect(clientOf('2001:db8:1:2::9')).toBe('2001:db8:1:2');
  expect(clientOf('2001:db8::9')).toBe('2001:db8:0:0');
  expect(clientOf('fe80::1%eth0')).toBe('fe80:0:0:0');
  expect(clientOf('::1')).toBe('0:0:0:0');
  expect(clientOf(null)).toBe('unknown');
});
