import { hash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { entry } from '../registry/testing/fixtures.ts';
import { registryOfTests, settingsOfTests } from '../registry/testing/registry-of-tests.ts';
import { sqlOfTests } from '../registry/testing/sql-of-tests.ts';
import { REQUEST, startTestEngine, type TestEngine } from './testing/test-engine.ts';

let root: string;
let docks: TestEngine[];

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'winterdock-hosts-'));
  docks = [];
});
afterEach(async () => {
  vi.unstubAllEnvs();
  for (const dock of docks) await dock.stop().catch(() => undefined);
  rmSync(root, { recursive: true, force: true });
});

const registryHome = () => join(root, 'registry');

/** A host with a data folder of its own, beside the others on one registry. */
async function startHost(name: string): Promise<TestEngine> {
  await registryOfTests(registryHome());
  const dock = await startTestEngine({
    dataFolder: join(root, name),
    environment: {
      WB_HOST_NAME: name,
      WB_REGISTRY: join(registryHome(), 'registry.sqlite'),
      ...settingsOfTests(registryHome()),
    },
    isAlone: false,
    scrub: { startMs: 0, pageMs: 0, passMs: 0, keepMs: 0, share: 1 },
  });
  docks.push(dock);
  return dock;
}

/** The rows of sandboxes with these ids, and every line of the ledger about one. */
async function rowsOf(ids: readonly string[]): Promise<unknown> {
  const sql = await sqlOfTests(registryHome());
  try {
    const list = ids.map((id) => `'${id}'`).join();
    return {
      rows: await sql.ask(`SELECT * FROM instances WHERE id IN (${list}) ORDER BY id`),
      lines: await sql.ask(`SELECT * FROM events WHERE instance IN (${list}) ORDER BY seq`),
    };
  } finally {
    await sql.close();
  }
}

