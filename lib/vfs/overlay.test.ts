import { readdirSync, readlinkSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FakeClock } from '../base/clock.ts';
import { openBeside } from './open.ts';
import type { Overlay } from './overlay.ts';
import type { VfsPath } from './paths.ts';
import { anyOperation, everything, outcomeOf, versions } from './testing/random-operations.ts';
import { bytes, codeOf, liveVfs, MIB, otherTool, text, tmpFile, vfsPath } from './testing/tmp-files.ts';
import type { Vfs } from './vfs.ts';

test('58. an overlay follows the rules of the file: any operations have the same outcome, and after its commits the same contents', () => {
  fc.assert(
    fc.property(
      fc.array(anyOperation, { maxLength: 12 }),
      fc.array(fc.array(anyOperation, { maxLength: 14 }), { maxLength: 4 }),
      (before, commands) => {
        const clock = new FakeClock();
        const [plain, gathering] = [liveVfs({ clock }), liveVfs({ clock })];
        for (const move of before) for (const vfs of [plain, gathering]) outcomeOf(vfs, move);
        const overlay = gathering.overlay();
        for (const command of commands) {
          clock.advance(1);
          const old = versions(gathering);
          const untouched = everything(gathering);
          for (const move of command) {
            expect(outcomeOf(overlay, move), move.say).toEqual(outcomeOf(plain, move));
            expect(everything(overlay), move.say).toEqual(everything(plain));
            expect(everything(gathering)).toEqual(untouched);
          }
          expect(overlay.paths('workspace', '', 1000)).toEqual(
            plain.list('workspace', { limit: 1000 }).files.map(({ path }) => path),
          );
          const rows = 'SELECT volume, path, length(content), mtime FROM vfs ORDER BY volume, path';
          expect(overlay.query(rows, []).rows).toEqual(plain.overlay().query(rows, []).rows);
          overlay.commit();
          expect(everything(gathering)).toEqual(everything(plain));
          expect(everything(overlay)).toEqual(everything(plain));
          for (const [path, version] of versions(gathering))
            expect(version, path).toBeGreaterThanOrEqual(old.get(path) ?? 1);
        }
        expect(gathering.hasUncommitted).toBe(false);
        plain.close();
        gathering.close();
      },
    ),
    { numRuns: 60 },
  );
});

test('59. an overlay’s changes are visible to it alone, take no lock, and become durable together at its commit', () => {
  const file = tmpFile();
  const vfs = liveVfs({ file });
  vfs.put(vfsPath('/kept'), bytes('old'));
  const reader = openBeside(file);
  const overlay = vfs.overlay();
  overlay.put(vfsPath('/kept'), bytes(''));
  overlay.put(vfsPath('/new'), bytes('new'), 'memory');
  expect(overlay.delete(vfsPath('/kept'))).toBe(true);
  expect(vfs.db.isTransaction).toBe(false);
  otherTool(file).exec("BEGIN IMMEDIATE; INSERT INTO vfs VALUES ('workspace', '/other', 'x', 1); COMMIT");
  for (const outside of [vfs, reader]) {
    expect(text(outside.get(vfsPath('/kept')))).toBe('old');
    expect(outside.get(vfsPath('/new'), 'memory')).toBeNull();
  }
  expect([
    overlay.get(vfsPath('/kept')),
    text(overlay.get(vfsPath('/new'), 'memory')),
    text(overlay.get(vfsPath('/other'))),
  ]).toEqual([null, 'new', 'x']);
  overlay.commit();
  expect([reader.get(vfsPath('/kept')), text(reader.get(vfsPath('/new'), 'memory'))]).toEqual([null, 'new']);
  reader.close();
});

