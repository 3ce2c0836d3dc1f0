import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { answerRead, answerScoped } from '../../vfs/answer.ts';
import { copyVfs } from '../../vfs/copy.ts';
import { openAtRest, openBeside, openLive } from '../../vfs/open.ts';
import { parseVfsPath } from '../../vfs/paths.ts';
import { salvageVfs } from '../../vfs/salvage.ts';
import type { ReadRequest } from '../../vfs/types.ts';
import type { Vfs } from '../../vfs/vfs.ts';
import { VOLUMES } from '../../vfs/volumes.ts';
import { OpenedFile } from '../testing/opened.ts';
import { Random } from '../testing/random.ts';
import { S_IFIFO } from './inode.ts';
import { restKilledFile } from './rest-file.ts';

const MIB = 1024 * 1024;
let at: OpenedFile;
beforeEach(() => {
  at = new OpenedFile().open();
});
afterEach(() => at.remove());

/** Everything that a reader gives of a file, but for versions. */
function shown(vfs: Vfs): unknown[] {
  return VOLUMES.flatMap((volume) => {
    const seen: unknown[] = [];
    const visit = (path: string) => {
      for (const entry of vfs.readdir(parseVfsPath(path), volume)) {
        const { kind, size, mode, mtime, target } = entry;
        const content = kind === 'file' ? vfs.get(parseVfsPath(entry.path), volume) : null;
        seen.push([
          volume,
          entry.path,
          kind,
          size,
          mode,
          mtime,
          target,
          content && Buffer.from(content).toString('latin1'),
        ]);
        if (kind === 'dir') visit(entry.path);
      }
    };
    visit('/');
    const list = vfs.list(volume, { limit: 10_000 }).files.map(({ path, size, mtime }) => [path, size, mtime]);
    return [...seen, list, vfs.directories(volume, { limit: 10_000 }).paths];
  });
}

function reading<T>(open: (file: string) => Vfs, read: (vfs: Vfs) => T): T {
  const vfs = open(at.file);
  try {
    return read(vfs);
  } finally {
    vfs.close();
  }
}

/** What is asked for one path alone is what a listing of everything gives. */
function requireScoped(): void {
  reading(openBeside, (vfs) => {
    const requests = VOLUMES.flatMap((volume) => {
      const folders = ['/', ...vfs.directories(volume, { limit: 1000 }).paths].map(parseVfsPath);
      const files = vfs.list(volume, { limit: 1000 }).files.map(({ path }) => parseVfsPath(path));
      return [
        ...folders.map((path) => ({ op: 'folder', volume, path, limit: 1000 }) as const),
        ...files.map((path) => ({ op: 'get', volume, path }) as const),
      ];
    });
    for (const request of requests) {
      const scoped = answerScoped((scope) => openBeside(at.file, { scope }), request);
      expect([request, scoped]).toEqual([request, answerRead(vfs, request)]);
    }
  });
}

const ask = (request: ReadRequest, open = openBeside) => reading(open, (vfs) => answerRead(vfs, request));

test('24. a reader beside an awake file sees the last commit: what it was, was renamed, grew, and nothing later', () => {
  at.mkdir('workspace/d');
  at.write('workspace/d/a', 'a'.repeat(100_000));
  at.write('workspace/b', 'b');
  at.rest();
  at.rename('workspace/d', 'workspace/moved');
  at.write('workspace/moved/a', 'X', 70_000);
  at.symlink('workspace/l', 'moved/a');
  at.make('workspace/fifo', S_IFIFO, 0o600);
  at.native.commit();
  at.write('workspace/later', 'x');
  at.unlink('workspace/b');
  expect(ask({ op: 'list', volume: 'workspace', limit: 10 })).toMatchObject({
    files: [
      { path: '/b', size: 1 },
      { path: '/moved/a', size: 100_000 },
    ],
  });
  const path = parseVfsPath('/l');
  const found = ask({ op: 'get', volume: 'workspace', path, range: { start: 69_999, end: 70_001 } });
  expect(found).toMatchObject({ stat: { size: 100_000 } });
  expect(found.op === 'get' && Buffer.from(found.content ?? []).toString()).toBe('aXa');
  expect(ask({ op: 'search', text: 'Xaa', in: 'content', limit: 5 })).toMatchObject({
    hits: [{ volume: 'workspace', path: '/moved/a', line: 1 }],
  });
  expect(ask({ op: 'volumes' })).toMatchObject({ volumes: [{ files: 2, bytes: 100_001 }, { files: 0 }, { files: 0 }] });
  expect(ask({ op: 'folder', volume: 'workspace', path: parseVfsPath('/'), limit: 9 })).toMatchObject({
    items: [
      { name: 'moved', kind: 'dir' },
      { name: 'b', kind: 'file' },
      { name: 'l', kind: 'link' },
    ],
  });
  expect(
    ask({ op: 'query', sql: "SELECT path, length(content) AS n FROM vfs WHERE path LIKE '/moved%'" }),
  ).toMatchObject({
    rows: [['/moved/a', 100_000]],
  });
});

