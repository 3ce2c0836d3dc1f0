import { randomBytes } from 'node:crypto';
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { inspectVfs } from '../bundles/vfs-inspection.ts';
import { closeToRest, openAtRest, openLive } from './open.ts';
import { type SalvageResult, salvageVfs } from './salvage.ts';
import { vfsPath } from './testing/tmp-files.ts';

const LIMITS = { maxBytes: 64 * 1024 * 1024, maxFileBytes: 8 * 1024 * 1024, mustExist: false };
const PAGE = 4096;

let makings: string;
let whole: string;
const contents = new Map<string, Buffer>();

/**
 * Some hundred small files, some of many pages, folders, a link, private files, files that were deleted, and tmp.
 */
beforeAll(() => {
  makings = mkdtempSync(join(tmpdir(), 'winterdock-salvage-'));
  whole = join(makings, 'whole.sqlite');
  const vfs = openLive(whole, LIMITS);
  const put = (path: string, bytes: Buffer, volume: 'workspace' | 'memory' = 'workspace') => {
    vfs.put(vfsPath(path), bytes, volume);
    contents.set(`${volume}:${path}`, bytes);
  };
  for (let n = 0; n < 400; n += 1)
    put(`/src/file-${n}.txt`, Buffer.from(`the text of file ${n}\n`.repeat(1 + (n % 30))));
  for (let n = 0; n < 12; n += 1) put(`/large/blob-${n}`, randomBytes(50_000 + n * 7_000));
  for (let n = 0; n < 40; n += 1) put(`/note-${n}`, Buffer.from(`a note ${n}`), 'memory');
  for (let n = 0; n < 60; n += 1) vfs.put(vfsPath(`/gone-${n}`), Buffer.from('deleted '.repeat(300)));
  for (let n = 0; n < 60; n += 1) vfs.delete(vfsPath(`/gone-${n}`));
  vfs.mkdir(vfsPath('/empty/folder'), 'workspace', { recursive: true });
  vfs.link(vfsPath('/link'), '/src/file-1.txt');
  vfs.put(vfsPath('/scratch'), Buffer.from('not kept'), 'tmp');
  closeToRest(vfs);
});
afterAll(() => rmSync(makings, { recursive: true, force: true }));

let folder: string;
let damaged: string;
let target: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-salvage-'));
  damaged = join(folder, 'damaged.sqlite');
  target = join(folder, 'new.sqlite');
  copyFileSync(whole, damaged);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const salvage = (options: Partial<Parameters<typeof salvageVfs>[2]> = {}) =>
  salvageVfs(damaged, target, { ...LIMITS, identity: null, withLog: false, ...options });
const pagesOf = (file: string) => readFileSync(file).byteLength / PAGE;
/** Overwrites pages, counted from 1. */
function ruin(...pages: number[]): void {
  const bytes = readFileSync(damaged);
  for (const page of pages) bytes.fill(0x55, (page - 1) * PAGE, page * PAGE);
  writeFileSync(damaged, bytes);
}

/**
 * Everything in the new file is unchanged, the file is sound, and each original file is in it or in the list of losses.
 */
function prove({ recovered, lost, lostCount, list }: SalvageResult, { named = true } = {}): string[] {
  inspectVfs(target, LIMITS.maxFileBytes);
  const vfs = openAtRest(target);
  try {
    const wrong: string[] = [];
    const found = new Set<string>();
    for (const volume of ['workspace', 'memory', 'tmp'] as const) {
      for (const { path } of vfs.list(volume, { limit: 10_000 }).files) {
        if (path === list) continue;
        found.add(`${volume}:${path}`);
        const was = contents.get(`${volume}:${path}`);
        if (was === undefined || !was.equals(vfs.get(vfsPath(path), volume) ?? Buffer.alloc(0)))
          wrong.push(`${volume}:${path}`);
      }
    }
    expect(wrong).toEqual([]);
    expect(recovered).toBe(found.size);
    const names = new Set(lost.map((one) => `${one.volume}:${one.path}`));
    const missing = [...contents.keys()].filter((name) => !found.has(name));
    if (named) expect(missing.filter((name) => !names.has(name))).toEqual([]);
    else if (missing.some((name) => !names.has(name))) expect(lost.some(({ path }) => path === null)).toBe(true);
    expect(lost.filter(({ path }) => path !== null).filter((one) => found.has(`${one.volume}:${one.path}`))).toEqual(
      [],
    );
    if (lostCount > 0) {
      const lines = Buffer.from(vfs.get(vfsPath(list ?? ''), 'memory') ?? [])
        .toString('utf8')
        .trim()
        .split('\n');
      expect(lines).toHaveLength(lostCount);
    } else expect(list).toBeNull();
    return missing;
  } finally {
    vfs.close();
  }
}

test('a sound file is recovered as a whole, with its folders and links, and without its tmp, its deleted files and its identity', async () => {
  const salvaged = await salvage();
  expect(salvaged).toMatchObject({ recovered: contents.size, lost: [], lostCount: 0, list: null });
  expect(prove(salvaged)).toEqual([]);
  const vfs = openAtRest(target);
  expect(vfs.entry(vfsPath('/link'))?.target).toBe('/src/file-1.txt');
  expect(vfs.readdir(vfsPath('/empty')).map(({ path }) => path)).toEqual(['/empty/folder']);
  expect(vfs.db.prepare("SELECT target FROM vfs_node WHERE kind = 'counter'").get()).toEqual({ target: null });
  vfs.close();
  const live = openLive(target, { ...LIMITS, mustExist: true });
  live.put(vfsPath('/src/file-1.txt'), Buffer.from('it can be worked on'));
  closeToRest(live);
});