test('59. an overlay without changes commits nothing, and a discarded one leaves nothing', () => {
  const file = tmpFile();
  const vfs = liveVfs({ file });
  const overlay = vfs.overlay();
  expect(overlay.get(vfsPath('/a'))).toBeNull();
  overlay.commit();
  expect(vfs.db.prepare('PRAGMA database_list').all()).toHaveLength(1);
  overlay.put(vfsPath('/a'), bytes('a'));
  expect(codeOf(() => overlay.put(vfsPath('/a/b'), bytes('b')))).toBe('conflict');
  overlay.discard();
  expect([overlay.get(vfsPath('/a')), vfs.get(vfsPath('/a')), vfs.hasUncommitted]).toEqual([null, null, false]);
});

test('60. the later commit wins a path that both wrote, and the overlay sees and keeps others’ changes elsewhere', () => {
  const vfs = liveVfs();
  for (const name of ['same', 'removed', 'moved', 'touched', 'folder/a']) vfs.put(vfsPath(`/${name}`), bytes('before'));
  const overlay = vfs.overlay();
  overlay.put(vfsPath('/same'), bytes('call'));
  overlay.delete(vfsPath('/removed'));
  overlay.move({ volume: 'workspace', path: vfsPath('/moved') }, { volume: 'workspace', path: vfsPath('/there') });
  overlay.chmod(vfsPath('/touched'), 0o600);
  overlay.delete(vfsPath('/folder'), 'workspace', { recursive: true });
  for (const name of ['same', 'removed', 'moved', 'touched', 'folder/a', 'folder/b', 'else'])
    vfs.put(vfsPath(`/${name}`), bytes('outside'));
  expect([
    text(overlay.get(vfsPath('/else'))),
    text(overlay.get(vfsPath('/folder/b'))),
    text(overlay.get(vfsPath('/touched'))),
  ]).toEqual(Array(3).fill('outside'));
  expect([
    text(overlay.get(vfsPath('/same'))),
    overlay.get(vfsPath('/removed')),
    overlay.get(vfsPath('/folder/a')),
  ]).toEqual(['call', null, null]);
  overlay.commit();
  expect(everything(vfs)).toEqual(everything(overlay));
  const [same, there, touched] = ['/same', '/there', '/touched'].map((path) => text(vfs.get(vfsPath(path))));
  expect([same, there, touched, vfs.entry(vfsPath('/touched'))?.mode]).toEqual(['call', 'before', 'outside', 0o600]);
  expect([vfs.get(vfsPath('/removed')), vfs.get(vfsPath('/moved')), vfs.get(vfsPath('/folder/a'))]).toEqual([
    null,
    null,
    null,
  ]);
  expect([text(vfs.get(vfsPath('/folder/b'))), text(vfs.get(vfsPath('/else')))]).toEqual(['outside', 'outside']);
});

test('68. a guarded file that others have committed since refuses a commit that changes it, and no other', () => {
  const vfs = liveVfs();
  vfs.put(vfsPath('/db'), bytes('before'));
  const overlay = vfs.overlay();
  const guarded = (path: string) => overlay.guard(vfsPath(path), 'workspace');
  guarded('/db');
  vfs.put(vfsPath('/db'), bytes('outside'));
  expect(overlay.isOutdated(vfsPath('/db'), 'workspace')).toBe(true);
  overlay.put(vfsPath('/else'), bytes('kept'));
  overlay.commit();
  expect(text(vfs.get(vfsPath('/else')))).toBe('kept');

  guarded('/db');
  expect(overlay.isOutdated(vfsPath('/db'), 'workspace')).toBe(false);
  overlay.put(vfsPath('/db'), bytes('call'));
  overlay.put(vfsPath('/else'), bytes('dropped'));
  vfs.put(vfsPath('/db'), bytes('outside again'));
  // What it read last is its own.
  guarded('/db');
  expect(codeOf(() => overlay.commit())).toBe('conflict');
  expect([text(vfs.get(vfsPath('/db'))), text(vfs.get(vfsPath('/else')))]).toEqual(['outside again', 'kept']);

  guarded('/new');
  overlay.put(vfsPath('/new'), bytes('call'));
  vfs.put(vfsPath('/new'), bytes('outside'));
  expect(codeOf(() => overlay.commit())).toBe('conflict');
  guarded('/db');
  overlay.put(vfsPath('/db'), bytes('call'));
  overlay.commit();
  expect(text(vfs.get(vfsPath('/db')))).toBe('call');
});

