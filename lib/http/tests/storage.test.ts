/** How the store does, and that a copy of the data folder is a backup. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Event, Storage } from '../../contract/schema.ts';
import { quickCheckInThread } from '../../registry/sqlite/quick-check.ts';
import { onPostgres } from '../../registry/testing/registry-of-tests.ts';
import { startServer, type TestServer } from '../../testing/server.ts';

/** What a backup may leave out, as the page says. */
const NOT_NEEDED = ['cache', 'expanded', 'staging'];

let folder: string;
let server: TestServer;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-storage-'));
  server = await startServer({
    folder,
    settings: {
      ...(onPostgres() ? {} : { WB_REGISTRY: join(folder, 'registry.sqlite') }),
      WB_POOL: '1',
      WB_MAX_ACTIVE: '7',
      WB_MEMORY: String(95 * 1024 * 1024),
    },
  });
});
afterEach(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

const look = async () => (await server.call<Storage>('GET', '/api/settings/storage')).json;
const check = (what: string) => server.call<Storage>('POST', '/api/settings/storage/check', { what });

async function make(id: string, ...verbs: string[]): Promise<void> {
  expect((await server.call('POST', '/api/instances', { id, tenant: 'acme' })).status).toBe(201);
  expect((await server.call('PUT', `/api/instances/${id}/volumes/workspace/note`, `of ${id}`)).status).toBe(201);
  for (const verb of verbs) expect((await server.call('POST', `/api/instances/${id}/${verb}`, {})).status).toBe(200);
}

test('the rows’ counts, the files found, and the missing ones', async () => {
  await make('a', 'suspend');
  await make('b', 'suspend', 'freeze');
  await make('c', 'archive');
  const before = await look();
  expect(before.drawers.map(({ drawer, rows, writable, same_disk }) => [drawer, rows, writable, same_disk])).toEqual([
    ['live', 1, true, true],
    ['cold', 1, true, true],
    ['archive', 1, true, true],
  ]);
  expect(before).toMatchObject({
    measured: null,
    backup: null,
    replication: null,
    scrub: { walk: null, last: null },
    running: [],
    places: { serving: 0, most: 7, ahead: 1 },
    memory: { serving_bytes: 0, limit_bytes: 95 * 1024 * 1024 },
    registry: onPostgres()
      ? { inside_data: false, wal_bytes: 0, check: null }
      : { file: 'registry.sqlite', inside_data: true, check: null },
    ledger: { sealed: 0, last_sealed: null },
  });
  expect(before.ledger.open_lines).toBe(before.ledger.seq);
  if (onPostgres()) expect(before.registry.bytes).toBeGreaterThan(100_000);
  else {
    expect(before.registry.bytes).toBe(statSync(join(folder, 'registry.sqlite')).size);
    expect(before.registry.wal_bytes).toBe(statSync(join(folder, 'registry.sqlite-wal')).size);
  }
  const kept = new Map(before.kept.map((series) => [series.name, series]));
  expect(kept.get('ledger')).toMatchObject({
    rows: before.ledger.seq,
    more: false,
    limits: [{ setting: 'WB_LEDGER_KEEP_DAYS', value: null, unit: 'days' }],
  });
  expect(kept.get('sandbox_hours')?.limits.map(({ value }) => value)).toEqual([400, 2_000_000]);
  for (const { name, limits } of before.kept) expect([name, limits.length > 0]).toEqual([name, true]);
  expect(before.disk.free_bytes).toBeGreaterThan(0);
  expect(before.disk.free_bytes).toBeLessThanOrEqual(before.disk.bytes);

  writeFileSync(join(folder, 'cold', 'stray.sqlite'), 'nobody’s');
  const { json: after } = await check('drawers');
  const weight = (name: string) => after.measured?.drawers.find(({ drawer }) => drawer === name);
  expect(after.measured?.rows).toEqual({ live: 1, cold: 1, archive: 1 });
  expect([weight('live')?.files, weight('cold')?.files, weight('archive')?.files]).toEqual([1, 2, 1]);
  expect(weight('archive')?.bytes).toBeLessThan(before.drawers[2]?.bytes ?? 0);
  expect(weight('orphans')?.files).toBe(0);

  await server.stop();
  server = await startServer({ folder });
  expect((await look()).measured).toEqual(after.measured);
  await expect
    .poll(async () => (await server.call<Event[]>('GET', '/api/events?type=orphan.set_aside')).json.length)
    .toBe(1);
  const again = (await check('drawers')).json.measured?.drawers;
  expect(again?.find(({ drawer }) => drawer === 'orphans')?.files).toBe(1);
  expect(again?.find(({ drawer }) => drawer === 'cold')?.files).toBe(1);

  renameSync(join(folder, 'archive'), join(folder, 'away'));
  expect((await look()).drawers.map(({ drawer, writable }) => [drawer, writable])).toEqual([
    ['live', true],
    ['cold', true],
    ['archive', false],
  ]);
  renameSync(join(folder, 'away'), join(folder, 'archive'));
});

test('the registry is checked on request, once for concurrent callers, and the result is stored and shown', async () => {
  const both = await Promise.all([check('registry'), check('registry')]);
  expect(both.map(({ json }) => json.registry.check?.ok)).toEqual([true, true]);
  const lines = await server.call<Event[]>('GET', '/api/events?type=registry.checked');
  expect(lines.json.map(({ reason }) => reason)).toEqual(['ok']);
  const kept = both[0]?.json.registry.check;
  await server.stop();
  server = await startServer({ folder });
  expect((await look()).registry.check).toEqual(kept);
  expect((await check('everything')).status).toBe(422);
});

test('a damaged registry does not pass, and a file that is not a registry is reported', async () => {
  for (let n = 0; n < 40; n += 1) await server.call('POST', '/api/instances', { id: `n${n}`, tenant: 'acme' });
  await server.stop();
  const bytes = readFileSync(join(folder, 'registry.sqlite'));
  const harmed = join(folder, 'harmed.sqlite');
  const third = Math.floor(bytes.length / 3);
  writeFileSync(harmed, bytes.fill(0xff, third, third * 2));
  await expect(quickCheckInThread(harmed).catch((error: Error) => error.message)).resolves.not.toBe('ok');
  writeFileSync(harmed, 'no database at all, but some text that is long enough to be looked at'.repeat(100));
  await expect(quickCheckInThread(harmed)).rejects.toThrow(/not a database/);
  server = await startServer({ folder });
});

test('a copy of a stopped server’s folder, without derived files, is a complete backup', async () => {
  await make('a');
  await make('b', 'suspend', 'freeze');
  await make('c', 'archive');
  await server.stop();
  const copy = mkdtempSync(join(tmpdir(), 'winterdock-backup-'));
  try {
    mkdirSync(copy, { recursive: true });
    // Times to the nanosecond: a file whose hash is not recorded yet is known by them.
    const packed = spawnSync('tar', [
      '--format=pax',
      ...NOT_NEEDED.map((name) => `--exclude=./${name}`),
      '-C',
      folder,
      '-cf',
      join(copy, 'b.tar'),
      '.',
    ]);
    expect([packed.status, packed.stderr.toString()]).toEqual([0, '']);
    const restored = join(copy, 'data');
    mkdirSync(restored);
    expect(spawnSync('tar', ['-C', restored, '-xf', join(copy, 'b.tar')]).status).toBe(0);
    server = await startServer({ folder: restored });
    for (const id of ['a', 'b', 'c']) {
      expect((await server.call('GET', `/api/instances/${id}/volumes/workspace/note`)).text).toBe(`of ${id}`);
      expect((await server.call('POST', `/api/instances/${id}/resume`, {})).status).toBe(200);
    }
    expect((await server.call<{ ok: boolean }>('GET', '/api/events/verify')).json.ok).toBe(true);
    await server.stop();
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
});
