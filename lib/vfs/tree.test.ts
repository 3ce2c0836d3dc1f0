import { expect, test } from 'vitest';
import { FakeClock } from '../base/clock.ts';
import { bytes, codeOf, liveVfs, text, vfsPath } from './testing/tmp-files.ts';
import type { VfsAddress } from './types.ts';
import type { Vfs } from './vfs.ts';
import type { Volume } from './volumes.ts';

const at = (path: string, volume: Volume = 'workspace'): VfsAddress => ({ volume, path: vfsPath(path) });
const names = (vfs: Vfs, path: string, volume: Volume = 'workspace') =>
  vfs.readdir(vfsPath(path), volume).map((entry) => `${entry.path}${entry.kind === 'dir' ? '/' : ''}`);

test('7. a directory lists its direct children only, each once, by name', () => {
  const vfs = liveVfs();
  for (const path of ['/b/x', '/b-1', '/b/y/deep/er', '/b0', '/a', '/b.txt', '/c/d'])
    vfs.put(vfsPath(path), bytes(path));
  vfs.mkdir(vfsPath('/b/empty'));
  vfs.mkdir(vfsPath('/c/d2/inner'), 'workspace', { recursive: true });
  vfs.link(vfsPath('/b/link'), 'x');
  expect(names(vfs, '/')).toEqual(['/a', '/b/', '/b-1', '/b.txt', '/b0', '/c/']);
  expect(names(vfs, '/b')).toEqual(['/b/empty/', '/b/link', '/b/x', '/b/y/']);
  expect(names(vfs, '/b/y')).toEqual(['/b/y/deep/']);
  expect(names(vfs, '/c')).toEqual(['/c/d', '/c/d2/']);
  expect(names(vfs, '/b/empty')).toEqual([]);
  expect(names(vfs, '/', 'tmp')).toEqual([]);
});

test('7. an entry is the same on its own and in its directory', () => {
  const vfs = liveVfs();
  vfs.put(vfsPath('/d/file'), bytes('four'), 'workspace', { mode: 0o755 });
  vfs.put(vfsPath('/d/implied/deep'), bytes('x'));
  vfs.mkdir(vfsPath('/d/made'), 'workspace', { mode: 0o700 });
  vfs.link(vfsPath('/d/link'), '../elsewhere');
  const children = vfs.readdir(vfsPath('/d'));
  expect(children.map(({ path, kind, size, mode, target }) => [path, kind, size, mode, target])).toEqual([
    ['/d/file', 'file', 4, 0o755, null],
    ['/d/implied', 'dir', 0, 0o755, null],
    ['/d/link', 'link', 12, 0o777, '../elsewhere'],
    ['/d/made', 'dir', 0, 0o700, null],
  ]);
  for (const child of children) expect(vfs.entry(vfsPath(child.path))).toEqual(child);
});

test('7. readdir of nothing is not_found, of a file or link conflict', () => {
  const vfs = liveVfs();
  vfs.put(vfsPath('/file'), bytes('x'));
  vfs.link(vfsPath('/link'), '/');
  expect(codeOf(() => vfs.readdir(vfsPath('/nothing')))).toBe('not_found');
  expect(codeOf(() => vfs.readdir(vfsPath('/file')))).toBe('conflict');
  expect(codeOf(() => vfs.readdir(vfsPath('/link')))).toBe('conflict');
});

