/** A backup names every damaged sandbox, in whichever drawer, and the doctor calls nothing well above one. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ServerProcess } from '../testing/process.ts';
import { run, spawnServer } from './testing/server-content.ts';

const PLACES: Record<string, string> = {
  suspended: 'live/suspended/vfs.sqlite',
  frozen: 'cold/frozen.sqlite',
  archived: 'archive/archived.sqlite.zst',
  faulted: 'cold/faulted.sqlite',
  missing: 'cold/missing.sqlite',
};

let root: string;
let folder: string;
let server: ServerProcess;

/** Changes one byte in the middle of a file. */
function rot(path: string): void {
  const bytes = readFileSync(path);
  const at = Math.floor(bytes.length / 2);
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  writeFileSync(path, bytes);
}

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'winterdock-damaged-'));
  folder = join(root, 'data');
  server = await spawnServer({ folder });
  const { call } = server;
  for (const id of Object.keys(PLACES)) {
    await call('POST', '/api/instances', { id, tenant: 'acme' });
    await call('PUT', `/api/instances/${id}/volumes/workspace/note`, Buffer.alloc(100_000, id));
    const to = id === 'suspended' || id === 'archived' ? id : 'frozen';
    expect((await call('POST', `/api/instances/${id}/plan`, { to })).status).toBe(200);
  }
  rot(join(folder, PLACES.faulted ?? ''));
  expect((await call('POST', '/api/instances/faulted/resume', {})).json).toMatchObject({ code: 'corrupt' });
});
afterAll(async () => {
  if (server.child.exitCode === null) await server.end('SIGKILL');
  rmSync(root, { recursive: true, force: true });
});

test('the doctor that reads no file says so, and calls nothing well above a fault that the registry knows', async () => {
  const { status, stdout } = run('doctor', folder, []);
  expect([status, stdout]).toEqual([1, expect.stringMatching(/faulted .*fault corrupt[\s\S]*Something is wrong\.\n$/)]);
});

test('a backup names every damaged sandbox, and so does the next one', async () => {
  await server.end();
  for (const id of ['suspended', 'frozen', 'archived']) rot(join(folder, PLACES[id] ?? ''));
  rmSync(join(folder, PLACES.missing ?? ''));
  for (const _time of ['first', 'next']) {
    const { status, stderr } = run('backup', folder, [join(root, 'backup')]);
    const named = [...stderr.matchAll(/^NOT SOUND: The sandbox "(\w+)": .+$/gm)].map(([, id]) => id).sort();
    expect([status, named]).toEqual([2, Object.keys(PLACES).sort()]);
  }
});
