/** Calls that make and remove entries of directories, and what they must do by POSIX and Linux. For tests. */
import {
  chmodSync,
  closeSync,
  constants,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  symlinkSync,
  unlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { at, ctime, folder, grows, LONGEST, last, make, mount, mtime, type PosixCase } from './posix-place.ts';

export const ENTRY_CASES: PosixCase[] = [
  ['open', 'ENOENT without the file', () => openSync(at('a'), 'r'), 'ENOENT'],
  ['open', 'ENOENT without a folder above', () => make('a/b'), 'ENOENT'],
  ['open', 'ENOTDIR below a file', () => last(make('a'), make('a/b')), 'ENOTDIR'],
  ['open', 'EEXIST with O_EXCL', () => last(make('a'), openSync(at('a'), 'wx')), 'EEXIST'],
  [
    'open',
    'EEXIST with O_EXCL on a link to nothing',
    () => last(symlinkSync('no', at('a')), openSync(at('a'), 'wx')),
    'EEXIST',
  ],
  ['open', 'EISDIR to write a directory', () => last(mkdirSync(at('a')), openSync(at('a'), 'r+')), 'EISDIR'],
  ['open', 'ELOOP for a link to itself', () => last(symlinkSync('a', at('a')), openSync(at('a'), 'r')), 'ELOOP'],
  [
    'open',
    'ELOOP with O_NOFOLLOW',
    () => last(make('b'), symlinkSync('b', at('a')), openSync(at('a'), constants.O_NOFOLLOW)),
    'ELOOP',
  ],
  [
    'open',
    'ENOTDIR with O_DIRECTORY on a file',
    () => last(make('a'), openSync(at('a'), constants.O_DIRECTORY)),
    'ENOTDIR',
  ],
  ['open', 'ENAMETOOLONG for 256 bytes', () => make(`${LONGEST}x`), 'ENAMETOOLONG'],
  ['open', 'takes 255 bytes', () => last(make(LONGEST, 'y'), readFileSync(at(LONGEST), 'utf8')), 'y'],
  [
    'open',
    'O_TRUNC empties, and sets the time',
    () => last(make('a', 'long'), grows('a', mtime, () => make('a')) && lstatSync(at('a')).size),
    0,
  ],
  ['open', 'O_CREAT of a new file sets the times of its folder', () => grows('', mtime, () => make('a')), true],
  [
    'open',
    'O_CREAT of one that is there does not',
    () =>
      last(
        make('a'),
        grows('', mtime, () => closeSync(openSync(at('a'), 'a'))),
      ),
    false,
  ],
  [
    'open',
    'follows a link to nothing and makes it',
    () => last(symlinkSync('b', at('a')), make('a', 'z'), readFileSync(at('b'), 'utf8')),
    'z',
  ],
  ['mkdir', 'EEXIST where a file is', () => last(make('a'), mkdirSync(at('a'))), 'EEXIST'],
  ['mkdir', 'EEXIST where a link is', () => last(symlinkSync('no', at('a')), mkdirSync(at('a'))), 'EEXIST'],
  ['mkdir', 'ENOENT without a folder above', () => mkdirSync(at('a', 'b')), 'ENOENT'],
  ['mkdir', 'ENOTDIR below a file', () => last(make('a'), mkdirSync(at('a', 'b'))), 'ENOTDIR'],
  ['mkdir', 'ENAMETOOLONG for 256 bytes', () => mkdirSync(at(`${LONGEST}x`)), 'ENAMETOOLONG'],
  [
    'mkdir',
    'counts in the folder above',
    () => last(mkdirSync(at('a')), mkdirSync(at('b')), lstatSync(folder()).nlink),
    4,
  ],
  ['mkdir', 'begins with two', () => last(mkdirSync(at('a')), lstatSync(at('a')).nlink), 2],
  [
    'mkdir',
    'keeps a sticky bit',
    () => last(mkdirSync(at('a')), chmodSync(at('a'), 0o1777), lstatSync(at('a')).mode & 0o7777),
    0o1777,
  ],
  ['rmdir', 'ENOENT without it', () => rmdirSync(at('a')), 'ENOENT'],
  ['rmdir', 'ENOTDIR for a file', () => last(make('a'), rmdirSync(at('a'))), 'ENOTDIR'],
  ['rmdir', 'ENOTEMPTY with an entry', () => last(mkdirSync(at('a')), make('a/b'), rmdirSync(at('a'))), 'ENOTEMPTY'],
  ['rmdir', 'EINVAL for a dot', () => last(mkdirSync(at('a')), rmdirSync(`${at('a')}/.`)), 'EINVAL'],
  ['rmdir', 'ENOTEMPTY for two dots', () => last(mkdirSync(at('a')), rmdirSync(`${at('a')}/..`)), 'ENOTEMPTY'],
  [
    'rmdir',
    'counts in the folder above',
    () => last(mkdirSync(at('a')), rmdirSync(at('a')), lstatSync(folder()).nlink),
    2,
  ],
  [
    'rmdir',
    'sets the times of the folder above',
    () =>
      last(
        mkdirSync(at('a')),
        grows('', mtime, () => rmdirSync(at('a'))),
      ),
    true,
  ],
  ['unlink', 'ENOENT without it', () => unlinkSync(at('a')), 'ENOENT'],
  ['unlink', 'EISDIR for a directory', () => last(mkdirSync(at('a')), unlinkSync(at('a'))), 'EISDIR'],
  ['unlink', 'ENOTDIR below a file', () => last(make('a'), unlinkSync(at('a', 'b'))), 'ENOTDIR'],
  [
    'unlink',
    'removes a link and not what it leads to',
    () => last(make('b'), symlinkSync('b', at('a')), unlinkSync(at('a')), readdirSync(folder())),
    ['b'],
  ],
  [
    'unlink',
    'sets the change time of another name',
    () =>
      last(
        make('a'),
        linkSync(at('a'), at('b')),
        grows('b', ctime, () => unlinkSync(at('a'))),
      ),
    true,
  ],
  ['unlink', 'leaves the bytes to who has it open', () => nameless(), 'bytes'],
  ['link', 'EEXIST where something is', () => last(make('a'), make('b'), linkSync(at('a'), at('b'))), 'EEXIST'],
  ['link', 'ENOENT without the file', () => linkSync(at('a'), at('b')), 'ENOENT'],
  ['link', 'EPERM for a directory', () => last(mkdirSync(at('a')), linkSync(at('a'), at('b'))), 'EPERM'],
  ['link', 'ENAMETOOLONG for 256 bytes', () => last(make('a'), linkSync(at('a'), at(`${LONGEST}x`))), 'ENAMETOOLONG'],
  ['link', 'EXDEV to another volume', () => last(make('a'), linkSync(at('a'), join(mount(), 'memory', 'b'))), 'EXDEV'],
  [
    'link',
    'is the same file',
    () => last(make('a'), linkSync(at('a'), at('b')), lstatSync(at('a')).ino === lstatSync(at('b')).ino),
    true,
  ],
  [
    'link',
    'counts',
    () => last(make('a'), linkSync(at('a'), at('b')), linkSync(at('b'), at('c')), lstatSync(at('a')).nlink),
    3,
  ],
  [
    'link',
    'sets the change time',
    () =>
      last(
        make('a'),
        grows('a', ctime, () => linkSync(at('a'), at('b'))),
      ),
    true,
  ],
  [
    'link',
    'shares bytes and modes',
    () =>
      last(make('a'), linkSync(at('a'), at('b')), make('b', 'two'), chmodSync(at('b'), 0o600), [
        readFileSync(at('a'), 'utf8'),
        lstatSync(at('a')).mode & 0o777,
      ]),
    ['two', 0o600],
  ],
];

function nameless(): string {
  make('a', 'bytes');
  const descriptor = openSync(at('a'), 'r');
  unlinkSync(at('a'));
  try {
    return readFileSync(descriptor, 'utf8');
  } finally {
    closeSync(descriptor);
  }
}