test('8. a file or link in place of a directory is a conflict, and so is a directory in place of a file', () => {
  const vfs = liveVfs();
  vfs.put(vfsPath('/file'), bytes('x'));
  vfs.link(vfsPath('/link'), '/dir');
  vfs.put(vfsPath('/dir/inner'), bytes('y'));
  vfs.mkdir(vfsPath('/made'));
  const conflicts: (() => unknown)[] = [
    () => vfs.put(vfsPath('/file/below'), bytes('z')),
    () => vfs.put(vfsPath('/file/far/below'), bytes('z')),
    () => vfs.put(vfsPath('/link/below'), bytes('z')),
    () => vfs.put(vfsPath('/dir'), bytes('z')),
    () => vfs.put(vfsPath('/made'), bytes('z')),
    () => vfs.put(vfsPath('/link'), bytes('z')),
    () => vfs.put(vfsPath('/'), bytes('z')),
    () => vfs.mkdir(vfsPath('/file/below')),
    () => vfs.mkdir(vfsPath('/file/far/below'), 'workspace', { recursive: true }),
    () => vfs.mkdir(vfsPath('/link'), 'workspace', { recursive: true }),
    () => vfs.link(vfsPath('/file/below'), 'x'),
    () => vfs.move(at('/dir/inner'), at('/file/below')),
    () => vfs.rmdir(vfsPath('/file')),
  ];
  for (const operation of conflicts) expect(codeOf(operation)).toBe('conflict');
  expect(vfs.list('workspace', { limit: 10 }).files.map(({ path }) => path)).toEqual(['/dir/inner', '/file']);
  expect(text(vfs.get(vfsPath('/file')))).toBe('x');
});

test('9. mkdir needs a parent unless recursive, and an empty place', () => {
  const vfs = liveVfs();
  expect(codeOf(() => vfs.mkdir(vfsPath('/a/b')))).toBe('not_found');
  vfs.mkdir(vfsPath('/a/b/c'), 'workspace', { recursive: true });
  vfs.mkdir(vfsPath('/a/b/c'), 'workspace', { recursive: true });
  expect(names(vfs, '/a/b')).toEqual(['/a/b/c/']);
  vfs.put(vfsPath('/implied/file'), bytes('x'));
  vfs.mkdir(vfsPath('/implied/made'));
  expect(codeOf(() => vfs.mkdir(vfsPath('/a')))).toBe('conflict');
  expect(codeOf(() => vfs.mkdir(vfsPath('/implied')))).toBe('conflict');
  expect(codeOf(() => vfs.mkdir(vfsPath('/')))).toBe('conflict');
  expect(codeOf(() => vfs.mkdir(vfsPath('/'), 'workspace', { recursive: true }))).toBeUndefined();
});

test('9. rmdir removes an empty directory and nothing else', () => {
  const vfs = liveVfs();
  vfs.mkdir(vfsPath('/a/b'), 'workspace', { recursive: true });
  vfs.put(vfsPath('/full/file'), bytes('x'));
  expect(codeOf(() => vfs.rmdir(vfsPath('/a')))).toBe('conflict');
  expect(codeOf(() => vfs.rmdir(vfsPath('/full')))).toBe('conflict');
  expect(codeOf(() => vfs.rmdir(vfsPath('/nothing')))).toBe('not_found');
  expect(codeOf(() => vfs.rmdir(vfsPath('/')))).toBe('conflict');
  vfs.rmdir(vfsPath('/a/b'));
  vfs.rmdir(vfsPath('/a'));
  expect(names(vfs, '/')).toEqual(['/full/']);
});

test('10. a directory stays when its last entry is removed', () => {
  const vfs = liveVfs();
  vfs.put(vfsPath('/a/only'), bytes('x'));
  vfs.put(vfsPath('/b/only'), bytes('x'));
  vfs.put(vfsPath('/c/d/only'), bytes('x'));
  vfs.delete(vfsPath('/a/only'));
  vfs.move(at('/b/only'), at('/moved'));
  vfs.delete(vfsPath('/c/d'), 'workspace', { recursive: true });
  expect(names(vfs, '/')).toEqual(['/a/', '/b/', '/c/', '/moved']);
  expect(names(vfs, '/c')).toEqual([]);
});

