import { readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { closeToRest, openLive } from './open.ts';
import { createReaders } from './readers.ts';
import { bytes, liveVfs, MIB, tmpFile, vfsPath } from './testing/tmp-files.ts';

const failure = (run: Promise<unknown>) =>
  run.then(
    () => undefined,
    (error: unknown) => error,
  );

test('67. tables of a file are read at rest and beside a process, and a view without an end is ended', async () => {
  const source = new DatabaseSync(':memory:');
  source.exec(`CREATE TABLE t (x); INSERT INTO t VALUES (1), (2); CREATE VIEW forever AS
    WITH RECURSIVE n(x) AS (VALUES (1) UNION ALL SELECT x + 1 FROM n) SELECT x FROM n WHERE x < 0;`);
  const content = source.serialize();
  source.close();
  const file = tmpFile();
  const vfs = openLive(file, { maxBytes: 512 * MIB, maxFileBytes: MIB, mustExist: false });
  vfs.put(vfsPath('/a.db'), content);
  vfs.put(vfsPath('/note'), bytes('no database'));
  closeToRest(vfs);
  const readers = createReaders({ maxFileBytes: MIB, queryTimeoutMs: 2000 });
  onTestFinished(() => readers.stop());
  const at = { volume: 'workspace', path: vfsPath('/a.db'), limit: 10 } as const;
  const target = { path: file, mode: 'rest' } as const;
  const tables = await readers.read(target, { op: 'tables', ...at });
  expect(tables.tables?.tables.map(({ name, rowCount }) => [name, rowCount])).toEqual([
    ['forever', null],
    ['t', 2],
  ]);
  const endless = failure(readers.read(target, { op: 'rows', ...at, table: 'forever' }));
  expect((await readers.read(target, { op: 'rows', ...at, table: 't' })).rows?.rows).toEqual([[1], [2]]);
  expect(await endless).toMatchObject({
    code: 'validation',
    message: 'Reading the tables was ended after 2000 ms.',
    extra: { errors: [{ path: 'path' }] },
  });
  expect(await failure(readers.read(target, { op: 'tables', ...at, path: vfsPath('/note') }))).toMatchObject({
    code: 'validation',
  });
  expect(await readers.read(target, { op: 'tables', ...at, path: vfsPath('/none') })).toEqual({
    op: 'tables',
    tables: null,
  });
  expect(readdirSync(dirname(file))).toEqual(['vfs.sqlite']);
  liveVfs({ file, mustExist: true });
  const beside = await readers.read({ path: file, mode: 'live' }, { op: 'rows', ...at, table: 't', limit: 1 });
  expect(beside.rows).toMatchObject({ rows: [[1]], next: '1:1' });
});
