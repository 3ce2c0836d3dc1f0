/** A server whose registry is on Postgres and cannot be reached: it answers nothing when its lease is over. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { SandboxRun } from '../contract/schema/runs.ts';
import { HostObserver, LOOKS_PER_LEASE } from '../hosts/host-observer.ts';
import { connect } from '../registry/postgres/connect.ts';
import { administer, newDatabase } from '../registry/testing/postgres-driver.ts';
import { type PostgresProxy, postgresProxy } from '../registry/testing/postgres-proxy.ts';
import { HAS_POSTGRES } from '../registry/testing/postgres-server.ts';
import { TEST_KEY } from '../testing/key.ts';
import { type ServerProcess, spawnServer } from '../testing/process.ts';
import { treeOf } from '../testing/process-tree.ts';

const DATABASE = 'self_fencing';
const LEASE_MS = 6000;
const WAIT = { timeout: 120_000, interval: 50 };
const FENCED = 'This server could not renew its lease in the registry.';
const FILE = '/api/instances/a/volumes/workspace/x';

interface Refusal {
  code: string;
  detail: string;
  started?: boolean;
}

describe.skipIf(!HAS_POSTGRES)('a server that cannot renew its lease', () => {
  let root: string;
  let proxy: PostgresProxy;
  let server: ServerProcess;
  let address: Awaited<ReturnType<typeof newDatabase>>;

  beforeEach(async () => {
    root = mkdtempSync(join(tmpdir(), 'winterdock-fenced-'));
    address = await newDatabase(DATABASE);
    proxy = await postgresProxy(address);
    const url = `postgres://${address.user}@127.0.0.1:${proxy.address.hosts[0]?.port}/${DATABASE}`;
    server = await spawnServer({
      folder: join(root, 'data'),
      settings: { WB_REGISTRY: url, WB_HOST_LEASE_MS: String(LEASE_MS) },
    });
  });
  afterEach(async () => {
    await server.end('SIGKILL');
    await proxy.end();
    await administer(`drop database if exists ${DATABASE} with (force)`);
    rmSync(root, { recursive: true, force: true });
  });

  /** Processes of the server that are stopped. */
  const stopped = () =>
    treeOf(server.child.pid ?? 0).filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.startsWith('T') === true;
      } catch {
        return false;
      }
    });
  const read = () => server.call<Refusal>('GET', FILE);
  const runOf = async (id: number | string) =>
    (await server.call<SandboxRun>('GET', `/api/instances/a/runs/${id}`)).json;

  /** Resolves when somebody else, who sees the database all the time, takes the server for dead. */
  async function takenForDead(): Promise<void> {
    const observer = new HostObserver();
    const sql = await connect(address);
    try {
      for (;;) {
        const askedMs = performance.now();
        const rows = await sql.unsafe('select name, token, renewals, lease_ms from winterdock.hosts').values();
        const hosts = (rows as unknown as [string, string, number, number][]).map(
          ([name, token, renewals, leaseMs]) => ({ name, token, renewals: Number(renewals), leaseMs: Number(leaseMs) }),
        );
        const verdicts = observer.read({ askedMs, answeredMs: performance.now(), hosts });
        if ([...verdicts.values()].every((verdict) => verdict === 'dead')) return;
        await pause(LEASE_MS / LOOKS_PER_LEASE);
      }
    } finally {
      await sql.end();
    }
  }

  /** A sandbox with a file and a run that goes on for ever. */
  async function begin(): Promise<SandboxRun> {
    expect((await server.call('POST', '/api/instances', { id: 'a', tenant: 'acme' })).status).toBe(201);
    expect((await server.call('PUT', FILE, 'x')).status).toBe(201);
    const command = 'while true; do echo on; sleep 0.05; done';
    const run = await server.call<SandboxRun>('POST', '/api/instances/a/runs', { command });
    expect(run.status).toBe(202);
    await expect.poll(async () => (await runOf(run.json.id)).state, WAIT).toBe('running');
    return run.json;
  }

  test.each([
    ['whose connections are cut', () => proxy.close()],
    ['to which the database says nothing', () => proxy.hold()],
  ])(
    'and %s answers nothing when others may take over, stops its sandboxes, and goes on with the same processes',
    async (_what, away) => {
      const run = await begin();
      const long = server.call<Refusal>('POST', '/api/instances/a/exec', { command: 'sleep 100', timeout_ms: 60_000 });
      const stream = await fetch(`${server.url}/api/events/stream`, {
        headers: { authorization: `Bearer ${TEST_KEY}` },
      });
      const streamed = stream.text().then(
        () => performance.now(),
        () => performance.now(),
      );
      await pause(500);
      const processes = treeOf(server.child.pid ?? 0);
      expect(stopped()).toEqual([]);
      away();
      await takenForDead();
      // Whoever may take over from it by now meets nobody.
      const first = await read();
      expect([first.status, first.json]).toMatchObject([503, { code: 'registry_unavailable', detail: FENCED }]);
      expect(stopped().length).toBeGreaterThan(0);

      // What was under way is not answered either, and says that it may have been done.
      const refused = await long;
      expect([refused.status, refused.json]).toMatchObject([503, { code: 'registry_unavailable', started: true }]);
      await streamed;
      for (let n = 0; n < 10; n += 1) {
        const { status, json, headers } = await read();
        expect([status, json]).toMatchObject([503, { code: 'registry_unavailable', detail: FENCED }]);
        expect(json.started).toBeUndefined();
        expect(Number(headers['retry-after'])).toBeGreaterThan(0);
        await pause(LEASE_MS / 10);
      }
      expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
      expect((await fetch(`${server.url}/readyz`)).status).toBe(503);
      expect(stopped().length).toBeGreaterThan(0);

      proxy.open();
      proxy.cut();
      await expect.poll(async () => (await read()).status, WAIT).toBe(200);
      await expect.poll(stopped, WAIT).toEqual([]);
      expect((await read()).text).toBe('x');
      expect(await runOf(run.id)).toMatchObject({ state: 'running' });
      const bytes = (await runOf(run.id)).output_bytes;
      await expect.poll(async () => (await runOf(run.id)).output_bytes, WAIT).toBeGreaterThan(bytes);
      expect(processes.filter((pid) => !treeOf(server.child.pid ?? 0).includes(pid))).toEqual([]);
    },
  );

  test('and was stopped for as long answers nothing that it had begun before', async () => {
    await begin();
    const long = server.call<Refusal>('POST', '/api/instances/a/exec', { command: 'sleep 1' });
    await pause(500);
    server.child.kill('SIGSTOP');
    await pause(LEASE_MS);
    server.child.kill('SIGCONT');
    const { status, json } = await long;
    expect([status, json]).toMatchObject([503, { code: 'registry_unavailable', detail: FENCED, started: true }]);
    await expect.poll(async () => (await read()).text, WAIT).toBe('x');
  });

  test('ends, and its sandboxes with it, when another server has its name', async () => {
    await begin();
    const sql = await connect(address);
    await sql.unsafe(`update winterdock.hosts set token = 'of another server'`);
    await sql.end();
    await expect.poll(() => server.child.exitCode, WAIT).toBe(1);
    expect(server.output()).toContain('Another Winterdock has the name of this host in the registry.');
  });
});
