/** One call that writes much, in many transactions: the log of its sandbox stays short, the replica has all. */
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { systemClock } from '../base/clock.ts';
import { DRAWS_ALL } from '../testing/draw.ts';
import { instanceId } from '../testing/plain-ids.ts';
import { type ReplicaStage, startReplica } from './testing/replica-stage.ts';
import { liveFile, REQUEST, startTestEngine, type TestEngine } from './testing/test-engine.ts';

const MIB = 1024 * 1024;
const LINE_BYTES = 8_000_000;
const WRITTEN_BYTES = DRAWS_ALL ? 2_000_000_000 : 400_000_000;
const MOST_LOG_BYTES = 256 * MIB;
/** Files that are written again and again. */
const FILES = 4;
const LOOK_MS = 2;

let folder: string;
let dock: TestEngine;
let replica: ReplicaStage;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-long-call-'));
  const dataFolder = join(folder, 'data');
  replica = await startReplica({ folder: join(folder, 'replica'), dataFolder, clock: systemClock });
  dock = await startTestEngine({ dataFolder, replica: replica.files });
});
afterEach(async () => {
  await dock.stop();
  await replica.close();
  rmSync(folder, { recursive: true, force: true });
});

test('one call that writes more than a log may have leaves a short log, and a replica without a gap', {
  timeout: 600_000,
}, async () => {
  await dock.create('a');
  await dock.run('a', 'echo first > first');
  const log = `${liveFile(dock, 'a')}-wal`;
  let most = 0;
  const looking = setInterval(() => {
    most = Math.max(most, statSync(log, { throwIfNoEntry: false })?.size ?? 0);
  }, LOOK_MS);
  // A line is a transaction.
  const lines = Array.from(
    { length: WRITTEN_BYTES / LINE_BYTES },
    (_, n) => `head -c ${LINE_BYTES} /dev/zero > f${n % FILES}; echo ${n} > n`,
  );
  await dock.run('a', lines.join('\n'));
  clearInterval(looking);
  expect(most).toBeGreaterThan(LINE_BYTES);
  expect(most).toBeLessThan(MOST_LOG_BYTES);
  const row = await dock.sandboxes.suspend('a', REQUEST);
  await vi.waitFor(
    async () => {
      const now = await dock.registry.instances.get('a');
      expect(replica.files.pointOf({ ...row, ...now, id: instanceId('a') } as never)).toMatchObject({ behindMs: 0 });
    },
    { timeout: 120_000 },
  );
  const restored = await replica.restore('a');
  expect(restored.sha256).toBe(
    createHash('sha256')
      .update(readFileSync(liveFile(dock, 'a')))
      .digest('hex'),
  );
  expect(replica.gaps).toEqual([]);
  process.stdout.write(`the log had ${Math.round(most / MIB)} MiB at most, of ${WRITTEN_BYTES / 1e6} MB\n`);
});
