/**
 * A thousand hosts and a million sandboxes, as the registry and the policies of production see them, without a process
 * of any: what one look at all hosts takes, one renewal, and what the ladder decides of every sandbox.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parsePostgresUrl } from '../../lib/base/postgres-url.ts';
import { HostObserver, LOOKS_PER_LEASE } from '../../lib/hosts/host-observer.ts';
import { type LadderSubject, nextMove } from '../../lib/lifecycle/ladder.ts';
import { registryDriver } from '../../lib/registry/drivers.ts';
import { connect } from '../../lib/registry/postgres/connect.ts';
import { postgresServer } from '../../lib/registry/testing/postgres-server.ts';
import { timed } from './measure.ts';
import { LONG_IDLE } from './registry.ts';
import { figureOf, type PartResult, seriesOf } from './result.ts';
import { once, roundRobin } from './round-robin.ts';
import { estimateOf } from './statistics.ts';

const DATABASE = 'many_hosts';
const LEASE_MS = 10_000;
const POLICY = { idleToSuspendSeconds: 900, idleToFreezeSeconds: 86_400 };
const EXCLUDES = {
  rows: 'a network, and other hosts that ask at the same time.',
  ladder: 'the registry, which finds what is due by an index and passes nothing else.',
};

export interface FleetScale {
  hosts: number;
  sandboxes: number;
  rounds: number;
}

export async function measureManyHosts({ hosts, sandboxes, rounds }: FleetScale): Promise<PartResult> {
  const server = await postgresServer({ isDurable: true });
  const sql = await connect(parsePostgresUrl(server.url('postgres')));
  await sql.unsafe(`create database ${DATABASE}`);
  await sql.end();
  const folder = mkdtempSync(join(tmpdir(), 'winterdock-hosts-bench-'));
  const address = parsePostgresUrl(server.url(DATABASE));
  const driver = registryDriver({ driver: 'postgres', server: address, headFolder: folder, connections: 2 });
  const unlock = await driver.lock(folder);
  const registry = await driver.open({ thresholds: LONG_IDLE });
  try {
    const names = Array.from({ length: hosts }, (_, n) => `host-${n}`);
    for (const name of names) {
      await registry.hosts.begin(name, 0, { alone: false });
      await registry.hosts.describe(name, {
        ...{ url: `http://${name}.internal:3000`, version: '0.1.0', labels: { zone: 'a' }, leaseMs: LEASE_MS },
        ...{ capacity: { active: 200, memoryBytes: null }, token: `of ${name}`, publicKey: `did:key:${name}` },
      });
    }
    const observer = new HostObserver();
    let seen = await registry.hosts.list();
    const subjects = Array.from(
      { length: sandboxes },
      (_, n): LadderSubject => ({
        ...{ state: n % 2 === 0 ? 'active' : 'suspended', updated: n, created: 0, keepHot: n % 50 === 0 },
        ...{ holdUntil: null, ephemeral: n % 20 === 0, blocked: false, attached: 0 },
      }),
    );
    const found = await roundRobin(rounds, {
      read: once(() =>
        timed(async () => {
          seen = await registry.hosts.list();
        }),
      ),
      judged: once(() =>
        timed(() => {
          const now = performance.now();
          observer.read({ askedMs: now, answeredMs: now, hosts: seen });
        }),
      ),
      renewed: async (round) => {
        const name = names[(round + 1) % names.length] ?? '';
        return [await timed(() => registry.hosts.renew(name, `of ${name}`, Date.now()))];
      },
      ladder: once(() => timed(() => subjects.map((subject) => nextMove(subject, POLICY)).length)),
    });
    const looksASecond = (hosts * LOOKS_PER_LEASE) / (LEASE_MS / 1000);
    const floor = `a renewal of one of ${hosts} hosts`;
    return {
      series: [
        seriesOf(floor, found.renewed, { excludes: EXCLUDES.rows }),
        seriesOf(`the rows of ${hosts} hosts, read`, found.read, { floor, excludes: EXCLUDES.rows }),
        seriesOf(`the same, judged`, found.judged, { floor, excludes: EXCLUDES.rows }),
        seriesOf(`the ladder for ${sandboxes} sandboxes`, found.ladder, { floor, excludes: EXCLUDES.ladder }),
      ],
      figures: [
        figureOf(
          `seconds of reading that ${hosts} hosts ask for in a second`,
          estimateOf(found.read.map((slice) => ((slice[0] ?? 0) / 1000) * looksASecond)),
          { unit: 's', excludes: EXCLUDES.rows },
        ),
      ],
    };
  } finally {
    await registry.close();
    await unlock();
    rmSync(folder, { recursive: true, force: true });
  }
}
