/** The shell's own commands against the recorded answers of the real tools. */
import { expect, test } from 'vitest';
import { stage } from '../../../workers/testing/stage.ts';
import { answersOf, recordedAnswers } from './testing/recorded.ts';

const at = stage();

test.each(['grep', 'find', 'ls', 'files', 'system'])(
  '%s answers every recorded command as the real tool did',
  async (name) => {
    const recorded = recordedAnswers(name);
    expect(recorded.length).toBeGreaterThan(80);
    expect(await answersOf(at.open(name), recorded)).toEqual(recorded);
  },
);
