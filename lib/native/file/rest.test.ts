import { afterEach, beforeEach, expect, test } from 'vitest';
import { closeToRest, openAtRest, openLive } from '../../vfs/open.ts';
import { parseVfsPath } from '../../vfs/paths.ts';
import { Statements } from '../../vfs/statements.ts';
import { OpenedFile } from '../testing/opened.ts';
import { S_IFIFO, S_IFSOCK } from './inode.ts';

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

/** The seed's table, as a tool sees it that knows nothing else. */
const seedRows = () =>
  at.with((db) =>
    db
      .prepare('SELECT volume, CAST(path AS BLOB) AS path, content, mtime FROM vfs ORDER BY volume, path')
      .all()
      .map(({ volume, path, content, mtime }) => [
        `${volume}:${Buffer.from(path as Uint8Array).toString('latin1')}`,
        Buffer.from((content as Uint8Array | null) ?? [])
          .toString('latin1')
          .slice(0, 40),
        Number(mtime),
      ]),
  );

test('1. while it is awake, and after a kill, the file declares the view, and who writes the seed’s tables is refused', () => {
  at.write('workspace/a', 'x');
  at.native.commit();
  at.native.abandon();
  const views = () => at.with((db) => db.prepare("SELECT name FROM sqlite_schema WHERE type = 'view'").all());
  expect(views()).toEqual([{ name: 'native_only' }]);
  const limits = { maxBytes: MIB, maxFileBytes: MIB, mustExist: true };
  expect(() => openLive(at.file, limits)).toThrow(expect.objectContaining({ code: 'conflict' }));
  at.open();
  expect(at.text('workspace/a')).toBe('x');
  at.native.close();
  expect(views()).toEqual([]);
  const vfs = openLive(at.file, limits);
  expect(vfs.stat(parseVfsPath('/a'))?.size).toBe(1);
  vfs.close();
});

test('2. at rest the seed’s table has every file, and the VFS reads them with their modes, directories and links', () => {
  at.mkdir('workspace/d');
  at.write('workspace/d/a', 'one');
  at.write('memory/a', 'two');
  at.symlink('workspace/l', 'd/a');
  at.mkdir('workspace/empty');
  at.native.request(() => at.native.bytes.setAttributes(at.get('workspace/d/a').ino, { mode: 0o751 }));
  at.write('workspace/none', '');
  const seconds = Math.floor(at.clock.now() / 1000);
  at.native.close();
  expect(seedRows()).toEqual([
    ['memory:/a', 'two', seconds],
    ['workspace:/d/a', 'one', seconds],
    ['workspace:/none', '', seconds],
  ]);
  const vfs = openAtRest(at.file);
  expect(vfs.entry(parseVfsPath('/d/a'))).toMatchObject({ size: 3, mode: 0o751 });
  expect(vfs.readdir(parseVfsPath('/')).map(({ path, kind }) => `${kind} ${path}`)).toEqual([
    'dir /d',
    'dir /empty',
    'link /l',
    'file /none',
  ]);
  vfs.close();
});

test('2. what was changed, renamed, swapped and removed rests as it was last', () => {
  for (const name of ['a', 'b', 'c', 'gone']) at.write(`workspace/${name}`, name);
  at.mkdir('workspace/d');
  at.mkdir('workspace/d/e');
  for (const name of ['f', 'g']) at.write(`workspace/d/e/${name}`, name);
  at.rest();
  // Each gets the path of another.
  at.rename('workspace/a', 'workspace/t');
  at.rename('workspace/b', 'workspace/a');
  at.rename('workspace/t', 'workspace/b');
  at.unlink('workspace/gone');
  at.mkdir('workspace/gone');
  at.write('workspace/gone/in', 'in');
  at.rename('workspace/d', 'workspace/moved');
  at.write('workspace/d', 'a file');
  at.unlink('workspace/moved/e/g');
  at.write('workspace/c', 'more', 1);
  at.native.close();
  expect(seedRows().map((row) => row.slice(0, 2))).toEqual([
    ['workspace:/a', 'b'],
    ['workspace:/b', 'a'],
    ['workspace:/c', 'cmore'],
    ['workspace:/d', 'a file'],
    ['workspace:/gone/in', 'in'],
    ['workspace:/moved/e/f', 'f'],
  ]);
  at.open();
  expect(at.names('workspace')).toEqual(['a', 'b', 'c', 'd', 'gone', 'moved']);
  expect(at.names('workspace/moved/e')).toEqual(['f']);
});

