import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Statements } from '../../vfs/statements.ts';
import { OpenedFile } from '../testing/opened.ts';
import { Random } from '../testing/random.ts';
import { EIO, ENOSPC, EOPNOTSUPP, EPERM, EXDEV, RequestRefused } from './errno.ts';
import { S_IFREG } from './inode.ts';

const MIB = 1024 * 1024;
const { run } = Statements.prototype;

let at: OpenedFile;

beforeEach(() => {
  at = new OpenedFile().open();
});

afterEach(() => {
  Statements.prototype.run = run;
  at.remove();
});

/** The number of the error that a request ends with; 0 for none. */
function errnoOf(work: () => unknown): number {
  try {
    work();
    return 0;
  } catch (error) {
    if (error instanceof RequestRefused) return error.errno;
    throw error;
  }
}

test('4. opening reads the rows of one directory, however many there are in others', () => {
  at.native.close();
  at.with((db) => {
    db.exec('BEGIN');
    const insert = db.prepare("INSERT INTO vfs VALUES ('workspace', ?, x'61', 1000000000)");
    for (let count = 0; count < 20_000; count += 1) insert.run(`/d${count % 10}/${count}`);
    db.exec('COMMIT');
  });
  let rows = 0;
  const { all, get } = Statements.prototype;
  Statements.prototype.all = function <T>(sql: string, ...values: never[]): T[] {
    const found = all.call(this, sql, ...values) as T[];
    rows += found.length;
    return found;
  };
  Statements.prototype.get = function <T>(sql: string, ...values: never[]): T | undefined {
    rows += 1;
    return get.call(this, sql, ...values) as T | undefined;
  };
  try {
    at.open();
    expect(at.text('workspace/d3/13')).toBe('a');
    expect(rows).toBeLessThan(5000);
    expect(at.names('workspace')).toHaveLength(10);
    expect(rows).toBeLessThan(12_000);
    expect(at.names('workspace/d3')).toHaveLength(2000);
  } finally {
    Object.assign(Statements.prototype, { all, get });
  }
});

test('8. devices and attributes that mean something to a kernel are refused', () => {
  expect(errnoOf(() => at.make('workspace/null', 0o020000, 0o666))).toBe(EPERM);
  expect(errnoOf(() => at.make('workspace/disk', 0o060000, 0o666))).toBe(EPERM);
  const { ino } = at.write('workspace/a', '');
  for (const name of ['security.capability', 'trusted.a', 'system.posix_acl_access', 'user.'])
    expect(errnoOf(() => at.native.names.setAttribute(ino, Buffer.from(name), Buffer.from('x'), 0))).toBe(EOPNOTSUPP);
});

test('9. no entry leaves its volume, tmp is empty when the file is opened, and nothing is made beside the volumes', () => {
  at.write('workspace/a', 'a');
  at.mkdir('tmp/d');
  at.write('tmp/d/a', 'a');
  at.write('memory/a', 'm');
  expect(errnoOf(() => at.rename('workspace/a', 'tmp/b'))).toBe(EXDEV);
  expect(errnoOf(() => at.link('workspace/a', 'memory/b'))).toBe(EXDEV);
  expect(errnoOf(() => at.native.names.create(1, Buffer.from('etc'), S_IFREG, 0o644))).toBe(EPERM);
  expect(errnoOf(() => at.native.names.rmdir(1, Buffer.from('tmp')))).toBe(EPERM);
  at.native.commit();
  for (const end of ['kill', 'rest'] as const) {
    at[end]();
    expect(at.names('tmp')).toEqual([]);
    expect([at.text('workspace/a'), at.text('memory/a')]).toEqual(['a', 'm']);
    at.write('tmp/b', 'b');
    at.native.commit();
  }
  at.native.abandon();
  at.open({ keepsTmp: true });
  expect(at.names('tmp')).toEqual(['b']);
});

test('10. what does not fit at rest is ENOSPC, and removing makes room', () => {
  at.native.close();
  const maxBytes = 4 * MIB;
  at.open({ maxBytes });
  at.write('workspace/a', Buffer.alloc(MIB));
  expect(errnoOf(() => at.truncate('workspace/a', 5 * MIB))).toBe(ENOSPC);
  at.link('workspace/a', 'workspace/b');
  at.link('workspace/a', 'workspace/c');
  expect(errnoOf(() => at.link('workspace/a', 'workspace/d'))).toBe(ENOSPC);
  // Each of its names would grow.
  expect(errnoOf(() => at.write('workspace/a', Buffer.alloc(MIB), MIB))).toBe(ENOSPC);
  at.unlink('workspace/b');
  at.unlink('workspace/c');
  at.write('workspace/a', Buffer.alloc(MIB), MIB);
  const { free } = at.native.names.room;
  expect(errnoOf(() => at.native.bytes.allocate(at.get('workspace/a').ino, 2 * MIB, free + 1, 0))).toBe(ENOSPC);
});

