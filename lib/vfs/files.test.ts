import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { FakeClock } from '../base/clock.ts';
import { parseToReader } from './messages.ts';
import { closeToRest, openAtRest } from './open.ts';
import { bytes, codeOf, liveVfs, MIB, otherTool, text, tmpFile, vfsPath, writeRows } from './testing/tmp-files.ts';
import type { Vfs } from './vfs.ts';
import { parseVolume, VOLUMES, type Volume } from './volumes.ts';

const names = (vfs: Vfs, path: string, volume: Volume = 'workspace') =>
  vfs.readdir(vfsPath(path), volume).map((entry) => `${entry.path}${entry.kind === 'dir' ? '/' : ''}`);

test('1. a tool that knows only the seed’s table reads every file', () => {
  const file = tmpFile();
  const vfs = liveVfs({ file, clock: new FakeClock(1_765_500_000_000) });
  vfs.put(vfsPath('/report.org'), bytes('work'));
  vfs.put(vfsPath('/note'), bytes('known'), 'memory');
  vfs.mkdir(vfsPath('/empty'));
  vfs.link(vfsPath('/shortcut'), '/report.org');
  closeToRest(vfs);
  const seed = otherTool(file, { readOnly: true });
  expect(
    seed.prepare('SELECT volume, path, CAST(content AS TEXT) AS content, mtime FROM vfs ORDER BY volume').all(),
  ).toEqual([
    { volume: 'memory', path: '/note', content: 'known', mtime: 1_765_500_000 },
    { volume: 'workspace', path: '/report.org', content: 'work', mtime: 1_765_500_000 },
  ]);
  expect(seed.prepare("SELECT sql FROM sqlite_schema WHERE name = 'vfs'").get()?.sql).toBe(
    'CREATE TABLE vfs (volume TEXT NOT NULL, path TEXT NOT NULL, content BLOB, mtime INTEGER, PRIMARY KEY(volume, path))',
  );
});

test('2. a file of the seed opens, reads and writes', () => {
  const file = tmpFile();
  writeRows(file, [
    ['workspace', '/a/report.org', 'text of the seed', 1_700_000_000],
    ['workspace', '/nothing', null, null],
    ['memory', '/note', bytes('known'), 1_700_000_001],
  ]);
  const vfs = liveVfs({ file, mustExist: true });
  expect(text(vfs.get(vfsPath('/a/report.org')))).toBe('text of the seed');
  expect(vfs.stat(vfsPath('/a/report.org'))).toMatchObject({ size: 16, mtime: 1_700_000_000 });
  expect(vfs.get(vfsPath('/nothing'))).toEqual(new Uint8Array(0));
  expect(vfs.stat(vfsPath('/nothing'))).toMatchObject({ size: 0, mtime: 0 });
  expect(vfs.entry(vfsPath('/a'))).toMatchObject({ kind: 'dir', mode: 0o755 });
  vfs.put(vfsPath('/a/new'), bytes('n'));
  vfs.chmod(vfsPath('/a/report.org'), 0o600);
  expect(names(vfs, '/a')).toEqual(['/a/new', '/a/report.org']);
  expect(vfs.entry(vfsPath('/a/report.org'))?.mode).toBe(0o600);
  closeToRest(vfs);
  expect(otherTool(file, { readOnly: true }).prepare('SELECT count(*) AS n FROM vfs').get()).toEqual({ n: 4 });
});

test('2. at rest a file of the seed is read without a second table, and gains none', () => {
  const file = tmpFile();
  writeRows(file, [
    ['workspace', '/a/b', 'bb', 1_700_000_000],
    ['tmp', '/scratch', 's', 5],
  ]);
  const before = readFileSync(file);
  const vfs = openAtRest(file);
  expect(text(vfs.get(vfsPath('/a/b')))).toBe('bb');
  expect(vfs.stat(vfsPath('/a/b'))).toMatchObject({ path: '/a/b', size: 2, mtime: 1_700_000_000 });
  expect(vfs.entry(vfsPath('/a'))).toMatchObject({ kind: 'dir', mtime: 1_700_000_000 });
  expect(vfs.entry(vfsPath('/b'))).toBeNull();
  expect(names(vfs, '/')).toEqual(['/a/']);
  expect(vfs.list('workspace', { limit: 5 }).files).toEqual([{ path: '/a/b', size: 2, mtime: 1_700_000_000 }]);
  expect(vfs.sizes().map(({ files }) => files)).toEqual([1, 0, 1]);
  vfs.close();
  expect(readFileSync(file).equals(before)).toBe(true);
});