test('24. SQL over an awake file reaches what the file is now, and none of the tables behind it', () => {
  at.write('workspace/a', 'before');
  at.rest();
  at.write('workspace/a', 'after!');
  at.native.commit();
  expect(ask({ op: 'query', sql: 'SELECT content FROM vfs' })).toMatchObject({ rows: [['after!']] });
  for (const table of ['main.vfs', 'native_chunk', 'native_inode', 'native_link', 'vfs_node', 'native_entry'])
    expect(() => ask({ op: 'query', sql: `SELECT * FROM ${table}` })).toThrow(
      expect.objectContaining({ code: 'validation' }),
    );
});

test('24. what a random program left is read beside it as it is at rest after it', () => {
  const random = new Random(7);
  const paths = ['a', 'b', 'd', 'd/a', 'd/b', 'd/e', 'd/e/a', 'f', 'f/a', 'f/g', 'f/g/h'].map(
    (path) => `workspace/${path}`,
  );
  const sizes = [0, 1, 5000, 65_536, 70_000, 200_000];
  const one = () => random.oneOf(paths);
  const there = () => paths.find((path) => at.find(path) !== null && random.below(3) === 0) ?? null;
  const grow = (path: string | null, size: number) => path === null || at.truncate(path, size);
  const chmod = (ino: number) => at.native.request(() => at.native.bytes.setAttributes(ino, { mode: 0o700 }));
  const steps: (() => void)[] = [
    () => at.write(one(), random.bytes(random.oneOf(sizes)), random.oneOf([0, 0, 100, 65_000])),
    () => at.write(one(), 'memo'),
    () => grow(there(), random.oneOf(sizes)),
    () => at.mkdir(one()),
    () => at.rename(one(), one()),
    () => at.rename(one(), one()),
    () => at.link(one(), one()),
    () => at.unlink(one()),
    () => at.rmdir(one()),
    () => at.symlink(one(), 'a'),
    () => void at.names(one()),
    () => chmod(at.get(one()).ino),
  ];
  let done = 0;
  for (let round = 0; round < 41; round += 1) {
    for (let step = 0; step < 24; step += 1) {
      try {
        random.oneOf(steps)();
        done += 1;
      } catch {
        // What cannot be done has changed nothing.
      }
      at.clock.advance(1);
    }
    at.native.commit();
    const beside = reading(openBeside, shown);
    if (round % 8 === 0) requireScoped();
    at.native.close();
    expect([round, beside]).toEqual([round, reading(openAtRest, shown)]);
    at.clock.advance(10);
    at.open();
  }
  expect(done).toBeGreaterThan(200);
});

