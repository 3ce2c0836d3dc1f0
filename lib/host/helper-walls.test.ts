import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { FakeClock } from '../base/clock.ts';
import { OpenedFiles, type Opening, whyNotWatched } from '../testing/opened-files.ts';
import { startServer, type TestServer } from '../testing/server.ts';

/** The users of sandboxes and of helpers are numbers from here on. */
const FIRST_USER = 0x7000_0000;

/** A filesystem of its own, so that every open on it is the server's or one of its processes'. */
const disk = mkdtempSync(join(tmpdir(), 'winterdock-walls-'));
const isMounted =
  process.getuid?.() === 0 && spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=512m', 'tmpfs', disk]).status === 0;
const whyNot = isMounted ? whyNotWatched(disk) : 'not root';

let server: TestServer;
let opened: OpenedFiles;

beforeAll(async () => {
  if (whyNot !== null) return;
  const folder = join(disk, 'data');
  mkdirSync(folder);
  opened = await OpenedFiles.watch(disk);
  server = await startServer({ folder, ownReaders: true });
});

afterAll(async () => {
  await server?.stop();
  await opened?.stop();
  if (isMounted) spawnSync('umount', ['-l', disk]);
  rmSync(disk, { recursive: true, force: true });
});

/** What kind of file of the data folder a path is, without ids; null for what is no guest's SQLite file. */
function kindOf(path: string): string | null {
  const at = relative(join(disk, 'data'), path);
  if (!/^(live|cold|archive|snapshots|blueprints|bundles|expanded|orphans)\//.test(at)) return null;
  if (at.startsWith('live/.staging/')) return 'live/.staging/…';
  return at.replace(/\.staging\/[^/]+/, '.staging/…').replace(/^(\w+)\/[^/]+(?=\/|\.sqlite)/, '$1/…');
}

const whoOf = ({ program }: Opening) =>
  /\/(worker|reader|bundle)(?:\.cjs|\.ts)/.exec(program)?.[1] ?? (/vitest|node/.test(program) ? 'server' : program);

test.runIf(whyNot === null)('who opens a file of a guest has no capability, no network, and is its user', async () => {
  const call: TestServer['call'] = (...args) => server.call(...args);
  const ok = async (method: string, path: string, body?: unknown) => {
    const answer = await call(method, path, body as object);
    expect(answer.status, `${method} ${path}: ${answer.text}`).toBeLessThan(300);
    return answer;
  };
  await ok('POST', '/api/instances', { id: 'alpha', tenant: 'acme' });
  await ok('POST', '/api/instances/alpha/exec', { command: 'echo hello > a; sqlite3 b.db "create table t(x)"' });
  const reads = async (id: string) => {
    await ok('GET', `/api/instances/${id}/volumes`);
    await ok('GET', `/api/instances/${id}/volumes/workspace/a`);
    await ok('POST', `/api/instances/${id}/query`, { sql: 'SELECT count(*) FROM vfs' });
    await ok('GET', `/api/instances/${id}/tables/workspace?path=/b.db`);
    await ok('GET', `/api/instances/${id}/search?q=hello&in=content`);
  };
  await reads('alpha');
  await ok('POST', '/api/instances/alpha/snapshots', {});
  await ok('POST', '/api/blueprints', { name: 'mould', from_instance: 'alpha' });
  await ok('POST', '/api/instances/alpha/suspend', {});
  await reads('alpha');
  await ok('POST', '/api/instances/alpha/freeze', {});
  await reads('alpha');
  const shipped = await ok('POST', '/api/instances/alpha/ship', {});
  await ok('GET', '/api/instances/alpha/checkout');
  await ok('POST', '/api/instances/alpha/archive', {});
  await ok('POST', '/api/instances/alpha/query', { sql: 'SELECT count(*) FROM vfs' });
  const cloned = await ok('POST', '/api/blueprints/mould/clone', { tenant: 'globex' });
  const beta = String((cloned.json as unknown as { id: string }[])[0]?.id);
  await reads(beta);
  await ok('POST', `/api/instances/${beta}/exec`, { command: 'cat a' });
  await ok('POST', `/api/instances/${beta}/suspend`, {});
  await reads(beta);
  await ok('GET', `/api/instances/${beta}/raw?reason=a+look`);
  await ok('POST', `/api/instances/${beta}/salvage`, {});
  const planned = await ok('POST', '/api/blueprints/mould/clone', { tenant: 'globex' });
  await ok('POST', `/api/instances/${(planned.json as unknown as { id: string }[])[0]?.id}/plan`, { to: 'archived' });
  await ok('POST', '/api/instances/import?tenant=globex&id=gamma', shipped.bytes);
  await reads('gamma');
  await ok('POST', '/api/instances/gamma/resume', {});
  await reads('gamma');
  // The worker is killed with a log beside its file: that is recovered.
  await ok('POST', '/api/instances/gamma/exec', { command: 'echo more > c' });
  const worker = opened.seen().findLast((one) => whoOf(one) === 'worker' && one.path.includes('/live/gamma/'));
  if (worker === undefined) throw new Error('No worker was seen.');
  process.kill(worker.pid, 'SIGKILL');
  await expect
    .poll(async () => (await call('POST', '/api/instances/gamma/exec', { command: 'cat c' })).status)
    .toBe(200);
  await ok('POST', '/api/instances/gamma/suspend', {});
  await ok('POST', '/api/instances/gamma/freeze', {});
  await server.host.sandboxes.tick();
  // A day later the scrubber goes through what rests. It counts the day from when it began.
  const scrubOf = async () => (await server.call('GET', '/api/settings/storage')).json.scrub;
  await expect.poll(scrubOf, { timeout: 180_000 }).toMatchObject({ next: expect.any(Number) });
  await server.stop();
  const before = opened.seen().length;
  const clock = new FakeClock(Date.now() + 2 * 86_400_000);
  server = await startServer({ folder: join(disk, 'data'), ownReaders: true, clock });
  await expect.poll(scrubOf, { timeout: 180_000 }).toMatchObject({ last: { rotten: 0 } });
  const ofScrubber = opened.seen().slice(before);
  for (const path of ['cold/gamma.sqlite', 'archive/alpha.sqlite.zst', `live/${beta}/vfs.sqlite`])
    expect(ofScrubber.filter((one) => whoOf(one) === 'reader' && one.path.endsWith(path)).length).toBeGreaterThan(0);
  const guests = opened.seen().flatMap((one) => {
    const kind = kindOf(one.path);
    return kind === null ? [] : [{ ...one, kind, who: whoOf(one) }];
  });
  const table = guests.map(({ who, kind, uid, capabilities, net, files, pids, isFiltered }) =>
    [
      ...[who.padEnd(6), kind.padEnd(26), uid === 0 ? 'root' : 'own user'],
      ...[capabilities === 0n ? 'no capability' : 'all of them', net ? 'no network' : 'network'],
      ...[files ? 'its room' : 'all files', pids ? 'its processes' : 'all', isFiltered ? 'filter' : 'no filter'],
    ].join('  '),
  );
  process.stdout.write(`${[...new Set(table)].sort().join('\n')}\n`);
  const behind = guests.filter(({ who }) => who !== 'server');
  for (const who of ['reader', 'bundle', 'worker'])
    expect(new Set(behind.filter((one) => one.who === who).map(({ kind }) => kind)).size).toBeGreaterThan(3);
  for (const { who, path, uid, capabilities, net, files, pids, isFiltered } of behind)
    expect({ who, path, isOwn: uid >= FIRST_USER, capabilities, net, files, pids, isFiltered }).toEqual({
      ...{ who, path, isOwn: true, capabilities: 0n, net: true, files: true, pids: true, isFiltered: true },
    });
  // The server hashes, moves and sends files. One that it opened as a database has a log, which it looked into.
  const logs = guests.filter(({ who, kind }) => who === 'server' && /-(?:wal|shm|journal)$/.test(kind));
  expect(logs.filter(({ kind }) => !kind.startsWith('expanded/'))).toEqual([]);
  // No two tenants' files were opened by one user.
  const tenants = new Map<number, Set<string>>();
  for (const { uid, path } of behind) {
    const tenant = /\/(?:live|cold)\/(alpha|gamma)\b/.exec(path)?.[1];
    if (tenant !== undefined) tenants.set(uid, (tenants.get(uid) ?? new Set()).add(tenant));
  }
  expect([...tenants.values()].filter((names) => names.size > 1)).toEqual([]);
  expect(tenants.size).toBeGreaterThan(1);
});

/** Files that open SQLite files, and are not loaded by processes behind walls alone: what they open. */
const OPENED_BY_THE_SERVER: Readonly<Record<string, string>> = {
  'lib/backup/folder-place.ts': 'the lock of a backup folder',
  'lib/backup/replica-backup.ts': 'an empty file that it makes, for a sandbox of which nothing was shipped',
  'lib/base/file-lock.ts': 'lock files',
  'lib/health/load/minutes-file.ts': 'the minutes of load, which nobody but the server writes',
  'lib/native/file/native-file.ts': 'the file of a sandbox with real programs, in their process; no server loads it',
  'lib/native/file/rest-file.ts': 'the file of a killed process, in a reader; no server loads it',
  'lib/native/worker/native-sandbox.ts': 'the file that this process serves itself; no server loads it',
  'lib/sandboxes/factory.ts': 'the empty file that it makes at the start',
};
const ROOT = join(import.meta.dirname, '..', '..');
/** What opens a guest's file, or leads there. */
const OPENS =
  /^import (?!type )[^;]*from '(?:node:sqlite|better-sqlite3|[./]+vfs\/(?:open|handles|copy|salvage)\.ts)'/m;

test('only files that are named here, and those of readers, bundle processes and workers, open a SQLite file', () => {
  const found = ['lib', 'db', 'app'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.tsx?$/.test(name) && !/\.test\.ts$|testing\//.test(name))
      .map((name) => join(folder, name)),
  );
  const opening = found.filter((name) => OPENS.test(readFileSync(join(ROOT, name), 'utf8')));
  const isBehindWalls = (name: string) =>
    /^lib\/(?:vfs|bundles|guest\/(?:worker|component-runner|shell|sqlite))\//.test(name);
  const others = opening.filter((name) => !isBehindWalls(name) && !name.startsWith('lib/registry/sqlite/'));
  expect(others.sort()).toEqual(Object.keys(OPENED_BY_THE_SERVER).sort());
  // The server's side of readers and bundle processes loads none of what they open files with.
  for (const name of ['lib/vfs/readers.ts', 'lib/vfs/reader-process.ts', 'lib/bundles/bundles.ts'])
    expect(opening).not.toContain(name);
});
