/**
 * For tests: a PostgreSQL server that is started, stopped, crashed, copied with its data, and started again on the same
 * port. It keeps nothing (no syncs, in the folder of temporary files), is reached on the loopback, and ends with the
 * process. PostgreSQL refuses to run as root: then it runs as another user, who cannot get to every folder, so the
 * programs of the package are copied (60 MB, once for each process). With `WB_TEST_POSTGRES_BIN` it is the server whose
 * programs lie in that folder, `/usr/lib/postgresql/15/bin` for instance.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { POSTGRES } from '#peers/postgres.ts';

/** `nobody`, who is on every Linux. */
const USER = 65_534;
/** Who owns everything in it. */
export const SUPERUSER = 'winterdock';
const SETPRIV = '/usr/bin/setpriv';
const READY = /database system is ready to accept (?:read-only )?connections/;
const ENVIRONMENT = { NODE_ENV: 'test' as const, PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };
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

interface ClusterOptions {
  /** Over those of tests. */
  settings?: Record<string, string>;
  /** Commands of a shell before the server begins, as root, with mounts of its own; `$FOLDER` is its folder. */
  mounts?: string;
}

export interface PostgresCluster {
  readonly port: number;
  /** A folder of its own beside that. */
  readonly folder: string;
  /** The URL of one of its databases. `account`: a user, perhaps with a password; default: who owns everything. */
  url(database: string, account?: string): string;
  /** Starts it, unless it runs. */
  start(): Promise<void>;
  /** `SIGINT`: it ends its connections and stops. `SIGQUIT`: it crashes. Idempotent. */
  stop(signal?: 'SIGINT' | 'SIGQUIT'): Promise<void>;
  /** Another server with a copy of the data of this one, which is stopped; it is not started. */
  copy(options?: ClusterOptions): Promise<PostgresCluster>;
  /** Replaces one of the files in the folder of its data. It reads them when it starts. */
  write(name: string, text: string): void;
  /** Stops it and removes everything. */
  remove(): Promise<void>;
}

const isRoot = process.getuid?.() === 0;
/** The folder of programs that the system has and not the package. */
const INSTALLED = process.env.WB_TEST_POSTGRES_BIN ?? null;
let programs: string | null = INSTALLED;

/** Whether this system has the programs. */
export const HAS_POSTGRES = INSTALLED !== null || POSTGRES !== null;

/** Whether a server can have mounts of its own. */
export const CAN_MOUNT_FOR_POSTGRES = isRoot && existsSync(SETPRIV);

const ends: (() => void)[] = [];

/** Runs `work` when this process ends, after what was given later. */
function atExit(work: () => void): void {
  if (ends.length === 0)
    process.once('exit', () => {
      for (const end of ends.toReversed()) end();
    });
  ends.push(work);
}

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'winterdock-postgres-'));
  atExit(() => rmSync(folder, { recursive: true, force: true }));
  give(folder);
  return folder;
}

/** A path is that of the user whom the server runs as. */
function give(path: string): void {
  if (!isRoot) return;
  chmodSync(path, 0o755);
  chownSync(path, USER, USER);
}