test('11. a link is kept as given, not followed, and not in the seed’s table', () => {
  const vfs = liveVfs();
  vfs.put(vfsPath('/target'), bytes('content'));
  vfs.link(vfsPath('/a/link'), '../target');
  vfs.link(vfsPath('/dangling'), '/no/../where');
  expect(vfs.entry(vfsPath('/a/link'))).toMatchObject({ kind: 'link', target: '../target', size: 9, mode: 0o777 });
  expect(vfs.get(vfsPath('/a/link'))).toBeNull();
  expect(vfs.stat(vfsPath('/a/link'))).toBeNull();
  expect(vfs.entry(vfsPath('/dangling'))?.target).toBe('/no/../where');
  expect(vfs.sizes()[0]).toEqual({ volume: 'workspace', files: 1, bytes: 7 });
  for (const target of ['', 'a\0b', 'x'.repeat(1025), '\udfff'])
    expect(codeOf(() => vfs.link(vfsPath('/new'), target))).toBe('validation');
  for (const path of ['/target', '/dangling', '/a', '/'])
    expect(codeOf(() => vfs.link(vfsPath(path), 'x'))).toBe('conflict');
});

test('12. modes and times can be set on anything and stay', () => {
  const vfs = liveVfs({ clock: new FakeClock(1_765_500_000_000) });
  vfs.put(vfsPath('/dir/file'), bytes('x'));
  vfs.link(vfsPath('/link'), 'y');
  for (const path of ['/dir/file', '/dir', '/link', '/']) {
    vfs.chmod(vfsPath(path), 0o100_640);
    vfs.utimes(vfsPath(path), 1_600_000_000.9);
    expect(vfs.entry(vfsPath(path))).toMatchObject({ mode: 0o640, mtime: 1_600_000_000 });
  }
  expect(vfs.entry(vfsPath('/link'))?.target).toBe('y');
  vfs.move(at('/dir'), at('/moved', 'memory'));
  expect(vfs.entry(vfsPath('/moved'), 'memory')).toMatchObject({ mode: 0o640, mtime: 1_600_000_000 });
  expect(vfs.entry(vfsPath('/moved/file'), 'memory')).toMatchObject({ mode: 0o640, mtime: 1_600_000_000 });
  vfs.put(vfsPath('/moved/file'), bytes('new'), 'memory');
  expect(vfs.entry(vfsPath('/moved/file'), 'memory')).toMatchObject({ mode: 0o640, mtime: 1_765_500_000 });
  vfs.put(vfsPath('/moved/file'), bytes('new'), 'memory', { mode: 0o755 });
  expect(vfs.entry(vfsPath('/moved/file'), 'memory')?.mode).toBe(0o755);
  expect(codeOf(() => vfs.chmod(vfsPath('/nothing'), 0o600))).toBe('not_found');
  expect(codeOf(() => vfs.utimes(vfsPath('/nothing'), 1))).toBe('not_found');
  expect(codeOf(() => vfs.utimes(vfsPath('/link'), Number.NaN))).toBe('validation');
});

test('13. delete removes files and links, and directories only when recursive', () => {
  const vfs = liveVfs();
  for (const path of ['/a', '/dir/b', '/dir/c/d', '/dir-2/e', '/dir0']) vfs.put(vfsPath(path), bytes('x'));
  vfs.mkdir(vfsPath('/dir/empty'));
  vfs.link(vfsPath('/link'), '/dir');
  expect(vfs.delete(vfsPath('/nothing'))).toBe(false);
  expect(vfs.delete(vfsPath('/a'))).toBe(true);
  expect(vfs.delete(vfsPath('/link'))).toBe(true);
  expect(codeOf(() => vfs.delete(vfsPath('/dir')))).toBe('conflict');
  expect(codeOf(() => vfs.delete(vfsPath('/dir/empty')))).toBe('conflict');
  expect(vfs.delete(vfsPath('/dir'), 'workspace', { recursive: true })).toBe(true);
  expect(names(vfs, '/')).toEqual(['/dir-2/', '/dir0']);
  expect(vfs.delete(vfsPath('/'), 'workspace', { recursive: true })).toBe(true);
  expect(names(vfs, '/')).toEqual([]);
});