test('23. a file above 64 MiB is read at rest: its size, its parts, its hash, its names, and by who looks for text', () => {
  at.mkdir('workspace/d');
  at.write('workspace/d/large', 'begin');
  at.truncate('workspace/d/large', 65 * MIB);
  at.write('workspace/d/large', 'end', 65 * MIB);
  at.link('workspace/d/large', 'workspace/twin');
  at.write('workspace/small', 'needle');
  at.native.close();
  const size = 65 * MIB + 3;
  expect(ask({ op: 'list', volume: 'workspace', limit: 10 }, openAtRest)).toMatchObject({
    files: [{ path: '/d/large', size }, { path: '/small' }, { path: '/twin', size }],
  });
  for (const path of ['/d/large', '/twin']) {
    const range = { start: size - 4, end: size + 10 };
    const got = ask({ op: 'get', volume: 'workspace', path: parseVfsPath(path), range }, openAtRest);
    expect(got.op === 'get' && Buffer.from(got.content ?? []).toString('latin1')).toBe('\0end');
  }
  expect(ask({ op: 'volumes' }, openAtRest)).toMatchObject({ volumes: [{ files: 3, bytes: 2 * size + 6 }, {}, {}] });
  expect(ask({ op: 'search', text: 'needle', in: 'content', limit: 5 }, openAtRest)).toMatchObject({
    hits: [{ path: '/small' }],
    truncated: true,
  });
  const names = { op: 'query', sql: 'SELECT path FROM vfs WHERE length(path) < 7 ORDER BY path' } as const;
  expect(ask(names, openAtRest)).toMatchObject({ rows: [['/small'], ['/twin']] });
  // What would take all of it into memory is refused with its size.
  const path = parseVfsPath('/twin');
  for (const whole of [
    { op: 'query', sql: 'SELECT length(content) FROM vfs' },
    { op: 'get', volume: 'workspace', path },
  ] as const)
    expect(() => ask(whole, openAtRest)).toThrow(`A file of ${size} bytes can only be read in parts`);
});

test('25. a copy of an awake file is a file of the usual tables, which every profile opens', async () => {
  at.mkdir('workspace/d');
  at.write('workspace/d/a', 'one');
  at.rest();
  at.rename('workspace/d', 'workspace/e');
  at.write('workspace/e/a', 'two', 3);
  at.link('workspace/e/a', 'workspace/twin');
  at.write('memory/m', 'kept out');
  at.native.commit();
  const copy = join(at.folder, 'copy.sqlite');
  const made = await copyVfs({ path: at.file, mode: 'live' }, copy, ['workspace']);
  expect(made.volumes).toMatchObject([{ files: 2, bytes: 12 }, { files: 0, bytes: 0 }, {}]);
  expect(readFileSync(copy).includes('kept out')).toBe(false);
  const db = new DatabaseSync(copy, { readOnly: true });
  const names = db.prepare("SELECT name FROM sqlite_schema WHERE name LIKE 'native%'").all();
  db.close();
  expect(names).toEqual([]);
  const vfs = openLive(copy, { maxBytes: 64 * MIB, maxFileBytes: MIB, mustExist: true });
  expect(['/e/a', '/twin'].map((path) => Buffer.from(vfs.get(parseVfsPath(path)) ?? []).toString())).toEqual([
    'onetwo',
    'onetwo',
  ]);
  vfs.close();
  const again = join(at.folder, 'again.sqlite');
  expect((await copyVfs({ path: at.file, mode: 'live' }, again, ['workspace'])).sha256).toBe(made.sha256);
});

test('25. a copy keeps the chunks of a large file, is read as its source is, and goes on where there are real programs', async () => {
  at.mkdir('workspace/d');
  at.write('workspace/d/large', 'begin');
  at.truncate('workspace/d/large', 65 * MIB);
  at.write('workspace/d/large', 'end', 65 * MIB);
  at.write('workspace/small', 'small');
  at.native.close();
  const copy = join(at.folder, 'copy.sqlite');
  await copyVfs({ path: at.file, mode: 'rest' }, copy, ['workspace', 'memory'], { strict: true });
  const tail = (file: string) => {
    const vfs = openAtRest(file);
    try {
      return Buffer.from(vfs.slice(parseVfsPath('/d/large'), 'workspace', 65 * MIB - 1, 65 * MIB + 9) ?? []).toString();
    } finally {
      vfs.close();
    }
  };
  expect(tail(copy)).toBe('\0end');
  const second = join(at.folder, 'second.sqlite');
  await copyVfs({ path: copy, mode: 'rest' }, second, ['workspace', 'memory'], { strict: true });
  expect(tail(second)).toBe('\0end');
  expect(() => openLive(copy, { maxBytes: 512 * MIB, maxFileBytes: MIB, mustExist: true })).toThrow(
    expect.objectContaining({ code: 'conflict' }),
  );
  const other = new OpenedFile();
  try {
    await copyVfs({ path: copy, mode: 'rest' }, other.file, ['workspace']);
    other.open();
    other.rename('workspace/d', 'workspace/e');
    other.rest();
    const bytes = other.read('workspace/e/large');
    expect([bytes.length, bytes.toString('latin1', 0, 5), bytes.toString('latin1', 65 * MIB)]).toEqual([
      ...[65 * MIB + 3, 'begin', 'end'],
    ]);
    other.unlink('workspace/e/large');
    other.native.close();
    expect(other.with((db) => db.prepare('SELECT count(*) AS n FROM native_chunk').get())).toEqual({ n: 0 });
  } finally {
    other.remove();
  }
});

