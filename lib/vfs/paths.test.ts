import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { parseToReader } from './messages.ts';
import { openAtRest } from './open.ts';
import { ancestorsOf, parentPath, parseVfsPath, subtreeOf } from './paths.ts';
import { codeOf, liveVfs, tmpFile, vfsPath, writeRows } from './testing/tmp-files.ts';

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** The places where the name of a volume or a path comes in: requests, forms, guests, rows, messages, foreign files. */
const BORDERS = [
  'app/overview/first-example.ts',
  'app/sandboxes/[id]/file-actions.ts',
  'app/sandboxes/[id]/past/file-sides.ts',
  'app/sandboxes/[id]/past/move-actions.ts',
  'app/sandboxes/[id]/upload/route.ts',
  'app/sandboxes/[id]/volume-reading.ts',
  'lib/bundles/vfs-inspection.ts',
  'lib/cli/commands/files.ts',
  'lib/cli/commands/past.ts',
  'lib/cli/remote-path.ts',
  'lib/contract/schema/databases.ts',
  'lib/contract/schema/volumes.ts',
  'lib/guest/component-runner/component-runner.ts',
  'lib/guest/component-runner/saved-state.ts',
  'lib/guest/shell/guest-paths.ts',
  'lib/guest/vfs-functions.ts',
  'lib/host/examples.ts',
  'lib/http/mcp/places.ts',
  'lib/http/routes/volumes.ts',
  'lib/http/session-api/files.ts',
  'lib/http/session-api/talk.ts',
  'lib/http/session-api/workspace.ts',
  'lib/http/target.ts',
  'lib/operations/bundles.ts',
  'lib/operations/copies.ts',
  'lib/operations/terminals.ts',
  // A page of a listing has its paths as texts.
  'lib/vfs/answer.ts',
  'lib/vfs/event-log-files.ts',
  // What a link says.
  'lib/vfs/followed.ts',
  'lib/vfs/messages.ts',
  'lib/vfs/salvage.ts',
  // Moving a directory makes new paths for its descendants.
  'lib/vfs/tree-pieces.ts',
  'lib/vfs/tree.ts',
];

describe('5. a path', () => {
  test('5. is normalised', () => {
    expect(parseVfsPath('/a/b.txt')).toBe('/a/b.txt');
    expect(parseVfsPath('//a///b/./c/')).toBe('/a/b/c');
    expect(parseVfsPath('/')).toBe('/');
    expect(parseVfsPath('/..a/...')).toBe('/..a/...');
    expect(parseVfsPath('/%2e%2e/ä 名')).toBe('/%2e%2e/ä 名');
  });

  test.each([
    '',
    'a',
    'a/b',
    './a',
    '/..',
    '/a/../b',
    '/a/..',
    '/a\0b',
    '/\ud800',
    `/${'x'.repeat(1024)}`,
    `/${'ä'.repeat(512)}`,
  ])('5. is refused when it is %j', (path) => {
    expect(codeOf(() => parseVfsPath(path))).toBe('validation');
  });

  test('5. may have exactly 1 024 bytes', () => {
    expect(parseVfsPath(`/${'x'.repeat(1023)}`)).toHaveLength(1024);
  });

  test('5. is refused where it comes in, and no operation takes an unparsed text', () => {
    const request = { op: 'get', volume: 'workspace', path: '/a/../../etc/passwd' };
    const message = { id: 1, job: { kind: 'read', target: { path: '/x', mode: 'rest' }, request } };
    expect(codeOf(() => parseToReader(message))).toBe('validation');
    const vfs = liveVfs();
    const text: string = '/a';
    // @ts-expect-error An unparsed text is not a VfsPath.
    expect(vfs.get(text)).toBeNull();
    // @ts-expect-error As above, for a write.
    expect(vfs.delete(text)).toBe(false);
  });

  test('5. is parsed at the borders alone: no deeper file parses it again', () => {
    const callers = ['app', 'components', 'lib']
      .flatMap((folder) => readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true }))
      .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name) && !entry.name.includes('.test.'))
      .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)))
      .filter((file) => !file.includes('/testing/') && !['lib/vfs/paths.ts', 'lib/vfs/volumes.ts'].includes(file))
      .filter((file) => /\bparse(VfsPath|Volume)\b/.test(readFileSync(join(ROOT, file), 'utf8')));
    expect(callers.sort()).toEqual(BORDERS);
  });

  test('5. of another tool, in another form, is listed, counted and searched, and nothing else', () => {
    const file = tmpFile();
    writeRows(file, [
      ['workspace', 'note', 'a', 1],
      ['workspace', '/a//b', 'bb', 1],
      ['workspace', '/a/../c', 'ccc', 1],
      ['workspace', '/a/d', 'dddd', 1],
    ]);
    const vfs = openAtRest(file);
    expect(vfs.list('workspace', { limit: 10 }).files.map((entry) => entry.path)).toEqual([
      '/a/../c',
      '/a//b',
      '/a/d',
      'note',
    ]);
    expect(vfs.sizes()[0]).toEqual({ volume: 'workspace', files: 4, bytes: 10 });
    expect(vfs.search({ text: 'ccc', in: 'content', limit: 5 }).hits).toEqual([
      { volume: 'workspace', path: '/a/../c', line: 1, text: 'ccc' },
    ]);
    expect(vfs.readdir(vfsPath('/')).map((entry) => entry.path)).toEqual(['/a']);
    expect(vfs.readdir(vfsPath('/a')).map((entry) => entry.path)).toEqual(['/a/d']);
    expect(codeOf(() => vfs.get(vfsPath('/a/../c')))).toBe('validation');
    vfs.close();
  });
});

test('5. gives its parent, all its ancestors, and the range of its descendants', () => {
  expect(parentPath(vfsPath('/a/b'))).toBe('/a');
  expect(parentPath(vfsPath('/a'))).toBe('/');
  expect(ancestorsOf(vfsPath('/a/b/c'))).toEqual(['/a', '/a/b']);
  expect(ancestorsOf(vfsPath('/a'))).toEqual([]);
  expect(subtreeOf('/a')).toEqual({ above: '/a/', below: '/a0' });
  expect(subtreeOf('/')).toEqual({ above: '/', below: '0' });
});
