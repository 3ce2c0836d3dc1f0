/** A server whose registry is in a database of Postgres, as a process, with the commands that people run beside it. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { addressOf, administer } from '../registry/testing/postgres-driver.ts';
import { postgresProxy } from '../registry/testing/postgres-proxy.ts';
import { HAS_POSTGRES, postgresServer } from '../registry/testing/postgres-server.ts';
import { type ServerProcess, spawnServer } from '../testing/process.ts';
import { type CommandResult, expectWhole, populate, run } from './testing/server-content.ts';

const PASSWORD = 'hunter2:/@';

describe.skipIf(!HAS_POSTGRES)('a server with its registry on Postgres', () => {
  let root: string;
  let folder: string;
  let database: string;
  let settings: Record<string, string>;
  let server: ServerProcess | null = null;
  let made = 0;

  beforeEach(async () => {
    root = mkdtempSync(join(tmpdir(), 'winterdock-postgres-server-'));
    folder = join(root, 'data');
    made += 1;
    database = `server_${made}`;
    await administer(`create database ${database}`);
    const url = (await postgresServer()).url(database).replace('@', `:${encodeURIComponent(PASSWORD)}@`);
    settings = { WB_REGISTRY: `${url}?sslmode=prefer`, WB_REGISTRY_POOL: '4', WB_LOG: 'debug' };
  });
  afterEach(async () => {
    await server?.end('SIGKILL');
    server = null;
    await administer(`drop database if exists ${database} with (force)`);
    rmSync(root, { recursive: true, force: true });
  });

  async function start(at = folder, given = settings): Promise<ServerProcess> {
    server = await spawnServer({ folder: at, settings: given });
    return server;
  }
  const done = ({ status, stdout, stderr }: CommandResult) => {
    expect([status, stderr]).toEqual([0, '']);
    return stdout;
  };

  test('runs sandboxes, is alone, comes back after a stop and a kill, and is proved, without a word of its password', async () => {
    const first = await start();
    const { call } = first;
    expect((await call('POST', '/api/instances', { id: 'a', tenant: 'acme' })).status).toBe(201);
    const command = { command: 'echo kept > /workspace/what; cat /workspace/what' };
    expect((await call('POST', '/api/instances/a/exec', command)).json).toMatchObject({ stdout: 'kept\n' });
    expect((await call('POST', '/api/instances/a/suspend')).status).toBe(200);
    expect((await call('POST', '/api/instances/a/freeze')).status).toBe(200);
    const ready = await call('GET', '/readyz');
    expect(ready.status).toBe(200);
    await expect(spawnServer({ folder: join(root, 'other'), settings })).rejects.toThrow(
      'Another Winterdock uses the registry postgres://winterdock@127.0.0.1:',
    );
    await first.end('SIGKILL');
    const second = await start();
    expect((await second.call('GET', '/api/instances/a')).json).toMatchObject({ state: 'frozen', fault: null });
    expect((await second.call('POST', '/api/instances/a/exec', command)).json).toMatchObject({ stdout: 'kept\n' });
    expect(done(run('ledger-verify', folder, [], settings))).toContain('Proving postgres://winterdock@127.0.0.1:');
    expect(done(run('doctor', folder, [], settings))).toContain('Nothing wrong was seen');
    expect(await second.end()).toBe(0);
    expect(existsSync(join(folder, 'registry.head'))).toBe(true);
    expect(existsSync(join(folder, 'registry.sqlite'))).toBe(false);
    const third = await start();
    expect((await third.call('GET', '/api/instances/a')).json).toMatchObject({ state: 'suspended' });
    const storage = (await third.call('GET', '/api/settings/storage')).text;
    const said = [first.output(), second.output(), third.output(), ready.text, storage].join('\n');
    for (const secret of [PASSWORD, encodeURIComponent(PASSWORD), 'hunter2']) expect(said).not.toContain(secret);
    expect(readFileSync(`/proc/${third.child.pid}/cmdline`, 'utf8')).not.toContain('hunter2');
  });

  test('a backup of it is restored into an SQLite registry, and one of that into a database of Postgres', async () => {
    const content = await populate(await start());
    await server?.end();
    const [backup, back, other] = [join(root, 'backup'), join(root, 'back'), join(root, 'other')];
    const keys = { WB_BACKUP_PASSPHRASE: 'a long passphrase' };
    done(run('backup', folder, [backup, '--with-keys'], { ...settings, ...keys }));
    done(run('restore', other, ['--from', backup], keys));
    done(run('backup', other, [back, '--with-keys'], keys));
    await expectWhole(await start(other, {}), content);
    await server?.end();
    done(run('ledger-verify', other, []));
    // Over what is there, which is set aside.
    done(run('restore', folder, ['--from', back, '--force'], { ...settings, ...keys }));
    const aside = readdirSync(folder).find((name) => name.startsWith('replaced-')) ?? '';
    expect(readFileSync(join(folder, aside, 'registry.txt'), 'utf8')).toMatch(/in the schema winterdock_replaced_\d+/);
    await expectWhole(await start(), content);
    await server?.end();
    done(run('ledger-verify', folder, [], settings));
  });

  test('a registry is carried to it and back, proved; the one that it left starts no server until it is told to', async () => {
    const content = await populate(await start(folder, {}));
    await server?.end();
    const file = join(folder, 'registry.sqlite');
    const plain = (await postgresServer()).url(database);
    const secret = run('migrate-registry', folder, ['--to', plain.replace('@', ':hunter2@')]);
    expect([secret.status, secret.stdout]).toEqual([1, '']);
    expect(secret.stderr).toContain('--to must have no password');
    const there = done(run('migrate-registry', folder, ['--to', plain], { PGPASSWORD: 'any' }));
    expect(there).toMatch(/\d+ rows of sandboxes, and a ledger of \d+ lines \([0-9a-f]{64}\), proved on both sides\./);
    // As after a break before the first one was marked.
    done(run('migrate-registry', folder, ['--reopen']));
    expect(done(run('migrate-registry', folder, ['--to', plain]))).toContain('It was there already');
    await expect(start(folder, {})).rejects.toThrow(/was carried to postgres:.*migrate:registry -- --reopen/);
    expect(existsSync(file)).toBe(true);
    done(run('ledger-verify', folder, [], settings));
    await start();
    expect((await server?.call('POST', '/api/instances', { id: 'later', tenant: 'other' }))?.status).toBe(201);
    await server?.end();

    done(run('migrate-registry', folder, ['--to', file], settings));
    await expect(start()).rejects.toThrow(/was carried to .*registry\.sqlite/);
    done(run('ledger-verify', folder, []));
    const back = await start(folder, {});
    expect((await back.call('GET', '/api/instances/later')).status).toBe(200);
    await expectWhole(back, content);
    await back.end();
    const other = run('migrate-registry', folder, ['--to', plain]);
    expect([other.status, other.stderr]).toEqual([0, '']);
  });

  test('answers 503 while its database is away, and goes on by itself with all that was acknowledged', async () => {
    const proxy = await postgresProxy(await addressOf(database));
    try {
      const [{ port = 0 } = {}] = proxy.address.hosts;
      const { call } = await start(folder, {
        ...settings,
        WB_REGISTRY: `postgres://winterdock@127.0.0.1:${port}/${database}`,
      });
      const post = (id: string) => call('POST', '/api/instances', { id, tenant: 'acme' });
      expect((await post('before')).status).toBe(201);
      proxy.close();
      const [refused, ready] = [await post('away'), await call('GET', '/readyz')];
      expect([refused.status, 'retry-after' in refused.headers, ready.status]).toEqual([503, true, 503]);
      expect([refused.json.code, ready.json.code]).toEqual(['registry_unavailable', 'registry_unavailable']);
      proxy.open();
      await expect.poll(async () => (await post('after')).status).toBe(201);
      await expect.poll(async () => (await call('GET', '/readyz')).status).toBe(200);
      expect((await call('GET', '/api/instances/before')).status).toBe(200);
      expect((await call('GET', '/api/instances/away')).status).toBe(404);
      expect((await call('POST', '/api/instances/after/exec', { command: 'echo on' })).json.stdout).toBe('on\n');
      expect((await call('GET', '/api/events/verify')).json).toMatchObject({ ok: true });
    } finally {
      await server?.end('SIGKILL');
      await proxy.end();
    }
  });
});
