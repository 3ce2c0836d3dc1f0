/**
 * Several servers on one registry on Postgres and one store, on this machine: a hot command through the host that has
 * the sandbox and through another one, in turns; and first commands of sandboxes that are nobody's, by one, two and
 * three servers; and what a thousand hosts would ask for.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { parsePostgresUrl } from '../../lib/base/postgres-url.ts';
import { connect } from '../../lib/registry/postgres/connect.ts';
import { freePort, HAS_POSTGRES } from '../../lib/registry/testing/postgres-cluster.ts';
import { postgresServer } from '../../lib/registry/testing/postgres-server.ts';
import { createCrowd, workThrough } from './crowd.ts';
import { type FleetScale, measureManyHosts } from './fleet-scale.ts';
import { must } from './measure.ts';
import { figureOf, type PartResult, seriesOf } from './result.ts';
import { roundRobin } from './round-robin.ts';
import { execIn, freezeSandbox, makeSandbox, poolReady, suspendSandbox } from './sandboxes.ts';
import { KEY, type Running, startWinterdock, UNLIMITED } from './server.ts';
import { estimateOf, percentile } from './statistics.ts';

const DATABASE = 'fleet';
const NAMES = ['one', 'two', 'three'] as const;
/** So long that a busy machine renews it in time. */
const LEASE_MS = '60000';
const POLL_MS = 50;
/** How long a host may take to see another, or a store to have a file. */
const MOST_MS = 120_000;
/** Of a turn. */
const CALLS = 10;

const EXCLUDES = {
  hop: 'a network between the hosts, or TLS: they are on the same machine and have its processors together.',
  wakes:
    'machines of their own: all servers, their sandboxes, the database and the store share the processors of one machine, which bound it.',
};

export interface FleetSize {
  /** Turns of ten hot commands each way. */
  hops: number;
  /** Turns of wakes, and the sandboxes and clients of each. */
  wakes: { rounds: number; sandboxes: number; clients: number };
  many: FleetScale;
}

/** Null without the programs of a PostgreSQL server. */
export async function measureFleet({ hops, wakes, many }: FleetSize): Promise<PartResult | null> {
  if (!HAS_POSTGRES) return null;
  const folder = mkdtempSync(join(tmpdir(), 'winterdock-fleet-bench-'));
  mkdirSync(join(folder, 'keys'), { mode: 0o700 });
  const servers: Running[] = [];
  try {
    for (const name of NAMES) servers.push(await startHost(folder, name));
    const parts = [
      await measureHop(servers, hops),
      await measureWakesOfAll(servers, wakes),
      await measureManyHosts(many),
    ];
    return { series: parts.flatMap(({ series }) => series), figures: parts.flatMap(({ figures }) => figures) };
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
    rmSync(folder, { recursive: true, force: true });
  }
}

async function startHost(folder: string, name: (typeof NAMES)[number]): Promise<Running> {
  const server = await postgresServer({ isDurable: true });
  if (name === 'one') {
    const sql = await connect(parsePostgresUrl(server.url('postgres')));
    await sql.unsafe(`create database ${DATABASE}`);
    await sql.end();
  }
  const port = String(await freePort());
  return startWinterdock({
    ...UNLIMITED,
    WB_REGISTRY: server.url(DATABASE),
    WB_KEYS: join(folder, 'keys'),
    WB_COLD_URL: pathToFileURL(join(folder, 'store')).href,
    WB_HOST_NAME: name,
    WB_HOST_URL: `http://127.0.0.1:${port}`,
    WB_HOST_LEASE_MS: LEASE_MS,
    PORT: port,
  });
}

/** Asks again and again until it is so. */
async function eventually(isSo: () => Promise<boolean>): Promise<void> {
  for (const begun = performance.now(); !(await isSo()); await pause(POLL_MS))
    if (performance.now() - begun > MOST_MS) throw new Error('What was waited for did not come.');
}

