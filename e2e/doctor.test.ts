import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Finding } from '../lib/doctor/findings.ts';
import { readHead } from '../lib/ledger/head-file.ts';
import { orphansIn } from '../lib/testing/orphans.ts';
import { type ServerProcess, spawnServer } from '../lib/testing/process.ts';
import { programOf } from '../lib/testing/program.ts';

const script = (name: string) => programOf(fileURLToPath(new URL(`../scripts/${name}.ts`, import.meta.url)));

let folder: string;
let server: ServerProcess | null;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-doctor-'));
  server = null;
});
afterEach(async () => {
  await server?.end('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

const registry = (suffix = '') => join(folder, `registry.sqlite${suffix}`);

function run(name: string, ...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [script(name), ...args], {
    env: { ...process.env, WB_DATA: folder },
    encoding: 'utf8',
  });
  return { status, said: stdout + stderr };
}
const doctor = (...args: string[]) => run('doctor', ...args);

function findings(...args: string[]): Pick<Finding, 'kind' | 'weight' | 'about' | 'way'>[] {
  const { said } = doctor('--json', ...args);
  const { findings: all } = JSON.parse(said) as { findings: Finding[] };
  return all.map(({ kind, weight, about, way }) => ({ kind, weight, about, way }));
}

async function call(method: string, path: string, body?: unknown): Promise<Awaited<ReturnType<ServerProcess['call']>>> {
  const answer = await server?.call(method, `/api${path}`, body);
  if (answer === undefined || answer.status >= 300)
    throw new Error(`${method} ${path}: ${answer?.status} ${answer?.text}`);
  return answer;
}

/** A sandbox with a file of its own, moved to `state`. */
async function make(id: string, state: 'active' | 'suspended' | 'frozen' | 'archived' = 'active'): Promise<void> {
  await call('POST', '/instances', { id, tenant: 'acme' });
  await call('POST', `/instances/${id}/exec`, { command: `printf 'of ${id}' > kept` });
  if (state === 'active') return;
  if (state === 'archived') return void (await call('POST', `/instances/${id}/archive`));
  await call('POST', `/instances/${id}/suspend`);
  if (state === 'frozen') await call('POST', `/instances/${id}/freeze`);
}

/** Wakes one and reads what it wrote. */
async function wake(id: string): Promise<string> {
  await call('POST', `/instances/${id}/resume`);
  const { text } = await call('POST', `/instances/${id}/exec`, { command: 'cat kept' });
  return (JSON.parse(text) as { stdout: string }).stdout;
}

const FOUR = { up: 'active', rest: 'suspended', ice: 'frozen', box: 'archived' } as const;

async function makeFour(): Promise<void> {
  server = await spawnServer({ folder });
  for (const [id, state] of Object.entries(FOUR)) await make(id, state);
}

test('a healthy folder has no findings, stopped and beside a server, and the examination changes nothing', async () => {
  await makeFour();
  const beside = doctor();
  expect(beside.said).toMatch(/A server runs on this data folder/);
  expect(beside.said).toMatch(/4 rows and 4 files were looked at/);
  expect([beside.status, beside.said]).toEqual([0, expect.stringContaining('Nothing wrong was seen.')]);
  const refused = doctor('--fix');
  expect(refused).toEqual({ status: 2, said: expect.stringMatching(/Another Winterdock uses the data folder/) });
  await server?.end();
  const nowhere = spawnSync(process.execPath, [script('doctor')], {
    env: { ...process.env, WB_DATA: join(folder, 'nowhere') },
  });
  expect([nowhere.status, existsSync(join(folder, 'nowhere'))]).toEqual([2, false]);
  const before = readFileSync(registry());
  const stopped = doctor('--full');
  expect([stopped.status, stopped.said]).toEqual([0, expect.stringMatching(/4 hashed\.\nAll is well\./)]);
  expect(readFileSync(registry()).equals(before)).toBe(true);
});

test('with the registry lost every sandbox gets its row back from its file, and wakes with its bytes', async () => {
  await makeFour();
  await call('POST', '/instances/rest/snapshots');
  // The head is signed a moment after the lines that it names; one of an empty ledger names none.
  await expect.poll(() => readHead(`${registry()}.head`)?.seq, { timeout: 240_000 }).toBeGreaterThan(0);
  await server?.end('SIGKILL');
  for (const suffix of ['', '-wal', '-shm']) rmSync(registry(suffix), { force: true });
  await expect(spawnServer({ folder })).rejects.toThrow(/npm run doctor/);

  const looked = findings();
  expect(
    looked
      .filter(({ kind }) => kind === 'file.unnamed')
      .map(({ about }) => about)
      .sort(),
  ).toEqual(['box', 'ice', 'rest', 'up']);
  expect(looked).toContainEqual({ kind: 'registry.behind', weight: 'wrong', about: null, way: 'adopt' });
  const nobodys = doctor('--adopt');
  expect(nobodys.status).toBe(1);
  expect(nobodys.said).toMatch(
    /not done: no row says which tenant live\/up\/vfs\.sqlite belongs to: pass --tenant NAME/,
  );
  await expect(spawnServer({ folder })).rejects.toThrow(/npm run doctor/);

  const some = doctor('--adopt', 'up', '--tenant', 'acme');
  expect([some.status, some.said]).toEqual([1, expect.stringMatching(/4 files without a row still/)]);
  await expect(spawnServer({ folder })).rejects.toThrow(/npm run doctor/);
  const all = doctor('--adopt', '--tenant', 'acme');
  expect(all.said).toMatch(/done: epoch 2 of the ledger was begun/);
  expect([all.status, all.said]).toEqual([0, expect.stringContaining('Nothing wrong was seen.')]);

  server = await spawnServer({ folder });
  const shown = (await server.call<{ id: string; state: string }[]>('GET', '/api/instances?tenant=acme')).json;
  expect(Object.fromEntries(shown.map(({ id, state }) => [id, state]))).toEqual({ ...FOUR, up: 'suspended' });
  for (const id of Object.keys(FOUR)) expect(await wake(id)).toBe(`of ${id}`);
  const told = (await server.call<{ instance: string }[]>('GET', '/api/events?type=instance.adopted')).json;
  expect(told.map(({ instance }) => instance).sort()).toEqual(['box', 'ice', 'rest', 'up']);
  const [snapshot] = (await server.call<{ id: string }[]>('GET', '/api/snapshots?tenant=acme')).json;
  const made = await server.call<{ id: string }[]>('POST', `/api/snapshots/${snapshot?.id}/restore`);
  expect(await wake(made.json[0]?.id ?? '')).toBe('of rest');
  await server.end();
  expect(orphansIn(folder)).toEqual([]);
  const proof = run('ledger-verify');
  expect([proof.status, proof.said]).toEqual([
    0,
    expect.stringMatching(/Epoch 2 was begun by doctor at line \d+.*head before it, of epoch 1, was line/),
  ]);
});

test('with an older registry rows follow their files, newer sandboxes get rows, and files in orphans come back', async () => {
  await makeFour();
  await server?.end();
  cpSync(registry(), registry('.older'));
  server = await spawnServer({ folder });
  await make('late', 'frozen');
  await call('POST', '/instances/rest/freeze');
  await call('POST', '/instances/ice/archive');
  await server.end();
  cpSync(registry('.older'), registry());
  mkdirSync(join(folder, 'orphans'), { recursive: true });
  renameSync(join(folder, 'live/up/vfs.sqlite'), join(folder, 'orphans/1700000000000-up-vfs.sqlite'));
  rmSync(join(folder, 'live/up'), { recursive: true });

  const looked = findings();
  expect(looked.filter(({ weight }) => weight === 'wrong')).toEqual(
    expect.arrayContaining([
      { kind: 'registry.behind', weight: 'wrong', about: null, way: 'adopt' },
      { kind: 'row.elsewhere', weight: 'wrong', about: 'rest', way: 'fix' },
      { kind: 'row.elsewhere', weight: 'wrong', about: 'ice', way: 'adopt' },
      { kind: 'row.elsewhere', weight: 'wrong', about: 'up', way: 'adopt' },
      { kind: 'file.unnamed', weight: 'wrong', about: 'late', way: 'adopt' },
    ]),
  );
  const mended = doctor('--fix', '--adopt', '--tenant', 'acme');
  expect([mended.status, mended.said]).toEqual([0, expect.stringContaining('Nothing wrong was seen.')]);
  server = await spawnServer({ folder });
  for (const id of [...Object.keys(FOUR), 'late']) expect(await wake(id)).toBe(`of ${id}`);
  await server.end();
  expect(run('ledger-verify').status).toBe(0);
});

test('faults are named: a missing file, a changed one, a foreign log, wrong counts; and the safe part is fixed', async () => {
  await makeFour();
  await server?.end();
  server = await spawnServer({ folder });
  await server.end();
  rmSync(join(folder, 'cold/ice.sqlite'));
  writeFileSync(join(folder, 'live/rest/vfs.sqlite-wal'), 'not its own');
  writeFileSync(
    join(folder, 'live/up/vfs.sqlite'),
    readFileSync(join(folder, 'live/rest/vfs.sqlite')).subarray(0, 4096),
  );
  const client = new Database(registry());
  client.exec("UPDATE counts_by_state SET n = n + 5 WHERE state = 'frozen'");
  client.close();

  const { status, said } = doctor();
  expect(status).toBe(1);
  expect(said).toMatch(/ice cold\/ice\.sqlite: its file is not there, nor under its key in any other drawer/);
  expect(said).toMatch(/up live\/up\/vfs\.sqlite: the file has 4096 bytes, \d+ were filed/);
  expect(said).toMatch(/rest live\/rest\/vfs\.sqlite-wal: a log lies beside a file at rest/);
  expect(said).toMatch(/the counts in counts_by_state are not those of the rows/);
  const fixed = doctor('--fix');
  expect(fixed.said).toMatch(
    /done: rest: live\/rest\/vfs\.sqlite-wal was set aside as orphans\/\d+-rest-vfs\.sqlite-wal/,
  );
  expect(fixed.said).toMatch(/done: counted again: counts_by_state/);
  expect(fixed.status).toBe(1);
  expect(existsSync(join(folder, 'live/rest/vfs.sqlite-wal'))).toBe(false);
  expect(findings()).toContainEqual({ kind: 'orphan.kept', weight: 'note', about: 'rest', way: null });
  expect(findings().filter(({ weight }) => weight === 'wrong')).toEqual([
    { kind: 'row.missing', weight: 'wrong', about: 'ice', way: null },
    { kind: 'row.changed', weight: 'wrong', about: 'up', way: null },
  ]);
  server = await spawnServer({ folder });
  expect(await wake('rest')).toBe('of rest');
});

test('a sandbox whose file is missing gets it back from another drawer, or from where it was set aside, and its fault is cleared', async () => {
  await makeFour();
  await server?.end();
  const ice = join(folder, 'cold/ice.sqlite');
  mkdirSync(join(folder, 'live/ice'));
  cpSync(ice, join(folder, 'live/ice/vfs.sqlite'));
  rmSync(ice);
  renameSync(join(folder, 'archive/box.sqlite.zst'), join(folder, 'orphans/1700000000000-box-box.sqlite.zst'));
  expect(doctor().said).toMatch(
    /ice cold\/ice\.sqlite: its file is not there, but one lies at live\/ice\/vfs\.sqlite, with the size that was recorded/,
  );
  expect(doctor('--fix').said).toMatch(/done: ice: its row says suspended at live\/ice\/vfs\.sqlite now/);
  server = await spawnServer({ folder });
  expect(await wake('ice')).toBe('of ice');
  expect((await server.call('POST', '/api/instances/box/revive')).json.code).toBe('missing_file');
  const box = async () => (await call('GET', '/instances/box')).text;
  expect(JSON.parse(await box())).toMatchObject({ state: 'archived', fault: 'missing' });
  await server.end();
  server = null;
  const told = doctor();
  expect([told.status, told.said]).toEqual([
    1,
    expect.stringMatching(/box .*set aside as orphans\/1700000000000-box-box\.sqlite\.zst \[--adopt\]/),
  ]);
  expect(doctor('--adopt', 'box')).toEqual({
    status: 0,
    said: expect.stringContaining('is the file of a sandbox of acme, archived'),
  });
  server = await spawnServer({ folder });
  expect(JSON.parse(await box())).toMatchObject({ state: 'archived', fault: null });
  expect(await wake('box')).toBe('of box');
});

test('a deliberately older registry starts once its epoch was begun with a reason', async () => {
  await makeFour();
  await server?.end();
  cpSync(registry(), registry('.older'));
  server = await spawnServer({ folder });
  await make('late', 'frozen');
  await server.end();
  cpSync(registry('.older'), registry());
  expect(doctor('--accept', '').status).toBe(2);
  const accepted = doctor('--accept', 'Tuesday is not wanted');
  expect(accepted.said).toMatch(/done: epoch 2 of the ledger was begun/);
  server = await spawnServer({ folder });
  expect(await wake('ice')).toBe('of ice');
  await vi.waitFor(() => expect(orphansIn(folder)).toHaveLength(1), 240_000);
  await server.end();
  server = null;
  expect(findings()).toContainEqual({ kind: 'orphan.unnamed', weight: 'note', about: 'late', way: 'adopt' });
  expect(doctor('--adopt', 'late', '--tenant', 'acme').status).toBe(0);
  server = await spawnServer({ folder });
  expect(await wake('late')).toBe('of late');
});
