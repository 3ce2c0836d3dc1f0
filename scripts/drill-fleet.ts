/**
 * `npm run drill:fleet`: three servers on one PostgreSQL server and one object store, whose clients read and write
 * registers through any of them, while servers are killed and stopped, connections between all parts are cut, clocks
 * are set, and the database ends, by a seed. `--minutes N` (5) says how long, `--seed S` which schedule, `--lease MS`
 * (3000) the lease of the hosts, `--rounds N` ends it after so many. Prints each round before it begins, and a report.
 * Exits with 1 when something is wrong. The same seed has the same rounds; what runs beside each other may still meet
 * in another order.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { drillFleet } from '../lib/testing/fleet/drill.ts';
import { type FleetRound, roundsOf } from '../lib/testing/fleet/schedule.ts';
import { ensureTestBundle } from './test-bundle.ts';
import { TEST_ENVIRONMENT } from './test-environment.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '5' },
    seed: { type: 'string' },
    lease: { type: 'string', default: '3000' },
    rounds: { type: 'string' },
  },
});
const seed = Number(values.seed ?? Math.floor(Math.random() * 1_000_000));
const leaseMs = Number(values.lease);
const until = performance.now() + Number(values.minutes) * 60_000;
const most = Number(values.rounds ?? Number.POSITIVE_INFINITY);

function* rounds(): Generator<FleetRound> {
  let count = 0;
  for (const round of roundsOf(seed, { leaseMs, hosts: 3 })) {
    if (count >= most || performance.now() > until) return;
    count += 1;
    yield round;
  }
}

// A server starts in half the time.
await ensureTestBundle();
process.env.WB_CACHE = TEST_ENVIRONMENT.WB_CACHE;
const folder = mkdtempSync(join(tmpdir(), 'winterdock-fleet-'));
const tell = (line: string) => void process.stdout.write(`${line}\n`);
tell(`npm run drill:fleet -- --seed ${seed} --lease ${leaseMs} --minutes ${values.minutes}`);
try {
  const { findings, output, ...report } = await drillFleet({ folder, leaseMs, seed, rounds: rounds(), tell });
  tell(JSON.stringify(report, null, 2));
  for (const [host, text] of Object.entries(output)) tell(`${host} wrote last:\n${text}`);
  for (const finding of findings) tell(`FOUND ${finding}`);
  if (report.asked.done === undefined) tell('Nothing was answered, so this says nothing.');
  process.exitCode = findings.length === 0 && report.asked.done !== undefined ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
