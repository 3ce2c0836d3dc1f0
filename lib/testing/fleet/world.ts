/**
 * For tests: the surroundings of the drill of hosts: servers on one PostgreSQL server and one object store, a link that
 * breaks to each of what they reach, a clock of each that is set, and the faults of all of them. Knows no clients.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parsePostgresUrl } from '../../base/postgres-url.ts';
import { connect } from '../../registry/postgres/connect.ts';
import { migrate } from '../../registry/postgres/migrate.ts';
import { newCluster, type PostgresCluster, SUPERUSER } from '../../registry/testing/postgres-cluster.ts';
import { type S3Server, startS3Server, TEST_KEYS } from '../../storage/object-store/testing/s3-server.ts';
import { BreakableLink } from '../breakable-link.ts';
import type { Call } from '../call.ts';
import { type ServerProcess, spawnServer } from '../process.ts';
import { signalTree, treeOf } from '../process-tree.ts';
import type { FleetFault } from './schedule.ts';

const DATABASE = 'fleet';
const CLOCK = new URL('../soak/shifted-clock.ts', import.meta.url).href;
const BROKEN = new URL('./broken.ts', import.meta.url).href;
const NAMES = ['one', 'two', 'three'] as const;
/** How far clocks are set. */
const HOUR_MS = 3_600_000;
/** How long a server may take to come back, and how often it is tried. */
const BACK_MS = 120_000;
const TRY_MS = 200;
const OUTPUT_CHARS = 20_000;

export interface FleetOptions {
  /** Absolute, empty; what is made stays there. */
  folder: string;
  leaseMs: number;
  /** Which of the broken variants all servers are; default: none. */
  variant?: string | undefined;
}

/** One server, and all that lies between it and others. */
export class FleetHost {
  readonly name: string;
  readonly door = new BreakableLink();
  readonly registry = new BreakableLink();
  readonly store = new BreakableLink();
  readonly #folder: string;
  readonly #clock: string;
  #server: ServerProcess | null = null;
  #before = '';
  /** Processes that a fault has stopped. */
  readonly #stopped = new Set<number>();

  constructor(name: string, folder: string) {
    this.name = name;
    this.#folder = join(folder, name);
    this.#clock = join(folder, `${name}.clock`);
    this.setClock(0);
  }

  get call(): Call | null {
    return this.#server?.call ?? null;
  }

