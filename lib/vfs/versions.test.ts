import { copyFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { FakeClock } from '../base/clock.ts';
import { closeToRest, openAtRest, openLive } from './open.ts';
import { bytes, codeOf, liveVfs, MIB, otherTool, text, tmpFile, vfsPath, writeRows } from './testing/tmp-files.ts';
import type { Vfs } from './vfs.ts';

const LIMITS = { maxBytes: 64 * MIB, maxFileBytes: MIB, mustExist: false };

const version = (vfs: Vfs, path = '/a') => vfs.stat(vfsPath(path))?.version ?? Number.NaN;

test('18. every write of a path gives it a higher version, and nothing else does', () => {
  const vfs = liveVfs({ clock: new FakeClock() });
  const seen = [vfs.put(vfsPath('/a'), bytes('1')).stat.version];
  seen.push(vfs.put(vfsPath('/a'), bytes('1')).stat.version);
  vfs.delete(vfsPath('/a'));
  seen.push(vfs.put(vfsPath('/a'), bytes('1')).stat.version);
  vfs.move({ volume: 'workspace', path: vfsPath('/a') }, { volume: 'workspace', path: vfsPath('/b') });
  vfs.move({ volume: 'workspace', path: vfsPath('/b') }, { volume: 'workspace', path: vfsPath('/a') });
  seen.push(version(vfs));
  vfs.put(vfsPath('/c'), bytes('c'));
  vfs.move(
    { volume: 'workspace', path: vfsPath('/c') },
    { volume: 'workspace', path: vfsPath('/a') },
    { replace: true },
  );
  seen.push(version(vfs));
  vfs.clear('workspace');
  seen.push(vfs.put(vfsPath('/a'), bytes('1')).stat.version);
  expect(seen).toEqual([...new Set(seen)].sort((one, other) => one - other));
  vfs.put(vfsPath('/b'), bytes('x'));
  vfs.chmod(vfsPath('/a'), 0o600);
  vfs.utimes(vfsPath('/a'), 5);
  expect(version(vfs)).toBe(seen.at(-1));
  expect(Number.isSafeInteger(version(vfs))).toBe(true);
});

test('18. versions go on after a restart with the clock set back', () => {
  const file = tmpFile();
  const clock = new FakeClock();
  const first = liveVfs({ file, clock });
  const before = first.put(vfsPath('/a'), bytes('1')).stat.version;
  first.delete(vfsPath('/a'));
  closeToRest(first);
  clock.advance(-86_400 * 365);
  const second = liveVfs({ file, clock, mustExist: true });
  expect(second.put(vfsPath('/a'), bytes('1')).stat.version).toBeGreaterThan(before);
});

test('18. versions of an older copy that is restored do not repeat', () => {
  const file = tmpFile();
  const clock = new FakeClock();
  const first = openLive(file, { ...LIMITS, clock });
  first.put(vfsPath('/a'), bytes('1'));
  closeToRest(first);
  const copy = `${file}.copy`;
  copyFileSync(file, copy);
  const second = openLive(file, { ...LIMITS, clock });
  const lost = second.put(vfsPath('/a'), bytes('2')).stat.version;
  closeToRest(second);
  clock.advance(1);
  const restored = openLive(copy, { ...LIMITS, clock });
  expect(restored.put(vfsPath('/a'), bytes('3')).stat.version).toBeGreaterThan(lost);
  restored.close();
});

test('18. a write that was rolled back does not lend its version to the next one', () => {
  const file = tmpFile();
  const vfs = liveVfs({ file, clock: new FakeClock() });
  vfs.put(vfsPath('/a'), bytes('1'));
  const overlay = vfs.overlay();
  overlay.put(vfsPath('/a'), bytes('2'));
  expect(overlay.query('SELECT CAST(content AS TEXT) FROM vfs', []).rows).toEqual([['2']]);
  overlay.discard();
  const next = vfs.put(vfsPath('/a'), bytes('3')).stat.version;
  overlay.put(vfsPath('/a'), bytes('4'));
  expect(overlay.stat(vfsPath('/a'))?.version).toBe(next);
  overlay.commit();
  expect(vfs.stat(vfsPath('/a'))?.version).toBeGreaterThan(next);
});

test.each([
  ['small', 10],
  ['large', MIB],
])('19. a %s row that another tool changed has a higher version, and the next write one above that', (_, size) => {
  const file = tmpFile();
  const clock = new FakeClock(1_765_500_000_000);
  const first = liveVfs({ file, clock });
  const own = first.put(vfsPath('/a'), new Uint8Array(size)).stat.version;
  first.put(vfsPath('/z'), bytes('z'));
  closeToRest(first);
  const replace = otherTool(file);
  replace
    .prepare("INSERT OR REPLACE INTO vfs VALUES ('workspace', '/a', ?, ?)")
    .run(new Uint8Array(size).fill(2), 1_765_500_100);
  replace.close();
  const rest = openAtRest(file);
  const foreign = version(rest);
  expect(foreign).toBeGreaterThan(own);
  expect(version(rest)).toBe(foreign);
  expect(rest.stat(vfsPath('/a'))?.mtime).toBe(1_765_500_100);
  rest.close();
  const second = liveVfs({ file, clock, mustExist: true });
  expect(version(second)).toBe(foreign);
  expect(second.put(vfsPath('/a'), bytes('own again')).stat.version).toBeGreaterThan(foreign);
});

test('19. rows of the seed have versions that change with their time and size', () => {
  const versions = [
    ['12', 100],
    ['123', 100],
    ['12', 101],
    ['', null],
  ].map(([content, mtime]) => {
    const file = tmpFile();
    writeRows(file, [['workspace', '/a', String(content), mtime === null ? null : Number(mtime)]]);
    const vfs = openAtRest(file);
    try {
      return version(vfs);
    } finally {
      vfs.close();
    }
  });
  expect(new Set(versions).size).toBe(4);
});

test('19. impossible times do not break a version', () => {
  const file = tmpFile();
  writeRows(file, [['workspace', '/a', 'x', 1]]);
  const db = otherTool(file);
  for (const mtime of ['9223372036854775807', '-5', "'soon'", '1.5', "x'00'"]) {
    db.exec(`UPDATE vfs SET mtime = ${mtime}`);
    const vfs = openAtRest(file);
    expect(Number.isSafeInteger(version(vfs))).toBe(true);
    expect(vfs.list('workspace', { limit: 1 }).files).toHaveLength(1);
    vfs.close();
  }
});

test('20. a conditional write is made only when its condition holds', () => {
  const vfs = liveVfs();
  const put = (content: string, condition: Parameters<Vfs['put']>[3]) =>
    codeOf(() => vfs.put(vfsPath('/a'), bytes(content), 'workspace', condition));
  expect(put('0', { condition: { ifMatch: '*' } })).toBe('precondition_failed');
  expect(put('0', { condition: { ifMatch: [1] } })).toBe('precondition_failed');
  expect(put('1', { condition: { ifNoneMatch: '*' } })).toBeUndefined();
  const first = version(vfs);
  expect(put('2', { condition: { ifNoneMatch: '*' } })).toBe('precondition_failed');
  expect(put('2', { condition: { ifNoneMatch: [first] } })).toBe('precondition_failed');
  expect(put('2', { condition: { ifMatch: [first + 1] } })).toBe('precondition_failed');
  expect(put('2', { condition: { ifMatch: [first], ifNoneMatch: [first] } })).toBe('precondition_failed');
  expect(text(vfs.get(vfsPath('/a')))).toBe('1');
  expect(version(vfs)).toBe(first);
  expect(put('2', { condition: { ifMatch: [7, first] } })).toBeUndefined();
  expect(put('3', { condition: { ifMatch: [first] } })).toBe('precondition_failed');
  expect(put('3', { condition: { ifNoneMatch: [first] } })).toBeUndefined();
  const remove = (condition: { ifMatch?: '*' | number[] }) =>
    codeOf(() => vfs.delete(vfsPath('/a'), 'workspace', { condition }));
  expect(remove({ ifMatch: [first] })).toBe('precondition_failed');
  expect(text(vfs.get(vfsPath('/a')))).toBe('3');
  expect(remove({ ifMatch: '*' })).toBeUndefined();
  expect(vfs.get(vfsPath('/a'))).toBeNull();
  expect(remove({ ifMatch: '*' })).toBe('precondition_failed');
});
