/** Sandboxes that go from host to host, each of which ships them to the same replica. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { systemClock } from '../base/clock.ts';
import { intent } from '../registry/testing/fixtures.ts';
import { registryOfTests, settingsOfTests } from '../registry/testing/registry-of-tests.ts';
import { sqlOfTests } from '../registry/testing/sql-of-tests.ts';
import { HeldStore } from '../replication/testing/held-store.ts';
import type { ObjectStore } from '../storage/object-store/object-store.ts';
import { instanceId } from '../testing/plain-ids.ts';
import { folderStore } from './store/testing/folder-store.ts';
import { type ReplicaStage, startReplica } from './testing/replica-stage.ts';
import { REQUEST, startTestEngine, type TestEngine } from './testing/test-engine.ts';

const WAIT = { timeout: 240_000, interval: 20 };
const HOUR_MS = 3_600_000;

interface Host {
  dock: TestEngine;
  replica: ReplicaStage;
}

interface HostOptions {
  term: number;
  aheadMs?: number;
  /** Whether an answer of a `sync` sandbox waits for a proof that it is this host's. */
  proves?: boolean;
}

let root: string;
let objects: ObjectStore;
let hosts: Host[];

beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), 'winterdock-moves-'));
  objects = await folderStore(join(root, 'bucket'));
  hosts = [];
});
afterEach(async () => {
  for (const host of hosts) await stop(host);
  await objects.close();
  rmSync(root, { recursive: true, force: true });
});

const registryHome = () => join(root, 'registry');

/** A host with a disk of its own; its clock is so far ahead of the machine's. */
async function start(
  name: string,
  { term, aheadMs = 0, proves = true, ...options }: HostOptions & Partial<Parameters<typeof startReplica>[0]>,
): Promise<Host> {
  await registryOfTests(registryHome());
  const dataFolder = join(root, name);
  const rows: { of: TestEngine | null } = { of: null };
  const replica = await startReplica({
    ...{ folder: join(root, 'replica'), dataFolder, term },
    clock: { now: () => systemClock.now() + aheadMs },
    rowOf: async (id) => ((await rows.of?.registry.instances.get(id)) as never) ?? null,
    ...(proves && { stillHeld: async (ids) => ((await rows.of?.registry.instances.stillHeld(ids)) ?? []) as never }),
    ...options,
  });
  const dock = await startTestEngine({
    ...{ dataFolder, replica: replica.files, store: { objects }, isAlone: false },
    environment: {
      WB_HOST_NAME: name,
      WB_REGISTRY: join(registryHome(), 'registry.sqlite'),
      ...settingsOfTests(registryHome()),
    },
  });
  rows.of = dock;
  dock.sandboxes.start();
  const host = { dock, replica };
  hosts.push(host);
  return host;
}

async function stop(host: Host): Promise<void> {
  hosts = hosts.filter((one) => one !== host);
  await host.dock.stop();
  await host.replica.close();
}

/** Files a sandbox until it is whole in the store, and so anybody's. */
async function rest({ dock }: Host, id: string): Promise<void> {
  await dock.sandboxes.runPlan(id, 'frozen', REQUEST);
  await vi.waitFor(async () => {
    expect(await dock.registry.instances.get(id)).toMatchObject({ state: 'frozen', ownerHost: null });
  }, WAIT);
}

/** What the newest moment of the replica has. */
async function newest({ replica }: Host, id: string) {
  const { path, series } = await replica.restore(id);
  const db = new DatabaseSync(path, { readOnly: true });
  try {
    const row = db.prepare("SELECT content FROM vfs WHERE path = '/kept'").get();
    return { series, text: row === undefined ? null : Buffer.from(row.content as Uint8Array).toString() };
  } finally {
    db.close();
  }
}

const shipped = ({ replica }: Host, id: string) => replica.files.flush(instanceId(id));

test('a sandbox that goes to another host and comes back is restored as it was last, whatever their terms and clocks are', async () => {
  const one = await start('one', { term: 1, aheadMs: -HOUR_MS });
  const two = await start('two', { term: 2 });
  await one.dock.create('a');
  await one.dock.run('a', 'printf 1 > kept');
  await rest(one, 'a');
  await two.dock.run('a', 'printf 2 > kept');
  await rest(two, 'a');
  expect((await newest(one, 'a')).text).toBe('2');
  await one.dock.run('a', 'printf 3 > kept');
  await shipped(one, 'a');
  expect((await newest(one, 'a')).text).toBe('3');
  await rest(one, 'a');
  await two.dock.run('a', 'printf 4 > kept');
  await shipped(two, 'a');
  expect((await newest(one, 'a')).text).toBe('4');
});

test('a host that gets a sandbox back as it had it does not go on with a series that another one follows', async () => {
  const one = await start('one', { term: 1 });
  const two = await start('two', { term: 2 });
  await one.dock.create('a');
  await one.dock.run('a', 'printf 1 > kept');
  await rest(one, 'a');
  await shipped(one, 'a');
  const first = await newest(one, 'a');
  // It is read there, and stays what it was.
  expect(await two.dock.run('a', 'cat kept')).toBe('1');
  await shipped(two, 'a');
  await rest(two, 'a');
  expect((await newest(one, 'a')).series).not.toBe(first.series);
  await one.dock.run('a', 'printf 3 > kept');
  await shipped(one, 'a');
  expect((await newest(one, 'a')).text).toBe('3');
});

