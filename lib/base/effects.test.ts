import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { codeOf } from '../testing/code.ts';
import {
  type Effect,
  observeEffects,
  renameFile,
  syncFile,
  syncFolder,
  unlinkFile,
  writeFile,
  writeStream,
} from './effects.ts';

const LIB = dirname(dirname(fileURLToPath(import.meta.url)));

/** Functions of `node:fs` that change a disk. `open` does by its flags, and is looked at by itself. */
const CHANGES =
  /\b(?:append|chmod|chown|copyFile|cp|createWriteStream|fchmod|fchown|fdatasync|fsync|ftruncate|futimes|lchown|link|lutimes|mkdir|mkdtemp|rename|rm|rmdir|symlink|truncate|unlink|utimes|write|writeFile|writev|appendFile)(?:Sync)?\b/;
const FS_IMPORT = /import\s+(?:type\s+)?(\{[^}]*\}|\* as \w+|\w+)\s+from\s+'node:fs(?:\/promises)?'/g;
const OPENS_TO_WRITE = /\bopen(?:Sync)?\([^)]*(?:'[a-z+]*[wax+][a-z+]*'|O_(?:WRONLY|RDWR|CREAT|TRUNC|APPEND))/;

/** What writes to the machine of a user of the command line or client, a socket, a device, a mount, /proc; tests. */
const OUTSIDE =
  /^(?:cli\/|client\/|base\/(?:channel|effects|folder-owner|strangers-file)\.ts$|workers\/walls\/id-maps\.ts$|native\/(?:fuse\/device|worker\/mount-writes)\.ts$|.*\btesting\/|.*\.test\.ts$)/;

describe('the seam', () => {
  test('no other module of the engine changes a disk', () => {
    const others = codeOf(LIB)
      .filter(({ path }) => !OUTSIDE.test(path))
      .flatMap(({ path, text }) => [
        ...[...text.matchAll(FS_IMPORT)]
          .filter(([, names = '']) => !names.startsWith('{') || CHANGES.test(names))
          .map(([found]) => `${path}: ${found}`),
        ...(/node:fs/.test(text) && OPENS_TO_WRITE.test(text) ? [`${path}: opens a file to write`] : []),
        ...(/getBuiltinModule\('(?:node:)?fs/.test(text) ? [`${path}: takes fs another way`] : []),
      ]);
    expect(others).toEqual([]);
  });

  test('nobody takes a file for lost because the disk does not say whether it is there', () => {
    const places = ['vfs', 'sandboxes', 'storage', 'copies', 'bundles', 'backup'].map((name) => join(LIB, name));
    const asking = places
      .flatMap((place) => codeOf(place))
      .filter(({ path, text }) => !/\btesting\/|\.test\.ts$/.test(path) && /\bexistsSync\b/.test(text));
    expect(asking.map(({ path }) => path)).toEqual([]);
  });

  test('the rule finds what it forbids', () => {
    expect(CHANGES.test('{ renameSync, statSync }')).toBe(true);
    expect(CHANGES.test('{ createReadStream, readFileSync, statfsSync }')).toBe(false);
    expect(OPENS_TO_WRITE.test("await open(path, 'wx', 0o600)")).toBe(true);
    expect(OPENS_TO_WRITE.test("openSync(file, 'r')")).toBe(false);
  });

  test('a transaction of the registry is committed in one place', () => {
    // Besides it the migrator, before anything is served, and what fills a file that nobody uses yet.
    const others = codeOf(join(LIB, 'registry'))
      .filter(({ path }) => !OUTSIDE.test(path))
      .filter(({ text }) => /'COMMIT'|`COMMIT|; COMMIT|\.transaction\(/.test(text));
    expect(others.map(({ path }) => path).sort()).toEqual([
      'sqlite/database.ts',
      'sqlite/former-history.ts',
      'sqlite/migrate.ts',
      'sqlite/whole-file.ts',
    ]);
  });
});

describe('an observed effect', () => {
  let folder: string;
  let seen: string[];
  const word = ({ kind, path, to }: Effect) =>
    [kind, path, to]
      .map((part) => part?.replace(folder, ''))
      .filter(Boolean)
      .join(' ');

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'winterdock-effects-'));
    seen = [];
    observeEffects({
      before: (effect) => void seen.push(`before ${word(effect)}`),
      after: (effect) => void seen.push(`after ${word(effect)}`),
    });
  });
  afterEach(() => {
    observeEffects(null);
    rmSync(folder, { recursive: true });
  });

  test('is reported before and after it happens', async () => {
    await writeFile(join(folder, 'a'), 'text');
    await syncFile(join(folder, 'a'));
    await renameFile(join(folder, 'a'), join(folder, 'b'));
    await syncFolder(folder);
    await unlinkFile(join(folder, 'b'));
    expect(seen.filter((line) => line.startsWith('after'))).toEqual([
      'after create /a',
      'after sync /a',
      'after rename /a /b',
      'after sync_folder',
      'after remove /b',
    ]);
    expect(seen).toHaveLength(10);
  });

  test('does not happen when it is refused, and fails with the refusal’s error', async () => {
    await writeFile(join(folder, 'a'), 'text');
    const refusal = Object.assign(new Error('no space'), { code: 'ENOSPC' });
    observeEffects({
      before: () => {
        throw refusal;
      },
    });
    await expect(renameFile(join(folder, 'a'), join(folder, 'b'))).rejects.toBe(refusal);
    await expect(unlinkFile(join(folder, 'a'))).rejects.toBe(refusal);
    expect(readFileSync(join(folder, 'a'), 'utf8')).toBe('text');
  });

  test('of a stream is its making and its first bytes, and either may be refused', async () => {
    const path = join(folder, 'stream');
    await pipeline(Readable.from([Buffer.alloc(100_000, 1), Buffer.alloc(100_000, 2)]), writeStream(path));
    expect(seen).toEqual([
      'before create /stream',
      'after create /stream',
      'before write /stream',
      'after write /stream',
    ]);
    expect(readFileSync(path)).toHaveLength(200_000);
    for (const kind of ['create', 'write']) {
      const other = join(folder, kind);
      observeEffects({
        before: (effect) => {
          if (effect.kind === kind) throw Object.assign(new Error('no space'), { code: 'ENOSPC' });
        },
      });
      await expect(pipeline(Readable.from([Buffer.alloc(100_000)]), writeStream(other))).rejects.toMatchObject({
        code: 'ENOSPC',
      });
      expect(existsSync(other)).toBe(kind === 'write');
    }
  });
});