test('3. a file above 64 MiB rests in chunks, without content, and other profiles refuse the file as long as it is there', () => {
  at.write('workspace/large', 'begin');
  at.truncate('workspace/large', 65 * MIB);
  at.write('workspace/large', 'end', 65 * MIB);
  at.native.close();
  expect(at.with((db) => db.prepare('SELECT content FROM vfs').all())).toEqual([{ content: null }]);
  const limits = { maxBytes: 512 * MIB, maxFileBytes: MIB, mustExist: true };
  expect(() => openLive(at.file, limits)).toThrow(expect.objectContaining({ code: 'conflict' }));
  at.open();
  at.rename('workspace/large', 'workspace/renamed');
  at.rest();
  const bytes = at.read('workspace/renamed');
  expect([bytes.length, bytes.toString('latin1', 0, 5), bytes.toString('latin1', 65 * MIB)]).toEqual([
    65 * MIB + 3,
    'begin',
    'end',
  ]);
  at.truncate('workspace/renamed', 3);
  at.native.close();
  expect(seedRows().map((row) => row.slice(0, 2))).toEqual([['workspace:/renamed', 'beg']]);
  openLive(at.file, limits).close();
});

test('5. numbers, hard links, nanoseconds, attributes, FIFOs and sockets survive a rest', () => {
  at.mkdir('workspace/d');
  at.write('workspace/a', 'a');
  at.link('workspace/a', 'workspace/d/b');
  at.make('workspace/fifo', S_IFIFO, 0o600);
  at.make('workspace/socket', S_IFSOCK, 0o600);
  const { ino } = at.get('workspace/a');
  const mtime = { seconds: 1_234_567_890, nanos: 123_456_789 };
  at.native.request(() => at.native.bytes.setAttributes(ino, { mtime }));
  at.native.request(() => at.native.names.setAttribute(ino, Buffer.from('user.a'), Buffer.from('v'), 0));
  const numbers = ['d', 'fifo', 'socket'].map((name) => at.get(`workspace/${name}`).ino);
  at.rest();
  expect(at.get('workspace/a')).toMatchObject({ ino, nlink: 2, mtime });
  expect(at.get('workspace/d/b').ino).toBe(ino);
  expect(at.native.names.attribute(ino, Buffer.from('user.a')).toString()).toBe('v');
  expect(['d', 'fifo', 'socket'].map((name) => at.get(`workspace/${name}`).ino)).toEqual(numbers);
  expect(at.get('workspace/fifo')).toMatchObject({ kind: S_IFIFO, mode: 0o600 });
  at.write('workspace/d/b', 'both');
  at.rest();
  expect([at.text('workspace/a'), at.text('workspace/d/b')]).toEqual(['both', 'both']);
  at.unlink('workspace/a');
  at.rest();
  expect(at.text('workspace/d/b')).toBe('both');
  expect(at.get('workspace/d/b')).toMatchObject({ ino, nlink: 1 });
});

test('6. names of 255 bytes that are no text rest as they are', () => {
  const name = Buffer.alloc(255, 0xfe);
  const path = Buffer.concat([Buffer.from('workspace/'), name]);
  at.write(path, 'bytes');
  at.rest();
  expect(at.text(path)).toBe('bytes');
  at.native.close();
  expect(seedRows()[0]?.[0]).toBe(`workspace:/${name.toString('latin1')}`);
  at.open();
});

test('7. what other tools changed at rest is there', () => {
  for (const name of ['same', 'rewritten', 'gone', 'moved']) at.write(`workspace/${name}`, name);
  at.mkdir('workspace/d');
  at.write('workspace/d/deep', 'deep');
  at.link('workspace/same', 'workspace/d/twin');
  const { ino } = at.get('workspace/same');
  at.native.close();
  const vfs = openLive(at.file, { maxBytes: 64 * MIB, maxFileBytes: MIB, mustExist: true });
  vfs.put(parseVfsPath('/rewritten'), Buffer.from('by the VFS'));
  vfs.put(parseVfsPath('/d/twin'), Buffer.from('its own now'));
  vfs.delete(parseVfsPath('/gone'));
  vfs.mkdir(parseVfsPath('/new'));
  vfs.move(
    { volume: 'workspace', path: parseVfsPath('/moved') },
    { volume: 'workspace', path: parseVfsPath('/new/place') },
  );
  vfs.mkdir(parseVfsPath('/made'));
  closeToRest(vfs);
  at.with((db) => {
    db.exec("INSERT INTO vfs VALUES ('workspace', '/seed/file', x'616263', 1000000000)");
    db.exec("INSERT INTO vfs VALUES ('workspace', '//odd', x'00', 1)");
  });
  at.open();
  expect(at.text('workspace/seed/file')).toBe('abc');
  expect(at.get('workspace/seed/file').mtime).toEqual({ seconds: 1_000_000_000, nanos: 0 });
  expect(at.names('workspace')).toEqual(['d', 'made', 'new', 'rewritten', 'same', 'seed']);
  expect(at.text('workspace/rewritten')).toBe('by the VFS');
  expect(at.text('workspace/d/twin')).toBe('its own now');
  expect([at.text('workspace/same'), at.get('workspace/same').ino]).toEqual(['same', ino]);
  expect(at.get('workspace/d/twin').ino).not.toBe(ino);
  expect(at.text('workspace/new/place')).toBe('moved');
  expect(at.find('workspace/gone')).toBeNull();
  at.rest();
  expect(at.names('workspace')).toEqual(['d', 'made', 'new', 'rewritten', 'same', 'seed']);
  at.native.close();
  expect(seedRows().map(([path]) => path)).toContain('workspace://odd');
});

