import { expect, test } from 'vitest';
import { bytes, codeOf, liveVfs, otherTool, scratchFile, text } from './testing/scratch.ts';
import { Transaction } from './transaction.ts';

const committed = (file: string) =>
  otherTool(file, { readOnly: true })
    .prepare('SELECT path FROM vfs ORDER BY path')
    .all()
    .map((row) => row.path);

test('23. a write alone is durable when it returns', () => {
  const file = scratchFile();
  const vfs = liveVfs({ file });
  vfs.put('/a', bytes('a'));
  expect(vfs.inTransaction).toBe(false);
  expect(committed(file)).toEqual(['/a']);
});

test('23. a group becomes durable together at the outermost commit', () => {
  const file = scratchFile();
  const vfs = liveVfs({ file });
  vfs.begin();
  vfs.put('/a', bytes('a'));
  vfs.begin();
  expect(vfs.inTransaction).toBe(true);
  vfs.put('/b', bytes('b'));
  vfs.commit();
  expect(text(vfs.get('/b'))).toBe('b');
  expect(committed(file)).toEqual([]);
  vfs.commit();
  expect(vfs.inTransaction).toBe(false);
  expect(committed(file)).toEqual(['/a', '/b']);
});

test('23. a group that writes nothing takes no lock', () => {
  const file = scratchFile();
  const vfs = liveVfs({ file });
  vfs.begin();
  expect(vfs.get('/a')).toBeNull();
  expect(vfs.db.isTransaction).toBe(false);
  const other = otherTool(file);
  other.exec("BEGIN IMMEDIATE; INSERT INTO vfs VALUES ('workspace', '/other', 'x', 1); COMMIT");
  vfs.commit();
  expect(committed(file)).toEqual(['/other']);
});

test('23. a write that fails takes only itself back', () => {
  const file = scratchFile();
  const vfs = liveVfs({ file });
  vfs.begin();
  vfs.put('/a', bytes('a'));
  expect(codeOf(() => vfs.put('/a/b', bytes('b')))).toBe('conflict');
  expect(codeOf(() => vfs.move({ volume: 'workspace', path: '/a' }, { volume: 'workspace', path: '/a/b' }))).toBe(
    'conflict',
  );
  vfs.put('/c', bytes('c'));
  vfs.commit();
  expect(committed(file)).toEqual(['/a', '/c']);
});

test('23. rollback takes the whole group back, however deep, and can be repeated', () => {
  const file = scratchFile();
  const vfs = liveVfs({ file });
  vfs.put('/kept', bytes('k'));
  vfs.begin();
  vfs.put('/a', bytes('a'));
  vfs.begin();
  vfs.delete('/kept');
  vfs.rollback();
  vfs.rollback();
  expect(vfs.inTransaction).toBe(false);
  expect(committed(file)).toEqual(['/kept']);
  expect(codeOf(() => vfs.commit())).toBe('internal');
});

test('23. a group that SQLite itself had to undo refuses to go on and to commit', () => {
  const { db } = liveVfs({ file: scratchFile(), maxBytes: 200_000 });
  const transaction = new Transaction(db, () => undefined);
  const insert = db.prepare("INSERT INTO vfs VALUES ('workspace', ?, ?, 1)");
  const write = (path: string, size: number) =>
    codeOf(() => transaction.run(() => insert.run(path, new Uint8Array(size))));
  transaction.begin();
  expect(write('/a', 10)).toBeUndefined();
  // Unlike our own statements, a plain INSERT that finds the file full ends the whole transaction.
  expect(write('/b', 1_000_000)).toBe('ERR_SQLITE_ERROR');
  expect(db.isTransaction).toBe(false);
  expect(write('/c', 10)).toBe('storage_unavailable');
  expect(codeOf(() => transaction.commit())).toBe('storage_unavailable');
  expect(db.prepare('SELECT count(*) AS n FROM vfs').get()).toEqual({ n: 0 });
  expect(write('/d', 10)).toBeUndefined();
  expect(db.prepare('SELECT path FROM vfs').all()).toEqual([{ path: '/d' }]);
});

test('23. a write while another writer holds the file waits, and then is a conflict', () => {
  const file = scratchFile();
  const vfs = liveVfs({ file });
  const other = otherTool(file);
  other.exec('BEGIN IMMEDIATE');
  expect(codeOf(() => vfs.put('/a', bytes('a')))).toBe('conflict');
  other.exec('ROLLBACK');
  vfs.put('/a', bytes('a'));
  expect(committed(file)).toEqual(['/a']);
});
