/** Restores from a replica, as people run them, of a real server that was killed. */
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../base/clock.ts';
import { createLogger } from '../base/log.ts';
import { compareSeries, newSeries, parseSegmentName, REGISTRY_ID } from '../replication/names/replica-names.ts';
import { openObjectStore } from '../storage/object-store/open-store.ts';
import type { ServerProcess } from '../testing/process.ts';
import { ShippedKeys } from './shipped-keys.ts';
import { type FolderReplica, shipFolder } from './testing/replica-of-folder.ts';
import { expectWhole, populate, run, type ServerContent, spawnServer } from './testing/server-content.ts';

const PASSPHRASE = { WB_BACKUP_PASSPHRASE: 'a long enough passphrase' };
/** What the replica was shipped in. */
const TERM = 4;
const CONNECTION = { endpoint: null, region: 'x', pathStyle: false, encryption: null, credentials: {} };

let root: string;
let folder: string;
let world: ServerContent;
let replica: FolderReplica;
let firstMs: number;
const started: ServerProcess[] = [];

async function serve(on: string): Promise<ServerProcess> {
  const one = await spawnServer({ folder: on });
  started.push(one);
  return one;
}
const url = (store = replica.store) => pathToFileURL(store).href;
const restore = (to: string, ...args: string[]) => run('restore', to, ['--from', url(), ...args]);
const read = async (server: ServerProcess, id: string, path = 'what') =>
  (await server.call('GET', `/api/instances/${id}/volumes/workspace/${path}`)).text;

/** Two moments: of the first the replica has everything, of the second the files alone. */
beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'winterdock-replica-restore-'));
  folder = join(root, 'data');
  const server = await serve(folder);
  world = await populate(server);
  await server.end('SIGKILL');
  firstMs = Date.now();
  replica = await shipFolder(folder, join(root, 'store'), { term: TERM, timeMs: firstMs });
  const store = await openObjectStore(url(), CONNECTION);
  for (const kind of ['snapshot', 'blueprint']) {
    for (const name of readdirSync(join(folder, `${kind}s`)).filter((one) => one.endsWith('.sqlite'))) {
      await store.upload(`replica/_copies/${kind}/${name.replace('.sqlite', '')}`, join(folder, `${kind}s`, name));
    }
  }
  const keys = new ShippedKeys({
    ...{ store, clock: systemClock, log: createLogger('silent') },
    config: { dataFolder: folder, keysFolder: folder },
    passphrase: PASSPHRASE.WB_BACKUP_PASSPHRASE,
  });
  keys.start();
  await keys.stop();
  await store.close();
});
afterAll(async () => {
  for (const one of started) if (one.child.exitCode === null) await one.end('SIGKILL');
  rmSync(root, { recursive: true, force: true });
});

test('a lost data folder comes back by one command, with every sandbox in its state and what a killed one had', async () => {
  const to = join(root, 'whole');
  const planned = restore(to, '--dry-run');
  expect([planned.status, planned.stderr]).toEqual([0, '']);
  expect(planned.stdout).toContain('1 archived, 3 suspended, 3 created, 1 deleted, 1 frozen');
  expect(existsSync(join(to, 'registry.sqlite'))).toBe(false);
  const done = run('restore', to, ['--from', url()], PASSPHRASE);
  expect([done.status, done.stderr]).toEqual([0, '']);
  expect(done.stdout).toContain(`the registry as of ${new Date(firstMs).toISOString().slice(0, 17)}`);
  expect(done.stdout).toContain('Key files from the replica: auth.secret, secrets.key, signing.key.');
  for (const name of ['auth.secret', 'secrets.key', 'signing.key']) {
    expect(readFileSync(join(to, name))).toEqual(readFileSync(join(folder, name)));
  }
  // A filing is byte for byte what it was.
  for (const path of ['cold/frozen.sqlite', 'live/suspended/vfs.sqlite']) {
    expect(readFileSync(join(to, path)).equals(readFileSync(join(folder, path)))).toBe(true);
  }
  const looked = run('doctor', to, []);
  expect([looked.status, looked.stderr]).toEqual([0, '']);
  const server = await serve(to);
  await expectWhole(server, world);
  const lines = (await server.call<{ reason: string }[]>('GET', '/api/events?type=replica.restored')).json;
  expect(lines.map(({ reason }) => reason)).toEqual([expect.stringContaining(new Date(firstMs).toISOString())]);
  await server.end();
  // What the server ships from now on comes after all that was shipped before.
  const registry = new DatabaseSync(join(to, 'registry.sqlite'));
  const { term } = registry.prepare('SELECT max(term) AS term FROM hosts').get() as { term: number };
  registry.close();
  const [base = ''] = replica.segments.get(REGISTRY_ID) ?? [];
  const before = parseSegmentName(base.slice(replica.store.length + 1))?.series;
  expect(before?.term).toBe(TERM);
  expect(compareSeries(newSeries(term, 0), before ?? newSeries(term, 0))).toBeGreaterThan(0);
});