test('10. a file without a name counts as long as it is in use', () => {
  at.native.close();
  at.open({ maxBytes: 4 * MIB });
  const inode = at.write('workspace/a', Buffer.alloc(2 * MIB));
  at.native.names.remember(inode);
  at.unlink('workspace/a');
  expect(errnoOf(() => at.write('workspace/b', Buffer.alloc(3 * MIB)))).toBe(ENOSPC);
  expect(errnoOf(() => at.native.bytes.write(inode.ino, 2 * MIB, Buffer.alloc(3 * MIB), false))).toBe(ENOSPC);
  at.native.names.forget(inode.ino, 1);
  at.write('workspace/b', Buffer.alloc(3 * MIB));
});

test.each([1, 2, 3])(
  '10. whatever fits is within the quota at rest, with many small files and large ones (%i)',
  (seed) => {
    const random = new Random(seed);
    at.native.close();
    const maxBytes = 6 * MIB;
    const number = (name: string) =>
      at.with((db) => Number(Object.values(db.prepare(`PRAGMA ${name}`).get() ?? {})[0]));
    for (let round = 0; round < 3; round += 1) {
      at.open({ maxBytes });
      for (let full = 0; full < 20; ) {
        const size = random.oneOf([0, 10, 700, 1300, 2100, 3900, 4100, 9000, 70_000]);
        const path = `workspace/${'n'.repeat(1 + random.below(200))}${random.below(4000)}`;
        if (errnoOf(() => at.write(path, random.bytes(size))) === ENOSPC) full += 1;
      }
      // Makes room for the next round among what rests.
      for (const name of at.names('workspace')) if (random.below(3) === 0) at.unlink(`workspace/${name}`);
      for (let full = 0; full < 20; ) {
        if (errnoOf(() => at.write(`workspace/more${random.below(9000)}`, random.bytes(1300))) === ENOSPC) full += 1;
      }
      at.native.close();
      const used = (number('page_count') - number('freelist_count')) * number('page_size');
      expect(used).toBeLessThanOrEqual(maxBytes);
      expect(used).toBeGreaterThan(maxBytes / 4);
    }
  },
);

test('11. a commit is everything so far, and what came later is gone after a kill', () => {
  at.write('workspace/a', 'one');
  at.native.commit();
  at.write('workspace/a', 'two');
  at.write('workspace/b', 'b');
  at.kill();
  expect([at.text('workspace/a'), at.names('workspace')]).toEqual(['one', ['a']]);
  at.rename('workspace/a', 'workspace/c');
  at.write('workspace/a', 'new');
  at.native.commit();
  at.kill();
  expect([at.text('workspace/a'), at.text('workspace/c')]).toEqual(['new', 'one']);
});

test('12. after a kill a file without a name is gone, with its bytes', () => {
  const inode = at.write('workspace/a', Buffer.alloc(MIB, 1));
  at.native.commit();
  at.native.names.remember(inode);
  at.unlink('workspace/a');
  at.native.commit();
  at.kill();
  at.native.close();
  const counts = at.with((db) =>
    db.prepare('SELECT (SELECT count(*) FROM vfs) AS rows, (SELECT count(*) FROM native_chunk) AS chunks').get(),
  );
  expect(counts).toEqual({ rows: 0, chunks: 0 });
});

test('15. after an error of the disk nothing more is done or committed until the file is opened again', () => {
  at.write('workspace/a', 'a');
  at.native.commit();
  at.write('workspace/a', 'b');
  Statements.prototype.run = function (sql, ...values) {
    if (sql === 'COMMIT') throw new Error('disk I/O error');
    return run.call(this, sql, ...values);
  };
  expect(() => at.native.commit()).toThrow('disk I/O error');
  Statements.prototype.run = run;
  expect(errnoOf(() => at.write('workspace/b', 'b'))).toBe(EIO);
  expect(() => at.native.commit()).toThrow('disk I/O error');
  expect(() => at.native.close()).toThrow('disk I/O error');
  at.open();
  expect([at.names('workspace'), at.text('workspace/a')]).toEqual([['a'], 'a']);
});

test.each([
  ['an index', 'CREATE INDEX native_more ON native_link (version)'],
  ['a trigger', 'CREATE TRIGGER native_more AFTER INSERT ON native_link BEGIN DELETE FROM vfs; END'],
  ['another view', 'CREATE VIEW native_only AS SELECT 2 AS native'],
  ['a column', 'ALTER TABLE native_inode ADD COLUMN more'],
])('16. a file with %s more on these tables is corrupt, and not changed', (_, sql) => {
  at.write('workspace/a', 'a');
  at.native.close();
  at.with((db) => db.exec(sql));
  const before = readFileSync(at.file);
  expect(() => at.open()).toThrow('damaged');
  expect(readFileSync(at.file).equals(before)).toBe(true);
});
