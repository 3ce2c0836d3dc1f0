import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemClock } from '../../base/clock.ts';
import type { InstanceId } from '../../base/ids.ts';
import { type ReplicaStage, startReplica } from '../testing/replica-stage.ts';
import { REQUEST } from '../testing/test-engine.ts';
import { storeStage } from './testing/store-stage.ts';

const at = storeStage();
let replica: ReplicaStage;

beforeEach(async () => {
  replica = await startReplica({ folder: `${at.folder}-replica`, dataFolder: at.folder, clock: systemClock });
});
afterEach(async () => {
  await at.dock.stop();
  await replica.close();
});

test('an older file takes the place of a lost one only once the replica knows that it was lost', async () => {
  let isLosing = false;
  let gapsBefore: string[] = [];
  const failpoint = (step: string) => {
    if (step === 'bring.begun') gapsBefore = [...replica.gaps];
    if (isLosing && step === 'suspend.committed') rmSync(join(at.folder, 'live', 'a'), { recursive: true });
  };
  await at.start({}, { replica: replica.files, failpoint });
  await at.rest('a', 'frozen', 'before');
  await at.dock.put('a', '/kept', 'after');
  await replica.files.flush('a' as InstanceId);
  isLosing = true;
  await at.dock.sandboxes.suspend('a', REQUEST);
  await at.dock.sandboxes.resume('a', REQUEST, { fromStored: true });
  expect(await at.dock.get('a', '/kept')).toBe('before');
  // Read later, its first page would have been that of the older file.
  expect(gapsBefore).toEqual([expect.stringMatching(/^its file at rest could not be read/)]);
  expect(replica.gaps).toEqual(gapsBefore);
});