/** A file with something of everything that a fold has to do, and what it is then. */
function unfolded(): string[] {
  for (const name of ['a', 'b', 'c']) at.write(`workspace/${name}`, name.repeat(70_000));
  at.mkdir('workspace/d');
  at.write('workspace/d/f', 'f');
  at.mkdir('workspace/d/g');
  at.write('workspace/d/g/h', 'h');
  at.rest();
  at.rename('workspace/a', 'workspace/t');
  at.rename('workspace/b', 'workspace/a');
  at.rename('workspace/t', 'workspace/b');
  at.write('workspace/c', 'changed', 66_000);
  at.link('workspace/c', 'workspace/twin');
  at.rename('workspace/d', 'workspace/e');
  at.mkdir('workspace/d');
  at.write('workspace/d/f', 'another');
  at.symlink('workspace/d/l', 'f');
  at.make('workspace/fifo', S_IFIFO, 0o600);
  at.native.commit();
  return everything();
}

function everything(path = 'workspace'): string[] {
  return at.names(path).flatMap((name) => {
    const below = `${path}/${name}`;
    const { kind, mode, nlink, size, mtime, ino, target } = at.get(below);
    const words = [below, ino, kind, mode, nlink, size, `${mtime.seconds}.${mtime.nanos}`, target ?? ''].join(' ');
    if (kind === 0o040000) return [words, ...everything(below)];
    return [
      kind === 0o100000 ? `${words} ${at.text(below).slice(0, 20)}${at.text(below).slice(65_990, 66_020)}` : words,
    ];
  });
}

test('13. a fold that is killed at any of its statements has lost nothing, and the next one goes on', () => {
  let ended = 0;
  for (let kill = 1; ended === 0; kill += 3) {
    at.remove();
    at = new OpenedFile().open();
    const expected = unfolded();
    let count = 0;
    Statements.prototype.run = function (sql, ...values) {
      count += 1;
      if (count === kill) throw new Error('killed');
      return run.call(this, sql, ...values);
    };
    try {
      at.native.close();
      ended = kill;
    } catch (error) {
      expect(String(error)).toContain('killed');
    }
    Statements.prototype.run = run;
    at.open();
    expect([kill, everything()]).toEqual([kill, expected]);
    at.rest();
    expect([kill, everything()]).toEqual([kill, expected]);
    at.native.close();
    expect(seedRows().map(([path]) => path)).toEqual(
      ['a', 'b', 'c', 'd/f', 'e/f', 'e/g/h', 'twin'].map((path) => `workspace:/${path}`),
    );
  }
  expect(ended).toBeGreaterThan(60);
});

test('14. a fold writes the rows of what has changed, and no other', () => {
  for (let count = 0; count < 200; count += 1) at.write(`workspace/${count}`, 'x'.repeat(5000));
  at.rest();
  at.write('workspace/7', 'y');
  at.rename('workspace/8', 'workspace/eight');
  const written: string[] = [];
  Statements.prototype.run = function (sql, ...values) {
    if (/^\s*(?:INSERT INTO|UPDATE|DELETE FROM) vfs\b/.test(sql)) written.push(sql);
    return run.call(this, sql, ...values);
  };
  at.native.close();
  Statements.prototype.run = run;
  expect(written.length).toBeLessThan(6);
  at.open();
  expect([at.text('workspace/7').slice(0, 2), at.text('workspace/eight').length]).toEqual(['yx', 5000]);
});