/** Ten hot commands through the host that has the sandbox, then ten through another one, and so on. */
async function measureHop(servers: readonly Running[], rounds: number): Promise<PartResult> {
  const [other, owner] = servers as [Running, Running];
  await makeSandbox(owner, 'hot');
  // The other one has seen that this one lives.
  await eventually(() =>
    execIn(other, 'hot', 'true').then(
      () => true,
      () => false,
    ),
  );
  const calls = async (server: Running) => {
    const samples: number[] = [];
    for (let n = 0; n < CALLS; n += 1) {
      const begun = performance.now();
      await execIn(server, 'hot', 'true');
      samples.push(performance.now() - begun);
    }
    return samples;
  };
  const found = await roundRobin(rounds, { direct: () => calls(owner), through: () => calls(other) });
  const floor = 'a hot exec, of the host that has the sandbox';
  const more = found.through.map((slice, at) => percentile(slice, 0.5) - percentile(found.direct[at] ?? [], 0.5));
  return {
    series: [
      seriesOf(floor, found.direct, { excludes: EXCLUDES.hop }),
      seriesOf('the same through another host', found.through, { floor, excludes: EXCLUDES.hop }),
    ],
    figures: [
      figureOf('more of a hot exec through another host, p50', estimateOf(more), {
        unit: 'ms',
        bar: 'fleet: more through another host',
        excludes: EXCLUDES.hop,
      }),
    ],
  };
}

/** Wakes by one, two and three servers in turns, of sandboxes that rest in the store and are nobody's. */
async function measureWakesOfAll(
  servers: readonly Running[],
  { rounds, sandboxes, clients }: FleetSize['wakes'],
): Promise<PartResult> {
  const ids = Array.from({ length: sandboxes }, (_, n) => `wake-${n}`);
  const [first] = servers as [Running];
  for (const id of ids) {
    await makeSandbox(first, id);
    await suspendSandbox(first, id);
  }
  const crowd = createCrowd(clients);
  const rates: Record<(typeof NAMES)[number], number[]> = { one: [], two: [], three: [] };
  const hostOf = async (id: string) => {
    const { body } = await must('GET', `${first.url}/api/instances/${id}`, KEY);
    return JSON.parse(body.toString()) as { state: string; host: string | null };
  };
  /** Freezes what does not rest in the store, through the host that has it. */
  const rest = async () => {
    for (const id of ids) {
      const { state } = await hostOf(id);
      if (state === 'active') await freezeSandbox(first, id);
      else if (state === 'suspended') await must('POST', `${first.url}/api/instances/${id}/freeze`, KEY, '{}');
    }
    await eventually(async () => (await Promise.all(ids.map(hostOf))).every(({ host }) => host === null));
    for (const server of servers) await poolReady(server);
  };
  const turn = (count: number) => async (round: number) => {
    await rest();
    const { samples, totalMs } = await workThrough(crowd, [...ids.entries()], async ([at, id], ask) => {
      const server = servers[at % count] as Running;
      await execIn(server, id, 'cat note', ask);
      await suspendSandbox(server, id, ask);
    });
    const rate = rates[NAMES[count - 1] ?? 'one'];
    if (round >= 0) rate.push(samples.length / (totalMs / 1000));
    return samples;
  };
  const found = await roundRobin(rounds, { one: turn(1), two: turn(2), three: turn(3) });
  const what = (count: string) => `a wake from the store with its suspension, ${clients} clients, servers: ${count}`;
  return {
    series: NAMES.map((count) =>
      seriesOf(what(count), found[count], {
        floor: count === 'one' ? null : what('one'),
        excludes: EXCLUDES.wakes,
      }),
    ),
    figures: NAMES.map((count) =>
      figureOf(`wakes from the store, servers: ${count}`, estimateOf(rates[count]), {
        unit: '/s',
        excludes: EXCLUDES.wakes,
      }),
    ),
  };
}
