/** `npm run migrate:registry` is killed wherever it is, in both directions, and run again. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addressOf, administer } from '../registry/testing/postgres-driver.ts';
import { type PostgresProxy, postgresProxy } from '../registry/testing/postgres-proxy.ts';
import { HAS_POSTGRES, postgresServer } from '../registry/testing/postgres-server.ts';
import { spawnServer } from '../testing/process.ts';
import { programOf } from '../testing/program.ts';
import {
  type CommandResult,
  commandOf,
  expectWhole,
  populate,
  run,
  type ServerContent,
} from './testing/server-content.ts';

const VICTIM = programOf(fileURLToPath(new URL('./testing/carry-victim.ts', import.meta.url)));
/** Effects between two of which it is killed before. */
const EVERY = 3;
/** What it sends to a database on its way there, and to one that it comes from. */
const TO = [
  'pg_try_advisory_lock',
  'create schema winterdock_restoring',
  'insert into "instances"',
  'insert into "events"',
  'analyze',
  'drop schema if exists winterdock cascade',
  'alter schema winterdock_restoring rename',
];
const FROM = ['pg_try_advisory_lock', 'declare rows', 'fetch ', 'insert into "settings"'];

describe.skipIf(!HAS_POSTGRES)('a registry that is carried to another one', () => {
  let root: string;
  /** A data folder of a stopped server, and the name of a database with its registry. */
  let first: string;
  let content: ServerContent;
  const databases: string[] = [];

  beforeAll(async () => {
    root = mkdtempSync(join(tmpdir(), 'winterdock-migrate-killed-'));
    first = join(root, 'first');
    const server = await spawnServer({ folder: first });
    content = await populate(server);
    await server.end();
  });
  afterAll(async () => {
    for (const name of databases) await administer(`drop database if exists ${name} with (force)`);
    rmSync(root, { recursive: true, force: true });
  });

  async function newDatabase(template = 'template1'): Promise<string> {
    const name = `carried_${databases.length + 1}`;
    await administer(`create database ${name} template ${template}`);
    databases.push(name);
    return name;
  }
  const urlOf = async (database: string) => (await postgresServer()).url(database);
  const done = ({ status, stdout, stderr }: CommandResult) => {
    expect([status, stderr]).toEqual([0, '']);
    return stdout;
  };
  const copyOf = (folder: string, name: string) => {
    cpSync(folder, join(root, name), { recursive: true, verbatimSymlinks: true });
    return join(root, name);
  };

  /** Runs the command through a proxy and kills it when it sends `word`. Resolves with whether it was killed. */
  async function killedAt(
    word: string,
    database: string,
    command: (url: string) => { folder: string; args: string[]; settings?: Record<string, string> },
  ): Promise<boolean> {
    const proxy: PostgresProxy = await postgresProxy(await addressOf(database));
    const [{ port = 0 } = {}] = proxy.address.hosts;
    const { folder, args, settings } = command(`postgres://winterdock@127.0.0.1:${port}/${database}`);
    const [program, words] = commandOf('migrate-registry', args);
    const child = spawn(program, words, {
      env: { ...process.env, WB_DATA: folder, INIT_CWD: folder, ...settings },
      stdio: 'ignore',
    });
    void proxy.sent(word).then(() => child.kill('SIGKILL'));
    const [, signal] = (await once(child, 'exit')) as [number | null, string | null];
    await proxy.end();
    return signal === 'SIGKILL';
  }

  /** The same, killed before its effect on the disk of this number. */
  async function killedBefore(effect: number, folder: string, args: string[], settings: Record<string, string> = {}) {
    const child = spawn(process.execPath, [VICTIM, ...args], {
      env: { ...process.env, WB_DATA: folder, INIT_CWD: folder, WINTERDOCK_TEST_EFFECT: String(effect), ...settings },
      stdio: 'ignore',
    });
    const [, signal] = (await once(child, 'exit')) as [number | null, string | null];
    return signal === 'SIGKILL';
  }

  /** Runs it again, and proves both sides. */
  function expectCarried(
    folder: string,
    to: string,
    from: Record<string, string>,
    there: Record<string, string>,
  ): void {
    const said = done(run('migrate-registry', folder, ['--to', to], from));
    expect(said).toMatch(/\d+ rows of sandboxes, and a ledger of \d+ lines \([0-9a-f]{64}\), proved on both sides\./);
    expect(said).toMatch(/Both have the same rows in every table \([0-9a-f]{64}\)\./);
    done(run('ledger-verify', folder, [], there));
    expect(readdirSync(join(folder, 'staging'))).toEqual([]);
  }

  /** The one that it left is proved too, and is not carried again. */
  function expectLeft(folder: string, to: string, from: Record<string, string>): void {
    done(run('ledger-verify', folder, [], from));
    expect(run('migrate-registry', folder, ['--to', to], from).stderr).toContain('was carried to');
  }

  test('is there after the second run, whatever was sent when the first was killed on its way to Postgres', async () => {
    for (const [at, word] of TO.entries()) {
      const [folder, database] = [copyOf(first, `to-${at}`), await newDatabase()];
      expect([word, await killedAt(word, database, (url) => ({ folder, args: ['--to', url] }))]).toEqual([word, true]);
      const WB_REGISTRY = await urlOf(database);
      expectCarried(folder, WB_REGISTRY, {}, { WB_REGISTRY });
      if (at < TO.length - 1) continue;
      expectLeft(folder, WB_REGISTRY, {});
      await expect(spawnServer({ folder })).rejects.toThrow(/was carried to postgres:.*--reopen/);
      const server = await spawnServer({ folder, settings: { WB_REGISTRY } });
      await expectWhole(server, content);
      await server.end();
      done(run('migrate-registry', folder, ['--reopen']));
      const old = await spawnServer({ folder });
      expect(await old.end()).toBe(0);
    }
  });

  test('is there after the second run, whatever was sent when the first was killed on its way back', async () => {
    const [template, folderThere] = [await newDatabase(), copyOf(first, 'there')];
    done(run('migrate-registry', folderThere, ['--to', await urlOf(template)]));
    const file = (folder: string) => join(folder, 'registry.sqlite');
    for (const part of readdirSync(folderThere)) {
      if (part.startsWith('registry.sqlite')) rmSync(join(folderThere, part));
    }
    for (const [at, word] of FROM.entries()) {
      const [folder, database] = [copyOf(folderThere, `from-${at}`), await newDatabase(template)];
      const args = ['--to', file(folder)];
      const killing = killedAt(word, database, (url) => ({ folder, args, settings: { WB_REGISTRY: url } }));
      expect([word, await killing]).toEqual([word, true]);
      const WB_REGISTRY = await urlOf(database);
      expectCarried(folder, file(folder), { WB_REGISTRY }, {});
      if (at < FROM.length - 1) continue;
      expectLeft(folder, file(folder), { WB_REGISTRY });
      await expect(spawnServer({ folder, settings: { WB_REGISTRY } })).rejects.toThrow(/was carried to .*--reopen/);
      const server = await spawnServer({ folder });
      await expectWhole(server, content);
      await server.end();
      done(run('migrate-registry', folder, ['--reopen'], { WB_REGISTRY }));
      const old = await spawnServer({ folder, settings: { WB_REGISTRY } });
      expect(await old.end()).toBe(0);
    }
  });

  test('is there after the second run, before whichever effect on the disk the first was killed', async () => {
    const [folderThere, template] = [copyOf(first, 'effects'), await newDatabase()];
    const there = { WB_REGISTRY: await urlOf(template) };
    let killed = 0;
    for (let effect = 1; await killedBefore(effect, folderThere, ['--to', there.WB_REGISTRY]); effect += EVERY) {
      expect(existsSync(join(folderThere, 'registry.sqlite'))).toBe(true);
      killed += 1;
    }
    expect(killed).toBeGreaterThan(5);
    done(run('ledger-verify', folderThere, [], there));
    // Back again, to another file.
    const file = join(folderThere, 'back.sqlite');
    killed = 0;
    for (let effect = 1; await killedBefore(effect, folderThere, ['--to', file], there); effect += EVERY) killed += 1;
    expect(killed).toBeGreaterThan(5);
    done(run('ledger-verify', folderThere, [], { WB_REGISTRY: file }));
    await expect(spawnServer({ folder: folderThere, settings: there })).rejects.toThrow(
      /was carried to .*back\.sqlite/,
    );
    const server = await spawnServer({ folder: folderThere, settings: { WB_REGISTRY: file } });
    await expectWhole(server, content);
    await server.end();
  });
});