test('26. what a killed process left awake is put to rest as its log is taken up, and tmp stays', () => {
  at.mkdir('workspace/d');
  at.write('workspace/d/a', 'one');
  at.rest();
  at.rename('workspace/d', 'workspace/e');
  at.write('tmp/t', 'temporary');
  at.write('workspace/e/a', 'two', 3);
  at.native.commit();
  at.native.abandon();
  expect(() => openLive(at.file, { maxBytes: MIB, maxFileBytes: MIB, mustExist: true })).toThrow('real programs');
  const identity = restKilledFile(at.file);
  expect(identity).toMatch(/^[0-9a-f]{32}$/);
  expect(existsSync(`${at.file}-wal`)).toBe(false);
  const vfs = openLive(at.file, { maxBytes: 64 * MIB, maxFileBytes: MIB, mustExist: true, joins: true });
  expect(Buffer.from(vfs.get(parseVfsPath('/e/a')) ?? []).toString()).toBe('onetwo');
  expect(Buffer.from(vfs.get(parseVfsPath('/t'), 'tmp') ?? []).toString()).toBe('temporary');
  vfs.close();
  at.open();
});

test.each([
  [
    'a circle of folders',
    "INSERT INTO native_link VALUES (900, 17, x'63', 16, x'2d', 0), (901, 16, x'63', 17, x'2d', 0)",
  ],
  ['an inode of a size that no file has', 'UPDATE native_inode SET size = -5 WHERE ino > 15'],
  ['an inode of no kind', 'UPDATE native_inode SET kind = 7 WHERE ino > 15'],
  ['no state', 'DELETE FROM native_state'],
])('24. a file with %s is corrupt for every reader', (_, sql) => {
  at.mkdir('workspace/d');
  at.mkdir('workspace/d/e');
  at.write('workspace/d/e/a', 'a');
  at.native.commit();
  at.native.abandon();
  at.with((db) => db.exec(sql));
  for (const open of [openBeside])
    expect(() => ask({ op: 'volumes' }, open)).toThrow(expect.objectContaining({ code: 'corrupt' }));
});

test('26. a salvage has what real programs changed last, and names a file that no row can hold', async () => {
  at.write('workspace/a', 'before');
  at.write('workspace/large', 'x');
  at.truncate('workspace/large', 65 * MIB);
  at.rest();
  at.write('workspace/a', 'after!');
  at.native.commit();
  at.native.abandon();
  const copies = ['', '-wal', '-shm'].filter((end) => existsSync(at.file + end));
  const [source, target] = [join(at.folder, 'source.sqlite'), join(at.folder, 'target.sqlite')];
  for (const end of copies) copyFileSync(at.file + end, source + end);
  const limits = { maxBytes: 64 * MIB, maxFileBytes: 8 * MIB, identity: null };
  const saved = await salvageVfs(source, target, { ...limits, withLog: true });
  expect(saved).toMatchObject({ recovered: 1, recoveredBytes: 6, lostCount: 1 });
  expect(saved.lost[0]).toMatchObject({ path: '/large', why: expect.stringContaining('real programs') });
  const vfs = openAtRest(target);
  expect(Buffer.from(vfs.get(parseVfsPath('/a')) ?? []).toString()).toBe('after!');
  vfs.close();
  // Damaged so that nothing of it can be put to rest: what is there may be older, and that is said.
  for (const end of copies) copyFileSync(at.file + end, source + end);
  const other = new DatabaseSync(source);
  other.exec('PRAGMA wal_checkpoint(TRUNCATE); DELETE FROM native_link');
  const root = Number(other.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'native_link'").get()?.rootpage);
  other.close();
  const bytes = readFileSync(source);
  writeFileSync(source, bytes.fill(0x55, (root - 1) * 4096, root * 4096));
  const worse = await salvageVfs(source, join(at.folder, 'worse.sqlite'), { ...limits, withLog: false });
  expect(worse.lost.map(({ why }) => why).join()).toContain('may be as they were before');
  at.open();
});
