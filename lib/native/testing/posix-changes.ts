/** Calls that rename and change entries, and what they must do by POSIX and Linux. For tests. */
import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  ftruncateSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  statSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  utimesSync,
} from 'node:fs';
import { join } from 'node:path';
import { at, ctime, folder, grows, LONGEST, last, make, mount, mtime, type PosixCase } from './posix-place.ts';

export const CHANGE_CASES: PosixCase[] = [
  ['symlink', 'EEXIST where something is', () => last(make('a'), symlinkSync('b', at('a'))), 'EEXIST'],
  ['symlink', 'ENOENT without a target', () => symlinkSync('', at('a')), 'ENOENT'],
  ['symlink', 'ENAMETOOLONG for a target of 4096 bytes', () => symlinkSync('x'.repeat(4096), at('a')), 'ENAMETOOLONG'],
  [
    'symlink',
    'keeps a target of 4095 bytes, which is its size',
    () => last(symlinkSync('x'.repeat(4095), at('a')), [lstatSync(at('a')).size, readlinkSync(at('a')).length]),
    [4095, 4095],
  ],
  [
    'symlink',
    'keeps a target as it is',
    () => last(symlinkSync('..//./ü ', at('a')), readlinkSync(at('a'))),
    '..//./ü ',
  ],
  ['readlink', 'EINVAL for a file', () => last(make('a'), readlinkSync(at('a'))), 'EINVAL'],
  ['rename', 'ENOENT without it', () => renameSync(at('a'), at('b')), 'ENOENT'],
  [
    'rename',
    'EISDIR of a file to a directory',
    () => last(make('a'), mkdirSync(at('b')), renameSync(at('a'), at('b'))),
    'EISDIR',
  ],
  [
    'rename',
    'ENOTDIR of a directory to a file',
    () => last(mkdirSync(at('a')), make('b'), renameSync(at('a'), at('b'))),
    'ENOTDIR',
  ],
  [
    'rename',
    'ENOTEMPTY to a directory with an entry',
    () => last(mkdirSync(at('a')), mkdirSync(at('b')), make('b/c'), renameSync(at('a'), at('b'))),
    'ENOTEMPTY',
  ],
  [
    'rename',
    'EINVAL into itself',
    () => last(mkdirSync(at('a')), mkdirSync(at('a', 'b')), renameSync(at('a'), at('a', 'b', 'c'))),
    'EINVAL',
  ],
  [
    'rename',
    'ENOTEMPTY to the folder above',
    () => last(mkdirSync(at('a')), mkdirSync(at('a', 'b')), renameSync(at('a', 'b'), at('a'))),
    'ENOTEMPTY',
  ],
  [
    'rename',
    'ENAMETOOLONG for 256 bytes',
    () => last(make('a'), renameSync(at('a'), at(`${LONGEST}x`))),
    'ENAMETOOLONG',
  ],
  ['rename', 'EXDEV to another volume', () => last(make('a'), renameSync(at('a'), join(mount(), 'tmp', 'b'))), 'EXDEV'],
  [
    'rename',
    'replaces a file',
    () =>
      last(make('a', 'new'), make('b', 'old'), renameSync(at('a'), at('b')), [
        readdirSync(folder()),
        readFileSync(at('b'), 'utf8'),
      ]),
    [['b'], 'new'],
  ],
  [
    'rename',
    'replaces an empty directory',
    () => last(mkdirSync(at('a')), make('a/c'), mkdirSync(at('b')), renameSync(at('a'), at('b')), readdirSync(at('b'))),
    ['c'],
  ],
  [
    'rename',
    'leaves two names of one file as they are',
    () => last(make('a'), linkSync(at('a'), at('b')), renameSync(at('a'), at('b')), readdirSync(folder()).sort()),
    ['a', 'b'],
  ],
  [
    'rename',
    'renames a link and not what it leads to',
    () => last(make('c'), symlinkSync('c', at('a')), renameSync(at('a'), at('b')), readlinkSync(at('b'))),
    'c',
  ],
  [
    'rename',
    'keeps the number of the inode',
    () => {
      make('a');
      const { ino } = lstatSync(at('a'));
      renameSync(at('a'), at('b'));
      return lstatSync(at('b')).ino === ino;
    },
    true,
  ],
  [
    'rename',
    'sets the times of both folders',
    () =>
      last(
        mkdirSync(at('d')),
        make('a'),
        grows('', mtime, () => renameSync(at('a'), at('d', 'a'))),
      ),
    true,
  ],
  [
    'rename',
    'counts directories in both folders',
    () =>
      last(mkdirSync(at('d')), mkdirSync(at('a')), renameSync(at('a'), at('d', 'a')), [
        lstatSync(folder()).nlink,
        lstatSync(at('d')).nlink,
      ]),
    [3, 3],
  ],
  ['truncate', 'ENOENT without it', () => truncateSync(at('a'), 1), 'ENOENT'],
  ['truncate', 'EISDIR for a directory', () => last(mkdirSync(at('a')), truncateSync(at('a'), 1)), 'EISDIR'],
  ['truncate', 'ENOTDIR below a file', () => last(make('a'), truncateSync(at('a', 'b'), 1)), 'ENOTDIR'],
  [
    'truncate',
    'fills with zeros',
    () => last(make('a', 'abc'), truncateSync(at('a'), 1), truncateSync(at('a'), 4), [...readFileSync(at('a'))]),
    [97, 0, 0, 0],
  ],
  [
    'truncate',
    'to the same size sets the time',
    () =>
      last(
        make('a', 'abc'),
        grows('a', mtime, () => truncateSync(at('a'), 3)),
      ),
    true,
  ],
  [
    'truncate',
    'over a hole of chunks shows zeros',
    () =>
      last(
        make('a', 'abc'),
        truncateSync(at('a'), 200_000),
        readFileSync(at('a'))
          .subarray(3)
          .every((byte) => byte === 0),
      ),
    true,
  ],
  [
    'ftruncate',
    'of a file without a name',
    () => {
      make('a', 'abc');
      const fd = openSync(at('a'), 'r+');
      unlinkSync(at('a'));
      ftruncateSync(fd, 1);
      closeSync(fd);
      return readdirSync(folder());
    },
    [],
  ],
  ['chmod', 'ENOENT without it', () => chmodSync(at('a'), 0o600), 'ENOENT'],
  [
    'chmod',
    'sets the change time and not the other',
    () =>
      last(make('a'), [
        grows('a', ctime, () => chmodSync(at('a'), 0o600)),
        grows('a', mtime, () => chmodSync(at('a'), 0o644)),
      ]),
    [true, false],
  ],
  [
    'chmod',
    'keeps twelve bits',
    () => last(make('a'), chmodSync(at('a'), 0o7777), lstatSync(at('a')).mode & 0o7777),
    0o7777,
  ],
  [
    'chmod',
    'follows a link',
    () => last(make('b'), symlinkSync('b', at('a')), chmodSync(at('a'), 0o600), lstatSync(at('b')).mode & 0o777),
    0o600,
  ],
  ['utimes', 'ENOENT without it', () => utimesSync(at('a'), 1, 1), 'ENOENT'],
  [
    'utimes',
    'sets both, also before 1970',
    () =>
      last(make('a'), utimesSync(at('a'), new Date(-5000), new Date(-7000)), [
        statSync(at('a')).atimeMs,
        statSync(at('a')).mtimeMs,
      ]),
    [-5000, -7000],
  ],
  [
    'utimes',
    'far from today',
    () => last(make('a'), utimesSync(at('a'), 2 ** 34, 2 ** 35), statSync(at('a')).mtimeMs),
    2 ** 35 * 1000,
  ],
  [
    'access',
    'follows the mode to run a file, for root too',
    () => last(make('a'), chmodSync(at('a'), 0o644), accessSync(at('a'), constants.X_OK)),
    'EACCES',
  ],
  ['stat', 'ENOTDIR below a file', () => last(make('a'), statSync(at('a', 'b'))), 'ENOTDIR'],
  ['stat', 'counts blocks of 512 bytes', () => last(make('a', 'x'.repeat(1025)), lstatSync(at('a')).blocks), 3],
  ['readdir', 'ENOTDIR for a file', () => last(make('a'), readdirSync(at('a'))), 'ENOTDIR'],
  ['readdir', 'shows each entry once while others are removed', () => listed(), 500],
];

function listed(): number {
  for (let number = 0; number < 500; number += 1) make(`${number}`);
  let removed = 0;
  for (const name of readdirSync(folder())) {
    unlinkSync(at(name));
    removed += 1;
  }
  return removed;
}
