/**
 * The registry on Postgres beside the one in a file: commits of many clients beside bare updates of the same server,
 * lists out of a million rows and out of a thousand, and wakes of two servers. The PostgreSQL server is on this
 * machine, and syncs what it is given.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type PostgresAddress, parsePostgresUrl } from '../../lib/base/postgres-url.ts';
import { registryDriver } from '../../lib/registry/drivers.ts';
import { connect } from '../../lib/registry/postgres/connect.ts';
import { fillPostgres } from '../../lib/registry/postgres/testing/fill.ts';
import type { Registry } from '../../lib/registry/registry.ts';
import { fillRegistry } from '../../lib/registry/sqlite/testing/fill.ts';
import { entry, instance, transitionTo } from '../../lib/registry/testing/fixtures.ts';
import { fileDriver } from '../../lib/registry/testing/open-test-registry.ts';
import { HAS_POSTGRES, postgresServer } from '../../lib/registry/testing/postgres-server.ts';
import type { InstanceRow } from '../../lib/registry/types.ts';
import { timed } from './measure.ts';
import { LISTS, LONG_IDLE, SMALL } from './registry.ts';
import { figureOf, type PartResult, seriesOf } from './result.ts';
import { once, roundRobin } from './round-robin.ts';
import { execIn, makeSandbox, SPARE_WORKERS } from './sandboxes.ts';
import { startAll, startWinterdock } from './server.ts';
import { ratioOf } from './statistics.ts';
import { firstExec } from './wakes.ts';

const CLIENTS = 8;
const NETWORK = 'a network: the server of the database is on the same machine and has its processors too.';
const KINDS = ['file', 'Postgres'] as const;

interface Opened {
  registry: Registry;
  close(): Promise<void>;
}

/** A new database of the server of this run. */
async function newDatabase(name: string): Promise<PostgresAddress> {
  const server = await postgresServer({ isDurable: true });
  const sql = await connect(parsePostgresUrl(server.url('postgres')));
  await sql.unsafe(`create database ${name}`);
  await sql.end();
  return parsePostgresUrl(server.url(name));
}

/** Opens registries as servers do: locked. */
async function openFile(folder: string): Promise<Opened> {
  return opened(fileDriver(join(folder, 'registry.sqlite')), folder);
}

async function openPostgres(server: PostgresAddress, folder: string): Promise<Opened> {
  return opened(registryDriver({ driver: 'postgres', server, headFolder: folder, connections: CLIENTS }), folder);
}

async function opened(driver: ReturnType<typeof registryDriver>, folder: string): Promise<Opened> {
  const unlock = await driver.lock(folder);
  const registry = await driver.open({ thresholds: LONG_IDLE });
  return {
    registry,
    async close() {
      await registry.close();
      await unlock();
    },
  };
}

interface PostgresSize {
  /** Turns of writers, and how long each is, in milliseconds. */
  writes: { rounds: number; sliceMs: number };
  /** Rows of the larger registry, and how often each list is asked for. */
  lists: { rows: number; rounds: number };
  wakes: number;
}

