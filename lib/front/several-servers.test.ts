/** Two servers, each with a disk of its own, on one registry on Postgres and one object store. */
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { run } from '../backup/testing/server-content.ts';
import type { HostAnswer } from '../contract/schema/hosts.ts';
import type { Changes, Instance, Plan } from '../contract/schema.ts';
import { connect } from '../registry/postgres/connect.ts';
import { administer, newDatabase } from '../registry/testing/postgres-driver.ts';
import { HAS_POSTGRES } from '../registry/testing/postgres-server.ts';
import { caller } from '../testing/call.ts';
import { TEST_KEY } from '../testing/key.ts';
import { type ServerProcess, spawnServer } from '../testing/process.ts';

const DATABASE = 'several_servers';
/** So long that a slow machine renews it in time. */
const LEASE_MS = 60_000;
/** Where a host has to be found dead. */
const SHORT_MS = 10_000;
/** How long a client asks again who was told to. */
const PATIENCE_MS = 60_000;
const WAIT = { timeout: 120_000, interval: 100 };
/** How a server refuses what another one has whose address leads nowhere. */
const CUT_OFF = [503, 'storage_unavailable'] as const;
/** What was given by other servers may be remembered so long. */
const REMEMBERED_MS = 1000;

interface Answer {
  code: string;
  detail: string;
  host: string;
  last_seen: number | null;
  recovery_point: number | null;
  stdout: string;
  started?: boolean;
}

