import { spawn } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openNativeFile } from '../native/file/native-file.ts';
import { closeToRest, openAtRest, openBeside, openLive, recoverToRest } from './open.ts';
import { holdFile, kill, startProcess } from './testing/processes.ts';
import {
  bytes,
  codeOf,
  liveVfs,
  MIB,
  otherTool,
  SEED_TABLE,
  text,
  tmpFile,
  tmpFolder,
  vfsPath,
} from './testing/tmp-files.ts';
import type { Vfs } from './vfs.ts';
import { VOLUMES } from './volumes.ts';

const LIVE = { maxBytes: 64 * MIB, maxFileBytes: MIB, mustExist: true };
const NEW = { ...LIVE, mustExist: false };
const beside = (file: string) => readdirSync(dirname(file)).sort();
function openedBeside(file: string): Vfs {
  const vfs = openBeside(file);
  onTestFinished(() => vfs.close());
  return vfs;
}
/** The write version in the header: 1 is a rollback journal, 2 is WAL. */
const writeVersion = (file: string) => readFileSync(file)[18];

describe('opening', () => {
  test('24. a live file is in WAL mode with synchronous FULL', () => {
    const vfs = liveVfs({ file: tmpFile() });
    expect(vfs.db.prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'wal' });
    expect(vfs.db.prepare('PRAGMA synchronous').get()).toEqual({ synchronous: 2 });
  });

  test('nothing in a file is encrypted: read access to the file shows all of it, memory too', () => {
    const file = tmpFile();
    const vfs = liveVfs({ file });
    vfs.put(vfsPath('/a'), bytes('the secret of the memory'), 'memory');
    closeToRest(vfs);
    expect(readFileSync(file).includes('the secret of the memory')).toBe(true);
  });

  test('24. committed writes survive a SIGKILL at any moment', async () => {
    const file = tmpFile();
    let last = 0;
    for (let round = 0; round < 12; round += 1) {
      const writer = startProcess('writer', file, String(last + 1));
      const enough = last + 1 + Math.floor(Math.random() * 12);
      await new Promise<void>((resolve) => {
        writer.on('message', (number) => {
          last = Number(number);
          if (last >= enough) resolve();
        });
      });
      await kill(writer);
      recoverToRest(file);
      const vfs = openAtRest(file);
      for (let number = 1; number <= last; number += 1)
        expect(text(vfs.get(vfsPath(`/${number}`)))).toBe(`content ${number}`);
      expect(vfs.db.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' });
      vfs.close();
    }
  });

  test('24. a log is replayed although a power loss came before the new header', async () => {
    const file = tmpFile();
    await kill(await holdFile(file, 'live'));
    const asBefore = readFileSync(file);
    asBefore.fill(1, 18, 20);
    writeFileSync(file, asBefore);
    const reader = openBeside(file);
    expect(text(reader.get(vfsPath('/committed')))).toBe('committed');
    reader.close();
    recoverToRest(file);
    const rest = openAtRest(file);
    expect(text(rest.get(vfsPath('/committed')))).toBe('committed');
    rest.close();
  });

  test('24. a log of which a power loss left only the name is ignored', () => {
    const file = tmpFile();
    const vfs = openLive(file, NEW);
    vfs.put(vfsPath('/kept'), bytes('kept'));
    closeToRest(vfs);
    writeFileSync(`${file}-wal`, '');
    writeFileSync(`${file}-shm`, Buffer.alloc(3));
    recoverToRest(file);
    expect(beside(file)).toEqual(['vfs.sqlite']);
    const rest = openAtRest(file);
    expect(text(rest.get(vfsPath('/kept')))).toBe('kept');
    rest.close();
  });

  test('55. a new file has its tables on disk before it has a log', () => {
    const file = tmpFile();
    const vfs = openLive(file, { ...NEW, walLater: true });
    onTestFinished(() => vfs.close());
    expect(beside(file)).toEqual(['vfs.sqlite']);
    expect(writeVersion(file)).toBe(1);
    const alone = join(tmpFolder(), 'alone.sqlite');
    copyFileSync(file, alone);
    const rest = openAtRest(alone);
    expect(rest.db.prepare("SELECT kind FROM vfs_node WHERE volume = ''").get()).toEqual({ kind: 'counter' });
    rest.close();
    vfs.put(vfsPath('/a'), bytes('a'));
    expect(writeVersion(file)).toBe(2);
  });

  test.each(
    [1, 2].flatMap((header) =>
      [null, 0, 32, 4000].flatMap((wal) => [null, 0, 32_768].map((shm) => [header, wal, shm])),
    ),
  )(
    '32. a file whose header says %d, beside a log of %s bytes and an index of %s that hold nothing, is made clean',
    (header, wal, shm) => {
      const file = tmpFile();
      const vfs = liveVfs({ file });
      vfs.put(vfsPath('/a'), bytes('kept'));
      closeToRest(vfs);
      writeFileSync(file, readFileSync(file).fill(header ?? 1, 18, 20));
      if (wal !== null) writeFileSync(`${file}-wal`, Buffer.alloc(wal ?? 0));
      if (shm !== null) writeFileSync(`${file}-shm`, Buffer.alloc(shm ?? 0));
      recoverToRest(file);
      expect(beside(file)).toEqual(['vfs.sqlite']);
      expect(writeVersion(file)).toBe(1);
      const rest = openAtRest(file);
      expect(text(rest.get(vfsPath('/a')))).toBe('kept');
      rest.close();
    },
  );

  test('55. an empty file beside a log is corrupt, and both keep every byte, however it is opened', async () => {
    const file = tmpFile();
    await kill(await holdFile(file, 'live'));
    truncateSync(file, 0);
    const log = readFileSync(`${file}-wal`);
    expect(log.length).toBeGreaterThan(0);
    for (const open of [
      () => recoverToRest(file),
      () => openLive(file, LIVE),
      () => openLive(file, NEW),
      () => openBeside(file),
    ]) {
      expect(codeOf(open)).toBe('corrupt');
    }
    expect(codeOf(() => openAtRest(file))).toBe('conflict');
    expect(statSync(file).size).toBe(0);
    expect(readFileSync(`${file}-wal`).equals(log)).toBe(true);
  });

  test('25. a complete file may be opened without changing a byte until the first write', () => {
    const file = tmpFile();
    const first = liveVfs({ file });
    first.put(vfsPath('/a'), bytes('kept'));
    closeToRest(first);
    const before = readFileSync(file);
    const vfs = openLive(file, { ...LIVE, walLater: true });
    onTestFinished(() => vfs.close());
    expect(text(vfs.get(vfsPath('/a')))).toBe('kept');
    expect(readFileSync(file).equals(before)).toBe(true);
    expect(beside(file)).toEqual(['vfs.sqlite']);
    const overlay = vfs.overlay();
    overlay.put(vfsPath('/b'), bytes('new'));
    expect(writeVersion(file)).toBe(1);
    overlay.commit();
    expect(writeVersion(file)).toBe(2);
    expect(vfs.db.prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'wal' });
    expect(vfs.db.prepare('PRAGMA synchronous').get()).toEqual({ synchronous: 2 });
    expect(text(openedBeside(file).get(vfsPath('/b')))).toBe('new');
  });

  test('25. such a file enters WAL mode on request, and at once when its tmp has to be cleared', () => {
    const file = tmpFile();
    const first = liveVfs({ file });
    first.put(vfsPath('/scratch'), bytes('gone'), 'tmp');
    closeToRest(first);
    const full = openLive(file, { ...LIVE, walLater: true });
    expect(writeVersion(file)).toBe(2);
    expect(full.get(vfsPath('/scratch'), 'tmp')).toBeNull();
    closeToRest(full);
    const empty = openLive(file, { ...LIVE, walLater: true });
    expect(writeVersion(file)).toBe(1);
    empty.prepareToWrite();
    expect(writeVersion(file)).toBe(2);
    closeToRest(empty);
    expect(beside(file)).toEqual(['vfs.sqlite']);
  });

  test('25. such a file that was never written comes to rest unchanged', () => {
    const file = tmpFile();
    closeToRest(liveVfs({ file }));
    const before = readFileSync(file);
    const stamp = statSync(file).mtimeMs;
    closeToRest(openLive(file, { ...LIVE, walLater: true }));
    expect(readFileSync(file).equals(before)).toBe(true);
    expect(statSync(file).mtimeMs).toBe(stamp);
    expect(beside(file)).toEqual(['vfs.sqlite']);
  });

  test('31. a first write waits for an earlier reader instead of failing', async () => {
    const file = tmpFile();
    closeToRest(liveVfs({ file }));
    const vfs = openLive(file, { ...LIVE, walLater: true });
    onTestFinished(() => vfs.close());
    const reader = await holdFile(file, 'reading');
    const started = performance.now();
    spawn('sh', ['-c', `sleep 0.5; kill -9 ${reader.pid}`], { stdio: 'ignore' });
    vfs.put(vfsPath('/a'), bytes('written'));
    expect(performance.now() - started).toBeGreaterThan(400);
    expect(text(openedBeside(file).get(vfsPath('/a')))).toBe('written');
  });

  test('25. opening clears tmp and nothing else; a file at rest keeps its tmp', () => {
    const file = tmpFile();
    const first = liveVfs({ file });
    for (const volume of VOLUMES) first.put(vfsPath('/note'), bytes(volume), volume);
    first.mkdir(vfsPath('/dir'), 'tmp');
    first.link(vfsPath('/link'), 'x', 'tmp');
    closeToRest(first);
    const rest = openAtRest(file);
    expect(VOLUMES.map((volume) => text(rest.get(vfsPath('/note'), volume)))).toEqual(['workspace', 'memory', 'tmp']);
    rest.close();
    const second = liveVfs({ file, mustExist: true });
    expect(VOLUMES.map((volume) => text(second.get(vfsPath('/note'), volume)))).toEqual(['workspace', 'memory', null]);
    expect(second.readdir(vfsPath('/'), 'tmp')).toEqual([]);
  });

  test('25. with both tables there and tmp empty, opening writes no row', () => {
    const file = tmpFile();
    const first = liveVfs({ file });
    first.put(vfsPath('/a'), bytes('a'));
    closeToRest(first);
    liveVfs({ file, mustExist: true });
    expect(statSync(`${file}-wal`).size).toBe(0);
  });

  test('25. paths with a meaning to SQLite or in URLs are plain names', () => {
    const folder = join(tmpFolder(), 'a b?mode=memory#x%41&cache=shared');
    mkdirSync(folder);
    const file = join(folder, 'vfs 100%.sqlite');
    const vfs = openLive(file, NEW);
    vfs.put(vfsPath('/a'), bytes('here'));
    closeToRest(vfs);
    expect(readdirSync(folder)).toEqual(['vfs 100%.sqlite']);
    const rest = openAtRest(file);
    expect(text(rest.get(vfsPath('/a')))).toBe('here');
    rest.close();
  });
});

