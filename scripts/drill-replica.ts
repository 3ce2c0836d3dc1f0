/**
 * `npm run drill:replica`: a server with a replica is written to, killed with SIGKILL, its data folder removed, and
 * everything restored by one command. `--seconds N` (60) and `--clients N` (8) say how long and by how many, `--to URL`
 * where the replica is; by default a temporary folder. Prints what was lost and how far behind the replica was. Exits
 * with 1 when more than the interval and half a second of answered writes are missing, or `doctor` finds something.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { drillReplica } from '../lib/testing/replica-drill.ts';
import { TEST_ENVIRONMENT } from './test-environment.ts';

/** The interval of the replica, and half a second. */
const MOST_LAG_MS = 1500;

const { values } = parseArgs({
  options: { seconds: { type: 'string' }, clients: { type: 'string' }, to: { type: 'string' } },
});
process.env.WB_CACHE = TEST_ENVIRONMENT.WB_CACHE;
const folder = mkdtempSync(join(tmpdir(), 'winterdock-drill-'));
try {
  const report = await drillReplica({
    folder,
    seconds: Number(values.seconds ?? 60),
    clients: Number(values.clients ?? 8),
    ...(values.to === undefined ? {} : { url: values.to }),
  });
  const { answered, lost, lagMs, restoreMs, doctor, restored, wrong } = report;
  process.stdout.write(restored);
  process.stdout.write(
    `${answered} writes were answered; ${lost} are missing, the oldest of them answered ${Math.round(lagMs)} ms before the kill.\n`,
  );
  process.stdout.write(`Restored in ${(restoreMs / 1000).toFixed(1)} s.\n`);
  if (!doctor.isClean) process.stdout.write(doctor.text);
  for (const one of wrong) process.stdout.write(`WRONG ${one}\n`);
  process.exitCode = doctor.isClean && wrong.length === 0 && lagMs <= MOST_LAG_MS ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