test('3. a fourth volume is refused where its name comes in, and no operation takes an unparsed name', () => {
  for (const name of ['secrets', '', 'Workspace', 'workspace ', '__proto__', "tmp' OR 1=1"]) {
    expect(codeOf(() => parseVolume(name))).toBe('unknown_volume');
    const request = { op: 'get', volume: name, path: '/a' };
    const message = { id: 1, job: { kind: 'read', target: { path: '/x', mode: 'rest' }, request } };
    expect(codeOf(() => parseToReader(message))).toBe('unknown_volume');
  }
  const vfs = liveVfs();
  const name: string = 'workspace';
  // @ts-expect-error An unparsed name is not a Volume.
  expect(vfs.get(vfsPath('/a'), name)).toBeNull();
  // @ts-expect-error As above, where it is a list.
  expect(vfs.list(name, { limit: 1 }).files).toEqual([]);
});

test('3. the default volume is workspace', () => {
  const vfs = liveVfs();
  vfs.put(vfsPath('/a'), bytes('x'));
  expect(text(vfs.get(vfsPath('/a'), 'workspace'))).toBe('x');
  expect(vfs.get(vfsPath('/a'), 'memory')).toBeNull();
});

test('4. the same path in three volumes is three files', () => {
  const vfs = liveVfs();
  for (const volume of VOLUMES) vfs.put(vfsPath('/note'), bytes(`in ${volume}`), volume);
  for (const volume of VOLUMES) expect(text(vfs.get(vfsPath('/note'), volume))).toBe(`in ${volume}`);
  vfs.clear('memory');
  expect(VOLUMES.map((volume) => text(vfs.get(vfsPath('/note'), volume)))).toEqual(['in workspace', null, 'in tmp']);
});

test('6. bytes come back as they were put, also none and a mebibyte', () => {
  const vfs = liveVfs({ clock: new FakeClock(1_765_500_000_000) });
  const contents = [new Uint8Array(0), new Uint8Array([0, 255, 0, 128]), new Uint8Array(MIB).fill(7), bytes('ü\n')];
  for (const content of contents) {
    vfs.put(vfsPath('/file'), content);
    expect(Buffer.compare(vfs.get(vfsPath('/file')) ?? bytes('none'), content)).toBe(0);
    expect(vfs.stat(vfsPath('/file'))).toMatchObject({ path: '/file', size: content.byteLength, mtime: 1_765_500_000 });
  }
});

test('6. put reports whether the file is new', () => {
  const vfs = liveVfs();
  expect(vfs.put(vfsPath('/a'), bytes('1')).created).toBe(true);
  const again = vfs.put(vfsPath('/a'), bytes('22'));
  expect(again).toEqual({ created: false, stat: vfs.stat(vfsPath('/a')) });
  expect(again.stat.size).toBe(2);
  vfs.delete(vfsPath('/a'));
  expect(vfs.put(vfsPath('/a'), bytes('3')).created).toBe(true);
});

test('15. list pages through a volume in byte order, under a prefix, each file once', () => {
  const vfs = liveVfs({ clock: new FakeClock(1_765_500_000_000) });
  const paths = Array.from({ length: 25 }, (_, index) => `/d/${String(index).padStart(2, '0')}-\u{10ffff}`);
  paths.push('/d/\u{10ffff}/last');
  for (const path of [...paths, '/c', '/e', '/d\u{10ffff}']) vfs.put(vfsPath(path), bytes('xy'));
  vfs.put(vfsPath('/d/other'), bytes('x'), 'tmp');
  vfs.mkdir(vfsPath('/d/empty'));
  const seen: string[] = [];
  let after: string | undefined;
  do {
    const page = vfs.list('workspace', { prefix: '/d/', limit: 10, after });
    seen.push(...page.files.map((file) => file.path));
    after = page.next ?? undefined;
  } while (after !== undefined);
  expect(seen).toEqual(paths);
  expect(vfs.list('workspace', { prefix: '/d/0', limit: 100 }).files).toHaveLength(10);
  expect(vfs.list('workspace', { limit: 1 })).toEqual({
    files: [{ path: '/c', size: 2, mtime: 1_765_500_000 }],
    next: '/c',
  });
  expect(vfs.list('workspace', { limit: 29 }).next).toBeNull();
  expect(vfs.list('workspace', { prefix: '%', limit: 5 }).files).toEqual([]);
  for (const limit of [0, -1, 1.5, 10_001, Number.NaN])
    expect(codeOf(() => vfs.list('workspace', { limit }))).toBe('validation');
});

