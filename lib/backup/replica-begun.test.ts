/** What comes back where the replica has nothing: clones that had just begun, and listings of archived sandboxes. */
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openObjectStore } from '../storage/object-store/open-store.ts';
import type { ServerProcess } from '../testing/process.ts';
import { copyInReplica } from './replica-extras.ts';
import { shipFolder } from './testing/replica-of-folder.ts';
import { run, spawnServer } from './testing/server-content.ts';

const CONNECTION = { endpoint: null, region: 'x', pathStyle: false, encryption: null, credentials: {} };
let root: string;
let folder: string;
let store: string;
let ofSnapshot: string;
let ofBlueprint: string;
const started: ServerProcess[] = [];

async function serve(on: string): Promise<ServerProcess> {
  const one = await spawnServer({ folder: on });
  started.push(one);
  return one;
}
const restore = (to: string, ...args: string[]) => run('restore', to, ['--from', pathToFileURL(store).href, ...args]);

/** Two clones are awake for the first time, have written, and are not in the replica yet. */
beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'winterdock-replica-begun-'));
  folder = join(root, 'data');
  store = join(root, 'store');
  const { call, end } = await serve(folder);
  const ok = async <T>(path: string, body: object | string = {}, method = 'POST'): Promise<T> => {
    const answer = await call<T>(method, `/api${path}`, body);
    expect(answer.status, `${path}: ${answer.text}`).toBeLessThan(300);
    return answer.json;
  };
  for (const id of ['source', 'packed']) {
    await ok('/instances', { id, tenant: 'acme' });
    await ok(`/instances/${id}/volumes/workspace/what`, id, 'PUT');
  }
  const { id: snapshot } = await ok<{ id: string }>('/instances/source/snapshots');
  await ok('/blueprints', { name: 'base', from_instance: 'source' });
  await ok('/instances/packed/archive');
  [{ id: ofSnapshot = '' } = {}] = await ok<{ id: string }[]>(`/snapshots/${snapshot}/restore`, { tenant: 'acme' });
  [{ id: ofBlueprint = '' } = {}] = await ok<{ id: string }[]>('/blueprints/base/clone', { tenant: 'acme' });
  for (const id of [ofSnapshot, ofBlueprint]) {
    await ok(`/instances/${id}/exec`, { command: 'echo lost > later' });
  }
  await end('SIGKILL');
  await shipFolder(folder, store, { term: 1, timeMs: Date.now(), but: [ofSnapshot, ofBlueprint] });
  const opened = await openObjectStore(pathToFileURL(store).href, CONNECTION);
  for (const kind of ['snapshot', 'blueprint'] as const) {
    for (const name of readdirSync(join(folder, `${kind}s`)).filter((one) => one.endsWith('.sqlite'))) {
      await opened.upload(copyInReplica(kind, name.replace('.sqlite', '')), join(folder, `${kind}s`, name));
    }
  }
  await opened.close();
});
afterAll(async () => {
  for (const one of started) if (one.child.exitCode === null) await one.end('SIGKILL');
  rmSync(root, { recursive: true, force: true });
});

test('a clone that was awake for the first time comes back as what it was made of, and an archived one gets its listing', async () => {
  const to = join(root, 'whole');
  const planned = restore(to, '--dry-run');
  expect([planned.status, planned.stderr]).toEqual([0, '']);
  expect(planned.stdout).toContain('Had just begun, and come back as they began:');
  const done = restore(to);
  expect([done.status, done.stderr]).toEqual([0, '']);
  expect(done.stdout).toContain(`${ofBlueprint} (the blueprint base)`);
  expect(run('doctor', to, []).status).toBe(0);
  const { call, end } = await serve(to);
  for (const id of [ofSnapshot, ofBlueprint]) {
    expect((await call('GET', `/api/instances/${id}`)).json).toMatchObject({ state: 'suspended', fault: null });
    const ran = await call('POST', `/api/instances/${id}/exec`, { command: 'cat what; ls' });
    expect([id, ran.json.stdout]).toEqual([id, 'sourcewhat\n']);
    const [line] = (await call<{ reason: string }[]>('GET', `/api/instances/${id}/events?type=backup.placed`)).json;
    expect(line?.reason).toContain('replica, which has nothing of it yet: it is as it began, the ');
  }
  const listing = join(to, 'archive', 'packed.json');
  expect(existsSync(listing)).toBe(false);
  const files = async () => (await call<{ path: string }[]>('GET', '/api/instances/packed/volumes/workspace')).json;
  expect((await files()).map(({ path }) => path)).toEqual(['/what']);
  expect(existsSync(listing)).toBe(true);
  expect((await files()).map(({ path }) => path)).toEqual(['/what']);
  await end();
});

test('without the file of its copy it is missing, and says the way out, which brings it back', async () => {
  const kept = join(store, 'replica', '_copies', 'snapshot');
  for (const name of readdirSync(kept)) rmSync(join(kept, name));
  const to = join(root, 'missing');
  const done = restore(to);
  expect([done.status, done.stderr]).toEqual([0, '']);
  expect(done.stdout).toContain(`Not in the replica, and will be missing: ${ofSnapshot}.`);
  const { call, end } = await serve(to);
  const { json } = await call<{ fault: string; fault_reason: string }>('GET', `/api/instances/${ofSnapshot}`);
  expect(json.fault).toBe('missing');
  expect(json.fault_reason).toMatch(
    /it had just begun as the snapshot \S+, whose file is not in the replica: put that/,
  );
  await end();
});
