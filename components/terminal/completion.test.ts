import { expect, test } from 'vitest';
import { continuation } from './completion.ts';

const quote = null;

test('the only name is completed to its end, several to where they part', () => {
  expect(continuation({ begin: 'no', quote, names: ['notes.txt'] })).toBe('tes.txt ');
  expect(continuation({ begin: 'd', quote, names: ['deep/'] })).toBe('eep/');
  expect(continuation({ begin: 'a', quote, names: ['alpha', 'alps'] })).toBe('lp');
  expect(continuation({ begin: 'x', quote, names: [] })).toBe('');
});

test('what is special to a shell is quoted', () => {
  expect(continuation({ begin: '', quote, names: ["it's $5 (new)"] })).toBe("it\\'s\\ \\$5\\ \\(new\\) ");
});

test('inside quotes only what is special there is quoted, and the end closes them', () => {
  expect(continuation({ begin: 'it', quote: '"', names: ["it's $5 (new)"] })).toBe('\'s \\$5 (new)" ');
  expect(continuation({ begin: 'it', quote: "'", names: ["it's $5"] })).toBe("'\\''s $5' ");
  expect(continuation({ begin: 'my', quote: '"', names: ['my folder/'] })).toBe(' folder/');
});
