/**
 * Compares the mount with the kernel's own tmpfs: the same random operations in both, then what is there, also after a
 * kill and after a rest. `WB_TEST_SEED` draws others, `WB_TEST_NATIVE_STEPS` more of them.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { DAY } from '../../testing/draw.ts';
import { BROKEN_VARIANTS } from '../testing/broken.ts';
import { whyNotMountable } from '../testing/may-mount.ts';
import { Random } from '../testing/random.ts';
import { RandomOperations } from '../testing/random-operations.ts';
import { endServedFiles, ServedFile } from '../testing/served-file.ts';
import { emptyFolder, treeWords } from '../testing/tree-words.ts';

const SEED = Number(process.env.WB_TEST_SEED ?? DAY);
const STEPS = Number(process.env.WB_TEST_NATIVE_STEPS ?? 3000);
/** A kernel's own tmpfs, on every Linux. */
const TMPFS = '/dev/shm';
/** Operations between two ends of a server, and after the last commit of one that is killed. */
const BETWEEN = 200;
const AFTER_COMMIT = 6;

const whyNot = await whyNotMountable();
if (whyNot !== null) process.stdout.write(`${whyNot}\n`);

const folders: string[] = [];

afterEach(async () => {
  await endServedFiles();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** The first difference between both places; null where there is none. */
async function firstDifference(served: ServedFile, seed: number, steps: number): Promise<string | null> {
  const random = new Random(seed);
  const folder = mkdtempSync(join(TMPFS, 'winterdock-differential-'));
  folders.push(folder);
  const roots = [join(folder, 'r'), join(served.workspace, 'r')] as const;
  await served.start();
  for (const root of roots) mkdirSync(root);
  let operations = new RandomOperations(random, roots);
  const compare = (when: string, expected: string[][]): string | null => {
    const found = treeWords(roots[1]);
    if (expected.some((words) => words.join('\n') === found.join('\n'))) return null;
    const first = expected[0] ?? [];
    return [
      `${when}:`,
      ...first.filter((line) => !found.includes(line)).map((line) => `- ${line}`),
      ...found.filter((line) => !first.includes(line)).map((line) => `+ ${line}`),
    ].join('\n');
  };
  for (let step = 0; step < steps; ) {
    for (let count = 0; count < BETWEEN; count += 1, step += 1) {
      const difference = operations.step();
      if (difference !== null) return difference;
    }
    const end = random.below(3);
    if (end === 0) operations.closeAll();
    const before = compare('as it runs', [treeWords(roots[0])]);
    if (before !== null) return before;
    if (end === 0) {
      await served.remount();
      // What is asked for by its name before it was listed is there as well.
      for (let count = 0; count < BETWEEN; count += 1, step += 1) {
        const difference = operations.step();
        if (difference !== null) return `after a rest, ${difference}`;
      }
      const after = compare('after a rest', [treeWords(roots[0])]);
      if (after !== null) return after;
      continue;
    }
    await served.commit();
    // What is committed is there; of what came later a part may be, in its order.
    const states = [treeWords(roots[0])];
    for (let count = 0; end === 2 && count < AFTER_COMMIT; count += 1) {
      const difference = operations.step({ single: true });
      if (difference !== null) return difference;
      states.push(treeWords(roots[0]));
    }
    await served.kill();
    operations.closeAll();
    await served.start();
    const after = compare(`after a kill, ${states.length - 1} operations behind a commit`, states);
    if (after !== null) return after;
    if (end === 1) continue;
    // Both begin again: one may be some operations behind the other.
    for (const root of roots) emptyFolder(Buffer.from(root));
    operations = new RandomOperations(random, roots);
  }
  operations.closeAll();
  return null;
}

describe.runIf(whyNot === null)('beside tmpfs', () => {
  test(`18. ${STEPS} random operations leave the same, also after kills and rests (WB_TEST_SEED=${SEED})`, async () => {
    expect(await firstDifference(new ServedFile(), SEED, STEPS)).toBeNull();
  });

  test.each(BROKEN_VARIANTS)('19. a server that is broken is found out: %s', async (variant) => {
    expect(await firstDifference(new ServedFile({ variant }), SEED, STEPS)).not.toBeNull();
  });
});
