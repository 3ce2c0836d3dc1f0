import { readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { closeToRest, openAtRest, openBeside, openLive, recoverToRest } from './open.ts';
import { holdFile, kill } from './testing/processes.ts';
import { bytes, codeOf, liveVfs, MIB, text, tmpFile, vfsPath } from './testing/tmp-files.ts';

const LIVE = { maxBytes: 64 * MIB, maxFileBytes: MIB, mustExist: true };
const NEW = { ...LIVE, mustExist: false };
const beside = (file: string) => readdirSync(dirname(file)).sort();
/** The write version in the header: 1 is a rollback journal, 2 is WAL. */
const writeVersion = (file: string) => readFileSync(file)[18];

describe('reading', () => {
  test('30. at rest changes nothing and leaves nothing beside the file', () => {
    const file = tmpFile();
    const live = liveVfs({ file });
    live.put(vfsPath('/a'), bytes('a'));
    closeToRest(live);
    const before = { content: readFileSync(file), stat: statSync(file, { bigint: true }) };
    const rest = openAtRest(file);
    expect(text(rest.get(vfsPath('/a')))).toBe('a');
    expect(rest.sizes()[0]?.files).toBe(1);
    expect(codeOf(() => rest.put(vfsPath('/b'), bytes('b')))).toBeDefined();
    expect(beside(file)).toEqual(['vfs.sqlite']);
    rest.close();
    const after = statSync(file, { bigint: true });
    expect([after.mtimeNs, after.ctimeNs, after.ino]).toEqual([
      before.stat.mtimeNs,
      before.stat.ctimeNs,
      before.stat.ino,
    ]);
    expect(readFileSync(file).equals(before.content)).toBe(true);
    expect(beside(file)).toEqual(['vfs.sqlite']);
  });

  test('30. at rest a file with a log beside it is refused: without its log it would be incomplete', async () => {
    const file = tmpFile();
    const holder = await holdFile(file, 'live');
    await kill(holder);
    expect(codeOf(() => openAtRest(file))).toBe('conflict');
    recoverToRest(file);
    const rest = openAtRest(file);
    expect(text(rest.get(vfsPath('/committed')))).toBe('committed');
    rest.close();
  });

  test('31. beside a live process shows committed writes and nothing of an open group', async () => {
    const file = tmpFile();
    const holder = await holdFile(file, 'live');
    const reader = openBeside(file);
    expect(text(reader.get(vfsPath('/committed')))).toBe('committed');
    expect(reader.get(vfsPath('/uncommitted'))).toBeNull();
    expect(codeOf(() => reader.put(vfsPath('/b'), bytes('b')))).toBeDefined();
    reader.close();
    await kill(holder);
  });

  test('31. beside a process that was just killed shows its commits', async () => {
    const file = tmpFile();
    await kill(await holdFile(file, 'live'));
    const reader = openBeside(file);
    expect(text(reader.get(vfsPath('/committed')))).toBe('committed');
    reader.close();
    recoverToRest(file);
    expect(beside(file)).toEqual(['vfs.sqlite']);
  });

  test('32. recovery replays a killed process’s log, without its open group, and keeps tmp', async () => {
    const file = tmpFile();
    await kill(await holdFile(file, 'live'));
    expect(beside(file)).toEqual(['vfs.sqlite', 'vfs.sqlite-shm', 'vfs.sqlite-wal']);
    recoverToRest(file);
    expect(beside(file)).toEqual(['vfs.sqlite']);
    expect(writeVersion(file)).toBe(1);
    const rest = openAtRest(file);
    expect(text(rest.get(vfsPath('/committed')))).toBe('committed');
    expect(text(rest.get(vfsPath('/scratch'), 'tmp'))).toBe('scratch');
    expect(rest.get(vfsPath('/uncommitted'))).toBeNull();
    rest.close();
  });

  test('32. a link in the place of a file is followed by nobody', () => {
    const other = tmpFile();
    closeToRest(openLive(other, NEW));
    const file = join(dirname(other), 'link.sqlite');
    symlinkSync(other, file);
    for (const open of [() => openAtRest(file), () => openBeside(file), () => openLive(file, NEW)]) {
      expect(codeOf(open)).toBe('corrupt');
    }
    expect(codeOf(() => recoverToRest(file))).toBe('corrupt');
  });

  test('32. a clean file is left untouched, and so is one in use', async () => {
    const file = tmpFile();
    closeToRest(openLive(file, NEW));
    const before = statSync(file, { bigint: true });
    recoverToRest(file);
    const after = statSync(file, { bigint: true });
    expect([after.mtimeNs, after.ctimeNs]).toEqual([before.mtimeNs, before.ctimeNs]);
    await holdFile(file, 'live');
    expect(codeOf(() => recoverToRest(file))).toBe('conflict');
  });
});