test('16. sizes always lists the three volumes', () => {
  const vfs = liveVfs();
  expect(vfs.sizes()).toEqual(VOLUMES.map((volume) => ({ volume, files: 0, bytes: 0 })));
  vfs.put(vfsPath('/a'), bytes('1234'));
  vfs.put(vfsPath('/b'), new Uint8Array(0), 'tmp');
  vfs.mkdir(vfsPath('/d'), 'memory');
  expect(vfs.sizes()).toEqual([
    { volume: 'workspace', files: 1, bytes: 4 },
    { volume: 'memory', files: 0, bytes: 0 },
    { volume: 'tmp', files: 1, bytes: 0 },
  ]);
});

test('16. list, stat, readdir and sizes read no contents', () => {
  const file = tmpFile();
  const live = liveVfs({ file });
  live.put(vfsPath('/large'), new Uint8Array(32 * MIB).fill(1));
  closeToRest(live);
  const vfs = openAtRest(file);
  const bytesRead = () => Number(/rchar: (\d+)/.exec(readFileSync('/proc/self/io', 'utf8'))?.[1]);
  const before = bytesRead();
  expect(vfs.list('workspace', { limit: 1 }).files[0]?.size).toBe(32 * MIB);
  expect(vfs.stat(vfsPath('/large'))?.size).toBe(32 * MIB);
  expect(vfs.readdir(vfsPath('/'))[0]?.size).toBe(32 * MIB);
  expect(vfs.sizes()[0]?.bytes).toBe(32 * MIB);
  expect(bytesRead() - before).toBeLessThan(MIB);
  expect(vfs.get(vfsPath('/large'))).toHaveLength(32 * MIB);
  expect(bytesRead() - before).toBeGreaterThan(32 * MIB);
  vfs.close();
});

test('17. search finds names, ignoring case', () => {
  const vfs = liveVfs();
  for (const path of ['/Report.org', '/old/report-2', '/other']) vfs.put(vfsPath(path), bytes('report'));
  vfs.put(vfsPath('/100%_report'), bytes('x'), 'memory');
  expect(vfs.search({ text: 'rePort', in: 'name', limit: 10 })).toEqual({
    hits: [
      { volume: 'workspace', path: '/Report.org' },
      { volume: 'workspace', path: '/old/report-2' },
      { volume: 'memory', path: '/100%_report' },
    ],
    truncated: false,
  });
  expect(vfs.search({ text: '%_', in: 'name', limit: 10 }).hits).toHaveLength(1);
  expect(vfs.search({ text: 'report', in: 'name', volume: 'memory', limit: 10 }).hits).toHaveLength(1);
});

test('17. search finds lines of text, skips binary files, cuts long lines and reports when there is more', () => {
  const vfs = liveVfs();
  vfs.put(vfsPath('/poem'), bytes('one\r\nTwo Ünder the\nthree\nünder again\n'));
  vfs.put(vfsPath('/image'), new Uint8Array([0x89, 0, ...bytes('under')]));
  vfs.put(vfsPath('/object'), bytes('a\0under'));
  vfs.put(vfsPath('/latin1'), new Uint8Array([0xfc, ...bytes('nder UNDER')]));
  vfs.put(vfsPath('/wide'), bytes(`${'x'.repeat(5000)}ünder${'y'.repeat(5000)}`));
  const { hits, truncated } = vfs.search({ text: 'ünder', in: 'content', limit: 10 });
  expect(truncated).toBe(false);
  expect(hits.slice(0, 2)).toEqual([
    { volume: 'workspace', path: '/poem', line: 2, text: 'Two Ünder the' },
    { volume: 'workspace', path: '/poem', line: 4, text: 'ünder again' },
  ]);
  expect(hits).toHaveLength(3);
  expect(hits[2]?.text).toContain('ünder');
  expect(hits[2]?.text?.length).toBeLessThan(210);
  expect(vfs.search({ text: 'ünder', in: 'content', limit: 2 })).toEqual({ hits: hits.slice(0, 2), truncated: true });
  vfs.put(vfsPath('/vast'), new Uint8Array(9 * MIB).fill(0x61), 'memory');
  expect(vfs.search({ text: 'aaa', in: 'content', limit: 2 })).toEqual({ hits: [], truncated: true });
  for (const limit of [0, 1001, 1.5])
    expect(codeOf(() => vfs.search({ text: 'x', in: 'name', limit }))).toBe('validation');
  expect(codeOf(() => vfs.search({ text: '', in: 'name', limit: 1 }))).toBe('validation');
});
