import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FakeClock } from '../base/clock.ts';
import type { FileInUse } from './file-table.ts';
import { bytes, codeOf, liveVfs, MIB, text, vfsPath } from './testing/tmp-files.ts';

/** A file of the model: what Linux calls an inode. */
interface Inode {
  content: Buffer;
}

const NAMES = ['/a', '/b', '/d/a', '/d/b'] as const;
const name = fc.constantFrom(...NAMES);
const step = fc.oneof(
  fc.record({ kind: fc.constant('open' as const), at: name }),
  fc.record({ kind: fc.constant('close' as const), handle: fc.nat(5) }),
  fc.record({
    kind: fc.constant('write' as const),
    handle: fc.nat(5),
    size: fc.constantFrom(0, 1, 7, 5000, 70_000),
    at: fc.constantFrom(0, 3, 4990, 9000, 'end' as const),
  }),
  fc.record({ kind: fc.constant('truncate' as const), handle: fc.nat(5), size: fc.constantFrom(0, 2, 6000) }),
  fc.record({ kind: fc.constant('put' as const), at: name, size: fc.constantFrom(0, 4, 20_000) }),
  fc.record({ kind: fc.constant('remove' as const), at: name }),
  fc.record({ kind: fc.constant('rename' as const), at: name, to: name }),
  fc.record({ kind: fc.constantFrom('folder' as const, 'back' as const, 'clear' as const) }),
  fc.record({ kind: fc.constant('commit' as const) }),
  fc.record({ kind: fc.constant('look' as const) }),
);

test('open files are those of Linux: any opening, writing, renaming, removing and committing leaves the same contents', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const clock = new FakeClock();
      const vfs = liveVfs({ clock });
      const overlay = vfs.overlay();
      const tree = new Map<string, Inode>();
      const open: { file: FileInUse; inode: Inode }[] = [];
      let stamp = 1;
      const fill = (size: number) => {
        stamp = (stamp % 250) + 1;
        return Buffer.alloc(size, stamp);
      };
      const moveAll = (from: string, to: string) => {
        if (![...tree.keys()].some((path) => path.startsWith(from))) return;
        if ([...tree.keys()].some((path) => path.startsWith(to))) return;
        overlay.move({ volume: 'workspace', path: vfsPath(from) }, { volume: 'workspace', path: vfsPath(to) });
        for (const [path, inode] of [...tree])
          if (path.startsWith(from) && tree.delete(path)) tree.set(to + path.slice(from.length), inode);
      };
      for (const one of steps) {
        const at = 'at' in one && typeof one.at === 'string' && one.at !== 'end' ? one.at : '';
        const handle = 'handle' in one ? open[one.handle] : undefined;
        if (one.kind === 'put') {
          const content = fill(one.size);
          overlay.put(vfsPath(at), content, 'workspace');
          const inode = tree.get(at);
          if (inode) inode.content = content;
          else tree.set(at, { content });
        } else if (one.kind === 'open') {
          const inode = tree.get(at);
          if (inode) open.push({ file: overlay.openFile(vfsPath(at), 'workspace'), inode });
        } else if (one.kind === 'remove') {
          expect(overlay.delete(vfsPath(at), 'workspace')).toBe(tree.delete(at));
        } else if (one.kind === 'rename') {
          const inode = tree.get(at);
          if (!inode || at === one.to) continue;
          const target = { volume: 'workspace', path: vfsPath(one.to) } as const;
          overlay.move({ volume: 'workspace', path: vfsPath(at) }, target, { replace: true });
          tree.delete(at);
          tree.set(one.to, inode);
        } else if (one.kind === 'folder') moveAll('/d/', '/e/');
        else if (one.kind === 'back') moveAll('/e/', '/d/');
        else if (one.kind === 'clear') {
          overlay.delete(vfsPath('/d'), 'workspace', { recursive: true });
          for (const path of [...tree.keys()]) if (path.startsWith('/d/')) tree.delete(path);
        } else if (one.kind === 'commit') {
          overlay.commit();
          clock.advance(1);
          for (const [path, { content }] of tree)
            expect(vfs.get(vfsPath(path), 'workspace')).toEqual(new Uint8Array(content));
        } else if (!handle) continue;
        else if (one.kind === 'write') {
          const { inode } = handle;
          const content = fill(one.size);
          const start = one.at === 'end' ? inode.content.byteLength : one.at;
          expect(overlay.writeOpen(handle.file, content, one.at)).toBe(start + one.size);
          if (one.size === 0) continue;
          const grown = Buffer.alloc(Math.max(inode.content.byteLength, start + one.size));
          inode.content.copy(grown);
          content.copy(grown, start);
          inode.content = grown;
        } else if (one.kind === 'truncate') {
          overlay.truncateOpen(handle.file, one.size);
          const cut = Buffer.alloc(one.size);
          handle.inode.content.copy(cut);
          handle.inode.content = cut;
        } else if (one.kind === 'close') {
          overlay.closeFile(handle.file);
          open.splice(open.indexOf(handle), 1);
        }
        // What is looked at after each step is in memory; mostly it is not.
        if (one.kind !== 'look') continue;
        for (const { file, inode } of open) {
          expect(overlay.entryOf(file).size).toBe(inode.content.byteLength);
          expect(Buffer.from(overlay.readOpen(file, 0, MIB)).equals(inode.content)).toBe(true);
        }
        for (const path of NAMES) {
          const inode = tree.get(path);
          expect(overlay.entry(vfsPath(path), 'workspace')?.size).toBe(inode?.content.byteLength);
          const content = overlay.get(vfsPath(path), 'workspace');
          expect(content === null ? null : Buffer.from(content)).toEqual(inode?.content ?? null);
        }
      }
      for (const { file, inode } of open) {
        expect(Buffer.from(overlay.readOpen(file, 0, MIB)).equals(inode.content)).toBe(true);
        overlay.closeFile(file);
      }
      overlay.commit();
      expect(vfs.list('workspace', { limit: 100 }).files.map(({ path, size }) => [path, size])).toEqual(
        [...tree].map(([path, { content }]) => [path, content.byteLength]).sort(),
      );
      for (const [path, { content }] of tree) expect(vfs.get(vfsPath(path))).toEqual(new Uint8Array(content));
      expect(vfs.hasUncommitted).toBe(false);
      vfs.close();
    }),
    { numRuns: 150 },
  );
});

