import { expect, test } from 'vitest';
import { readConfig } from '../base/config.ts';
import { cookieRules, isLoopback } from './cookies.ts';

const rules = (settings: Record<string, string>) => cookieRules(readConfig(settings));

test.each([
  ['https', { WB_PUBLIC_URL: 'https://dock.example' }],
  ['localhost', { WB_PUBLIC_URL: 'http://localhost:3000' }],
  ['a loopback address', { WB_PUBLIC_URL: 'http://127.0.0.1:3000' }],
  ['nowhere but the machine itself', {}],
  ['nowhere but the machine itself, by IPv6', { HOST: '::1' }],
])(
  'cookies are Secure and bound to their host where people come by %s',
  (_address, settings: Record<string, string>) => {
    expect(rules(settings)).toEqual({
      secure: true,
      prefix: '__Host-winterdock',
      session: '__Host-winterdock.session_token',
    });
  },
);

test.each([
  ['a LAN address', { WB_PUBLIC_URL: 'http://192.168.1.20:3000' }],
  ['a name that only looks local', { WB_PUBLIC_URL: 'http://localhost.evil.example' }],
  ['every interface of the machine', { HOST: '0.0.0.0' }],
  ['every interface of the machine, by IPv6', { HOST: '::' }],
])('cookies are plain where people come by %s without https', (_address, settings: Record<string, string>) => {
  expect(rules(settings)).toEqual({ secure: false, prefix: 'winterdock', session: 'winterdock.session_token' });
});

test('the machine itself is known by its names and addresses only', () => {
  for (const host of [
    'localhost',
    'LOCALHOST:3000',
    'dock.localhost',
    '127.0.0.1:80',
    '127.1.2.3',
    '[::1]:3000',
    '::1',
  ]) {
    expect([host, isLoopback(host)]).toEqual([host, true]);
  }
  for (const host of ['', '10.0.0.1', '127.0.0.1.evil.example', 'localhost.evil.example', 'mylocalhost', '[::2]']) {
    expect([host, isLoopback(host)]).toEqual([host, false]);
  }
});
