'use server';
/** Runs a command for a browser without JavaScript. */
import { refresh } from 'next/cache';
import { z } from 'zod';
import { isBinary, outputText } from '#components/terminal/output-text.ts';
import type { FormRun, PlainState } from '#components/terminal/plain-form.tsx';
import { execSchema } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { requireCaller } from '../../caller.ts';
import { boundInstanceId, expectShape, rawField, textField } from '../../form-values.ts';
import { problemInWords, problemOf } from '../../problem.ts';

const RUNS_KEPT = 5;
const OUTPUT_KEPT = 100_000;
const OLDER_OUTPUT_KEPT = 4000;

/** The earlier runs, as the page sends them back. */
const PREVIOUS_RUN = z.object({
  cwd: z.string(),
  runs: z.array(z.object({ output: z.array(z.object({ stream: z.string(), text: z.string() })) })),
});

/** Runs a command and returns its output after the earlier runs. */
export async function runCommand(bound: string, previous: PlainState, form: FormData): Promise<PlainState> {
  const id = boundInstanceId(bound);
  expectShape(PREVIOUS_RUN, previous);
  const caller = await requireCaller(`/sandboxes/${id}`);
  const cwd = textField(form, 'cwd') || previous.cwd;
  const command = rawField(form, 'command')?.replace(/\r\n/g, '\n') ?? '';
  const made: Omit<FormRun, 'end'> = { key: caller.requestId, command, cwd, output: [], woke: null };
  let end: FormRun['end'];
  const add = (stream: 'stdout' | 'stderr', text: string) => {
    if (text !== '') made.output.push({ stream, text: text.slice(0, OUTPUT_KEPT) });
  };
  let next = cwd;
  const parsed = execSchema.safeParse({ command, cwd });
  if (!parsed.success || command.trim() === '') {
    end = { problem: 'There is nothing to run.', hint: 'Type a command first.' };
  } else {
    try {
      const answer = await getHost().operations.exec(caller, id, parsed.data, {
        onWoke: ({ woke, wokeMs, from }) => {
          made.woke = { woke, from, took_ms: wokeMs };
        },
      });
      add('stdout', outputText(answer.stdout, answer.stdout_encoding));
      add('stderr', outputText(answer.stderr, answer.stderr_encoding));
      const { exit_code, took_ms, timed_out, truncated } = answer;
      end = { exit_code, took_ms, timed_out, truncated, binary: isBinary(answer) };
      next = answer.cwd;
      refresh();
    } catch (error) {
      const { says, hint } = problemInWords(problemOf(error, caller));
      end = { problem: says, hint };
    }
  }
  const older = previous.runs.slice(1 - RUNS_KEPT).map((run) => ({
    ...run,
    output: run.output.map((chunk) => ({ ...chunk, text: chunk.text.slice(0, OLDER_OUTPUT_KEPT) })),
  }));
  return { runs: [...older, { ...made, end }], cwd: next };
}