/** The folder of the programs, with their links, which a package of npm cannot have. */
function placedPrograms(): string {
  if (programs !== null) return programs;
  if (POSTGRES === null) throw new Error('There is no package of PostgreSQL for this system.');
  const folder = join(newFolder(), 'native');
  cpSync(POSTGRES, folder, { recursive: true });
  const links = JSON.parse(readFileSync(join(POSTGRES, 'pg-symlinks.json'), 'utf8')) as {
    source: string;
    target: string;
  }[];
  for (const { source, target } of links) symlinkSync(basename(source), join(folder, '..', target));
  for (const name of ['postgres', 'initdb', 'pg_ctl']) chmodSync(join(folder, 'bin', name), 0o755);
  programs = join(folder, 'bin');
  return programs;
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** A new server with no database of anybody, which is started. */
export async function newCluster(options: ClusterOptions = {}): Promise<PostgresCluster> {
  const folder = newFolder();
  const data = join(folder, 'data');
  const identity = isRoot ? { uid: USER, gid: USER } : {};
  const initial = ['-D', data, '-U', SUPERUSER, '--auth=trust', '--no-sync', '--encoding=UTF8', '--locale=C'];
  execFileSync(join(placedPrograms(), 'initdb'), initial, {
    ...identity,
    cwd: folder,
    env: ENVIRONMENT,
    stdio: 'pipe',
  });
  const cluster = new Cluster(folder, await freePort(), options);
  await cluster.start();
  return cluster;
}

class Cluster implements PostgresCluster {
  readonly folder: string;
  readonly port: number;
  readonly #options: ClusterOptions;
  #server: ChildProcess | null = null;
  #ended: Promise<unknown> = Promise.resolve();

  constructor(folder: string, port: number, options: ClusterOptions) {
    this.folder = folder;
    this.port = port;
    this.#options = options;
    atExit(() => this.#server?.kill('SIGQUIT'));
  }

  get #data(): string {
    return join(this.folder, 'data');
  }

  url(database: string, account = SUPERUSER): string {
    return `postgres://${account}@127.0.0.1:${this.port}/${database}`;
  }

  async start(): Promise<void> {
    if (this.#server !== null) return;
    const settings = Object.entries({ ...SETTINGS, ...this.#options.settings, port: String(this.port) });
    const postgres = [
      ...[join(placedPrograms(), 'postgres'), '-D', this.#data],
      ...settings.flatMap(([key, value]) => ['-c', `${key}=${value}`]),
    ];
    const server = this.#spawn(postgres);
    this.#server = server;
    this.#ended = once(server, 'exit');
    let said = '';
    await new Promise<void>((resolve, reject) => {
      server.stderr?.on('data', (piece: Buffer) => {
        if (said.length < 10_000) said += piece.toString();
        if (READY.test(said)) resolve();
      });
      server.once('error', reject);
      server.once('exit', () => reject(new Error(`PostgreSQL did not start: ${said}`)));
    });
    server.unref();
    (server.stderr as unknown as { unref(): void }).unref();
  }

  #spawn(postgres: string[]): ChildProcess {
    const { mounts } = this.#options;
    const environment = { ...ENVIRONMENT, FOLDER: this.folder };
    const options = { cwd: this.folder, env: environment, stdio: ['ignore', 'ignore', 'pipe'] as const };
    // Where it can be had: a test that is killed takes its server with it.
    const bound = existsSync(SETPRIV) ? [SETPRIV, '--pdeathsig', 'QUIT'] : [];
    if (mounts === undefined) {
      const [program = '', ...words] = [...bound, ...postgres];
      return spawn(program, words, {
        ...options,
        stdio: [...options.stdio],
        ...(isRoot ? { uid: USER, gid: USER } : {}),
      });
    }
    const identity = ['--reuid', String(USER), '--regid', String(USER), '--clear-groups'];
    const words = ['--mount', 'sh', '-c', `set -e; ${mounts}; exec "$0" "$@"`, ...bound, ...identity, ...postgres];
    return spawn('unshare', words, { ...options, stdio: [...options.stdio] });
  }

  async stop(signal: 'SIGINT' | 'SIGQUIT' = 'SIGINT'): Promise<void> {
    const server = this.#server;
    this.#server = null;
    server?.kill(signal);
    await this.#ended;
  }

  async copy(options: ClusterOptions = {}): Promise<PostgresCluster> {
    if (this.#server !== null) throw new Error('It has to be stopped.');
    const folder = newFolder();
    execFileSync('cp', ['-a', this.#data, folder]);
    return new Cluster(folder, await freePort(), options);
  }

  write(name: string, text: string): void {
    const path = join(this.#data, name);
    writeFileSync(path, text, { mode: 0o600 });
    if (isRoot) chownSync(path, USER, USER);
  }

  async remove(): Promise<void> {
    await this.stop('SIGQUIT');
    rmSync(this.folder, { recursive: true, force: true });
  }
}