/** Every file of a host's folder with a hash, without the index of logs, which readers write. */
function filesOf(name: string): Record<string, string> {
  const entries = readdirSync(join(root, name), { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((one) => one.isFile() && !one.name.endsWith('-shm'))
    .map((one) => join(one.parentPath, one.name));
  return Object.fromEntries(paths.sort().map((path) => [path, hash('sha256', readFileSync(path))]));
}

const ONES = ['awake', 'suspended', 'frozen', 'archived', 'moving', 'deleted'];

/** Sandboxes of the first host in every state, one of them in the middle of a move. */
async function fill(dock: TestEngine): Promise<void> {
  for (const id of ONES) {
    await dock.create(id);
    await dock.put(id, '/kept', id);
  }
  for (const [id, to] of [
    ['suspended', 'suspended'],
    ['frozen', 'frozen'],
    ['archived', 'archived'],
    ['moving', 'suspended'],
    ['deleted', 'deleted'],
  ] as const) {
    await dock.sandboxes.runPlan(id, to, REQUEST);
  }
  const row = await dock.registry.instances.get('moving');
  if (row === null) throw new Error('no row');
  await dock.registry.instances.begin('moving', {
    verb: 'freeze',
    from: 'suspended',
    to: 'frozen',
    generation: row.generation,
    fromPath: row.vfsPath,
    toPath: 'cold/moving.sqlite',
    startedMs: dock.clock.now(),
    trigger: 'request',
    actor: 'key:test',
    via: 'api',
    reason: null,
    requestId: null,
  });
  // Its own background checks are recorded.
  for (const id of ['suspended', 'frozen', 'moving']) {
    await vi.waitFor(async () => expect((await dock.registry.instances.get(id))?.file?.quickCheck).toBe('ok'), {
      timeout: 240_000,
    });
  }
}

/** All that a host does by itself, with a clock that is years ahead and then behind. */
async function live(dock: TestEngine): Promise<void> {
  dock.sandboxes.start();
  dock.clock.advance(400 * 86_400_000);
  await dock.sandboxes.tick();
  dock.clock.advance(-800 * 86_400_000);
  await dock.sandboxes.tick();
  dock.clock.advance(400 * 86_400_000);
  await dock.sandboxes.tick();
}

describe.each(['at once', 'late'])('two hosts on a registry that answers %s', (answers) => {
  beforeEach(() => {
    if (answers === 'late') vi.stubEnv('WB_TEST_REGISTRY', answers);
  });

  test('the start, work, crash and stop of the second change no row and no file of the first', async () => {
    const one = await startHost('one');
    await fill(one);
    const [rows, files] = [await rowsOf(ONES), filesOf('one')];
    const expectKept = async (when: string) =>
      expect([when, await rowsOf(ONES), filesOf('one')]).toEqual([when, rows, files]);

    // Files of an earlier time, under the names of what is on the first host now.
    const stale = [
      'live/frozen/vfs.sqlite',
      'live/suspended/vfs.sqlite',
      'live/awake/vfs.sqlite',
      'cold/frozen.sqlite',
    ].map((name) => join(root, 'two', name));
    for (const path of stale) {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, 'stale');
    }
    const expectLeft = () => expect(stale.map((path) => readFileSync(path, 'utf8'))).toEqual(stale.map(() => 'stale'));

    const two = await startHost('two');
    await expectKept('after its start');
    expectLeft();
    await two.create('own');
    await two.put('own', '/kept', 'own');
    await live(two);
    await expectKept('after its work');
    expectLeft();
    for (const id of ONES.slice(0, 5)) {
      for (const ask of [
        () => two.run(id, 'true'),
        () => two.get(id, '/kept'),
        () => two.sandboxes.runPlan(id, 'deleted', REQUEST, { force: true }),
        () => two.sandboxes.resume(id, REQUEST),
        () => two.sandboxes.settle(id, REQUEST),
      ]) {
        await expect(ask()).rejects.toMatchObject({
          code: 'conflict',
          message: `The sandbox "${id}" is on the host "one".`,
        });
      }
    }
    await expectKept('after it was asked for the sandboxes of the first');
    await two.run('own', 'echo more > more');
    await two.abandon();
    await expectKept('after its crash');
    const again = await startHost('two');
    await expectKept('after its next start');
    expect(await again.registry.instances.get('own')).toMatchObject({
      state: 'suspended',
      ownerHost: 'two',
      ownerToken: null,
    });
    expect(await again.get('own', '/more')).toBe('more\n');
    await again.run('own', 'true');
    await again.stop();
    await expectKept('after its stop');

    expect(await one.run('awake', 'cat kept')).toBe('awake');
    for (const id of ['suspended', 'frozen']) expect(await one.run(id, 'cat kept')).toBe(id);
    await one.stop();
    const next = await startHost('one');
    expect(await next.registry.instances.get('moving')).toMatchObject({
      state: 'suspended',
      pending: null,
      ownerToken: null,
    });
    expect(await next.get('moving', '/kept')).toBe('moving');
  });
});

test('a start takes the sandboxes of its own crash, and those of its former name when it is alone', async () => {
  const at = { dataFolder: join(root, 'one'), environment: { WB_HOST_NAME: 'one' } };
  const one = await startTestEngine(at);
  docks.push(one);
  await one.create('a');
  await one.put('a', '/kept', 'a');
  expect(await one.registry.instances.get('a')).toMatchObject({ ownerHost: 'one', ownerTerm: 1 });
  await one.abandon();
  const renamed = await startTestEngine({ ...at, environment: { WB_HOST_NAME: 'other-name' } });
  docks.push(renamed);
  expect(await renamed.registry.instances.get('a')).toMatchObject({
    state: 'suspended',
    ownerHost: 'other-name',
    ownerTerm: 2,
    ownerToken: null,
  });
  expect(await renamed.run('a', 'cat kept')).toBe('a');
  const { ownerToken } = (await renamed.registry.instances.get('a')) ?? {};
  expect(ownerToken).toMatch(/^[\w-]{22}$/);
});

test('what a tenant takes on one host counts on the other, which knows it with its next round', async () => {
  const [one, other] = [await startHost('one'), await startHost('other')];
  await one.create('here', { tenant: 'acme' });
  await one.registry.quotas.set('acme', { maxDailyCpuSeconds: 60 }, entry({ type: 'tenant.changed', tenant: 'acme' }));
  expect(await one.run('here', 'echo on')).toBe('on\n');
  const hour = Math.floor(other.clock.now() / 3_600_000);
  const use = { tenant: 'acme', cpuMs: 61_000, calls: 1, memoryBytes: 0 };
  await other.registry.usage.add(hour, { sandboxes: [], tenants: [use] });
  await one.sandboxes.tick();
  await expect(one.run('here', 'echo on')).rejects.toMatchObject({ code: 'quota_exceeded' });
});