  /** What its servers wrote last. */
  get output(): string {
    return (this.#before + (this.#server?.output() ?? '')).slice(-OUTPUT_CHARS);
  }

  /** How its server ended by itself; null: it has not. */
  get ended(): string | null {
    const child = this.#server?.child;
    const how = child?.exitCode ?? child?.signalCode ?? null;
    return how === null ? null : String(how);
  }

  async start(settings: Record<string, string>, variant: string | undefined): Promise<void> {
    if (this.#server !== null) return;
    const preloads = [CLOCK, ...(variant === undefined ? [] : [BROKEN])];
    this.#server = await spawnServer({
      folder: this.#folder,
      alone: false,
      isSource: variant !== undefined,
      settings: {
        ...settings,
        WB_HOST_NAME: this.name,
        NODE_OPTIONS: preloads.map((url) => `--import=${url}`).join(' '),
        WINTERDOCK_TEST_CLOCK: this.#clock,
        ...(variant === undefined ? {} : { WB_TEST_BROKEN: variant }),
      },
    });
    this.door.leadTo(this.#server.url);
  }

  /** Returns how it ended: an exit code, or a signal. */
  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<string> {
    const server = this.#server;
    if (server === null) return 'none';
    this.#server = null;
    const how = await server.end(signal);
    this.#before = `${this.#before}${server.output()}`.slice(-OUTPUT_CHARS);
    this.#stopped.clear();
    return String(how);
  }

  /** Stops processes, with what they have begun. */
  stop(which: 'server' | 'workers' | 'all'): void {
    const pid = this.#server?.child.pid;
    if (pid === undefined) return;
    if (which === 'all') signalTree(pid, 'SIGSTOP');
    const tree = treeOf(pid);
    for (const one of which === 'server' ? [pid] : which === 'workers' ? tree.slice(1) : tree) {
      this.#stopped.add(one);
      signal(one, 'SIGSTOP');
    }
  }

  continue(): void {
    for (const one of this.#stopped) signal(one, 'SIGCONT');
    this.#stopped.clear();
  }

  /** Its clock, and those of what it starts, are so far from the machine's. */
  setClock(shiftMs: number): void {
    writeFileSync(this.#clock, String(shiftMs));
  }

  /** Nothing goes wrong with it any more, but that it may have no server. */
  heal(): void {
    for (const link of [this.door, this.registry, this.store]) link.pass();
    this.continue();
    this.setClock(0);
  }

  async close(): Promise<void> {
    this.continue();
    await this.end('SIGKILL');
    for (const link of [this.door, this.registry, this.store]) link.close();
  }
}

export class FleetWorld {
  readonly hosts: readonly FleetHost[];
  readonly #options: FleetOptions;
  readonly #cluster: PostgresCluster;
  readonly #s3: S3Server;
  readonly #settings = new Map<FleetHost, Record<string, string>>();

  private constructor(options: FleetOptions, cluster: PostgresCluster, s3: S3Server) {
    this.#options = options;
    this.#cluster = cluster;
    this.#s3 = s3;
    this.hosts = NAMES.map((name) => new FleetHost(name, options.folder));
  }

  /** Starts everything. */
  static async open(options: FleetOptions): Promise<FleetWorld> {
    mkdirSync(join(options.folder, 'keys'), { recursive: true, mode: 0o700 });
    // A commit that was answered is there after a crash, as a registry needs it.
    const cluster = await newCluster({ settings: { synchronous_commit: 'on' } });
    const world = new FleetWorld(options, cluster, await startS3Server());
    try {
      await world.#begin();
    } catch (error) {
      await world.close();
      throw error;
    }
    return world;
  }

  /** The database itself, past every link. */
  get registryUrl(): string {
    return this.#cluster.url(DATABASE);
  }

  /** Causes a fault. Resolves with its end: with what it began is over, unless the fault needs `heal`. */
  async cause({ kind, host: which, forMs }: FleetFault): Promise<void> {
    const host = this.hosts[which];
    if (host === undefined) throw new Error(`There is no host ${which}.`);
    const after = () => pause(forMs);
    switch (kind) {
      case 'crash':
      case 'restart':
        await host.end(kind === 'crash' ? 'SIGKILL' : 'SIGTERM');
        await after();
        // What it needs may be cut off by the other fault: then it starts when that is over.
        return this.#start(host).catch(() => undefined);
      case 'stop-server':
      case 'stop-workers':
      case 'stop-all':
        host.stop(kind === 'stop-server' ? 'server' : kind === 'stop-workers' ? 'workers' : 'all');
        await after();
        return host.continue();
      case 'cut-registry':
        host.registry.refuse();
        await after();
        return host.registry.pass();
      case 'silent-registry':
        host.registry.hold();
        await after();
        return host.registry.pass();
      case 'cut-store':
        host.store.refuse();
        await after();
        return host.store.pass();
      case 'cut-hosts':
        host.door.refuse();
        await after();
        return host.door.pass();
      case 'clock-ahead':
      case 'clock-behind':
        host.setClock(kind === 'clock-ahead' ? HOUR_MS : -HOUR_MS);
        await after();
        return host.setClock(0);
      case 'restart-registry':
      case 'crash-registry':
        await this.#cluster.stop(kind === 'restart-registry' ? 'SIGINT' : 'SIGQUIT');
        await after();
        return this.#cluster.start();
    }
  }

  /**
   * Ends every fault, and starts what does not run. Returns sentences about servers that ended by themselves, or do not
   * come back.
   */
  async heal(): Promise<string[]> {
    const findings: string[] = [];
    await this.#cluster.start();
    for (const host of this.hosts) host.heal();
    await Promise.all(
      this.hosts.map(async (host) => {
        if (host.ended !== null) {
          findings.push(`the server of ${host.name} ended by itself with ${host.ended}: ${host.output.slice(-2000)}`);
          await host.end('SIGKILL');
        }
        await this.#startAtLast(host).catch((error: unknown) => {
          findings.push(`${host.name} does not start again: ${error instanceof Error ? error.message : error}`);
        });
      }),
    );
    const until = performance.now() + BACK_MS;
    for (const host of this.hosts) {
      while (!(await this.#isBack(host))) {
        if (performance.now() > until) {
          findings.push(`${host.name} does not come back: ${host.output.slice(-2000)}`);
          break;
        }
        await pause(TRY_MS);
      }
    }
    return findings;
  }

  async close(): Promise<void> {
    for (const host of this.hosts) await host.close();
    await this.#cluster.remove();
    await this.#s3.stop();
  }

  async #begin(): Promise<void> {
    const admin = await connect(parsePostgresUrl(this.#cluster.url('postgres')));
    await admin.unsafe(`create database ${DATABASE}`);
    await admin.end();
    const sql = await connect(parsePostgresUrl(this.registryUrl));
    await migrate(sql);
    await sql.end();
    for (const host of this.hosts) {
      host.registry.leadTo(this.registryUrl.replace('postgres:', 'http:'));
      host.store.leadTo(this.#s3.endpoint);
      this.#settings.set(host, {
        WB_REGISTRY: `postgres://${SUPERUSER}@127.0.0.1:${await host.registry.open()}/${DATABASE}`,
        WB_KEYS: join(this.#options.folder, 'keys'),
        WB_HOST_URL: `http://127.0.0.1:${await host.door.open()}`,
        WB_HOST_LEASE_MS: String(this.#options.leaseMs),
        WB_COLD_URL: 's3://bucket/fleet',
        WB_REPLICA_URL: 's3://bucket/replica',
        WB_REPLICATE: 'off',
        WB_STORE_ENDPOINT: `http://127.0.0.1:${await host.store.open()}`,
        AWS_ACCESS_KEY_ID: TEST_KEYS.accessKey,
        AWS_SECRET_ACCESS_KEY: TEST_KEYS.secretKey,
        WB_LOG: 'warn',
        WB_TICK_MS: '500',
        WB_MAX_ACTIVE: '16',
        WB_DRAIN_MS: '500',
        WB_RATE_KEY: '0',
        WB_RATE_ADDRESS: '0',
      });
    }
    // The first one makes the keys that all have.
    for (const host of this.hosts) await this.#startAtLast(host);
    const findings = await this.heal();
    if (findings.length > 0) throw new Error(findings.join('\n'));
  }

  #start(host: FleetHost): Promise<void> {
    return host.start(this.#settings.get(host) ?? {}, this.#options.variant);
  }

  /** On a busy machine a start may take what it needs for away. */
  async #startAtLast(host: FleetHost): Promise<void> {
    for (const begun = performance.now(); ; await pause(TRY_MS)) {
      try {
        return await this.#start(host);
      } catch (error) {
        if (performance.now() - begun > BACK_MS) throw error;
      }
    }
  }

  /** Whether it answers, and sees that all others live. */
  async #isBack(host: FleetHost): Promise<boolean> {
    const options = { signal: AbortSignal.timeout(this.#options.leaseMs) };
    const got = await host
      .call?.<{ held: boolean; dead: boolean }[]>('GET', '/api/hosts', undefined, options)
      .catch(() => null);
    if (got?.status !== 200) return false;
    return got.json.length === this.hosts.length && got.json.every(({ held, dead }) => held && !dead);
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended.
  }
}
