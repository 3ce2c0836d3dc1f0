/**
 * A process of its own: runs each script of its arguments many times, as a worker does, and prints the bytes that one
 * call leaves behind in the old generation, as a JSON array: the least of some rounds. Sampled by V8 as it allocates.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openLive } from '../../../vfs/open.ts';
import { DEFAULT_POLICY, profileOf } from '../../../workers/protocol/policies.ts';
import { defendShells, Shell } from '../../shell/shell.ts';
import { OpenSandbox } from '../open-sandbox.ts';

const CALLS = 200;
const ROUNDS = 2;

const folder = mkdtempSync(join(tmpdir(), 'winterdock-young-'));
const limits = { maxBytes: 1_000_000_000, maxFileBytes: 1_000_000, mustExist: false };
const vfs = openLive(join(folder, 'sandbox'), limits);
const profile = profileOf(DEFAULT_POLICY);
const shell = new Shell(openLive(':memory:', limits), profile);
defendShells();
let answers = 0;
const sandbox = new OpenSandbox(vfs, profile, shell, (message) => {
  if (message.type === 'executed' && message.result.exitCode === 0) answers += 1;
});

const left: number[] = [];
for (const command of process.argv.slice(2)) {
  // What V8 compiles meanwhile is sampled too, and comes when it has time for it.
  const rounds: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) rounds.push(await leftBehind(command));
  left.push(Math.min(...rounds));
}
vfs.close();
rmSync(folder, { recursive: true });
process.stdout.write(JSON.stringify(left));

async function leftBehind(command: string): Promise<number> {
  await run(command);
  const session = new Session();
  session.connect();
  await session.post('HeapProfiler.startSampling', { samplingInterval: 512, includeObjectsCollectedByMajorGC: true });
  await run(command);
  // What survives two of them is old.
  for (let times = 0; times < 3; times += 1) globalThis.gc?.({ type: 'minor' });
  const { profile: sampled } = await session.post('HeapProfiler.stopSampling');
  session.disconnect();
  const bytes = (node: typeof sampled.head): number =>
    node.children.reduce((sum, child) => sum + bytes(child), node.selfSize);
  return bytes(sampled.head) / CALLS;
}

async function run(command: string): Promise<void> {
  const how = { timeoutMs: 30_000, streaming: false, endless: false, commitsMeanwhile: false };
  answers = 0;
  for (let id = 1; id <= CALLS; id += 1)
    await sandbox.handle({ type: 'call', id, call: { kind: 'exec', command, ...how }, acknowledge: false });
  if (answers !== CALLS) throw new Error(`Only ${answers} of ${CALLS} calls of ${command} succeeded.`);
}
