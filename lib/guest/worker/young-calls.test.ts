import { mkdtempSync, rmSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openLive } from '../../vfs/open.ts';
import type { Vfs } from '../../vfs/vfs.ts';
import { DEFAULT_POLICY, profileOf } from '../../workers/protocol/policies.ts';
import { defendShells, Shell } from '../shell/shell.ts';
import { OpenSandbox } from './open-sandbox.ts';

const CALLS = 200;
/** A getter or a function in the old generation keeps all that its call made: 30 KB of an `echo`. Code is some KB. */
const MOST_BYTES = 15_000;

let folder = '';
let vfs: Vfs;
let sandbox: OpenSandbox;
let answers = 0;
let collectYoung: () => void;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-young-'));
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as (options: { type: 'minor' }) => void;
  collectYoung = () => collect({ type: 'minor' });
  const limits = { maxBytes: 1_000_000_000, maxFileBytes: 1_000_000, mustExist: false };
  vfs = openLive(join(folder, 'sandbox'), limits);
  const profile = profileOf(DEFAULT_POLICY);
  const shell = new Shell(openLive(':memory:', limits), profile);
  defendShells();
  sandbox = new OpenSandbox(vfs, profile, shell, (message) => {
    if (message.type === 'executed' && message.result.exitCode === 0) answers += 1;
  });
});

afterAll(() => {
  vfs.close();
  rmSync(folder, { recursive: true });
});

async function run(command: string): Promise<void> {
  const how = { timeoutMs: 30_000, streaming: false, endless: false, commitsMeanwhile: false };
  for (let id = 1; id <= CALLS; id += 1)
    await sandbox.handle({ type: 'call', id, call: { kind: 'exec', command, ...how }, acknowledge: false });
}

/** Bytes that a call leaves behind for the next full collection, measured as V8 samples what it allocates. */
async function leftBehind(command: string): Promise<number> {
  await run(command);
  const session = new Session();
  session.connect();
  await session.post('HeapProfiler.startSampling', { samplingInterval: 512, includeObjectsCollectedByMajorGC: true });
  answers = 0;
  await run(command);
  expect(answers).toBe(CALLS);
  // What survives two of them is old.
  for (let times = 0; times < 3; times += 1) collectYoung();
  const { profile } = await session.post('HeapProfiler.stopSampling');
  session.disconnect();
  const bytes = (node: typeof profile.head): number =>
    node.children.reduce((sum, child) => sum + bytes(child), node.selfSize);
  return bytes(profile.head) / CALLS;
}

test.each(['x=1', ':', 'echo hi', 'cat /dev/null', 'echo 1 > f; cat f; ls', 'ls | while read a; do echo $a; done'])(
  'what %s makes is gone with its call, and waits for no full collection',
  async (command) => {
    expect(await leftBehind(command)).toBeLessThan(MOST_BYTES);
  },
);