test('a wake that another host gave up leaves no series that sorts behind what comes after it', async () => {
  const one = await start('one', { term: 1 });
  await one.dock.create('a');
  await one.dock.run('a', 'printf 1 > kept');
  await rest(one, 'a');
  const read = await one.dock.registry.instances.get('a');
  const { instances } = one.dock.registry;
  const going = intent({ ...read, state: 'frozen', generation: read?.generation ?? 0 } as never, { to: 'active' });
  const was = { seriesTerm: read?.seriesTerm ?? null, seriesHostTerm: read?.seriesHostTerm ?? null };
  const is = { seriesTerm: 2, seriesHostTerm: 2 };
  expect(await instances.begin('a', going, { order: { was, is } })).toBe(true);
  await instances.abandon('a', {}, []);
  // Who read the row before that does not take its number.
  expect(await instances.begin('a', going, { order: { was, is: { ...is, seriesHostTerm: 1 } } })).toBe(false);
  await one.dock.run('a', 'printf 2 > kept');
  expect(await instances.get('a')).toMatchObject({ seriesTerm: 3, seriesHostTerm: 1 });
});

test('a replica from before sandboxes had numbers of their own goes on, in the same series', async () => {
  const before = await start('one', { term: 1 });
  await before.dock.create('a');
  await before.dock.run('a', 'printf 1 > kept');
  await shipped(before, 'a');
  await before.dock.sandboxes.suspend('a', REQUEST);
  const first = await newest(before, 'a');
  await stop(before);
  const sql = await sqlOfTests(registryHome());
  await sql.ask('UPDATE instances SET series_term = NULL, series_host_term = NULL');
  await sql.close();
  const after = await start('one', { term: 1 });
  await after.dock.run('a', 'printf 2 > kept');
  await shipped(after, 'a');
  expect(await newest(after, 'a')).toEqual({ series: first.series, text: '2' });
  expect(await after.dock.registry.instances.get('a')).toMatchObject({ seriesTerm: 1, seriesHostTerm: 1 });
  await stop(after);
  const again = await start('one', { term: 1 });
  await again.dock.run('a', 'printf 3 > kept');
  await shipped(again, 'a');
  expect(await newest(again, 'a')).toEqual({ series: first.series, text: '3' });
});

/**
 * A host writes a `sync` sandbox while another one takes it over: changes its row, and then looks at what the replica
 * has. Gives what the first one answered, and what the next owner goes on with.
 */
async function takenWhileStored(proves: boolean): Promise<{ answer: string; next: string | null }> {
  const held = new HeldStore();
  const classOf = () => ({ kind: 'sync' }) as const;
  const one = await start('one', { term: 1, proves, classOf, between: held.over });
  await one.dock.create('a');
  await one.dock.run('a', 'printf 1 > kept');
  held.hold();
  const answering = one.dock.run('a', 'printf 2 > kept').then(
    () => 'done',
    (error: { code: string }) => error.code,
  );
  await vi.waitFor(() => expect(held.begun.length).toBeGreaterThan(held.stored.length), WAIT);
  const sql = await sqlOfTests(registryHome());
  await sql.ask("UPDATE instances SET owner_host = 'two', owner_term = 2, owner_token = 'of two'");
  const next = (await newest(one, 'a')).text;
  held.release();
  const answer = await answering;
  await sql.ask("UPDATE instances SET owner_host = 'one', owner_term = 1, owner_token = NULL, state = 'suspended'");
  await sql.close();
  return { answer, next };
}

test('what another host has taken over meanwhile is not answered: it may not have it', async () => {
  expect(await takenWhileStored(true)).toEqual({ answer: 'not_replicated', next: '1' });
});

test('without a look at the row a write is answered that the next owner does not have', async () => {
  expect(await takenWhileStored(false)).toEqual({ answer: 'done', next: '1' });
});

test('answers that wait at the same time have one look at their rows in common, and one with nothing to wait for has none', async () => {
  const looks: string[][] = [];
  const classOf = () => ({ kind: 'sync' }) as const;
  const rows: { of: TestEngine | null } = { of: null };
  const held = new HeldStore();
  const one = await start('one', {
    ...{ term: 1, classOf, between: held.over },
    async stillHeld(ids) {
      looks.push([...ids]);
      return ((await rows.of?.registry.instances.stillHeld(ids)) ?? []) as never;
    },
  });
  rows.of = one.dock;
  const ids = ['a', 'b', 'c'];
  for (const id of ids) {
    await one.dock.create(id);
    await one.dock.run(id, 'true');
  }
  held.delayMs = 300;
  looks.length = 0;
  await Promise.all(ids.map((id) => one.dock.run(id, 'printf 1 > kept')));
  expect(looks.flat().sort()).toEqual(expect.arrayContaining(ids));
  expect(looks.length).toBeLessThanOrEqual(looks.flat().length);
  looks.length = 0;
  for (const id of ids) expect(await one.dock.get(id, '/kept')).toBe('1');
  expect(looks).toEqual([]);
});