test('14. move takes a file, a link or a whole directory, to another volume too', () => {
  const vfs = liveVfs();
  vfs.put(vfsPath('/src/ä/file'), bytes('1'), 'workspace', { mode: 0o700 });
  vfs.put(vfsPath('/src/ä-b'), bytes('2'));
  vfs.mkdir(vfsPath('/src/empty'));
  vfs.link(vfsPath('/src/link'), 'file');
  vfs.put(vfsPath('/src2'), bytes('stays'));
  vfs.move(at('/src'), at('/kept/in', 'memory'));
  expect(names(vfs, '/')).toEqual(['/src2']);
  expect(names(vfs, '/kept/in', 'memory')).toEqual(['/kept/in/empty/', '/kept/in/link', '/kept/in/ä/', '/kept/in/ä-b']);
  expect(text(vfs.get(vfsPath('/kept/in/ä/file'), 'memory'))).toBe('1');
  expect(vfs.entry(vfsPath('/kept/in/ä/file'), 'memory')?.mode).toBe(0o700);
  expect(vfs.entry(vfsPath('/kept/in/link'), 'memory')?.target).toBe('file');
  vfs.move(at('/kept/in/link', 'memory'), at('/link'));
  expect(vfs.entry(vfsPath('/link'))?.target).toBe('file');
});

test('14. move refuses a missing source, a taken target, and a directory into itself', () => {
  const vfs = liveVfs();
  vfs.put(vfsPath('/a'), bytes('a'));
  vfs.put(vfsPath('/b'), bytes('b'));
  vfs.put(vfsPath('/dir/c'), bytes('c'));
  expect(codeOf(() => vfs.move(at('/nothing'), at('/x')))).toBe('not_found');
  for (const [from, to] of [
    ['/a', '/b'],
    ['/a', '/dir'],
    ['/dir', '/a'],
    ['/dir', '/dir/inner'],
    ['/', '/x'],
    ['/a', '/'],
  ] as const) {
    expect(codeOf(() => vfs.move(at(from), at(to)))).toBe('conflict');
  }
  vfs.move(at('/a'), at('/a'));
  vfs.put(vfsPath(`/long${`/${'x'.repeat(199)}`.repeat(5)}`), bytes('l'));
  expect(codeOf(() => vfs.move(at('/long'), at(`/${'y'.repeat(100)}`)))).toBe('validation');
  expect([...'ab'].map((name) => text(vfs.get(vfsPath(`/${name}`))))).toEqual(['a', 'b']);
});

test('14. with replace a file gives way to a file and an empty directory to a directory', () => {
  const vfs = liveVfs();
  vfs.put(vfsPath('/a'), bytes('a'));
  vfs.put(vfsPath('/b'), bytes('b'));
  vfs.put(vfsPath('/dir/c'), bytes('c'));
  vfs.mkdir(vfsPath('/empty'));
  const replace = { replace: true };
  vfs.move(at('/a'), at('/b'), replace);
  expect(text(vfs.get(vfsPath('/b')))).toBe('a');
  vfs.link(vfsPath('/link'), 'x');
  vfs.move(at('/link'), at('/b'), replace);
  expect(vfs.entry(vfsPath('/b'))).toMatchObject({ kind: 'link', target: 'x' });
  expect(codeOf(() => vfs.move(at('/b'), at('/empty'), replace))).toBe('conflict');
  expect(codeOf(() => vfs.move(at('/empty'), at('/dir'), replace))).toBe('conflict');
  expect(codeOf(() => vfs.move(at('/dir'), at('/b'), replace))).toBe('conflict');
  vfs.move(at('/dir'), at('/empty'), replace);
  expect(names(vfs, '/')).toEqual(['/b', '/empty/']);
  expect(text(vfs.get(vfsPath('/empty/c')))).toBe('c');
});
