/** How a line of a terminal ended, as the server tells it. Pure. */
import type { EvalAnswer, Problem } from '#lib/contract/schema.ts';
import type { ShownEvent } from './kept-terminal.ts';
import type { RunEnd } from './run-words.ts';

export type RunOutcome =
  | { exit: RunEnd & { cwd: string } }
  | { evaluated: EvalAnswer; binary: boolean }
  | { problem: Pick<Problem, 'detail' | 'hint'> }
  | 'stopped';

const text = (value: unknown) => (typeof value === 'string' ? value : null);

/** The outcome in an `exit` or `refused` event. `seen`: what its output was like. */
export function outcomeIn({ event, data }: ShownEvent, seen: { binary: boolean; truncated: boolean }): RunOutcome {
  if (event === 'refused') {
    const hint = text(data.hint);
    return { problem: { detail: text(data.detail) ?? '', ...(hint === null ? {} : { hint }) } };
  }
  if (data.state === 'stopped' && data.reason === 'Somebody stopped it.') return 'stopped';
  const reason = text(data.reason);
  if (data.state !== 'done' && reason !== null) return { problem: { detail: reason } };
  const common = { took_ms: Number(data.took_ms), timed_out: data.timed_out === true };
  const exitCode = Number(data.exit_code);
  if (data.language === 'shell')
    return { exit: { ...common, ...seen, exit_code: exitCode, cwd: text(data.cwd) ?? '/workspace' } };
  const value = text(data.value);
  const error = text(data.error);
  return {
    binary: seen.binary,
    evaluated: {
      ...common,
      ok: exitCode === 0,
      stdout: '',
      stderr: '',
      woke: 'hot',
      ...(value === null ? {} : { value: parsed(value) }),
      ...(error === null ? {} : { error }),
    },
  };
}

/** A value that was cut is no JSON any more: then its text. */
function parsed(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}
