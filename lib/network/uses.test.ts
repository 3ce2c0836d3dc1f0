import { expect, test } from 'vitest';
import { parseInstanceId } from '../base/ids.ts';
import { NetworkUses, useInWords } from './uses.ts';

const [a, b] = ['a', 'b'].map((id) => ({ id: parseInstanceId(id), tenant: 'acme' })) as [
  { id: ReturnType<typeof parseInstanceId>; tenant: string },
  { id: ReturnType<typeof parseInstanceId>; tenant: string },
];

test('what was used is told once: of the sandboxes that are filed, of hours that are over, and what could not be, again', () => {
  const uses = new NetworkUses();
  uses.add(a, 5, 'https://x.test', { calls: 1, bytesOut: 10, bytesIn: 20 });
  uses.add(a, 6, 'https://x.test', { calls: 1, bytesOut: 1 });
  uses.add(b, 6, 'https://y.test', { refused: 1 });
  expect(uses.take({ before: 5 })).toEqual([]);
  const taken = uses.take({ before: 6 });
  expect(taken.map(useInWords)).toEqual([
    '2 requests, 11 bytes out, 20 in: https://x.test 2 requests, 11 bytes out, 20 in',
  ]);
  uses.add(a, 6, '', { refused: 3 });
  uses.putBack(taken);
  expect(uses.take({ ids: new Set(['a']) }).map(useInWords)).toEqual([
    '2 requests, 3 refused, 11 bytes out, 20 in: https://x.test 2 requests, 11 bytes out, 20 in; and 1 more',
  ]);
  expect(uses.take({}).map(({ id }) => id)).toEqual(['b']);
  expect(uses.take({})).toEqual([]);
});

test('a line names ten hosts at most, the most called first', () => {
  const uses = new NetworkUses();
  for (let at = 0; at < 40; at += 1) uses.add(a, 1, `https://host-${at}.test`, { calls: at });
  const [words = ''] = uses.take({}).map(useInWords);
  expect(words).toMatch(/^780 requests: https:\/\/host-39\.test 39 requests.*host-30\.test.*; and 30 more$/);
  expect(words.length).toBeLessThan(1000);
});
