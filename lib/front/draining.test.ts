/** A host of two is emptied under load, and keeps so over a restart, until it takes what is new again. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { commandLine } from '../cli/testing/winterdock.ts';
import type { Event, HostAnswer, Instance, Job, JobResult } from '../contract/schema.ts';
import { administer, newDatabase } from '../registry/testing/postgres-driver.ts';
import { HAS_POSTGRES } from '../registry/testing/postgres-server.ts';
import { BreakableLink } from '../testing/breakable-link.ts';
import { TEST_KEY } from '../testing/key.ts';
import { type ServerProcess, spawnServer } from '../testing/process.ts';

const DATABASE = 'draining';
const WAIT = { timeout: 240_000, interval: 100 };
const MOVING = ['s-0', 's-1', 's-2', 's-3'];

describe.skipIf(!HAS_POSTGRES)('a host that is emptied', () => {
  let root: string;
  let address: Awaited<ReturnType<typeof newDatabase>>;
  const servers: Record<string, ServerProcess> = {};
  const doors: Record<string, BreakableLink> = {};
  const urls: Record<string, string> = {};
  const one = () => servers.one as ServerProcess;
  const two = () => servers.two as ServerProcess;

  async function start(name: string): Promise<void> {
    const door = doors[name] ?? new BreakableLink();
    doors[name] = door;
    const url = urls[name] ?? `http://127.0.0.1:${await door.open()}`;
    urls[name] = url;
    const settings = {
      WB_REGISTRY: `postgres://${address.user}@127.0.0.1:${address.hosts[0]?.port}/${DATABASE}`,
      WB_KEYS: join(root, 'keys'),
      WB_HOST_NAME: name,
      WB_HOST_URL: url,
      // Nobody dies here, on a busy machine neither; a row is read every four seconds.
      WB_HOST_LEASE_MS: '32000',
      WB_COLD_URL: pathToFileURL(join(root, 'store')).href,
      // A slow machine may need longer than that for a command.
      WB_DRAIN_MS: '4000',
    };
    const server = await spawnServer({ folder: join(root, name), settings });
    servers[name] = server;
    door.leadTo(server.url);
  }

  beforeAll(async () => {
    root = mkdtempSync(join(tmpdir(), 'winterdock-drain-'));
    mkdirSync(join(root, 'keys'), { mode: 0o700 });
    address = await newDatabase(DATABASE);
    await start('one');
    await start('two');
    // Each has seen the other.
    await make('first', two());
    await vi.waitFor(async () => expect((await exec(one(), 'first', 'echo seen')).status).toBe(200), WAIT);
  });
  afterAll(async () => {
    for (const server of Object.values(servers)) await server.end('SIGKILL');
    for (const door of Object.values(doors)) door.close();
    await administer(`drop database if exists ${DATABASE} with (force)`);
    rmSync(root, { recursive: true, force: true });
  });

  const exec = (server: ServerProcess, id: string, command: string) =>
    server.call<{ stdout: string; code: string; started?: boolean }>('POST', `/api/instances/${id}/exec`, { command });
  const shown = async (id: string) => (await two().call<Instance>('GET', `/api/instances/${id}`)).json;
  const hostOne = async (by = two()) => (await by.call<HostAnswer>('GET', '/api/hosts/one')).json;

  async function make(id: string, on: ServerProcess, more: object = {}): Promise<void> {
    expect((await on.call('POST', '/api/instances', { id, tenant: 'acme', ...more })).status).toBe(201);
    expect((await exec(on, id, 'true')).status).toBe(200);
  }

  /** Asks until it is answered otherwise than to come back. */
  async function patiently(server: ServerProcess, id: string, command: string) {
    for (;;) {
      const answer = await exec(server, id, command);
      if (answer.status !== 503) return answer;
      expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
      await pause(200);
    }
  }

  /** Registers one, as patiently: another host makes it, which may not know this start of this one yet. */
  async function register(server: ServerProcess, id: string): Promise<void> {
    for (;;) {
      const { status, headers } = await server.call('POST', '/api/instances', { id, tenant: 'acme' });
      if (status !== 503) return expect([id, status]).toEqual([id, 201]);
      expect(Number(headers['retry-after'])).toBeGreaterThan(0);
      await pause(200);
    }
  }

  /** A client of one sandbox, which writes number after number, whichever host it asks. */
  function client(id: string) {
    const acknowledged: number[] = [];
    const wrong: unknown[] = [];
    let isOver = false;
    const running = (async () => {
      for (let number = 1; !isOver; ) {
        const server = number % 2 === 0 ? one() : two();
        const { status, json, headers } = await exec(server, id, `echo ${number} >> numbers`);
        if (status === 200) {
          acknowledged.push(number);
          number += 1;
        } else if (status !== 503 || headers['retry-after'] === undefined) wrong.push([status, json]);
        // What may have been done is not sent again.
        else if (json.started === true) number += 1;
        await pause(20);
      }
    })().catch((error: unknown) => void wrong.push(error));
    const end = async () => {
      isOver = true;
      await running;
    };
    return { acknowledged, wrong, end };
  }

  test('hands over what it can while clients go on, names what stays, and is filled again only when it is let', async () => {
    for (const id of MOVING) await make(id, one());
    await make('asleep', one());
    expect((await one().call('POST', '/api/instances/asleep/suspend')).status).toBe(200);
    await make('kept', one(), { keep_hot: true });
    await make('memory', one(), { vfs_path: ':memory:' });
    await make('busy', one());
    expect((await one().call('POST', '/api/instances/busy/runs', { command: 'sleep 3000' })).status).toBe(202);
    const clients = MOVING.map(client);
    await vi.waitFor(() => {
      for (const { acknowledged } of clients) expect(acknowledged.length).toBeGreaterThan(3);
    }, WAIT);

    // Asked of the other one.
    const begun = await two().call<HostAnswer>('POST', '/api/hosts/one/drain', { reason: 'a new disk' });
    expect([begun.status, begun.json]).toMatchObject([202, { draining: true, drain: { reason: 'a new disk' } }]);
    expect(['waiting', 'running']).toContain(begun.json.drain?.state);
    const { job = '' } = begun.json.drain ?? {};
    // The same again begins nothing else, and the last host is not emptied.
    expect((await two().call<HostAnswer>('POST', '/api/hosts/one/drain', {})).json.drain?.job).toBe(job);
    expect((await two().call('POST', '/api/hosts/two/drain', {})).json).toMatchObject({ code: 'conflict' });
    await expect.poll(async () => (await hostOne()).drain?.state, WAIT).toBe('done');
    const atDrain = clients.map(({ acknowledged }) => acknowledged.length);
    const results = (await two().call<JobResult[]>('GET', `/api/jobs/${job}/results`)).json;
    const stays = results.filter(({ outcome }) => outcome !== 'done');
    expect(Object.fromEntries(stays.map(({ instance, reason }) => [instance, reason]))).toEqual({
      kept: 'It is kept hot.',
      memory: expect.stringContaining('only in its process'),
      busy: expect.stringContaining('A call is running'),
    });
    expect((await two().call<Job>('GET', `/api/jobs/${job}`)).json).toMatchObject({
      ...{ verb: 'drain', filter: { host: 'one' }, chosen: 8, done: 5, failed: 1, skipped: 2 },
    });

    // Clients go on, on the other host, whichever they ask.
    await vi.waitFor(() => {
      for (const [at, { acknowledged }] of clients.entries())
        expect(acknowledged.length).toBeGreaterThan((atDrain[at] ?? 0) + 5);
    }, WAIT);
    for (const { end, wrong } of clients) {
      await end();
      expect(wrong).toEqual([]);
    }
    for (const [at, id] of MOVING.entries()) {
      expect(await shown(id)).toMatchObject({ state: 'active', host: 'two' });
      const written = (await patiently(one(), id, 'cat numbers')).json.stdout.trim().split('\n').map(Number);
      const acknowledged = clients[at]?.acknowledged ?? [];
      expect(written.filter((number) => acknowledged.includes(number))).toEqual(acknowledged);
    }
    const { host, state } = await shown('asleep');
    expect([host, state]).toEqual([null, 'frozen']);
    expect((await hostOne()).sandboxes).toBe(3);

    // What is nobody's, and what is new, is the other one's.
    expect((await patiently(one(), 'asleep', 'true')).status).toBe(200);
    await register(one(), 'new');
    expect((await patiently(one(), 'new', 'true')).status).toBe(200);
    for (const id of ['asleep', 'new']) expect([id, (await shown(id)).host]).toEqual([id, 'two']);

    // A restart changes nothing of it, and what it still has is its own.
    expect(await one().end()).toBe(0);
    await start('one');
    expect(await hostOne(one())).toMatchObject({ self: true, draining: true, drain: { job, state: 'done' } });
    await register(one(), 'newer');
    expect((await patiently(one(), 'newer', 'true')).status).toBe(200);
    expect((await patiently(one(), 'kept', 'true')).status).toBe(200);
    expect([(await shown('newer')).host, (await shown('kept')).host]).toEqual(['two', 'one']);

    // Once more, with what is held: nothing stays.
    const cli = commandLine({ WINTERDOCK_URL: one().url, WINTERDOCK_KEY: TEST_KEY });
    const again = await cli.run(['hosts', 'drain', 'one', '--include-held', '--wait']);
    cli.remove();
    expect(again.stdout).toMatch(/^one: done: \d handed over, 0 failed, 0 passed over; 0 left\n$/);
    expect((await hostOne()).drain?.job).not.toBe(job);
    expect(await hostOne()).toMatchObject({ sandboxes: 0, awake: 0, drain: { failed: 0, skipped: 0 } });

    const kept = await two().call<HostAnswer>('DELETE', '/api/hosts/one/drain');
    expect([kept.status, kept.json]).toMatchObject([200, { draining: false, drain: null }]);
    await expect.poll(async () => (await hostOne(one())).draining, WAIT).toBe(false);
    await expect
      .poll(async () => {
        const id = `after-${Math.random().toString(36).slice(2)}`;
        await one().call('POST', '/api/instances', { id, tenant: 'acme' });
        await patiently(one(), id, 'true');
        return (await shown(id)).host;
      }, WAIT)
      .toBe('one');
    for (const id of [...MOVING, 'new']) expect([id, (await shown(id)).host]).toEqual([id, 'two']);
    const lines = (await two().call<Event[]>('GET', '/api/events?limit=500')).json;
    const told = lines.filter(({ type }) => type.startsWith('host.')).map(({ type, reason }) => `${type} ${reason}`);
    expect(told.toReversed()).toEqual([
      `host.draining one, by the job ${job} – a new disk`,
      expect.stringMatching(/^host\.draining one, by the job \S+, kept hot, held and attached ones too$/),
      'host.kept one',
    ]);
    expect((await two().call<{ ok: boolean }>('GET', '/api/events/verify')).json).toMatchObject({ ok: true });
  });
});
