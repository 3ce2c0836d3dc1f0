/**
 * Single calls and what they must do by POSIX and Linux, each in its own folder of the mount: the errors above all. A
 * subset of our own; the title says how many there are.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { whyNotMountable } from '../testing/may-mount.ts';
import { CHANGE_CASES } from '../testing/posix-changes.ts';
import { ENTRY_CASES } from '../testing/posix-entries.ts';
import { useFolder } from '../testing/posix-place.ts';
import { endServedFiles, ServedFile } from '../testing/served-file.ts';

const CASES = [...ENTRY_CASES, ...CHANGE_CASES];

const whyNot = await whyNotMountable();
if (whyNot !== null) process.stdout.write(`${whyNot}\n`);

let served: ServedFile;
let count = 0;

function resultOf(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return (error as NodeJS.ErrnoException).code;
  }
}

describe.runIf(whyNot === null)(`${CASES.length} single calls`, () => {
  beforeAll(async () => {
    served = new ServedFile();
    await served.start();
  });

  afterAll(endServedFiles);

  beforeEach(() => {
    count += 1;
    const folder = join(served.workspace, `${count}`);
    mkdirSync(folder);
    useFolder(folder, served.mount);
  });

  test.each(CASES)('18. %s: %s', (_, __, work, expected) => {
    expect(resultOf(work)).toEqual(expected);
  });
});