/** Null without the programs of a PostgreSQL server. */
export async function measureRegistryPostgres(size: PostgresSize): Promise<PartResult | null> {
  if (!HAS_POSTGRES) return null;
  const folder = mkdtempSync(join(tmpdir(), 'winterdock-postgres-bench-'));
  try {
    const parts = [
      await measureWriters(folder, size.writes),
      await measureWakesOfBoth(size.wakes),
      await measureLists(folder, size.lists),
    ];
    return { series: parts.flatMap(({ series }) => series), figures: parts.flatMap(({ figures }) => figures) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What eight clients write, each one thing after the other: milliseconds for each, all of them together. */
async function measureWriters(folder: string, { rounds, sliceMs }: PostgresSize['writes']): Promise<PartResult> {
  const address = await newDatabase('writers');
  const registries = { file: await openFile(folder), Postgres: await openPostgres(address, folder) };
  const bare = await Promise.all(Array.from({ length: CLIENTS }, () => connect(address)));
  const [first] = bare;
  await first?.unsafe('create table bare_rows (id bigint primary key, n bigint not null)');
  await first?.unsafe(`insert into bare_rows select generate_series(1, ${CLIENTS}), 0`);
  /** Runs the clients for a slice. `write` of one of them. */
  const slice = async (write: (client: number) => Promise<void>): Promise<number[]> => {
    const began = performance.now();
    let written = 0;
    await Promise.all(
      Array.from({ length: CLIENTS }, async (_, client) => {
        for (; performance.now() - began < sliceMs; written += 1) await write(client);
      }),
    );
    return [(performance.now() - began) / written];
  };
  const committer = async ({ registry }: Opened) => {
    const rows: InstanceRow[] = [];
    for (let n = 0; n < CLIENTS; n += 1) {
      const made = await registry.instances.create(instance(`client-${n}`, { tenant: `t-${n}` }), 0, entry());
      rows.push(await registry.instances.commit(transitionTo(made, 'active')));
    }
    return async (client: number) => {
      const row = rows[client] as InstanceRow;
      const to = row.state === 'active' ? 'suspended' : 'active';
      rows[client] = await registry.instances.commit(transitionTo(row, to));
    };
  };
  try {
    const commits = { file: await committer(registries.file), Postgres: await committer(registries.Postgres) };
    /** Updates of a row, which `rowOf` a client says. */
    const updates = (rowOf: (client: number) => number) => () =>
      slice(async (client) => {
        const values = [rowOf(client)];
        await bare[client]?.unsafe('update bare_rows set n = n + 1 where id = $1', values, { prepare: true });
      });
    const found = await roundRobin(rounds, {
      bare: updates(() => 1),
      apart: updates((client) => client + 1),
      file: () => slice(commits.file),
      Postgres: () => slice(commits.Postgres),
    });
    // The chain has one head, so each commit waits for the one before, as such updates do.
    const floor = `a bare update of one row, the same for ${CLIENTS} clients`;
    const excludes = NETWORK;
    return {
      series: [
        seriesOf(floor, found.bare, { excludes }),
        seriesOf(`a bare update of a row of its own, ${CLIENTS} clients`, found.apart, { floor, excludes }),
        ...KINDS.map((kind) =>
          seriesOf(`a commit with its line, ${CLIENTS} clients, ${kind}`, found[kind], { floor, excludes }),
        ),
      ],
      figures: [
        figureOf('commits with their line a second / bare updates of one row', ratioOf(found.bare, found.Postgres), {
          unit: '×',
          bar: 'registry-postgres: commits over bare updates',
          excludes,
        }),
        figureOf('the same / bare updates of rows apart', ratioOf(found.apart, found.Postgres), {
          unit: '×',
          excludes,
        }),
      ],
    };
  } finally {
    for (const sql of bare) await sql.end();
    for (const kind of KINDS) await registries[kind].close();
  }
}

/** First commands of frozen sandboxes, of two servers in turn. */
async function measureWakesOfBoth(rounds: number): Promise<PartResult> {
  await newDatabase('wakes');
  const url = (await postgresServer()).url('wakes');
  const settings = { WB_POOL: String(SPARE_WORKERS) };
  const [file, postgres] = await startAll([
    startWinterdock(settings),
    startWinterdock({ ...settings, WB_REGISTRY: url }),
  ]);
  try {
    for (const server of [file, postgres]) {
      await makeSandbox(server, 'small', { mebibytes: 1 });
      await execIn(server, 'small', 'true');
    }
    const found = await roundRobin(rounds, {
      file: once(() => firstExec(file, 'small')),
      Postgres: once(() => firstExec(postgres, 'small')),
    });
    const floor = 'first exec of a frozen sandbox, file';
    return {
      series: [
        seriesOf(floor, found.file, { excludes: NETWORK }),
        seriesOf('first exec of a frozen sandbox, Postgres', found.Postgres, { floor, excludes: NETWORK }),
      ],
      figures: [
        figureOf('first exec of a frozen sandbox: Postgres / file', ratioOf(found.Postgres, found.file), {
          unit: '×',
          bar: 'registry-postgres: wake',
          excludes: NETWORK,
        }),
      ],
    };
  } finally {
    await Promise.all([file.stop(), postgres.stop()]);
  }
}

/** Lists out of many rows and out of few, in both. */
async function measureLists(folder: string, { rows, rounds }: PostgresSize['lists']): Promise<PartResult> {
  const openBoth = async (filled: number): Promise<Record<(typeof KINDS)[number], Opened>> => {
    const own = mkdtempSync(join(folder, 'lists-'));
    fillRegistry(join(own, 'registry.sqlite'), filled);
    const address = await newDatabase(`lists_${filled}`);
    // Makes the tables.
    await (await openPostgres(address, own)).close();
    const sql = await connect(address);
    await fillPostgres(sql, filled);
    await sql.end();
    return { file: await openFile(own), Postgres: await openPostgres(address, own) };
  };
  const [few, many] = [await openBoth(SMALL), await openBoth(rows)];
  const result: PartResult = { series: [], figures: [] };
  const excludes = 'HTTP, a page’s HTML, or a registry that does not fit into memory.';
  try {
    for (const [what, { ask, passes }] of Object.entries(LISTS)) {
      const found = await roundRobin(rounds, {
        fileFew: once(() => timed(() => ask(few.file.registry))),
        fileMany: once(() => timed(() => ask(many.file.registry))),
        postgresFew: once(() => timed(() => ask(few.Postgres.registry))),
        postgresMany: once(() => timed(() => ask(many.Postgres.registry))),
      });
      const name = (of: number, kind: string) => `${what}, ${of} rows, ${kind}`;
      const floor = name(SMALL, 'file');
      result.series.push(
        seriesOf(floor, found.fileFew, { excludes }),
        seriesOf(name(rows, 'file'), found.fileMany, { floor, excludes }),
        seriesOf(name(SMALL, 'Postgres'), found.postgresFew, { floor, excludes }),
        seriesOf(name(rows, 'Postgres'), found.postgresMany, { floor, excludes }),
      );
      result.figures.push(
        figureOf(`${what}, Postgres: ${rows} rows / ${SMALL}`, ratioOf(found.postgresMany, found.postgresFew), {
          unit: '×',
          bar: passes ? 'registry-postgres: rows passed' : 'registry-postgres: million over thousand',
          excludes,
        }),
        figureOf(`${what}, file: ${rows} rows / ${SMALL}`, ratioOf(found.fileMany, found.fileFew), {
          unit: '×',
          excludes,
        }),
      );
    }
  } finally {
    for (const both of [few, many]) for (const kind of KINDS) await both[kind].close();
  }
  return result;
}
