/**
 * For tests: one PostgreSQL server for each process, which a registry has a database of. It keeps nothing (no syncs, in
 * the folder of temporary files), is reached on the loopback, and ends with the process. PostgreSQL refuses to run as
 * root: then it runs as another user, who cannot get to every folder, so its programs are copied (60 MB).
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { POSTGRES } from '#peers/postgres.ts';

/** `nobody`, who is on every Linux. */
const USER = 65_534;
const NAME = 'winterdock';
const SETPRIV = '/usr/bin/setpriv';
const READY = 'database system is ready to accept connections';
/** Quick and without traces: what is lost with the machine is lost with the test. */
const SETTINGS = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  max_connections: '300',
  shared_buffers: '64MB',
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  dynamic_shared_memory_type: 'mmap',
  // Of the size of a test: nothing is to be cleaned up, and nobody waits for a checkpoint.
  autovacuum: 'off',
  max_wal_size: '4GB',
};

interface TestServer {
  /** The URL of one of its databases. */
  url(database: string): string;
}

/** For what is measured: a write is on disk when it is answered, as on a server that keeps what it is given. */
const DURABLE = {
  ...SETTINGS,
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  shared_buffers: '512MB',
  autovacuum: 'on',
  max_wal_size: '8GB',
  maintenance_work_mem: '512MB',
};

/** Whether this system has the programs. */
export const HAS_POSTGRES = POSTGRES !== null;

let started: Promise<TestServer> | null = null;

/** The server of this process, which is started with the first call, and is durable when that says so. */
export function postgresServer({ isDurable = false } = {}): Promise<TestServer> {
  started ??= start(isDurable ? DURABLE : SETTINGS);
  return started;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** The programs with their links, which a package of npm cannot have. */
function placePrograms(native: string, folder: string): void {
  cpSync(native, folder, { recursive: true });
  const links = JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8')) as {
    source: string;
    target: string;
  }[];
  for (const { source, target } of links) symlinkSync(basename(source), join(folder, '..', target));
  for (const name of ['postgres', 'initdb', 'pg_ctl']) chmodSync(join(folder, 'bin', name), 0o755);
}

async function start(given: Readonly<Record<string, string>>): Promise<TestServer> {
  if (POSTGRES === null) throw new Error('There is no package of PostgreSQL for this system.');
  const folder = mkdtempSync(join(tmpdir(), 'winterdock-postgres-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  process.once('exit', remove);
  const native = join(folder, 'native');
  const data = join(folder, 'data');
  placePrograms(POSTGRES, native);
  const isRoot = process.getuid?.() === 0;
  const identity = isRoot ? { uid: USER, gid: USER } : {};
  if (isRoot) {
    chmodSync(folder, 0o755);
    chownSync(folder, USER, USER);
  }
  const environment = { NODE_ENV: 'test' as const, PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };
  const options = { ...identity, cwd: folder, env: environment };
  const initial = ['-D', data, '-U', NAME, '--auth=trust', '--no-sync', '--encoding=UTF8', '--locale=C'];
  execFileSync(join(native, 'bin', 'initdb'), initial, { ...options, stdio: 'pipe' });
  const port = await freePort();
  const settings = Object.entries({ ...given, port: String(port) }).flatMap(([key, value]) => [
    '-c',
    `${key}=${value}`,
  ]);
  // Where it can be had: a test that is killed takes its server with it.
  const bound = existsSync(SETPRIV) ? [SETPRIV, '--pdeathsig', 'QUIT'] : [];
  const [program = '', ...words] = [...bound, join(native, 'bin', 'postgres'), '-D', data, ...settings];
  const server = spawn(program, words, { ...options, stdio: ['ignore', 'ignore', 'pipe'] });
  process.once('exit', () => server.kill('SIGQUIT'));
  let said = '';
  await new Promise<void>((resolve, reject) => {
    server.stderr.on('data', (piece: Buffer) => {
      if (said.length < 10_000) said += piece.toString();
      if (said.includes(READY)) resolve();
    });
    server.once('error', reject);
    server.once('exit', () => reject(new Error(`PostgreSQL did not start: ${said}`)));
  });
  server.unref();
  (server.stderr as unknown as { unref(): void }).unref();
  return { url: (database) => `postgres://${NAME}@127.0.0.1:${port}/${database}` };
}