test('60. a mode set on a file that others have removed is dropped, and an implicit folder gives way to their file', () => {
  const vfs = liveVfs();
  vfs.put(vfsPath('/gone'), bytes('x'));
  vfs.put(vfsPath('/folder/only'), bytes('x'));
  const overlay = vfs.overlay();
  overlay.chmod(vfsPath('/gone'), 0o600);
  overlay.delete(vfsPath('/folder/only'));
  expect(overlay.entry(vfsPath('/folder'))?.kind).toBe('dir');
  vfs.delete(vfsPath('/gone'));
  vfs.delete(vfsPath('/folder'), 'workspace', { recursive: true });
  vfs.put(vfsPath('/folder'), bytes('a file now'));
  expect(overlay.entry(vfsPath('/folder'))?.kind).toBe('file');
  overlay.commit();
  expect([vfs.entry(vfsPath('/gone')), text(vfs.get(vfsPath('/folder')))]).toEqual([null, 'a file now']);
});

test('60. several overlays over one file commit one after another, and each keeps its changes', () => {
  const vfs = liveVfs({ file: tmpFile() });
  const [one, two, three] = [vfs.overlay(), vfs.overlay(), vfs.overlay()];
  one.put(vfsPath('/a'), bytes('one'));
  two.put(vfsPath('/a'), bytes('two'));
  two.put(vfsPath('/b'), bytes('two'));
  three.put(vfsPath('/c'), bytes('three'));
  expect([one, two, three].map((overlay) => text(overlay.get(vfsPath('/a'))))).toEqual(['one', 'two', null]);
  two.commit();
  expect([one, two, three].map((overlay) => text(overlay.get(vfsPath('/a'))))).toEqual(['one', 'two', 'two']);
  three.discard();
  two.put(vfsPath('/d'), bytes('again'));
  one.commit();
  expect([
    text(vfs.get(vfsPath('/a'))),
    text(vfs.get(vfsPath('/b'))),
    vfs.get(vfsPath('/c')),
    vfs.get(vfsPath('/d')),
  ]).toEqual(['one', 'two', null, null]);
  two.commit();
  expect([text(vfs.get(vfsPath('/d'))), vfs.hasUncommitted]).toEqual(['again', false]);
});

test.each<[string, (vfs: Vfs) => void, (vfs: Vfs) => void, (overlay: Overlay) => void]>([
  [
    'a file where others made a folder',
    () => {},
    (vfs) => vfs.put(vfsPath('/a/b'), bytes('theirs')),
    (overlay) => overlay.put(vfsPath('/a'), bytes('mine')),
  ],
  [
    'something below a file of others',
    () => {},
    (vfs) => vfs.put(vfsPath('/a'), bytes('theirs')),
    (overlay) => overlay.put(vfsPath('/a/b'), bytes('mine')),
  ],
  [
    'a folder below a link of others',
    (vfs) => vfs.mkdir(vfsPath('/a')),
    (vfs) => {
      vfs.rmdir(vfsPath('/a'));
      vfs.link(vfsPath('/a'), '/x');
    },
    (overlay) => overlay.mkdir(vfsPath('/a/b')),
  ],
])(
  '61. %s is a conflict at the commit, which keeps nothing of the overlay and all of theirs',
  (_, before, theirs, mine) => {
    const vfs = liveVfs();
    before(vfs);
    const overlay = vfs.overlay();
    overlay.put(vfsPath('/with'), bytes('it'));
    mine(overlay);
    theirs(vfs);
    const kept = everything(vfs);
    expect(codeOf(() => overlay.commit())).toBe('conflict');
    expect(everything(vfs)).toEqual(kept);
    expect(everything(overlay)).toEqual(kept);
  },
);