describe('refusing to open', () => {
  test('26. a missing file is missing_file, and none is created', () => {
    const file = tmpFile();
    for (const open of [
      () => openLive(file, LIVE),
      () => openAtRest(file),
      () => openBeside(file),
      () => recoverToRest(file),
    ]) {
      expect(codeOf(open)).toBe('missing_file');
    }
    expect(beside(file)).toEqual([]);
  });

  const damages: [name: string, damage: (file: string) => void][] = [
    ['empty', (file) => truncateSync(file, 0)],
    ['no database', (file) => writeFileSync(file, 'x'.repeat(8192))],
    ['cut in its first page', (file) => truncateSync(file, 1000)],
    ['overwritten in its schema', (file) => writeFileSync(file, readFileSync(file).fill(0xee, 100, 4096))],
    [
      'a database of another kind',
      (file) => {
        writeFileSync(file, '');
        const db = otherTool(file);
        db.exec('CREATE TABLE users (name)');
        db.close();
      },
    ],
  ];

  test.each(damages)('26. a file that is %s is corrupt and stays unchanged', (_, damage) => {
    const file = tmpFile();
    closeToRest(openLive(file, NEW));
    damage(file);
    const before = readFileSync(file);
    for (const open of [() => openLive(file, LIVE), () => openAtRest(file), () => openBeside(file)]) {
      expect(codeOf(open)).toBe('corrupt');
    }
    expect(readFileSync(file).equals(before)).toBe(true);
    expect(beside(file)).toEqual(['vfs.sqlite']);
  });

  test('26. damage in the middle is corrupt when it is read', () => {
    const file = tmpFile();
    const vfs = openLive(file, NEW);
    for (let index = 0; index < 200; index += 1) vfs.put(vfsPath(`/${index}`), bytes('y'.repeat(2000)));
    closeToRest(vfs);
    const damaged = readFileSync(file);
    for (let page = 8; page < 40; page += 1) damaged.fill(0xff, page * 4096, page * 4096 + 64);
    writeFileSync(file, damaged);
    const rest = openAtRest(file);
    expect(codeOf(() => rest.list('workspace', { limit: 1000 }))).toBe('corrupt');
    rest.close();
  });

  test.each([
    ['a trigger on vfs', 'CREATE TRIGGER t AFTER INSERT ON vfs BEGIN DELETE FROM vfs; END'],
    ['a trigger on the second table', 'CREATE TRIGGER t AFTER INSERT ON vfs_node BEGIN DELETE FROM vfs; END'],
    [
      'a trigger on another table',
      'CREATE TABLE other (x); CREATE TRIGGER t AFTER INSERT ON other BEGIN DELETE FROM vfs; END',
    ],
    ['a view', 'CREATE VIEW v AS SELECT 1'],
    ['a view in the place of vfs', 'ALTER TABLE vfs RENAME TO real; CREATE VIEW vfs AS SELECT * FROM real'],
    ['an index on an expression', 'CREATE INDEX i ON vfs (abs(mtime))'],
    [
      'a check',
      'DROP TABLE vfs; CREATE TABLE vfs (volume TEXT NOT NULL, path TEXT NOT NULL, content BLOB, mtime INTEGER CHECK (mtime < 5), PRIMARY KEY(volume, path))',
    ],
    ['a generated column', 'ALTER TABLE vfs ADD COLUMN more AS (length(content))'],
    ['another second table', 'DROP TABLE vfs_node; CREATE TABLE vfs_node (volume, path)'],
    ['one table of real programs', 'CREATE TABLE native_chunk (id INTEGER PRIMARY KEY, data BLOB NOT NULL)'],
    ['the view of real programs without their tables', 'CREATE VIEW native_only AS SELECT 1 AS native'],
  ])('27. a file with %s is corrupt, and nothing of it runs', (_, sql) => {
    const file = tmpFile();
    const vfs = openLive(file, NEW);
    vfs.put(vfsPath('/a'), bytes('a'));
    closeToRest(vfs);
    const db = otherTool(file);
    db.exec(sql);
    db.close();
    const before = readFileSync(file);
    expect(codeOf(() => openLive(file, LIVE))).toBe('corrupt');
    expect(codeOf(() => openAtRest(file))).toBe('corrupt');
    expect(readFileSync(file).equals(before)).toBe(true);
  });

  test('27. a file with the tables of real programs is opened, and with their view it is read and not written', () => {
    const file = tmpFile();
    const native = openNativeFile(file, { maxBytes: MIB, mustExist: false });
    native.close();
    const vfs = openLive(file, LIVE);
    vfs.put(vfsPath('/a'), bytes('a'));
    closeToRest(vfs);
    const db = otherTool(file);
    db.exec('CREATE VIEW native_only AS SELECT 1 AS native');
    const before = readFileSync(file);
    expect(codeOf(() => openLive(file, LIVE))).toBe('conflict');
    const reading = openAtRest(file);
    expect(text(reading.get(vfsPath('/a')))).toBe('a');
    reading.close();
    expect(readFileSync(file).equals(before)).toBe(true);
    // What it runs would be another thing.
    db.exec('DROP VIEW native_only; CREATE VIEW native_only AS SELECT 2 AS native');
    db.close();
    expect(codeOf(() => openAtRest(file))).toBe('corrupt');
  });

  test('27. a file whose text is UTF-16 is corrupt', () => {
    const file = tmpFile();
    const db = otherTool(file);
    db.exec(`PRAGMA encoding = 'UTF-16le'; ${SEED_TABLE}`);
    db.close();
    expect(codeOf(() => openLive(file, LIVE))).toBe('corrupt');
    expect(codeOf(() => openAtRest(file))).toBe('corrupt');
  });

  test('27. tables of other tools are left alone', () => {
    const file = tmpFile();
    closeToRest(openLive(file, NEW));
    const db = otherTool(file);
    db.exec('CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER)');
    db.close();
    expect(codeOf(() => closeToRest(openLive(file, LIVE)))).toBeUndefined();
  });
});
