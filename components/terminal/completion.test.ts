import { expect, test } from 'vitest';
import { completionQuery, continuation } from './completion.ts';

test.each([
  ['cat no', '/workspace', { volume: 'workspace', folder: '/', begin: 'no', typed: '' }],
  ['cat src/in', '/workspace/app', { volume: 'workspace', folder: '/app/src', begin: 'in', typed: 'src/' }],
  ['cat ../memory/le', '/workspace', { volume: 'memory', folder: '/', begin: 'le', typed: '../memory/' }],
  ['ls /t', '/workspace', { volume: null, folder: '/', begin: 't', typed: '/' }],
  ['wc -l my\\ fi', '/workspace', { volume: 'workspace', folder: '/', begin: 'my fi', typed: '' }],
  ['echo >out', '/workspace', { volume: 'workspace', folder: '/', begin: 'out', typed: '' }],
])('%s is looked for in its folder', (before, cwd, wanted) => {
  expect(completionQuery(before, cwd)).toEqual(wanted);
});

test('the inserted text is the rest of the only name, or of the common beginning, with special characters escaped', () => {
  const wanted = completionQuery('cat no', '/workspace');
  expect(continuation(wanted, ['note.txt'])).toBe('te.txt ');
  expect(continuation(wanted, ['notes/'])).toBe('tes/');
  expect(continuation(wanted, ['note one', 'note two'])).toBe('te\\ ');
  expect(continuation(wanted, ['nose', 'note'])).toBe('');
  expect(continuation(wanted, [])).toBe('');
});