test('more than memory holds is stored meanwhile, and nothing of it is lost', () => {
  const vfs = liveVfs({ maxBytes: 512 * MIB });
  const overlay = vfs.overlay();
  const files = Array.from({ length: 6 }, (_, number) => {
    const path = vfsPath(`/f${number}`);
    overlay.put(path, new Uint8Array(0), 'workspace');
    const file = overlay.openFile(path, 'workspace');
    overlay.writeOpen(file, Buffer.alloc(30 * MIB, 65 + number), 'end');
    return { file, path };
  });
  for (const { file } of files) overlay.writeOpen(file, Buffer.from('!'), 10);
  for (const [number, { file, path }] of files.entries()) {
    const found = Buffer.from(overlay.readOpen(file, 8, 4)).toString();
    expect(found).toBe(`${String.fromCharCode(65 + number).repeat(2)}!${String.fromCharCode(65 + number)}`);
    overlay.closeFile(file);
    expect(overlay.entry(path, 'workspace')?.size).toBe(30 * MIB);
  }
  overlay.commit();
  for (const { path } of files) expect(vfs.get(path, 'workspace')?.[10]).toBe('!'.charCodeAt(0));
  vfs.close();
});

test('a write that a full sandbox refuses changes nothing, and the file goes on', () => {
  const vfs = liveVfs({ maxBytes: 2 * MIB });
  const overlay = vfs.overlay();
  overlay.put(vfsPath('/a'), bytes('begun '), 'workspace');
  const file = overlay.openFile(vfsPath('/a'), 'workspace');
  expect(codeOf(() => overlay.writeOpen(file, Buffer.alloc(4 * MIB), 'end'))).toBe('quota_exceeded');
  expect(codeOf(() => overlay.truncateOpen(file, 5000 * MIB))).toBe('too_large');
  overlay.writeOpen(file, bytes('and ended'), 'end');
  overlay.commit();
  expect(text(vfs.get(vfsPath('/a'), 'workspace'))).toBe('begun and ended');
  vfs.close();
});

test('what another call commits is there for who has the file open and has not changed it', () => {
  const vfs = liveVfs();
  vfs.put(vfsPath('/log'), bytes('one '));
  const overlay = vfs.overlay();
  const file = overlay.openFile(vfsPath('/log'), 'workspace');
  expect(text(overlay.readOpen(file, 0, 100))).toBe('one ');
  vfs.put(vfsPath('/log'), bytes('one two '));
  expect(text(overlay.readOpen(file, 0, 100))).toBe('one two ');
  overlay.writeOpen(file, bytes('three'), 'end');
  overlay.commit();
  expect(text(vfs.get(vfsPath('/log')))).toBe('one two three');
  vfs.delete(vfsPath('/log'));
  expect(text(overlay.readOpen(file, 4, 100))).toBe('');
  overlay.closeFile(file);
  vfs.close();
});
