import { expect, test } from 'vitest';
import { folderEntries, folderOf, wayTo } from './file-tree.ts';
import { previewOf } from './preview-kind.ts';

const bytes = (text: string) => new TextEncoder().encode(text);

test('a folder shows what lies directly in it, folders first and summed up', () => {
  const files = [
    { path: '/a.txt', size: 1, mtime: 5 },
    { path: '/src/b.js', size: 2, mtime: 9 },
    { path: '/src/deep/c.js', size: 3, mtime: 7 },
  ];
  expect(folderEntries(files, '/')).toEqual([
    { name: 'src/', path: '/src/', folder: true, size: 5, files: 2, mtime: 9 },
    { name: 'a.txt', path: '/a.txt', folder: false, size: 1, files: 1, mtime: 5 },
  ]);
  expect(folderEntries(files, '/src/').map(({ name }) => name)).toEqual(['deep/', 'b.js']);
  expect(folderOf('/src/b.js')).toBe('/src/');
  expect(folderOf('/src/')).toBe('/src/');
  expect(wayTo('/src/deep/')).toEqual([
    { name: 'src', path: '/src/' },
    { name: 'deep', path: '/src/deep/' },
  ]);
});

test('text is shown as text, also when its last sign is cut off', () => {
  expect(previewOf('/a.txt', bytes('one\ntwo'), true)).toEqual({ kind: 'text', text: 'one\ntwo' });
  expect(previewOf('/a.txt', bytes('naïve').subarray(0, 3), false)).toEqual({ kind: 'text', text: 'na' });
  expect(previewOf('/empty', bytes(''), true)).toEqual({ kind: 'empty' });
});

test('JSON is set out, and what only claims to be JSON stays as it is', () => {
  expect(previewOf('/a.json', bytes('{"a":1}'), true)).toEqual({ kind: 'json', text: '{\n  "a": 1\n}' });
  expect(previewOf('/a.json', bytes('{"a":'), true)).toEqual({ kind: 'text', text: '{"a":' });
});

test('images are known by name, and everything else is bytes', () => {
  expect(previewOf('/a.png', Uint8Array.of(0, 1), true)).toEqual({ kind: 'image' });
  expect(previewOf('/a.svg', bytes('<svg/>'), true)).toEqual({ kind: 'text', text: '<svg/>' });
  const hex = previewOf('/a.bin', Uint8Array.of(0, 65, 255), true);
  expect(hex).toEqual({ kind: 'hex', rows: [{ offset: '000000', hex: '00 41 ff', text: '·A·' }] });
});
