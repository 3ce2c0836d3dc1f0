/** Servers on one registry on Postgres that ship their sandboxes to the same replica. */
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Instance } from '../contract/schema.ts';
import { connect } from '../registry/postgres/connect.ts';
import { administer, newDatabase } from '../registry/testing/postgres-driver.ts';
import { HAS_POSTGRES } from '../registry/testing/postgres-server.ts';
import { findMoment, restoreMoment } from '../replication/moments/replica-reader.ts';
import { folderStore } from '../sandboxes/store/testing/folder-store.ts';
import { type ServerProcess, spawnServer } from '../testing/process.ts';

const DATABASE = 'replica_of_several';
const LEASE_MS = 60_000;
/** Where a host has to be found dead. */
const SHORT_MS = 15_000;
const PATIENCE_MS = 60_000;
const WAIT = { timeout: 120_000, interval: 100 };

describe.skipIf(!HAS_POSTGRES)('several servers with one replica', () => {
  let root: string;
  let address: Awaited<ReturnType<typeof newDatabase>>;
  let servers: ServerProcess[] = [];

  beforeEach(async () => {
    root = mkdtempSync(join(tmpdir(), 'winterdock-replicas-'));
    mkdirSync(join(root, 'keys'));
    address = await newDatabase(DATABASE);
  });
  afterEach(async () => {
    for (const server of servers) await server.end('SIGKILL');
    servers = [];
    await administer(`drop database if exists ${DATABASE} with (force)`);
    rmSync(root, { recursive: true, force: true });
  });

  async function start(name: string, own: Record<string, string> = {}) {
    const settings = {
      WB_REGISTRY: `postgres://${address.user}@127.0.0.1:${address.hosts[0]?.port}/${DATABASE}`,
      WB_KEYS: join(root, 'keys'),
      WB_HOST_NAME: name,
      WB_HOST_URL: `http://${name}.internal:3000`,
      WB_HOST_LEASE_MS: String(LEASE_MS),
      WB_COLD_URL: pathToFileURL(join(root, 'store')).href,
      WB_REPLICA_URL: pathToFileURL(join(root, 'replica')).href,
      ...own,
    };
    const server = await spawnServer({ folder: join(root, name), settings });
    servers.push(server);
    return server;
  }
  const refusal = (name: string, own: Record<string, string>): Promise<string> =>
    start(name, own).then(
      () => expect.unreachable(),
      (error: Error) => error.message,
    );

  /** As a client does that is told to come back. */
  async function output(server: ServerProcess, id: string, command: string): Promise<string> {
    for (const begun = performance.now(); ; await pause(100)) {
      const { status, json } = await server.call<{ code: string; detail: string; stdout: string; started?: boolean }>(
        'POST',
        `/api/instances/${id}/exec`,
        { command },
      );
      const isEarly = (status === 503 || status === 409) && json.started !== true;
      if (status === 200) return json.stdout.trim();
      if (!isEarly || performance.now() - begun > PATIENCE_MS) return `${status} ${json.code} ${json.detail}`;
    }
  }
  const shown = async (server: ServerProcess, id: string) =>
    (await server.call<Instance>('GET', `/api/instances/${id}`)).json;
  async function rest(server: ServerProcess, id: string): Promise<void> {
    for (const verb of ['suspend', 'freeze'])
      expect((await server.call('POST', `/api/instances/${id}/${verb}`)).status).toBe(200);
    await expect.poll(async () => (await shown(server, id)).host, WAIT).toBeNull();
  }

  /** What the newest moment of the replica has in a file. */
  async function newest(id: string, path: string): Promise<string | null> {
    const store = await folderStore(join(root, 'replica'));
    try {
      const moment = await findMoment(store, id, null, null);
      if (moment === null) return null;
      const target = join(root, 'restored.sqlite');
      rmSync(target, { force: true });
      await restoreMoment(store, moment, { target, tmp: join(root, 'tmp') });
      const db = new DatabaseSync(target, { readOnly: true });
      const row = db.prepare('SELECT content FROM vfs WHERE path = ?').get(path);
      db.close();
      return row === undefined ? null : Buffer.from(row.content as Uint8Array).toString();
    } finally {
      await store.close();
    }
  }

  test('a sandbox that goes to the other host and comes back is in the replica as it was last', async () => {
    const [one, two] = [await start('one'), await start('two')];
    expect((await one.call('POST', '/api/instances', { id: 'a', tenant: 'acme' })).status).toBe(201);
    for (const [turn, server] of [one, two, one, two].entries()) {
      expect(await output(server, 'a', `echo ${turn} >> kept; cat kept`)).toMatch(new RegExp(`${turn}$`));
      await expect.poll(() => newest('a', '/kept'), WAIT).toMatch(new RegExp(`${turn}\n$`));
      await rest(server, 'a');
    }
    expect(await newest('a', '/kept')).toBe('0\n1\n2\n3\n');
    const other = pathToFileURL(join(root, 'another')).href;
    expect(await refusal('three', { WB_REPLICA_URL: other })).toContain('WB_REPLICA_URL is file://');
    expect(await refusal('three', { WB_REPLICA_URL: '' })).toContain('WB_REPLICA_URL is not set');
  });

  test('a host that is killed while it wakes what is whole in the store leaves that to the others, as it is', async () => {
    const lease = { WB_HOST_LEASE_MS: String(SHORT_MS) };
    const [one, two] = [await start('one', lease), await start('two')];
    expect((await one.call('POST', '/api/instances', { id: 'a', tenant: 'acme' })).status).toBe(201);
    expect(await output(one, 'a', 'echo kept > kept; cat kept')).toBe('kept');
    await rest(one, 'a');
    const sql = await connect(address);
    let killed: Promise<void> | null = null;
    for (let tries = 0; killed === null && tries < 20; tries += 1) {
      const waking = one.call('POST', '/api/instances/a/resume').catch(() => null);
      let isOver = false;
      void waking.then(() => {
        isOver = true;
      });
      while (!isOver && killed === null) {
        const [[pending = null] = []] = (await sql
          .unsafe("select pending from winterdock.instances where id = 'a' and state = 'frozen'")
          .values()) as unknown as [string | null][];
        if (pending !== null) killed = one.end('SIGKILL').then(() => undefined);
      }
      await waking;
      if (killed === null) await rest(one, 'a');
    }
    await killed;
    const [row] = await sql.unsafe("select state, owner_host, pending from winterdock.instances where id = 'a'");
    await sql.end();
    expect(row).toMatchObject({ state: 'frozen', owner_host: 'one', pending: expect.stringContaining('resume') });
    expect(await output(two, 'a', 'cat kept')).toBe('kept');
    expect(await shown(two, 'a')).toMatchObject({ host: 'two', state: 'active' });
    const lines = (await two.call<{ reason: string }[]>('GET', '/api/events?type=instance.taken_over')).json;
    expect(lines.map(({ reason }) => reason)).toEqual(['the host "one" ended during resume; it is whole in the store']);
    expect((await two.call('GET', '/metrics')).text).toContain('winterdock_takeovers_total{class="stored"} 1');
    // What it had brought is no file of the sandbox any more.
    const back = await start('one', lease);
    expect(await output(two, 'a', 'echo more >> kept; cat kept')).toBe('kept\nmore');
    await rest(two, 'a');
    expect(await output(back, 'a', 'cat kept')).toBe('kept\nmore');
  });

  /** Asks until a sandbox of a dead host has been taken over. */
  const outputAfter = async (server: ServerProcess, id: string, command: string) => {
    let said = '';
    await expect
      .poll(
        async () => {
          said = await output(server, id, command);
          return /^(?:409|503) /.test(said);
        },
        { timeout: 180_000, interval: 500 },
      )
      .toBe(false);
    return said;
  };
  const taken = async (server: ServerProcess) =>
    (await server.call<{ instance: string; reason: string }[]>('GET', '/api/events?type=instance.taken_over')).json;
  const create = async (server: ServerProcess, id: string, replicate: string) => {
    const made = await server.call('POST', '/api/instances', { id, tenant: 'acme', replicate });
    expect([made.status, made.json]).toMatchObject([201, { id }]);
  };

  test('of a host that is killed every answered write of a sync sandbox is there elsewhere, and nothing older is given', async () => {
    const lease = { WB_HOST_LEASE_MS: String(SHORT_MS) };
    const [one, two] = [await start('one', lease), await start('two')];
    for (const [id, replicate] of [
      ['synced', 'sync'],
      ['seconds', '1s'],
      ['kept', 'off'],
    ] as const) {
      await create(one, id, replicate);
      expect(await output(one, id, 'echo first > kept; cat kept')).toBe('first');
    }
    await expect.poll(() => newest('seconds', '/kept'), WAIT).toBe('first\n');
    // Answered and not in the replica: it is shipped nowhere any more.
    let answered = 0;
    const killed = pause(1500).then(() => one.end('SIGKILL'));
    for (;;) {
      const { status } = await one
        .call('POST', '/api/instances/synced/exec', { command: `echo ${answered + 1} > kept` })
        .catch(() => ({ status: 0 }));
      if (status !== 200) break;
      answered += 1;
    }
    await killed;
    // It is told before anybody tries.
    const goesOn = async () => {
      const said: unknown[] = [];
      for (const id of ['synced', 'seconds', 'kept']) {
        const { json } = await two.call<Pick<Instance, 'unreachable'>>('GET', `/api/instances/${id}`);
        said.push(json.unreachable?.goes_on);
      }
      return said;
    };
    await expect.poll(goesOn, WAIT).toEqual(['whole', 'seconds', null]);
    const found = Number(await outputAfter(two, 'synced', 'cat kept'));
    // What was not answered may be there.
    expect([answered, answered + 1]).toContain(found);
    expect(await outputAfter(two, 'seconds', 'cat kept')).toBe('first');
    const refused = await two.call<{ code: string; host: string }>('POST', '/api/instances/kept/exec', {
      command: 'true',
    });
    expect([refused.status, refused.json]).toMatchObject([409, { code: 'unreachable', host: 'one' }]);
    const lines = await taken(two);
    expect(lines.map(({ instance, reason }) => [instance, reason.replace(/\d{4}-\S+Z/, 'TIME')])).toEqual([
      ['seconds', 'the host "one" does not answer; it goes on as it was at TIME: later writes are lost'],
      ['synced', 'the host "one" does not answer; it goes on as it was at TIME, with all that was answered'],
    ]);
    const { text } = await two.call('GET', '/metrics');
    for (const how of ['sync', 'seconds']) expect(text).toContain(`winterdock_takeovers_total{class="${how}"} 1`);
    expect(await output(two, 'synced', 'echo elsewhere > kept; cat kept')).toBe('elsewhere');

    // The host that comes back has its own, and sets aside what has moved on.
    const back = await start('one', lease);
    expect(await output(back, 'kept', 'cat kept')).toBe('first');
    const aside = readdirSync(join(root, 'one', 'orphans'));
    expect(aside.filter((name) => name.includes('synced')).length).toBeGreaterThan(0);
    expect(aside.filter((name) => name.includes('seconds')).length).toBeGreaterThan(0);
    await rest(two, 'synced');
    expect(await output(back, 'synced', 'cat kept')).toBe('elsewhere');
    await expect.poll(() => newest('synced', '/kept'), WAIT).toBe('elsewhere\n');
  });

  test('a host that was stopped goes on with what is its own alone, and answers nothing of what was taken over', async () => {
    const lease = { WB_HOST_LEASE_MS: String(SHORT_MS) };
    const [one, two] = [await start('one', lease), await start('two')];
    for (const [id, replicate] of [
      ['synced', 'sync'],
      ['kept', 'off'],
    ] as const) {
      await create(one, id, replicate);
      expect(await output(one, id, 'echo first > kept; cat kept')).toBe('first');
    }
    one.child.kill('SIGSTOP');
    expect(await outputAfter(two, 'synced', 'echo second > kept; cat kept')).toBe('second');
    one.child.kill('SIGCONT');
    const answers: string[] = [];
    await expect
      .poll(
        async () => {
          answers.push(await output(one, 'synced', 'cat kept'));
          return output(one, 'kept', 'cat kept');
        },
        { timeout: 180_000, interval: 200 },
      )
      .toBe('first');
    // It leads nowhere from one to the other here.
    expect(answers.filter((said) => said === 'first')).toEqual([]);
    await expect.poll(() => readdirSync(join(root, 'one', 'orphans')).join(), WAIT).toContain('synced');
    expect(await output(two, 'synced', 'cat kept')).toBe('second');
    expect(await newest('synced', '/kept')).toBe('second\n');
  });
});
