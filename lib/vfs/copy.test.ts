import { existsSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { observeEffects } from '../base/effects.ts';
import { copyVfs } from './copy.ts';
import { closeToRest, openAtRest, openLive } from './open.ts';
import { createReaders } from './readers.ts';
import {
  bytes,
  liveVfs,
  MIB,
  otherTool,
  SEED_TABLE,
  text,
  tmpFolder,
  vfsPath,
  writeRows,
} from './testing/tmp-files.ts';
import type { Readers, VfsCopy } from './types.ts';
import type { Vfs } from './vfs.ts';
import { VOLUMES, type Volume } from './volumes.ts';

const KEPT: Volume[] = ['workspace', 'memory'];

function pool(): Readers {
  const readers = createReaders({ maxFileBytes: 64 * MIB });
  onTestFinished(() => readers.stop());
  return readers;
}

/** A file at rest with the contents that `fill` writes. */
function resting(folder: string, name: string, fill: (vfs: Vfs) => void): string {
  const file = join(folder, name);
  const vfs = openLive(file, { maxBytes: 512 * MIB, maxFileBytes: 64 * MIB, mustExist: false });
  fill(vfs);
  closeToRest(vfs);
  return file;
}

function opened(file: string): Vfs {
  const vfs = openAtRest(file);
  onTestFinished(() => vfs.close());
  return vfs;
}

const copied = (readers: Readers, source: string, target: string, volumes: readonly Volume[] = KEPT, strict = false) =>
  readers.copy({ path: source, mode: 'rest' }, target, { volumes, strict });
const codeFrom = (run: Promise<unknown>) =>
  run.then(
    () => undefined,
    (error: unknown) => Object(error).code,
  );

test('50. a copy beside constant writes is of one moment, and the writes go on', async () => {
  const readers = pool();
  const folder = tmpFolder();
  const source = join(folder, 'live.sqlite');
  const vfs = liveVfs({ file: source });
  vfs.put(vfsPath('/large'), new Uint8Array(48 * MIB));
  let n = 0;
  const write = () => {
    n += 1;
    const both = vfs.overlay();
    both.put(vfsPath('/first'), bytes(String(n)));
    both.put(vfsPath('/second'), bytes(String(n)), 'memory');
    both.commit();
  };
  write();
  for (let round = 0; round < 3; round += 1) {
    const before = n;
    const target = join(folder, `copy-${round}.sqlite`);
    let done = false;
    const copying = readers.copy({ path: source, mode: 'live' }, target, { volumes: KEPT }).finally(() => {
      done = true;
    });
    while (!done) {
      write();
      await new Promise((resolve) => setImmediate(resolve));
    }
    await copying;
    expect(n).toBeGreaterThan(before + 5);
    const copy = opened(target);
    const first = Number(text(copy.get(vfsPath('/first'))));
    expect(first).toBeGreaterThanOrEqual(before);
    expect(text(copy.get(vfsPath('/second'), 'memory'))).toBe(String(first));
    expect(copy.get(vfsPath('/large'))?.byteLength).toBe(48 * MIB);
  }
});

test('50. a copy does not delay the first write of a file that was just opened', async () => {
  const readers = pool();
  const folder = tmpFolder();
  const source = resting(folder, 'a.sqlite', (vfs) => {
    for (let index = 0; index < 2; index += 1) vfs.put(vfsPath(`/${index}`), new Uint8Array(60 * MIB));
  });
  // The process is there from here on.
  await copied(
    readers,
    resting(folder, 'small.sqlite', () => undefined),
    join(folder, 'small-copy.sqlite'),
  );
  const options = { maxBytes: 1024 * MIB, maxFileBytes: 64 * MIB, mustExist: true, walLater: true };
  /** The part of a copy's time for which a write beside it waits. */
  const waits = async (round: number): Promise<number> => {
    const vfs = openLive(source, options);
    onTestFinished(() => vfs.close());
    const started = performance.now();
    const copying = readers.copy({ path: source, mode: 'live' }, join(folder, `copy-${round}`), { volumes: KEPT });
    await expect
      .poll(() => readdirSync(folder).length + performance.now() - started, { interval: 5 })
      .toBeGreaterThan(60);
    const before = performance.now();
    vfs.put(vfsPath('/first'), bytes('written'));
    const wroteMs = performance.now() - before;
    await copying;
    vfs.close();
    return wroteMs / (performance.now() - started);
  };
  // Others may have had the processor during a write.
  const parts = [await waits(0)];
  while (parts.length < 3 && Math.min(...parts) >= 1 / 3) parts.push(await waits(parts.length));
  expect(Math.min(...parts)).toBeLessThan(1 / 3);
});

test('51. the same rows give the same bytes, whatever was added and deleted before', async () => {
  const readers = pool();
  const folder = tmpFolder();
  const source = join(folder, 'a.sqlite');
  const options = { maxBytes: 512 * MIB, maxFileBytes: MIB, mustExist: false };
  let vfs = openLive(source, options);
  for (let index = 0; index < 500; index += 1) vfs.put(vfsPath(`/d/${index}`), bytes(`file ${index}`));
  vfs.put(vfsPath('/note'), bytes('kept'), 'memory');
  closeToRest(vfs);
  const first = await copied(readers, source, join(folder, '1.sqlite'));
  expect(readFileSync(join(folder, '1.sqlite')).byteLength).toBe(first.bytes);
  expect(first.volumes.map(({ volume, files }) => `${volume} ${files}`)).toEqual([
    'workspace 500',
    'memory 1',
    'tmp 0',
  ]);

  vfs = openLive(source, { ...options, mustExist: true });
  vfs.put(vfsPath('/scratch'), bytes('x'.repeat(100_000)), 'tmp');
  const beside = await readers.copy({ path: source, mode: 'live' }, join(folder, '2.sqlite'), { volumes: KEPT });
  vfs.put(vfsPath('/gone'), bytes('y'.repeat(100_000)));
  vfs.delete(vfsPath('/gone'));
  closeToRest(vfs);
  expect(beside.sha256).toBe(first.sha256);
  expect((await copied(readers, source, join(folder, '3.sqlite'))).sha256).toBe(first.sha256);
  expect((await copied(readers, join(folder, '1.sqlite'), join(folder, '4.sqlite'))).sha256).toBe(first.sha256);

  vfs = openLive(source, { ...options, mustExist: true });
  vfs.put(vfsPath('/d/0'), bytes('file 0!'));
  closeToRest(vfs);
  expect((await copied(readers, source, join(folder, '5.sqlite'))).sha256).not.toBe(first.sha256);
});

test('52. the bytes hold nothing that was deleted, overwritten or excluded', async () => {
  const readers = pool();
  const folder = tmpFolder();
  const secrets = [
    'deleted-secret',
    'overwritten-secret',
    'memory-secret',
    'tmp-secret',
    'name-of-memory',
    'stranger-secret',
  ];
  const source = resting(folder, 'a.sqlite', (vfs) => {
    vfs.put(vfsPath('/kept'), bytes('the work'));
    vfs.put(vfsPath('/deleted'), bytes('deleted-secret '.repeat(1000)));
    vfs.put(vfsPath('/over'), bytes('overwritten-secret '.repeat(1000)));
    vfs.put(vfsPath('/name-of-memory'), bytes('memory-secret '.repeat(1000)), 'memory');
    vfs.mkdir(vfsPath('/name-of-memory-folder'), 'memory');
    vfs.put(vfsPath('/t'), bytes('tmp-secret '.repeat(1000)), 'tmp');
    vfs.delete(vfsPath('/deleted'));
    vfs.put(vfsPath('/over'), bytes('new'));
  });
  const other = otherTool(source);
  other.exec("CREATE TABLE _stranger (x); INSERT INTO _stranger VALUES ('stranger-secret')");
  other.close();
  const raw = readFileSync(source);
  expect(secrets.filter((secret) => raw.includes(secret))).toEqual(secrets);

  const target = join(folder, 'copy.sqlite');
  await copied(readers, source, target, ['workspace']);
  const copy = readFileSync(target);
  expect(secrets.filter((secret) => copy.includes(secret))).toEqual([]);
  expect(copy.includes('the work')).toBe(true);
  const db = otherTool(target, { readOnly: true });
  expect(db.prepare('PRAGMA freelist_count').get()?.freelist_count).toBe(0);
  expect(
    db.prepare("SELECT group_concat(name, ' ') AS names FROM sqlite_schema WHERE type = 'table'").get()?.names,
  ).toBe('vfs vfs_node');
});

test('53. metadata is copied, and the copy of a seed file is a seed file', async () => {
  const readers = pool();
  const folder = tmpFolder();
  const source = resting(folder, 'a.sqlite', (vfs) => {
    for (const volume of VOLUMES) vfs.put(vfsPath('/run'), bytes('#!'), volume);
    vfs.chmod(vfsPath('/run'), 0o755);
    vfs.utimes(vfsPath('/run'), 1234);
    vfs.link(vfsPath('/link'), '/run');
    vfs.mkdir(vfsPath('/empty'));
    vfs.put(vfsPath('/large'), new Uint8Array(MIB));
  });
  await copied(readers, source, join(folder, 'b.sqlite'));
  const [before, after] = [opened(source), opened(join(folder, 'b.sqlite'))];
  for (const path of ['/run', '/link', '/empty', '/large'])
    expect(after.entry(vfsPath(path))).toEqual(before.entry(vfsPath(path)));
  expect(after.readdir(vfsPath('/'))).toEqual(before.readdir(vfsPath('/')));
  expect(after.entry(vfsPath('/run'), 'memory')).toEqual(before.entry(vfsPath('/run'), 'memory'));
  expect(after.list('tmp', { limit: 10 }).files).toEqual([]);

  const seed = join(folder, 'seed.sqlite');
  writeRows(seed, [
    ['workspace', '/a', 'text', 77],
    ['memory', '/b', new Uint8Array([1, 0]), null],
    ['tmp', '/c', 'gone', 1],
  ]);
  await copied(readers, seed, join(folder, 'seed-copy.sqlite'));
  const db = otherTool(join(folder, 'seed-copy.sqlite'), { readOnly: true });
  expect(
    db
      .prepare('SELECT name FROM sqlite_schema WHERE type = ?')
      .all('table')
      .map(({ name }) => name),
  ).toEqual(['vfs']);
  expect(
    db
      .prepare('SELECT volume, path, typeof(content) AS type, mtime FROM vfs')
      .all()
      .map((row) => ({ ...row })),
  ).toEqual([
    { volume: 'workspace', path: '/a', type: 'text', mtime: 77 },
    { volume: 'memory', path: '/b', type: 'blob', mtime: null },
  ]);
});

/** A file of the seed's table whose text is UTF-16. */
function utf16(folder: string): string {
  const file = join(folder, 'utf16');
  const db = new DatabaseSync(file);
  db.exec(`PRAGMA encoding = 'UTF-16'; ${SEED_TABLE}`);
  db.close();
  return file;
}

test('54. a file that is not a sound VFS file is refused, and nothing is left', async () => {
  const readers = pool();
  const folder = tmpFolder();
  const target = join(folder, 'copy', 'target.sqlite');
  const made = (name: string, sql: string) => {
    const file = resting(folder, name, (vfs) => vfs.put(vfsPath('/a'), bytes('text')));
    const db = new DatabaseSync(file);
    db.exec(sql);
    db.close();
    return file;
  };
  writeFileSync(
    join(folder, 'text'),
    'this is no database at all, but it is longer than a header of one hundred bytes'.repeat(3),
  );
  writeFileSync(join(folder, 'empty'), '');
  const torn = resting(folder, 'torn.sqlite', (vfs) => vfs.put(vfsPath('/large'), new Uint8Array(MIB).fill(7)));
  truncateSync(torn, 500_000);
  const wrong: [string, boolean, string][] = [
    [join(folder, 'nothing'), false, 'missing_file'],
    [join(folder, 'text'), false, 'corrupt'],
    [join(folder, 'empty'), false, 'corrupt'],
    [torn, false, 'corrupt'],
    [made('trigger', 'CREATE TRIGGER t AFTER INSERT ON vfs BEGIN SELECT 1; END'), false, 'corrupt'],
    [made('view', 'CREATE VIEW v AS SELECT * FROM vfs'), false, 'corrupt'],
    [made('index', 'CREATE INDEX i ON vfs (path)'), false, 'corrupt'],
    [utf16(folder), false, 'corrupt'],
    [made('table', 'CREATE TABLE other (x)'), true, 'corrupt'],
    [made('volume', "INSERT INTO vfs VALUES ('fourth', '/x', 'x', 1)"), true, 'corrupt'],
    [made('sequence', 'CREATE TABLE s (x INTEGER PRIMARY KEY AUTOINCREMENT); DROP TABLE s'), true, 'corrupt'],
  ];
  for (const [source, strict, code] of wrong) {
    expect([source, await codeFrom(copied(readers, source, join(folder, 'target.sqlite'), KEPT, strict))]).toEqual([
      source,
      code,
    ]);
    expect(existsSync(join(folder, 'target.sqlite'))).toBe(false);
  }
  const before = readdirSync(folder).sort();
  expect(await codeFrom(copied(readers, torn, target))).toBeDefined();
  expect(readdirSync(folder).sort()).toEqual(before);

  const good = made('good', "INSERT INTO vfs VALUES ('fourth', '/x', 'x', 1); CREATE TABLE other (x)");
  expect(((await copied(readers, good, join(folder, 'target.sqlite'))) satisfies VfsCopy).bytes).toBeGreaterThan(0);
});

test('54. an aborted copy leaves nothing', async () => {
  const readers = createReaders({ maxFileBytes: 64 * MIB });
  const folder = tmpFolder();
  const source = resting(folder, 'a.sqlite', (vfs) => {
    for (let index = 0; index < 4; index += 1) vfs.put(vfsPath(`/${index}`), new Uint8Array(60 * MIB));
  });
  const target = join(folder, 'target.sqlite');
  const code = codeFrom(copied(readers, source, target));
  await expect.poll(() => existsSync(target), { interval: 1 }).toBe(true);
  await readers.stop();
  expect(await code).toBe('storage_unavailable');
  expect(readdirSync(folder)).toEqual(['a.sqlite']);
});

test('53. a copy is on disk before it is answered, unless no restart needs it', async () => {
  const folder = tmpFolder();
  const source = resting(folder, 'source', (vfs) => vfs.put(vfsPath('/work'), bytes('work')));
  const synced: string[] = [];
  observeEffects({ after: ({ kind, path }) => void (kind === 'sync' && synced.push(path)) });
  onTestFinished(() => observeEffects(null));
  const at = (name: string) => join(folder, name);
  const kept = await copyVfs({ path: source, mode: 'rest' }, at('kept'), KEPT);
  const sent = await copyVfs({ path: source, mode: 'rest' }, at('sent'), KEPT, { durable: false });
  expect(synced).toEqual([at('kept')]);
  expect(sent).toEqual(kept);
});
