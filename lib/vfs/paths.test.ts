import { describe, expect, test } from 'vitest';
import { openAtRest } from './open.ts';
import { ancestorsOf, normalisePath, parentOf, subtreeOf } from './paths.ts';
import { bytes, codeOf, liveVfs, seedFile, tmpFile } from './testing/tmp-files.ts';

describe('5. a path', () => {
  test('5. keeps its one form and is brought into it', () => {
    expect(normalisePath('/a/b.txt')).toBe('/a/b.txt');
    expect(normalisePath('//a///b/./c/')).toBe('/a/b/c');
    expect(normalisePath('/')).toBe('/');
    expect(normalisePath('/..a/...')).toBe('/..a/...');
    expect(normalisePath('/%2e%2e/ä 名')).toBe('/%2e%2e/ä 名');
  });

  test.each([
    '',
    'a',
    'a/b',
    './a',
    '/..',
    '/a/../b',
    '/a/..',
    '/a\0b',
    '/\ud800',
    `/${'x'.repeat(1024)}`,
    `/${'ä'.repeat(512)}`,
  ])('5. is refused when it is %j', (path) => {
    expect(codeOf(() => normalisePath(path))).toBe('validation');
  });

  test('5. may have exactly 1 024 bytes', () => {
    expect(normalisePath(`/${'x'.repeat(1023)}`)).toHaveLength(1024);
  });

  test('5. is checked by every operation', () => {
    const vfs = liveVfs();
    const bad = '/a/../../etc/passwd';
    const operations: (() => unknown)[] = [
      () => vfs.put(bad, bytes('x')),
      () => vfs.get(bad),
      () => vfs.slice(bad, 'workspace', 0, 1),
      () => vfs.stat(bad),
      () => vfs.entry(bad),
      () => vfs.readdir(bad),
      () => vfs.mkdir(bad),
      () => vfs.rmdir(bad),
      () => vfs.link(bad, '/x'),
      () => vfs.chmod(bad, 0o600),
      () => vfs.utimes(bad, 1),
      () => vfs.delete(bad),
      () => vfs.move({ volume: 'workspace', path: bad }, { volume: 'workspace', path: '/b' }),
      () => vfs.move({ volume: 'workspace', path: '/b' }, { volume: 'workspace', path: bad }),
    ];
    for (const operation of operations) expect(codeOf(operation)).toBe('validation');
  });

  test('5. of another tool that has another form is listed, counted and searched, and nothing else', () => {
    const file = tmpFile();
    seedFile(file, [
      ['workspace', 'note', 'a', 1],
      ['workspace', '/a//b', 'bb', 1],
      ['workspace', '/a/../c', 'ccc', 1],
      ['workspace', '/a/d', 'dddd', 1],
    ]);
    const vfs = openAtRest(file);
    expect(vfs.list('workspace', { limit: 10 }).files.map((entry) => entry.path)).toEqual([
      '/a/../c',
      '/a//b',
      '/a/d',
      'note',
    ]);
    expect(vfs.sizes()[0]).toEqual({ volume: 'workspace', files: 4, bytes: 10 });
    expect(vfs.search({ text: 'ccc', in: 'content', limit: 5 }).hits).toEqual([
      { volume: 'workspace', path: '/a/../c', line: 1, text: 'ccc' },
    ]);
    expect(vfs.readdir('/').map((entry) => entry.path)).toEqual(['/a']);
    expect(vfs.readdir('/a').map((entry) => entry.path)).toEqual(['/a/d']);
    expect(codeOf(() => vfs.get('/a/../c'))).toBe('validation');
    vfs.close();
  });
});

test('5. taken apart gives its directory, all above it, and the range of what lies below', () => {
  expect(parentOf('/a/b')).toBe('/a');
  expect(parentOf('/a')).toBe('/');
  expect(ancestorsOf('/a/b/c')).toEqual(['/a', '/a/b']);
  expect(ancestorsOf('/a')).toEqual([]);
  expect(subtreeOf('/a')).toEqual({ above: '/a/', below: '/a0' });
  expect(subtreeOf('/')).toEqual({ above: '/', below: '0' });
});
