import { expect, test } from 'vitest';
import { clientAddress, clientKey } from './address.ts';

test('a request comes from its peer, whatever its headers say, unless a proxy is trusted', () => {
  const headers = { 'x-forwarded-for': '6.6.6.6, 10.0.0.9' };
  expect(clientAddress(headers, '192.0.2.7', false)).toBe('192.0.2.7');
  expect(clientAddress(headers, '192.0.2.7', true)).toBe('10.0.0.9');
  expect(clientAddress({}, '192.0.2.7', true)).toBe('192.0.2.7');
  expect(clientAddress({}, '::ffff:192.0.2.7', false)).toBe('192.0.2.7');
  expect(clientAddress({}, null, false)).toBeNull();
});

test('clients are counted by address, and by /64 for IPv6', () => {
  expect(clientKey('192.0.2.7')).toBe('192.0.2.7');
  expect(clientKey('2001:db8:1:2:3:4:5:6')).toBe('2001:db8:1:2');
  expect(clientKey('2001:db8:1:2::9')).toBe('2001:db8:1:2');
  expect(clientKey('2001:db8::9')).toBe('2001:db8:0:0');
  expect(clientKey('fe80::1%eth0')).toBe('fe80:0:0:0');
  expect(clientKey('::1')).toBe('0:0:0:0');
  expect(clientKey(null)).toBe('unknown');
});
