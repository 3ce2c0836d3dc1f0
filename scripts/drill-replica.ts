/**
 * `npm run drill:replica`: a server with a replica is written to, killed with SIGKILL, its data folder removed, and
 * everything restored by one command. `--seconds N` (60) and `--clients N` (8) say how long and by how many, `--store`
 * where the replica is: `folder` (the default), `s3`, `away` (each answer 50 ms later) or `disturbed` (one request in
 * ten breaks); `--to URL` another place; `--replicate` what is promised: `1s`, or `sync`. Prints what was lost, how far
 * behind the replica was, and what the server had said of that. Exits with 1 when an answered write is missing that is
 * older than was said and the interval, or more than the interval and half a second where nothing slows the store (with
 * `sync`: when any is missing), when none was answered, or when `doctor` finds something.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { parseReplicate, replicateText, shipsCommits } from '../lib/replication/promise/replicate-class.ts';
import { numbersOf } from '../lib/replication/testing/history.ts';
import { DRILL_STORES, openDrillStore } from '../lib/testing/drill-stores.ts';
import { drillReplica } from '../lib/testing/replica-drill.ts';
import { TEST_ENVIRONMENT } from './test-environment.ts';

/** More than the interval that may be missing. */
const MORE_MS = 500;

const { values } = parseArgs({
  options: {
    seconds: { type: 'string' },
    clients: { type: 'string' },
    to: { type: 'string' },
    store: { type: 'string', default: 'folder' },
    replicate: { type: 'string' },
  },
});
const name = DRILL_STORES.find((one) => one === values.store);
if (name === undefined) throw new Error(`--store is one of ${DRILL_STORES.join(', ')}.`);
const isSlow = name === 'away' || name === 'disturbed';
process.env.WB_CACHE = TEST_ENVIRONMENT.WB_CACHE;
const replicate = parseReplicate(values.replicate ?? '1s');
if (replicate === null || !shipsCommits(replicate)) throw new Error('--replicate is sync, or seconds such as 1s.');
const mostLagMs = replicate.kind === 'sync' ? 0 : replicate.everyMs + MORE_MS;
const folder = mkdtempSync(join(tmpdir(), 'winterdock-drill-'));
const store = await openDrillStore(name, numbersOf(Date.now()));
try {
  const report = await drillReplica({
    folder,
    seconds: Number(values.seconds ?? 60),
    clients: Number(values.clients ?? 8),
    ...(values.to === undefined ? {} : { url: values.to }),
    ...(store === null ? {} : { url: store.settings.WB_REPLICA_URL ?? '' }),
    settings: { ...store?.settings, WB_REPLICATE: replicateText(replicate) },
    killed: () => store?.calm(),
  });
  const { answered, lost, lagMs, statedMs, restoreMs, doctor, restored, wrong } = report;
  process.stdout.write(restored);
  process.stdout.write(
    `${answered} writes were answered; ${lost} are missing, the oldest of them answered ${Math.round(lagMs)} ms before the kill.\n`,
  );
  process.stdout.write(`The server had said that the replica was ${Math.round(statedMs)} ms behind.\n`);
  if (name === 'disturbed') process.stdout.write(`${store?.faults} requests of the store broke.\n`);
  process.stdout.write(`Restored in ${(restoreMs / 1000).toFixed(1)} s.\n`);
  if (!doctor.isClean) process.stdout.write(doctor.text);
  for (const one of wrong) process.stdout.write(`WRONG ${one}\n`);
  const isInTime = lagMs <= statedMs + mostLagMs && (isSlow || lagMs <= mostLagMs);
  if (answered === 0) process.stdout.write('Nothing was answered, so this says nothing.\n');
  const isKept = replicate.kind === 'sync' ? lost === 0 : isInTime;
  process.exitCode = doctor.isClean && wrong.length === 0 && answered > 0 && isKept ? 0 : 1;
} finally {
  await store?.stop();
  rmSync(folder, { recursive: true, force: true });
}
