import { expect, test } from 'vitest';
import { isMachineFailure, storageFailure, WinterdockError } from './errors.ts';

const system = (code: string, syscall: string) => Object.assign(new Error(`${code}: a path`), { code, syscall });
const sqlite = (errcode: number) =>
  Object.assign(new Error('SQLite'), { code: 'ERR_SQLITE_ERROR', errcode, errstr: 'it says' });

test.each([
  ...['EIO', 'ENOSPC', 'EROFS', 'EACCES', 'ENODEV', 'Unknown system error -122', 'Unknown system error -116'].map(
    (code) => [system(code, 'read'), 'storage_unavailable'] as const,
  ),
  ...['EMFILE', 'ENFILE', 'ENOMEM'].flatMap((code) =>
    ['open', 'spawn /bin/sh'].map((call) => [system(code, call), 'capacity'] as const),
  ),
  [system('EAGAIN', 'spawn /bin/sh'), 'capacity'],
  // A read, a write, an unlink of SQLite's: the lower byte is the kind.
  ...[8, 10, 13, 14, 266, 778, 2570].map((number) => [sqlite(number), 'storage_unavailable'] as const),
  ...[7, 3082].map((number) => [sqlite(number), number === 7 ? 'capacity' : 'storage_unavailable'] as const),
  [Object.assign(new Error('x'), { code: 'SQLITE_IOERR_READ' }), 'storage_unavailable'],
  [Object.assign(new Error('x'), { code: 'SQLITE_NOMEM' }), 'capacity'],
] as const)('%s is a refusal of the machine’s: %s', (error, code) => {
  expect(storageFailure(error)).toMatchObject({ code, retryAfterSeconds: 5, cause: error });
  expect(storageFailure(error)?.message).not.toContain('a path');
  expect(isMachineFailure(error)).toBe(true);
  expect(isMachineFailure(storageFailure(error))).toBe(true);
});

test.each([
  system('ENOENT', 'open'),
  system('EACCES', 'connect'),
  system('EAGAIN', 'read'),
  // CORRUPT, CONSTRAINT, NOTADB.
  ...[11, 19, 26].map(sqlite),
  Object.assign(new Error('x'), { code: 'SQLITE_CORRUPT' }),
  new WinterdockError('corrupt', 'x'),
  new Error('EIO'),
])('%s is none', (error) => {
  expect(storageFailure(error)).toBeNull();
  expect(isMachineFailure(error)).toBe(false);
});
