/** A server of Postgres that encrypts, with a certificate of its own authority, and asks for a password. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { parsePostgresUrl } from '../../base/postgres-url.ts';
import { makeCertificate } from '../../testing/certificates.ts';
import { registryDriver } from '../drivers.ts';
import { entry, THRESHOLDS } from '../testing/fixtures.ts';
import { newCluster, type PostgresCluster } from '../testing/postgres-cluster.ts';
import { postgresProxy } from '../testing/postgres-proxy.ts';
import { HAS_POSTGRES } from '../testing/postgres-server.ts';
import { connect } from './connect.ts';

const PASSWORD = 'hunter2:/@%ü';
const HBA = `
hostssl all encrypted 127.0.0.0/8 trust
hostnossl all encrypted 127.0.0.0/8 reject
host all asked 127.0.0.0/8 scram-sha-256
host all all 127.0.0.0/8 trust
`;

describe.skipIf(!HAS_POSTGRES)('a registry whose server of Postgres', () => {
  let root: string;
  let cluster: PostgresCluster;
  let ca: string;
  let otherCa: string;

  beforeAll(async () => {
    root = mkdtempSync(join(tmpdir(), 'winterdock-tls-'));
    const certificate = (name: string, names: string[]) => {
      mkdirSync(join(root, name));
      return makeCertificate(join(root, name), names);
    };
    const own = certificate('own', ['localhost', '127.0.0.1']);
    [ca, otherCa] = [own.caFile, certificate('other', ['localhost']).caFile];
    cluster = await newCluster({ settings: { listen_addresses: '127.0.0.1,127.0.0.2' } });
    await administer(
      'create role encrypted login superuser',
      `create role asked login password '${PASSWORD}'`,
      'create database registry owner asked',
    );
    await cluster.stop();
    cluster.write('server.key', own.key);
    cluster.write('server.crt', own.cert);
    cluster.write('pg_hba.conf', HBA);
    cluster.write('postgresql.auto.conf', 'ssl = on\n');
    await cluster.start();
  });
  afterAll(async () => {
    await cluster?.remove();
    rmSync(root, { recursive: true, force: true });
  });
  afterEach(() => {
    delete process.env.PGPASSWORD;
  });

  async function administer(...statements: string[]): Promise<void> {
    const sql = await connect(parsePostgresUrl(cluster.url('postgres')));
    for (const statement of statements) await sql.unsafe(statement);
    await sql.end();
  }

  /** Connects, and says whether that is encrypted, or why it failed. */
  async function reached(host: string, query: string, account = 'winterdock', port = cluster.port): Promise<string> {
    const sql = await connect(parsePostgresUrl(`postgres://${account}@${host}:${port}/postgres?${query}`));
    try {
      const [[ssl] = []] = await sql.unsafe('select ssl::int from pg_stat_ssl where pid = pg_backend_pid()').values();
      return Number(ssl) === 1 ? 'encrypted' : 'plain';
    } catch (error) {
      return String((error as Error).message);
    } finally {
      await sql.end({ timeout: 1 });
    }
  }

  test('encrypts is reached as sslmode says', async () => {
    const UNKNOWN = /certificate|issuer/;
    const OTHER_NAME = /does not match|not in the cert/;
    const cases: [string, string, RegExp][] = [
      ['localhost', 'sslmode=disable', /^plain$/],
      ['localhost', 'sslmode=prefer', /^encrypted$/],
      ['localhost', 'sslmode=require', /^encrypted$/],
      ['localhost', `sslmode=require&sslrootcert=${ca}`, /^encrypted$/],
      // It is said who may sign, and then that is asked for.
      ['localhost', `sslmode=require&sslrootcert=${otherCa}`, UNKNOWN],
      ['localhost', 'sslmode=verify-ca', UNKNOWN],
      ['localhost', `sslmode=verify-ca&sslrootcert=${otherCa}`, UNKNOWN],
      ['127.0.0.2', `sslmode=verify-ca&sslrootcert=${ca}`, /^encrypted$/],
      ['localhost', 'sslmode=verify-full', UNKNOWN],
      ['localhost', `sslmode=verify-full&sslrootcert=${otherCa}`, UNKNOWN],
      ['localhost', `sslmode=verify-full&sslrootcert=${ca}`, /^encrypted$/],
      ['127.0.0.1', `sslmode=verify-full&sslrootcert=${ca}`, /^encrypted$/],
      ['127.0.0.2', `sslmode=verify-full&sslrootcert=${ca}`, OTHER_NAME],
      ['localhost', `sslmode=verify-full&sslrootcert=${join(root, 'no-such.pem')}`, /ENOENT/],
    ];
    for (const [host, query, expected] of cases) {
      expect([host, query, await reached(host, query)]).toEqual([host, query, expect.stringMatching(expected)]);
    }
    expect(await reached('localhost', 'sslmode=disable', 'encrypted')).toMatch(
      /pg_hba.conf rejects connection.*no encryption/,
    );
    expect(await reached('localhost', 'sslmode=require', 'encrypted')).toBe('encrypted');
  });

  test('does not encrypt is refused by every mode that asks for it, and by no other', async () => {
    const plain = await newCluster();
    try {
      for (const mode of ['disable', 'prefer'])
        expect(await reached('127.0.0.1', `sslmode=${mode}`, 'winterdock', plain.port)).toBe('plain');
      for (const mode of ['require', 'verify-ca', 'verify-full'])
        expect(await reached('127.0.0.1', `sslmode=${mode}`, 'winterdock', plain.port)).toBe(
          'the server does not encrypt connections',
        );
    } finally {
      await plain.remove();
    }
  });

  const driverFor = (password: string | null, query = `sslmode=verify-full&sslrootcert=${ca}`, port = cluster.port) => {
    const account = password === null ? 'asked' : `asked:${encodeURIComponent(password)}`;
    const server = parsePostgresUrl(`postgres://${account}@localhost:${port}/registry?${query}`);
    return registryDriver({ driver: 'postgres', server, headFolder: root, connections: 2 });
  };
  const refusal = async (work: Promise<unknown>) => {
    const error = (await work.then(
      () => expect.unreachable(),
      (refused) => refused,
    )) as Error & { code: string; extra: object };
    const shown = `${error.message} ${JSON.stringify(error)} ${error.stack} ${JSON.stringify(error.cause)}`;
    for (const secret of [PASSWORD, encodeURIComponent(PASSWORD), 'hunter2', 'wrong-word'])
      expect(shown).not.toContain(secret);
    return `${error.code} ${JSON.stringify(error.extra)}: ${error.message}`;
  };

  test('asks for a password takes that of the URL, or that of the environment, and says what is wrong with another', async () => {
    expect(await driverFor(PASSWORD).presence()).toEqual({ kind: 'missing' });
    process.env.PGPASSWORD = PASSWORD;
    expect(await driverFor(null).presence()).toEqual({ kind: 'missing' });
    expect(await refusal(driverFor('wrong-word').presence())).toMatch(
      /^conflict \{"start_refused":"unusable"\}: .*password authentication failed for user "asked"/,
    );
    delete process.env.PGPASSWORD;
    expect(await refusal(driverFor(null).presence())).toMatch(
      /^conflict \{"start_refused":"unusable"\}: .*No password was given: set one in WB_REGISTRY, or PGPASSWORD/,
    );
    expect(await refusal(driverFor(PASSWORD, `sslmode=verify-full&sslrootcert=${otherCa}`).presence())).toMatch(
      /^registry_unavailable .*certificate.*sslmode=verify-full/,
    );
  });

  test('gets another password while it is used refuses new connections with 503, until that is set back', async () => {
    const proxy = await postgresProxy(parsePostgresUrl(cluster.url('registry')));
    const [{ port = 0 } = {}] = proxy.address.hosts;
    const registry = await driverFor(PASSWORD, `sslmode=verify-full&sslrootcert=${ca}`, port).open({
      thresholds: THRESHOLDS,
    });
    try {
      await registry.ledger.append([entry()]);
      await administer(`alter role asked password 'another'`);
      proxy.cut();
      await expect.poll(() => refusal(registry.ledger.head())).toMatch(/^registry_unavailable .*\(28P01\)/);
      await administer(`alter role asked password '${PASSWORD}'`);
      await expect.poll(() => registry.ledger.head().catch(() => null)).toMatchObject({ seq: 1 });
    } finally {
      await registry.close();
      await proxy.end();
    }
  });
});
