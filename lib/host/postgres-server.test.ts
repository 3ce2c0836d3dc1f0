/** A server as a process whose registry is on Postgres: its password, its figures, and a failover under it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { run } from '../backup/testing/server-content.ts';
import { parsePostgresUrl } from '../base/postgres-url.ts';
import type { Job, Storage } from '../contract/schema.ts';
import { connect } from '../registry/postgres/connect.ts';
import { newCluster, type PostgresCluster, SUPERUSER } from '../registry/testing/postgres-cluster.ts';
import { type PostgresPair, postgresPair } from '../registry/testing/postgres-pair.ts';
import { HAS_POSTGRES } from '../registry/testing/postgres-server.ts';
import { commandOf, type ServerProcess, spawnServer } from '../testing/process.ts';
import { treeOf } from '../testing/process-tree.ts';

const PASSWORD = 'hunter2:/@%ü';
const START_REFUSED = 3;

describe.skipIf(!HAS_POSTGRES)('a server with its registry on Postgres', () => {
  let root: string;
  let folder: string;
  let server: ServerProcess | null = null;
  let cluster: PostgresCluster | null = null;
  let pair: PostgresPair | null = null;

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'winterdock-postgres-'));
    folder = join(root, 'data');
  });
  afterEach(async () => {
    await server?.end('SIGKILL');
    await cluster?.remove();
    await pair?.end();
    [server, cluster, pair] = [null, null, null];
    rmSync(root, { recursive: true, force: true });
  });

  async function start(settings: Record<string, string>): Promise<ServerProcess> {
    server = await spawnServer({ folder, settings });
    return server;
  }

  /** A server of Postgres that asks for a password, and the settings of somebody who has it. */
  async function asking(): Promise<Record<string, string>> {
    cluster = await newCluster();
    const sql = await connect(parsePostgresUrl(cluster.url('postgres')));
    await sql.unsafe(`create role asked login password '${PASSWORD}'`);
    await sql.unsafe('create database registry owner asked');
    await sql.end();
    await cluster.stop();
    cluster.write(
      'pg_hba.conf',
      `host all asked 127.0.0.1/32 scram-sha-256\nhost all ${SUPERUSER} 127.0.0.1/32 trust\n`,
    );
    await cluster.start();
    return { WB_REGISTRY: cluster.url('registry', `asked:${encodeURIComponent(PASSWORD)}`), WB_LOG: 'debug' };
  }

  test('shows its password to nobody: not in what it says, nor to what it starts, nor in the list of processes', async () => {
    const settings = await asking();
    const { call, child, output } = await start({ ...settings, WB_POOL: '1' });
    expect((await call('POST', '/api/instances', { id: 'a', tenant: 'acme' })).status).toBe(201);
    const script = 'env; cat /proc/self/environ; cat /proc/*/environ /proc/*/cmdline; ps -ef';
    const ran = await call('POST', '/api/instances/a/exec', { command: script });
    expect(ran.status).toBe(200);
    const javascript = await call('POST', '/api/instances/a/eval', { code: 'JSON.stringify(process.env)' });
    const said = [ran.text, javascript.text];
    for (const path of ['/api/settings/storage', '/api/settings', '/readyz', '/healthz', '/metrics', '/api/me'])
      said.push((await call('GET', path)).text);
    const secrets = [PASSWORD, encodeURIComponent(PASSWORD), 'hunter2'];
    const pid = child.pid ?? 0;
    const tree = treeOf(pid);
    expect(tree.length).toBeGreaterThan(1);
    for (const one of tree) {
      const read = (name: string) => {
        try {
          return readFileSync(`/proc/${one}/${name}`, 'utf8');
        } catch {
          return '';
        }
      };
      said.push(read('cmdline'));
      // The variable itself is in the environment of the server, whom only its own user can look at.
      if (one !== pid) said.push(read('environ'));
    }
    // As a start that is refused.
    expect(await server?.end()).toBe(0);
    said.push(output());
    for (const query of ['?sslmode=require', '?sslmode=verify-full']) {
      const refused = spawnServer({
        folder,
        settings: { ...settings, WB_REGISTRY: `${settings.WB_REGISTRY}${query}` },
      });
      said.push(String(await refused.catch((error: unknown) => error)));
    }
    const wrong = settings.WB_REGISTRY?.replace('hunter2', 'hunter23') ?? '';
    const answer = await spawnServer({ folder, settings: { WB_REGISTRY: wrong } }).catch((error: unknown) => error);
    expect(String(answer)).toContain('password authentication failed for user "asked"');
    said.push(String(answer), run('doctor', folder, [], settings).stdout);
    for (const secret of secrets) expect(said.join('\n')).not.toContain(secret);
  });

  test('has its doctor, its proof, its storage page, its readiness, its times and forgetting', async () => {
    const settings = await asking();
    const { call } = await start(settings);
    for (const [id, tenant] of [
      ['a', 'acme'],
      ['b', 'globex'],
    ]) {
      expect((await call('POST', '/api/instances', { id, tenant, name: `tortoise ${id}` })).status).toBe(201);
      expect((await call('PUT', `/api/instances/${id}/volumes/workspace/x`, id)).status).toBe(201);
    }
    const ready = await call('GET', '/readyz');
    expect([ready.status, ready.json.status]).toEqual([200, 'ok']);
    const storage = (await call<Storage>('GET', '/api/settings/storage')).json;
    expect(storage.registry).toMatchObject({ inside_data: false, wal_bytes: 0, checkpointed: null });
    expect(storage.registry.file).toMatch(/^postgres:\/\/asked@127\.0\.0\.1:\d+\/registry$/);
    expect(storage.registry.bytes).toBeGreaterThan(100_000);
    const checked = (await call<Storage>('POST', '/api/settings/storage/check', { what: 'registry' })).status;
    expect(checked).toBeLessThan(300);
    await expect
      .poll(async () => (await call<Storage>('GET', '/api/settings/storage')).json.registry.check)
      .toMatchObject({ ok: true, says: 'ok' });
    const metrics = (await call('GET', '/metrics')).text;
    for (const method of ['instances.create', 'instances.commit', 'maintenance.ping'])
      expect(metrics).toMatch(new RegExp(`winterdock_registry_seconds_count\\{method="${method}"\\} [1-9]`));

    const forgotten = await call<Job>('DELETE', '/api/tenants/globex', { confirm: 'globex' });
    expect(forgotten.status).toBe(202);
    await expect
      .poll(async () => (await call<Job>('GET', `/api/jobs/${forgotten.json.id}`)).json)
      .toMatchObject({ state: 'done', failed: 0 });
    const events = (await call('GET', '/api/events?limit=500')).text;
    expect([events.includes('tortoise a'), events.includes('tortoise b')]).toEqual([false, false]);
    expect((await call('GET', '/api/instances/a/volumes/workspace/x')).text).toBe('a');
    expect((await call('GET', '/api/events/verify')).json).toMatchObject({ ok: true });
    expect(await server?.end()).toBe(0);

    const proved = run('ledger-verify', folder, [], settings);
    expect([proved.status, proved.stderr]).toEqual([0, '']);
    const looked = run('doctor', folder, [], settings);
    expect([looked.status, looked.stdout]).toEqual([0, expect.stringContaining('Nothing wrong was seen')]);
    const rows = await rowsWith('tortoise b');
    expect(rows).toEqual([]);
  });

  /** Tables of the registry in which a text is. */
  async function rowsWith(text: string): Promise<string[]> {
    const sql = await connect(parsePostgresUrl(cluster?.url('registry') ?? ''));
    const tables = (await sql
      .unsafe(`select relname from pg_class where relnamespace = 'winterdock'::regnamespace and relkind = 'r'`)
      .values()) as unknown as [string][];
    const found: string[] = [];
    for (const [table] of tables) {
      const [[n] = []] = await sql
        .unsafe(`select count(*) from winterdock."${table}" as one where one::text like '%${text}%'`)
        .values();
      if (Number(n) > 0) found.push(table);
    }
    await sql.end();
    return found;
  }

  test('serves nothing older than it has answered after a failover, and no server starts on that', async () => {
    pair = await postgresPair('registry');
    // What is refused here is refused because of the database, however long the test takes.
    const settings = { WB_REGISTRY: pair.url, WB_HOST_LEASE_MS: '600000' };
    const { call } = await start(settings);
    expect((await call('POST', '/api/instances', { id: 'a', tenant: 'acme' })).status).toBe(201);
    await pair.caughtUp();
    pair.stopReplication();
    expect((await call('POST', '/api/instances', { id: 'b', tenant: 'acme' })).status).toBe(201);
    await pair.failOver();
    for (const [method, path] of [
      ['GET', '/api/instances/a'],
      ['GET', '/api/instances'],
      ['POST', '/api/instances'],
      ['GET', '/readyz'],
    ] as const) {
      const { status, json } = await call(method, path, method === 'POST' ? { tenant: 'acme' } : undefined);
      expect([path, status, json.code]).toEqual([path, 503, 'registry_unavailable']);
    }
    expect((await call('GET', '/api/instances/a')).text).toContain('has not the newest registry');
    await server?.end();
    // What was answered last is signed, though the database of then is gone.
    const [command = '', ...words] = [process.execPath, ...commandOf({ alone: false })];
    const child = spawn(command, words, {
      env: { ...process.env, WB_DATA: folder, PORT: '0', ...settings },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let said = '';
    child.stderr.on('data', (piece: Buffer) => {
      said += piece.toString();
    });
    expect((await once(child, 'exit'))[0]).toBe(START_REFUSED);
    expect(said).toMatch(/the registry postgres:.* is not the newest one\. Its signed head registry\.head is at line/);

    await pair.failBack();
    const again = await start(settings);
    expect((await again.call('GET', '/api/instances/b')).status).toBe(200);
    expect((await again.call('GET', '/api/events/verify')).json).toMatchObject({ ok: true });
  });
});
