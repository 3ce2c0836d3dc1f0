import { expect, test } from 'vitest';
import { childrenOf, folderPage } from './folder.ts';

const FILES = [
  { path: '/a.txt', size: 1, mtime: 5 },
  { path: '/src/b.js', size: 2, mtime: 9 },
  { path: '/src/deep/c.js', size: 3, mtime: 7 },
  { path: '/src-old/d.js', size: 4, mtime: 1 },
];
const names = (items: readonly { name: string }[] | null) => items?.map(({ name }) => name);

test('a folder of a flat list holds its direct children, each once, with the explicit folders', () => {
  expect(childrenOf(FILES, ['/empty', '/src', '/empty/within'], '/')).toEqual([
    { name: 'a.txt', kind: 'file', size: 1, mtime: 5 },
    { name: 'src', kind: 'dir', size: 0, mtime: 9 },
    { name: 'src-old', kind: 'dir', size: 0, mtime: 1 },
    { name: 'empty', kind: 'dir', size: 0, mtime: 0 },
  ]);
  expect(names(childrenOf(FILES, [], '/src'))).toEqual(['b.js', 'deep']);
  expect(childrenOf(FILES, ['/empty'], '/empty')).toEqual([]);
  expect(childrenOf(FILES, [], '/nothing')).toBeNull();
  expect(childrenOf([], [], '/')).toEqual([]);
});

test('the pages of a folder hold everything once, folders first', () => {
  const items = childrenOf(FILES, ['/empty'], '/') ?? [];
  const seen: string[] = [];
  for (let after: string | undefined; ; ) {
    const page = folderPage(items, 1, after);
    expect(page.total).toBe(4);
    seen.push(...page.items.map(({ name }) => name));
    if (page.next === null) break;
    after = page.next;
  }
  expect(seen).toEqual(['empty', 'src', 'src-old', 'a.txt']);
  expect(() => folderPage(items, 0)).toThrow(/1 to 10000 entries/);
});
