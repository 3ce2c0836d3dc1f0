/** What a command wrote, as clients of Ash read it: as text, and saying what is missing. */
import { remarkOn, withRemark } from '../../client/adapters/commands.ts';
import type { ExecAnswer } from '../../contract/schema.ts';

/** Output as text: what is none is read as UTF-8 all the same, which this contract has no other word for. */
export const textOf = (text: string, encoding?: string) =>
  encoding === 'base64' ? Buffer.from(text, 'base64').toString('utf8') : text;

/** Both outputs; a last line of `stderr` says what was cut, and that the time ran out. */
export function outputOf(answer: ExecAnswer): { stdout: string; stderr: string } {
  const remark = remarkOn({ truncated: answer.truncated, timedOut: answer.timed_out });
  return {
    stdout: textOf(answer.stdout, answer.stdout_encoding),
    stderr: withRemark(textOf(answer.stderr, answer.stderr_encoding), remark),
  };
}