test('without its header, and without the roots of its tables, everything below them is recovered', async () => {
  ruin(1);
  expect(prove(await salvage())).toEqual([]);
  rmSync(target);
  // The root of the table of files; its leaves are elsewhere.
  ruin(2);
  expect(prove(await salvage())).toEqual([]);
});

test('what is lost with a page is listed by name, and everything else is recovered', async () => {
  let some = 0;
  for (let page = 3; page <= pagesOf(whole); page += 7) {
    copyFileSync(whole, damaged);
    rmSync(target, { force: true });
    ruin(page);
    const missing = prove(await salvage());
    if (missing.length > 0) some += 1;
    expect(missing.length).toBeLessThan(60);
  }
  expect(some).toBeGreaterThan(10);
});

test('of a truncated file, everything before the cut is recovered, and the names of the rest as far as they are known', async () => {
  truncateSync(damaged, Math.floor(readFileSync(damaged).byteLength * 0.6) + 100);
  const salvaged = await salvage();
  const missing = prove(salvaged, { named: false });
  expect(missing.length).toBeGreaterThan(0);
  expect(salvaged.recovered).toBeGreaterThan(100);
  expect(salvaged.lost.at(-1)?.path === null || salvaged.lost.length > 0).toBe(true);
});

test('a row whose pages form a circle, do not exist or end too early is given up at once', async () => {
  const bytes = readFileSync(damaged);
  // Every pointer of every overflow page points to the page itself.
  for (let page = 2; page <= pagesOf(whole); page += 1) {
    if (bytes[(page - 1) * PAGE] === 0) bytes.writeUInt32BE(page, (page - 1) * PAGE);
  }
  writeFileSync(damaged, bytes);
  const missing = prove(await salvage());
  expect(missing.filter((name) => name.includes('/large/'))).toHaveLength(12);
});

test('noise is corrupt, and so is an empty file; hostile pages never hang it', async () => {
  writeFileSync(damaged, randomBytes(40 * PAGE).fill(0, 0, 100));
  await salvage().catch((error) => expect(error).toMatchObject({ code: 'corrupt' }));
  for (const empty of [Buffer.alloc(0), Buffer.from('text'), Buffer.alloc(5 * PAGE)]) {
    rmSync(target, { force: true });
    writeFileSync(damaged, empty);
    await expect(salvage()).rejects.toMatchObject({ code: 'corrupt' });
  }
});

describe('a thousand bytes changed anywhere', () => {
  test('give a sound file, and never a wrong name', async () => {
    for (let round = 0; round < 12; round += 1) {
      const bytes = readFileSync(whole);
      for (let n = 0; n < 1000; n += 1)
        bytes[Math.floor(Math.random() * bytes.length)] = Math.floor(Math.random() * 256);
      writeFileSync(damaged, bytes);
      rmSync(target, { force: true });
      const salvaged = await salvage();
      inspectVfs(target, LIMITS.maxFileBytes);
      expect(salvaged.recovered + salvaged.lostCount).toBeGreaterThan(contents.size / 2);
    }
  });
});

test('another sandbox’s file is refused by its identity, and its own is not', async () => {
  const vfs = openAtRest(whole);
  const mark = String(vfs.db.prepare("SELECT target FROM vfs_node WHERE kind = 'counter'").get()?.target);
  vfs.close();
  expect(mark).toMatch(/^[0-9a-f]{32}$/);
  await expect(salvage({ identity: 'f'.repeat(32) })).rejects.toMatchObject({ code: 'conflict' });
  rmSync(target, { force: true });
  expect((await salvage({ identity: mark })).recovered).toBe(contents.size);
});

test('contents that are too large or have no room are listed as lost', async () => {
  const salvaged = await salvage({ maxFileBytes: 100_000 });
  expect(salvaged.lost.map(({ path, why }) => [path?.slice(0, 7), why])).toEqual(
    Array.from({ length: salvaged.lostCount }, () => ['/large/', 'it is larger than 100000 bytes']),
  );
  expect(salvaged.lostCount).toBeGreaterThan(2);
  rmSync(target);
  const small = await salvage({ maxBytes: 400_000 });
  expect(small.lost.some(({ why }) => why === 'there is no room for it')).toBe(true);
  expect(readFileSync(target).byteLength).toBeLessThan(400_000);
});

test('a log of its own is replayed first; a foreign one is ignored', async () => {
  const vfs = openLive(damaged, { ...LIMITS, mustExist: true });
  vfs.put(vfsPath('/src/file-1.txt'), Buffer.from('in the log'));
  const copy = join(folder, 'copy.sqlite');
  copyFileSync(damaged, copy);
  copyFileSync(`${damaged}-wal`, `${copy}-wal`);
  copyFileSync(`${damaged}-wal`, join(folder, 'log'));
  closeToRest(vfs);
  const options = { ...LIMITS, identity: null };
  const text = () => {
    const read = openAtRest(target);
    const content = Buffer.from(read.get(vfsPath('/src/file-1.txt')) ?? []).toString();
    read.close();
    rmSync(target);
    return content;
  };
  await salvageVfs(copy, target, { ...options, withLog: false });
  expect(text()).toContain('the text of file 1');
  await salvageVfs(copy, target, { ...options, withLog: true });
  expect(text()).toBe('in the log');
  expect(existsSync(`${copy}-wal`)).toBe(false);
});