test('61. a file may replace an entry that its overlay removed, whatever others write elsewhere', () => {
  const vfs = liveVfs();
  vfs.put(vfsPath('/folder/a'), bytes('a'));
  vfs.put(vfsPath('/file'), bytes('b'));
  const overlay = vfs.overlay();
  overlay.delete(vfsPath('/folder'), 'workspace', { recursive: true });
  overlay.put(vfsPath('/folder'), bytes('a file'));
  overlay.delete(vfsPath('/file'));
  overlay.put(vfsPath('/file/below'), bytes('in a folder'));
  vfs.put(vfsPath('/else'), bytes('else'));
  overlay.commit();
  expect(vfs.list('workspace', { limit: 9 }).files.map(({ path }) => path)).toEqual([
    '/else',
    '/file/below',
    '/folder',
  ]);
});

test('62. buffered changes take two megabytes of memory and a file without a name, both released at the commit', () => {
  const vfs = liveVfs({ file: tmpFile() });
  const overlay = vfs.overlay();
  const spilled = () =>
    readdirSync('/proc/self/fd').flatMap((descriptor) => {
      try {
        const path = readlinkSync(`/proc/self/fd/${descriptor}`);
        return /etilqs_\w+ \(deleted\)$/.test(path) ? [path] : [];
      } catch {
        return [];
      }
    });
  const content = Buffer.alloc(MIB, 'x');
  overlay.put(vfsPath('/0'), content);
  expect(spilled()).toEqual([]);
  const before = process.memoryUsage().rss;
  for (let n = 0; n < 100; n += 1) overlay.put(vfsPath(`/${n}`), content);
  expect(process.memoryUsage().rss - before).toBeLessThan(32 * MIB);
  expect(spilled()).toHaveLength(1);
  overlay.commit();
  expect(spilled()).toEqual([]);
  expect(vfs.sizes()[0]).toEqual({ volume: 'workspace', files: 100, bytes: 100 * MIB });
});

test('62. when the disk fails, the write and the commit are storage_unavailable, and the overlay starts empty again', () => {
  const vfs = liveVfs({ file: tmpFile() });
  const overlay = vfs.overlay();
  overlay.put(vfsPath('/a'), bytes('a'));
  vfs.db.exec('PRAGMA pending.max_page_count = 20');
  expect(codeOf(() => overlay.put(vfsPath('/b'), new Uint8Array(MIB)))).toBe('storage_unavailable');
  expect(codeOf(() => overlay.put(vfsPath('/c'), bytes('c')))).toBe('storage_unavailable');
  vfs.put(vfsPath('/theirs'), bytes('theirs'));
  expect(codeOf(() => overlay.commit())).toBe('storage_unavailable');
  overlay.put(vfsPath('/d'), new Uint8Array(MIB));
  overlay.commit();
  expect(vfs.list('workspace', { limit: 9 }).files.map(({ path }) => path)).toEqual(['/d', '/theirs']);
});

test('69. a call that commits as it goes on keeps its open files and its guards, and a conflict drops only what came since', () => {
  const vfs = liveVfs();
  vfs.put(vfsPath('/db'), bytes('one'));
  const overlay = vfs.overlay();
  overlay.put(vfsPath('/log'), bytes(''));
  const log = overlay.openFile(vfsPath('/log'), 'workspace');
  overlay.guard(vfsPath('/db'), 'workspace');
  overlay.writeOpen(log, bytes('a\n'), 'end');
  overlay.put(vfsPath('/db'), bytes('two'));
  overlay.commit({ goesOn: true });
  expect(text(vfs.get(vfsPath('/log')))).toBe('a\n');
  overlay.writeOpen(log, bytes('b\n'), 'end');
  expect(text(vfs.get(vfsPath('/log')))).toBe('a\n');
  // Its own commit is no change by others.
  expect(overlay.isOutdated(vfsPath('/db'), 'workspace')).toBe(false);
  overlay.put(vfsPath('/db'), bytes('three'));
  overlay.commit({ goesOn: true });
  expect([text(vfs.get(vfsPath('/log'))), text(vfs.get(vfsPath('/db')))]).toEqual(['a\nb\n', 'three']);
  overlay.writeOpen(log, bytes('c\n'), 'end');
  vfs.put(vfsPath('/db'), bytes('theirs'));
  expect(overlay.isOutdated(vfsPath('/db'), 'workspace')).toBe(true);
  overlay.put(vfsPath('/db'), bytes('four'));
  expect(codeOf(() => overlay.commit({ goesOn: true }))).toBe('conflict');
  expect([text(vfs.get(vfsPath('/log'))), text(vfs.get(vfsPath('/db')))]).toEqual(['a\nb\n', 'theirs']);
  overlay.closeFile(log);
});

