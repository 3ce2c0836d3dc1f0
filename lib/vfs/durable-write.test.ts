import { expect, test } from 'vitest';
import { Transaction } from './durable-write.ts';
import { Statements } from './statements.ts';
import { bytes, codeOf, liveVfs, otherTool, tmpFile, vfsPath } from './testing/tmp-files.ts';

const committed = (file: string) =>
  otherTool(file, { readOnly: true })
    .prepare('SELECT path FROM vfs ORDER BY path')
    .all()
    .map((row) => row.path);

test('23. a write is durable when it returns, and nothing is left open', () => {
  const file = tmpFile();
  const vfs = liveVfs({ file });
  vfs.put(vfsPath('/a'), bytes('a'));
  expect(vfs.db.isTransaction).toBe(false);
  expect(committed(file)).toEqual(['/a']);
});

test('23. a failed write changes nothing', () => {
  const file = tmpFile();
  const vfs = liveVfs({ file });
  vfs.put(vfsPath('/a'), bytes('a'));
  expect(codeOf(() => vfs.put(vfsPath('/a/b'), bytes('b')))).toBe('conflict');
  expect(
    codeOf(() =>
      vfs.move({ volume: 'workspace', path: vfsPath('/a') }, { volume: 'workspace', path: vfsPath('/a/b') }),
    ),
  ).toBe('conflict');
  expect(vfs.db.isTransaction).toBe(false);
  vfs.put(vfsPath('/c'), bytes('c'));
  expect(committed(file)).toEqual(['/a', '/c']);
});

test('23. a transaction that SQLite itself rolled back is a failed write like any other', () => {
  const { db } = liveVfs({ file: tmpFile(), maxBytes: 200_000 });
  const transaction = new Transaction(db, new Statements(db), {
    beforeCommit: () => undefined,
    onOthersCommitted: () => undefined,
  });
  const insert = db.prepare("INSERT INTO vfs VALUES ('workspace', ?, ?, 1)");
  const write = (path: string, size: number) =>
    codeOf(() => transaction.run(() => insert.run(path, new Uint8Array(size))));
  // Unlike our own statements, a plain INSERT that finds the file full ends the whole transaction.
  expect(write('/b', 1_000_000)).toBe('ERR_SQLITE_ERROR');
  // One for what others may have committed before.
  expect([db.isTransaction, transaction.committed]).toEqual([false, 1]);
  expect(write('/d', 10)).toBeUndefined();
  expect(transaction.committed).toBe(2);
  expect(db.prepare('SELECT path FROM vfs').all()).toEqual([{ path: '/d' }]);
});

test('23. a write while another writer has the lock waits, and then is a conflict', () => {
  const file = tmpFile();
  const vfs = liveVfs({ file });
  const other = otherTool(file);
  other.exec('BEGIN IMMEDIATE');
  expect(codeOf(() => vfs.put(vfsPath('/a'), bytes('a')))).toBe('conflict');
  other.exec('ROLLBACK');
  vfs.put(vfsPath('/a'), bytes('a'));
  expect(committed(file)).toEqual(['/a']);
});
