/**
 * A server, as a process, whose registry on Postgres another process changes: what it refuses, what its streams and
 * webhooks are told, with its listener and without.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type HttpsReceiver, startHttpsReceiver } from '../outgoing/testing/https-receiver.ts';
import { registryDriver } from '../registry/drivers.ts';
import type { Registry } from '../registry/registry.ts';
import { entry, START, THRESHOLDS } from '../registry/testing/fixtures.ts';
import { addressOf, administer } from '../registry/testing/postgres-driver.ts';
import { type PostgresProxy, postgresProxy } from '../registry/testing/postgres-proxy.ts';
import { HAS_POSTGRES } from '../registry/testing/postgres-server.ts';
import { type ServerProcess, spawnServer } from '../testing/process.ts';

const LISTENER = 'winterdock listener';
/** Nothing that was read is answered from memory for longer, in milliseconds. */
const OLDEST_MS = 1000;

let made = 0;

describe.skipIf(!HAS_POSTGRES)('a server whose registry another process changes', () => {
  let folder: string;
  let database: string;
  let proxy: PostgresProxy;
  let receiver: HttpsReceiver;
  let server: ServerProcess;
  let other: Registry;

  beforeEach(async () => {
    made += 1;
    database = `beside_server_${made}`;
    folder = mkdtempSync(join(tmpdir(), 'winterdock-beside-server-'));
    await administer(`create database ${database}`);
    const address = await addressOf(database);
    proxy = await postgresProxy(address);
    receiver = await startHttpsReceiver(['localhost']);
    const [{ port = 0 } = {}] = proxy.address.hosts;
    const origin = `https://localhost:${receiver.port}`;
    server = await spawnServer({
      folder: join(folder, 'data'),
      settings: {
        WB_REGISTRY: `postgres://winterdock@127.0.0.1:${port}/${database}`,
        WB_OUTGOING_ALLOWED: origin,
        NODE_EXTRA_CA_CERTS: receiver.caFile,
      },
    });
    const driver = registryDriver({ driver: 'postgres', server: address, headFolder: folder, connections: 2 });
    other = await driver.open({ thresholds: THRESHOLDS });
  });
  afterEach(async () => {
    proxy.open();
    expect(await server.end()).toBe(0);
    await other.close();
    await receiver.stop();
    await proxy.end();
    await administer(`drop database if exists ${database} with (force)`);
    rmSync(folder, { recursive: true, force: true });
  });

  const makeKey = async () =>
    (await server.call<{ id: string; key: string }>('POST', '/api/keys', { name: 'a program', role: 'admin' })).json;
  const statusOf = async (key: string) => (await server.call('GET', '/api/me', undefined, { key })).status;
  const exec = (key: string) => server.call('POST', '/api/instances/a/exec', { command: 'echo on' }, { key });

  /** Until an answer has this status: when the last one that had another was asked for, in milliseconds from now. */
  async function lastBefore(status: number, ask: () => Promise<number>): Promise<number> {
    const began = performance.now();
    let last = 0;
    const statusNow = async () => {
      const askedAt = performance.now();
      const got = await ask();
      if (got !== status) last = askedAt - began;
      return got;
    };
    await expect.poll(statusNow, { interval: 10 }).toBe(status);
    return last;
  }

  /** What a stream says, and how it ends. */
  function listen(key: string) {
    let text = '';
    const ended = new Promise<void>((resolve, reject) => {
      const headers = { authorization: `Bearer ${key}` };
      const req = request(`${server.url}/api/events/stream`, { headers, agent: false }, (res) => {
        res.on('data', (chunk: Buffer) => {
          text += chunk.toString();
        });
        res.on('end', resolve);
        res.on('error', reject);
      });
      req.on('error', reject);
      req.end();
    });
    return { text: () => text, ended };
  }
  /** The numbers of the lines of a type that a stream has told, in their order. */
  const told = (text: string, type: string) =>
    [...text.matchAll(/^data: (\{.*)$/gm)]
      .map(([, json = '']) => JSON.parse(json) as { type?: string; seq?: number })
      .filter((line) => line.type === type)
      .map(({ seq }) => seq);

  test('refuses a revoked key and a used-up quota within a second, ends the stream, and tells each line once', async () => {
    const [one, two] = [await makeKey(), await makeKey()];
    const origin = `https://localhost:${receiver.port}`;
    const hook = { name: 'pager', url: `${origin}/hook`, types: ['note.*'] };
    expect((await server.call('POST', '/api/webhooks', hook)).status).toBe(201);
    expect((await server.call('POST', '/api/instances', { id: 'a', tenant: 'acme' })).status).toBe(201);
    const [ending, staying] = [listen(one.key), listen(two.key)];
    await expect.poll(() => ending.text() !== '' && staying.text() !== '').toBe(true);
    expect([(await exec(one.key)).status, (await exec(one.key)).status]).toEqual([200, 200]);

    await other.keys.revoke(one.id, START, entry({ type: 'note.revoked' }));
    expect(await lastBefore(401, () => statusOf(one.key))).toBeLessThan(OLDEST_MS);
    await ending.ended;
    expect(ending.text()).toContain('"code":"unauthorized"');

    await other.quotas.set('acme', { maxDailyCpuSeconds: 0 }, entry({ type: 'note.limited' }));
    expect(await lastBefore(429, async () => (await exec(two.key)).status)).toBeLessThan(OLDEST_MS);

    for (let n = 0; n < 30; n += 1) await other.ledger.append([entry({ type: 'note.made' }), entry({ type: 'other' })]);
    await expect.poll(() => told(staying.text(), 'note.made').length).toBe(30);
    const numbers = told(staying.text(), 'note.made');
    expect(numbers).toEqual(numbers.toSorted((a, b) => Number(a) - Number(b)));
    expect(new Set(numbers).size).toBe(30);
    await receiver.until(32);
    const types = receiver.received.map(({ body }) => (JSON.parse(body) as { type: string }).type);
    expect(types.toSorted()).toEqual([
      'note.limited',
      ...Array.from({ length: 30 }, () => 'note.made'),
      'note.revoked',
    ]);
  });

  test('without its listener a key is refused with the next request, lines come still, and it goes on with it again', async () => {
    const keys = await Promise.all(Array.from({ length: 4 }, makeKey));
    const witness = await makeKey();
    const stream = listen(witness.key);
    await expect.poll(() => stream.text()).not.toBe('');
    for (const { key } of keys) expect(await statusOf(key)).toBe(200);
    proxy.refuse(LISTENER);
    await pause(OLDEST_MS);
    const listeners = await listening();
    for (const { id, key } of keys) {
      expect(await statusOf(key)).toBe(200);
      await other.keys.revoke(id, START, entry({ type: 'note.revoked' }));
      expect(await statusOf(key)).toBe(401);
    }
    await expect.poll(() => told(stream.text(), 'note.revoked').length).toBe(4);
    expect([listeners, await listening()]).toEqual([0, 0]);
    proxy.open();
    await expect.poll(listening).toBe(1);
    const last = await makeKey();
    expect(await statusOf(last.key)).toBe(200);
    await other.keys.revoke(last.id, START, entry({ type: 'note.revoked' }));
    expect(await lastBefore(401, () => statusOf(last.key))).toBeLessThan(OLDEST_MS);
    await expect.poll(() => told(stream.text(), 'note.revoked').length).toBe(5);
    // Nobody knows whether it may still come.
    proxy.close();
    expect((await server.call('GET', '/api/me', undefined, { key: witness.key })).json).toMatchObject({
      code: 'registry_unavailable',
    });
    expect((await server.call('GET', '/api/me')).status).toBe(200);
    proxy.open();
    await expect.poll(() => statusOf(witness.key)).toBe(200);
    // The connection that holds the registry is back too.
    const again = { name: 'another', role: 'viewer' };
    await expect.poll(async () => (await server.call('POST', '/api/keys', again)).status).toBe(201);
  });

  /** How many sessions of the server listen. */
  async function listening(): Promise<number> {
    const [[found] = []] = await administer(
      `select count(*) from pg_stat_activity where application_name = '${LISTENER}' and datname = '${database}'`,
    );
    return Number(found);
  }
});