test('files that are newer than the registry, a later sandbox, an earlier time, and a list without the newest', async () => {
  const living = join(root, 'living');
  cpSync(folder, living, { recursive: true });
  const server = await serve(living);
  await server.call('PUT', '/api/instances/suspended/volumes/workspace/what', 'later');
  await server.call('POST', '/api/instances', { id: 'later', tenant: 'acme' });
  await server.call('PUT', '/api/instances/later/volumes/workspace/what', 'later');
  await server.end('SIGKILL');
  const but = [REGISTRY_ID, 'awake', 'frozen', 'archived'];
  const second = await shipFolder(living, replica.store, { term: TERM, timeMs: Date.now(), but });
  const to = join(root, 'newer');
  const done = restore(to);
  expect([done.status, done.stderr]).toEqual([0, '']);
  expect(done.stdout).toContain('Created after that moment of the registry, and not restored: later.');
  expect(run('doctor', to, []).status).toBe(0);
  const newer = await serve(to);
  expect(await read(newer, 'suspended')).toBe('later');
  expect((await newer.call('GET', '/api/instances/suspended')).json).toMatchObject({ state: 'suspended', fault: null });
  expect((await newer.call('GET', '/api/instances/later')).status).toBe(404);
  expect((await newer.call('GET', '/api/events?type=orphan.set_aside')).json).toEqual([]);
  await newer.end();

  const earlier = join(root, 'earlier.sqlite');
  const at = new Date(firstMs + 500).toISOString();
  expect(restore(to, '--at', at, '--instance', 'suspended', '--to', earlier).status).toBe(0);
  expect(readFileSync(earlier).equals(readFileSync(join(folder, 'live/suspended/vfs.sqlite')))).toBe(true);
  const none = restore(join(root, 'none'), '--at', '2020-01-01T00:00:00Z');
  expect([none.status, none.stderr]).toEqual([1, expect.stringContaining('has no moment of the registry up to 2020')]);

  for (const path of second.segments.get('suspended') ?? []) rmSync(path);
  const listed = join(root, 'listed.sqlite');
  const told = restore(to, '--instance', 'suspended', '--to', listed);
  expect(told.stdout).toContain(`as of ${new Date(firstMs).toISOString().slice(0, 17)}`);
  expect(readFileSync(listed).equals(readFileSync(earlier))).toBe(true);
});

test('one sandbox comes back as a new one or in its place, and not into another installation', async () => {
  const living = join(root, 'one');
  expect(restore(living).status).toBe(0);
  let server = await serve(living);
  await server.call('PUT', '/api/instances/frozen/volumes/workspace/what', 'spoilt');
  await server.end();
  const one = (...args: string[]) => restore(living, '--instance', ...args);
  expect(one('frozen').stderr).toContain('The sandbox "frozen" is there, suspended. Restore it under another id');
  expect(one('frozen', '--force').status).toBe(0);
  expect(one('archived', '--as', 'archived-before').status).toBe(0);
  expect(one('deleted').stderr).toContain('has no file of "deleted"');
  server = await serve(living);
  expect(await read(server, 'frozen')).toBe('frozen');
  expect(await read(server, 'archived-before')).toBe('archived');
  await server.end();
  const registry = new DatabaseSync(join(living, 'registry.sqlite'));
  registry.prepare("UPDATE settings SET value = '\"another\"' WHERE key = 'fact.installation'").run();
  registry.close();
  expect(one('frozen', '--force').stderr).toContain(
    'is that of another installation. Restore the sandbox as a new one',
  );
});

test('a folder in use, another marker and a truncated segment are refused, and nothing is changed', async () => {
  const living = join(root, 'refused');
  cpSync(folder, living, { recursive: true });
  const before = readFileSync(join(living, 'registry.sqlite'));
  const unchanged = (result: { status: number | null; stderr: string }, why: string) => {
    expect([result.status, result.stderr]).toEqual([1, expect.stringContaining(why)]);
    expect(readFileSync(join(living, 'registry.sqlite')).equals(before)).toBe(true);
    expect(existsSync(join(living, 'restoring.json'))).toBe(false);
  };
  unchanged(restore(living), 'There are sandboxes in');
  const store = join(root, 'damaged');
  cpSync(replica.store, store, { recursive: true });
  const from = ['--from', url(store), '--force'];
  const [segment = ''] = (replica.segments.get('frozen') ?? []).map((path) =>
    join(store, path.slice(replica.store.length)),
  );
  truncateSync(segment, 9000);
  unchanged(run('restore', living, from), `The segment ${basename(segment)} is damaged`);
  expect(run('restore', living, [...from, '--instance', 'awake', '--as', 'sound']).status).toBe(0);
  writeFileSync(join(store, 'winterdock.json'), JSON.stringify({ id: 'another', term: 1 }));
  const other = run('restore', living, from);
  expect([other.status, other.stderr]).toEqual([
    1,
    expect.stringContaining('that of another installation than its replica'),
  ]);
});