test('74. what a call appends follows what others have appended meanwhile, and nothing else is joined', () => {
  const vfs = liveVfs();
  const [log, made, cut] = [vfsPath('/log'), vfsPath('/made'), vfsPath('/cut')];
  vfs.put(log, bytes('old\n'));
  vfs.put(cut, bytes('old\n'));
  const [one, other] = [vfs.overlay(), vfs.overlay()];
  const append = (overlay: Overlay, path: VfsPath, line: string) =>
    overlay.append(path, 'workspace', () => overlay.put(path, bytes(text(overlay.get(path) ?? bytes('')) + line)));
  const open = other.openFile(log, 'workspace');
  append(one, log, 'a\n');
  append(one, log, 'b\n');
  append(one, made, '1\n');
  append(one, cut, 'gone\n');
  one.put(cut, bytes('anew\n'));
  append(one, cut, 'x\n');
  other.writeOpen(open, bytes('c\n'), 'end');
  append(other, made, '2\n');
  append(other, cut, 'theirs\n');
  other.commit({ goesOn: true });
  one.commit({ goesOn: true });
  expect(text(vfs.get(log))).toBe('old\nc\na\nb\n');
  expect(text(vfs.get(made))).toBe('2\n1\n');
  // A file that was also changed otherwise is as its later writer left it.
  expect(text(vfs.get(cut))).toBe('anew\nx\n');
  // Each window begins with what is committed.
  append(one, log, 'd\n');
  other.writeOpen(open, bytes('e\n'), 'end');
  one.commit();
  other.commit();
  expect(text(vfs.get(log))).toBe('old\nc\na\nb\nd\ne\n');
  // Who writes anew what another appends to has the last word, as on a disk.
  append(one, log, 'f\n');
  vfs.put(log, bytes('z\n'));
  one.commit();
  expect(text(vfs.get(log))).toBe('old\nc\na\nb\nd\ne\nf\n');
});

test('an append is joined once where the call commits between its appends', () => {
  const vfs = liveVfs();
  const log = vfsPath('/log');
  const overlay = vfs.overlay();
  overlay.onChange = () => overlay.commit({ goesOn: true });
  for (const line of ['a', 'b', 'c'])
    overlay.append(log, 'workspace', () => overlay.put(log, bytes(text(overlay.get(log) ?? bytes('')) + line)));
  overlay.commit();
  expect(text(vfs.get(log))).toBe('abc');
});

test('a change can commit what came before it, also in the middle of a write to an open file', () => {
  const vfs = liveVfs();
  const overlay = vfs.overlay();
  overlay.put(vfsPath('/log'), bytes(''));
  const log = overlay.openFile(vfsPath('/log'), 'workspace');
  overlay.onChange = () => overlay.commit({ goesOn: true });
  for (const line of ['a', 'b', 'c']) overlay.writeOpen(log, bytes(line), 'end');
  overlay.move({ volume: 'workspace', path: vfsPath('/log') }, { volume: 'workspace', path: vfsPath('/old') });
  overlay.writeOpen(log, bytes('d'), 'end');
  expect(text(vfs.get(vfsPath('/old')))).toBe('abc');
  overlay.truncateOpen(log, 1);
  expect(text(vfs.get(vfsPath('/old')))).toBe('abcd');
  overlay.commit();
  expect(text(vfs.get(vfsPath('/old')))).toBe('a');
});
