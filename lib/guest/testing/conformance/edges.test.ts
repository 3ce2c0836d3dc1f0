/**
 * Trials that are kept whole, unlike the others, of which conformance.test.ts takes a part: each line in a folder of
 * its own, all in one sandbox.
 */
import { expect, test } from 'vitest';
import { bytesOfText } from '../../../workers/protocol/byte-text.ts';
import { stage } from '../../../workers/testing/stage.ts';
import { compareAnswers, normalized } from './answer.ts';
import { Reference } from './reference.ts';
import { readTrials } from './table.ts';

const at = stage();
const recorded = new Reference();
const latin1 = (text: string) => Buffer.from(bytesOfText(text)).toString('latin1');

const WHOLE = 'answers archives awk edges history language lines messages permissions pieces redirections'.split(' ');

test.each(WHOLE)('every line of %s is answered as the real tools answer it', async (subject) => {
  const sandbox = at.open(subject);
  const lines = readTrials().filter((trial) => trial.subject === subject);
  expect(lines.length).toBeGreaterThan(15);
  const different: unknown[] = [];
  for (const [number, { command }] of lines.entries()) {
    const cwd = `/workspace/${number}`;
    await sandbox.exec({ command: `mkdir ${cwd}` });
    const { stdout, stderr, exitCode } = await sandbox.exec({ command, cwd });
    const ours = normalized({ stdout: latin1(stdout), stderr: latin1(stderr), exitCode });
    const real = recorded.get(command);
    if (real === null || compareAnswers(command, ours, real) !== 'same') different.push({ command, ours, real });
  }
  expect(different).toEqual([]);
});