describe.skipIf(!HAS_POSTGRES)('several servers on one registry', () => {
  let root: string;
  let address: Awaited<ReturnType<typeof newDatabase>>;
  let servers: ServerProcess[] = [];

  beforeEach(async () => {
    root = mkdtempSync(join(tmpdir(), 'winterdock-several-'));
    for (const folder of ['keys', 'other-keys']) mkdirSync(join(root, folder));
    address = await newDatabase(DATABASE);
  });
  afterEach(async () => {
    for (const server of servers) await server.end('SIGKILL');
    servers = [];
    await administer(`drop database if exists ${DATABASE} with (force)`);
    rmSync(root, { recursive: true, force: true });
  });

  const settingsOf = (name: string) => ({
    WB_REGISTRY: `postgres://${address.user}@127.0.0.1:${address.hosts[0]?.port}/${DATABASE}`,
    WB_KEYS: join(root, 'keys'),
    WB_HOST_NAME: name,
    WB_HOST_URL: `http://${name}.internal:3000`,
    WB_HOST_LEASE_MS: String(LEASE_MS),
    WB_COLD_URL: pathToFileURL(join(root, 'store')).href,
  });
  async function start(name: string, own: Record<string, string | undefined> = {}, folder = name) {
    const settings = Object.entries({ ...settingsOf(name), ...own }).filter(([, value]) => value !== undefined);
    const server = await spawnServer({
      folder: join(root, folder),
      settings: Object.fromEntries(settings) as Record<string, string>,
    });
    servers.push(server);
    return server;
  }
  /** What a start says that is refused. */
  const refusal = (name: string, own: Record<string, string | undefined> = {}, folder = name): Promise<string> =>
    start(name, own, folder).then(
      () => expect.unreachable(),
      (error: Error) => error.message,
    );

  /** As a client does that is told to come back: nothing was done then. */
  const exec = async (server: ServerProcess, id: string, command: string) => {
    for (const begun = performance.now(); ; await pause(100)) {
      const answer = await server.call<Answer>('POST', `/api/instances/${id}/exec`, { command });
      const { status, json } = answer;
      const isFenced = status === 503 && json.code === 'registry_unavailable' && json.started !== true;
      if (!isFenced || performance.now() - begun > PATIENCE_MS) return answer;
    }
  };
  const output = async (server: ServerProcess, id: string, command: string) => {
    const { status, json } = await exec(server, id, command);
    return status === 200 ? json.stdout.trim() : `${status} ${json.code}`;
  };
  const create = async (server: ServerProcess, id: string, kept = id) => {
    expect((await server.call('POST', '/api/instances', { id, tenant: 'acme' })).status).toBe(201);
    expect(await output(server, id, `echo ${kept} > kept; cat kept`)).toBe(kept);
  };
  const freeze = async (server: ServerProcess, id: string) => {
    if ((await shown(server, id)).state === 'active')
      expect((await server.call('POST', `/api/instances/${id}/suspend`)).status).toBe(200);
    expect((await server.call('POST', `/api/instances/${id}/freeze`)).status).toBe(200);
  };
  const shown = async (server: ServerProcess, id: string) =>
    (await server.call<Instance>('GET', `/api/instances/${id}`)).json;

  /** The rows that pages are sent as they change. */
  function followChanges(server: ServerProcess) {
    const left = new AbortController();
    const rows = new Map<string, Instance>();
    const reading = (async () => {
      const answer = await fetch(`${server.url}/api/events/stream?with=changes`, {
        headers: { authorization: `Bearer ${TEST_KEY}` },
        signal: left.signal,
      });
      let text = '';
      for await (const piece of answer.body ?? []) {
        text += Buffer.from(piece).toString();
        const events = text.split('\n\n');
        text = events.pop() ?? '';
        for (const event of events) {
          const data = /^data: (.*)$/m.exec(event)?.[1];
          if (!event.includes('event: changes') || data === undefined) continue;
          for (const row of (JSON.parse(data) as Changes).rows) rows.set(row.id, row);
        }
      }
    })().catch(() => undefined);
    const leave = async () => {
      left.abort();
      await reading;
    };
    return { rowOf: (id: string) => rows.get(id), leave };
  }

  const listed = async (server: ServerProcess, id: string) =>
    (await server.call<Instance[]>('GET', '/api/instances')).json.find((it) => it.id === id);

  /** Rows of the registry's instances: id, and the host that has it. */
  async function owners(): Promise<Record<string, string | null>> {
    const sql = await connect(address);
    const rows = (await sql
      .unsafe('select id, owner_host from winterdock.instances order by id')
      .values()) as unknown as [string, string | null][];
    await sql.end();
    return Object.fromEntries(rows);
  }

  test('a server that lacks what several need has the registry for itself, and is refused beside others by what it lacks', async () => {
    const one = await start('one');
    const lacking: [Record<string, string | undefined>, string][] = [
      [{ WB_HOST_URL: undefined }, 'this one needs WB_HOST_URL, the address at which the other servers reach it (docs'],
      [{ WB_COLD_URL: undefined }, 'this one needs WB_COLD_URL, the object store that all of them have (docs'],
      [{ WB_STORE_LEAVING: '1' }, 'this one needs WB_STORE_LEAVING to be unset'],
    ];
    for (const [without, needs] of lacking) {
      const said = await refusal('two', without);
      expect(said).toContain('Another Winterdock uses the registry');
      expect(said).toContain(needs);
    }
    expect(await refusal('two', { WB_KEYS: join(root, 'other-keys') })).toContain(
      'its keys are not those of the registry',
    );
    const others = await refusal('two', { WB_COLD_URL: pathToFileURL(join(root, 'another-store')).href });
    expect(others).toContain('the other servers of the registry (one) have file://');
    expect(await refusal('one', {}, 'two')).toContain('Another server has the name one in this registry, and lives.');
    expect((await one.call<HostAnswer[]>('GET', '/api/hosts')).json.map(({ name }) => name)).toEqual(['one']);
    await one.end();

    const alone = await start('one', { WB_HOST_URL: undefined });
    const kept = await refusal('two');
    expect(kept).toContain(', and lets no other in.');
    expect(kept).toContain('This server would share it');
    await alone.end();
    // The folder of a host is not another host's.
    expect(await refusal('renamed', {}, 'one')).toContain('This data folder is that of the host one');
  });

  test('each has the sandboxes that it has, and what rests in the store is the one’s that is asked', async () => {
    const [one, two] = [await start('one'), await start('two')];
    await create(one, 'a');
    await create(two, 'b');
    await create(one, 'resting');
    await freeze(one, 'resting');
    expect(await owners()).toEqual({ a: 'one', b: 'two', resting: null });
    const hosts = (await one.call<HostAnswer[]>('GET', '/api/hosts')).json;
    expect(hosts.map(({ name, self, term, held }) => [name, self, term, held])).toEqual([
      ['one', true, 1, true],
      ['two', false, 2, true],
    ]);
    // Each has seen that the other has begun.
    for (const [server, id] of [
      [one, 'b'],
      [two, 'a'],
    ] as const)
      await expect.poll(async () => (await exec(server, id, 'true')).status, WAIT).toBe(CUT_OFF[0]);
    // No request gets from one to the other: what the other has is not done, and named.
    for (const [server, id, host] of [
      [one, 'b', 'two'],
      [two, 'a', 'one'],
    ] as const) {
      const list = (await server.call<Instance[]>('GET', '/api/instances')).json;
      expect(list.find((it) => it.id === id)).toMatchObject({ id, state: 'active' });
      for (const [method, path, body] of [
        ['POST', 'exec', { command: 'cat kept' }],
        ['GET', 'volumes/workspace/kept', undefined],
        ['PUT', 'volumes/workspace/kept', 'other'],
        ['POST', 'suspend', {}],
        ['DELETE', '', undefined],
      ] as const) {
        const { status, json } = await server.call<Answer>(
          method,
          `/api/instances/${id}/${path}`.replace(/\/$/, ''),
          body,
        );
        expect([method, path, status, json.code, json]).toMatchObject([method, path, ...CUT_OFF, { host }]);
      }
      expect(await owners()).toEqual({ a: 'one', b: 'two', resting: null });
    }
    expect(await output(one, 'a', 'cat kept')).toBe('a');
    expect(await output(two, 'b', 'cat kept')).toBe('b');

    expect(await output(two, 'resting', 'echo more >> kept; cat kept')).toBe('resting\nmore');
    expect(await owners()).toMatchObject({ resting: 'two' });
    expect((await exec(one, 'resting', 'cat kept')).json).toMatchObject({ code: CUT_OFF[1], host: 'two' });
    await freeze(two, 'resting');
    // The first has an older copy of it on its disk.
    expect(await output(one, 'resting', 'cat kept')).toBe('resting\nmore');
    expect(await owners()).toMatchObject({ resting: 'one' });
    for (const name of ['one', 'two']) expect(readdirSync(join(root, name, 'orphans'))).toEqual([]);
  });

  test('of both asked at the same time one has it, whenever it rests in the store, and no write is lost', async () => {
    const both = [await start('one'), await start('two')] as const;
    await create(both[0], 'a', '0');
    let written = 0;
    const woken = new Set<number>();
    for (let round = 0; round < 6; round += 1) {
      await freeze(both[woken.size === 0 ? 0 : (await owners()).a === 'one' ? 0 : 1] ?? both[0], 'a');
      expect(await owners()).toEqual({ a: null });
      const command = 'n=$(cat kept); echo $((n + 1)) > kept';
      const answers = await Promise.all(both.map((server) => exec(server, 'a', command)));
      const done = answers.flatMap(({ status }, at) => (status === 200 ? [at] : []));
      // What is refused was not done.
      for (const { status, json } of answers)
        if (status !== 200) expect([[409, 'conflict'], CUT_OFF]).toContainEqual([status, json.code]);
      expect(done).toHaveLength(1);
      written += done.length;
      const [at = 0] = done;
      woken.add(at);
      expect(await owners()).toEqual({ a: at === 0 ? 'one' : 'two' });
      expect(await output(both[at] ?? both[0], 'a', 'cat kept')).toBe(String(written));
    }
  });

  test('what a host has that was killed cannot be reached until it is back, and what is in the store wakes elsewhere', async () => {
    const short = { WB_HOST_LEASE_MS: String(SHORT_MS) };
    const [one, two] = [await start('one', short), await start('two', short)];
    for (const id of ['awake', 'asleep', 'frozen', 'older']) await create(one, id);
    expect((await one.call('POST', '/api/instances/asleep/suspend')).status).toBe(200);
    await freeze(one, 'frozen');
    await freeze(one, 'older');
    expect(await output(one, 'older', 'echo newer > kept; cat kept')).toBe('newer');
    await create(two, 'own');
    const here = { asleep: 'one', awake: 'one', older: 'one', own: 'two' };
    expect(await owners()).toEqual({ ...here, frozen: null });
    const renewals = async () =>
      (await two.call<HostAnswer[]>('GET', '/api/hosts')).json.find(({ name }) => name === 'one')?.renewals;
    // The first renewal was seen before the second one.
    await expect.poll(renewals, WAIT).toBeGreaterThan(1);
    const stream = followChanges(two);
    await one.end('SIGKILL');

    // At once: nobody has it.
    expect(await output(two, 'frozen', 'cat kept')).toBe('frozen');
    for (const id of ['awake', 'asleep', 'older']) {
      await expect
        .poll(async () => (await exec(two, id, 'cat kept')).json, WAIT)
        .toMatchObject({ code: 'unreachable', host: 'one' });
      const { status, json } = await two.call<Answer>('GET', `/api/instances/${id}/volumes/workspace/kept`);
      expect(status).toBe(409);
      expect(json.last_seen).toBeGreaterThan(Date.now() / 1000 - 600);
      expect(json.recovery_point === null).toBe(id !== 'older');
      expect(json.detail).toContain('is on the host "one", which does not answer');
      // Its row is as it was, and says where it is and since when nobody reaches it.
      const { last_seen, recovery_point } = json;
      const away = { host: 'one', next: null, unreachable: { last_seen, recovery_point } };
      expect(await shown(two, id)).toMatchObject({ id, state: id === 'asleep' ? 'suspended' : 'active', ...away });
      expect(await listed(two, id)).toMatchObject(away);
      const planned = await two.call<Plan>('GET', `/api/instances/${id}/plan?to=frozen`);
      expect(planned.json.refusal).toContain('Its host, one, is away');
    }
    // Pages that are open learn it without a line.
    await expect.poll(() => stream.rowOf('asleep')?.unreachable ?? null, WAIT).not.toBeNull();
    for (const host of ['one', 'two']) {
      const ids = (await two.call<Instance[]>('GET', `/api/instances?host=${host}`)).json.map(({ id }) => id);
      expect(ids.sort()).toEqual(host === 'one' ? ['asleep', 'awake', 'older'] : ['frozen', 'own']);
    }
    for (const id of ['frozen', 'own']) expect(await shown(two, id)).toMatchObject({ host: 'two', unreachable: null });
    expect(await owners()).toEqual({ ...here, frozen: 'two' });
    expect(await output(two, 'own', 'cat kept')).toBe('own');
    const dead = async () =>
      (await two.call<HostAnswer[]>('GET', '/api/hosts')).json.map(({ name, dead }) => [name, dead]);
    expect(await dead()).toEqual([
      ['one', true],
      ['two', false],
    ]);

    const again = await start('one', short);
    for (const id of ['awake', 'asleep']) expect(await output(again, id, 'cat kept')).toBe(id);
    expect(await output(again, 'older', 'cat kept')).toBe('newer');
    expect((await exec(again, 'frozen', 'cat kept')).json).toMatchObject({ code: CUT_OFF[1], host: 'two' });
    await expect
      .poll(async () => (await exec(two, 'awake', 'cat kept')).json, WAIT)
      .toMatchObject({ code: CUT_OFF[1], host: 'one' });
    expect(await owners()).toEqual({ ...here, frozen: 'two' });
    expect((await dead()).flat()).not.toContain(true);
    await expect.poll(() => stream.rowOf('asleep')?.unreachable, WAIT).toBeNull();
    await stream.leave();
    for (const id of ['awake', 'asleep', 'older', 'own']) {
      for (const server of [again, two])
        expect(await listed(server, id)).toMatchObject({ host: id === 'own' ? 'two' : 'one', unreachable: null });
    }
    expect((await again.call<{ ok: boolean }>('GET', '/api/events/verify')).json).toMatchObject({ ok: true });
  });

  test('what one takes away the other takes away within a second: keys, quotas, policies', async () => {
    const [one, two] = [await start('one'), await start('two')];
    await create(two, 'a');
    const made = await one.call<{ id: string; key: string }>('POST', '/api/keys', {
      name: 'k',
      role: 'tenant',
      tenant: 'acme',
    });
    const withKey = caller(two.url, made.json.key);
    const status = async () => (await withKey('GET', '/api/instances')).status;
    await expect.poll(status, WAIT).toBe(200);
    expect((await one.call('DELETE', `/api/keys/${made.json.id}`)).status).toBeLessThan(300);
    const revoked = performance.now();
    // Each answer that says it is good was asked for within that time.
    for (let asked = revoked; (await status()) === 200; asked = performance.now())
      expect(asked - revoked).toBeLessThan(REMEMBERED_MS);
    expect(await status()).toBe(401);
  });

  test('alone no server takes what others have on their disks for lost, and no tenant is forgotten in part', async () => {
    const [one, two] = [await start('one'), await start('two')];
    await create(one, 'a');
    await create(two, 'b');
    const forgotten = await one.call<Answer>('DELETE', '/api/tenants/acme', { confirm: 'acme' });
    expect([forgotten.status, forgotten.json]).toMatchObject([409, { code: 'conflict', hosts: ['two'] }]);
    for (const server of [one, two]) expect(await server.end()).toBe(0);
    const said = await refusal('one', { WB_HOST_URL: undefined });
    expect(said).toContain('sandboxes are on the disks of others: two (1).');
    const looked = run('doctor', join(root, 'one'), [], { ...settingsOf('one') });
    expect([looked.status, looked.stdout]).toEqual([0, expect.stringContaining('Nothing wrong was seen')]);

    const again = [await start('two'), await start('one')] as const;
    expect(await output(again[0], 'b', 'cat kept')).toBe('b');
    await freeze(again[0], 'b');
    for (const server of again) expect(await server.end()).toBe(0);
    const alone = await start('one', { WB_HOST_URL: undefined });
    expect(await output(alone, 'a', 'cat kept')).toBe('a');
    expect(await output(alone, 'b', 'cat kept')).toBe('b');
  });
});
