/** The terminal's own lines: who typed, what a run woke and how it ended. Pure. */
import type { EvalAnswer } from '#lib/contract/schema.ts';
import { nameOfActor } from '../ledger/event-words.ts';
import type { RunOutcome } from './outcome.ts';
import { StreamText } from './output.ts';
import { endInWords, type WakeResult, wakeInWords } from './run-words.ts';

/** Colours of the terminal's own lines; each line has a sign too. */
export const STYLE = { quiet: '\x1b[90m', bad: '\x1b[31m', good: '\x1b[32m', plain: '\x1b[0m' } as const;

/** A line: for the screen, and for a screen reader. */
export interface TerminalLine {
  line: string;
  spoken: string;
}

const { quiet, bad, good, plain } = STYLE;

/** Removes control characters from a text of the sandbox. */
function printable(text: string): string {
  return new StreamText({ fresh: true, by: null }).take(text).replaceAll(plain, '');
}

/** Who did what an event tells, as they are called; null when it was `person`. */
export function actorIn({ actor, actor_name: name }: Record<string, unknown>, person: string): string | null {
  if (typeof actor !== 'string' || actor === person) return null;
  return nameOfActor(actor, undefined, typeof name === 'string' ? name : null).replaceAll(/[\p{Cc}\p{Cf}]+/gu, ' ');
}

/** A line that says what was woken; null when the sandbox was awake. */
export function wakeLine(woke: WakeResult): TerminalLine | null {
  const words = wakeInWords(woke);
  return words === null ? null : { line: `${quiet}↑ ${words}${plain}`, spoken: words };
}

/** The value of evaluated code, or its error; null when there is neither. */
export function resultOf({ ok, value, error }: EvalAnswer): string | null {
  if (!ok) return error ?? 'It failed.';
  return value === undefined ? null : JSON.stringify(value);
}

/** The lines that say how a run ended. */
export function endLines(outcome: RunOutcome): TerminalLine[] {
  if (outcome === 'stopped') return [{ line: `${bad}^C${plain} ${quiet}stopped${plain}`, spoken: 'stopped' }];
  if ('problem' in outcome) {
    const { detail, hint } = outcome.problem;
    const words = hint === undefined ? detail : `${detail} ${hint}`;
    return [{ line: `${bad}× ${printable(words)}${plain}`, spoken: words }];
  }
  if ('exit' in outcome) {
    const { exit_code: code, ...exit } = outcome.exit;
    const words = endInWords(exit);
    const colour = code === 0 ? good : bad;
    return [{ line: `${colour}exit ${code}${quiet} · ${words}${plain}`, spoken: `exit ${code} · ${words}` }];
  }
  return evaluatedLines(outcome.evaluated, outcome.binary);
}

function evaluatedLines(evaluated: EvalAnswer, binary: boolean): TerminalLine[] {
  const { ok, woke } = evaluated;
  const value = resultOf(evaluated);
  const result = value === null ? [] : [{ line: valueLine(ok, printable(value)), spoken: value }];
  const words = [
    endInWords({ ...evaluated, truncated: false, binary }),
    ...(woke === 'hot' ? [] : [woke === 'warm' ? 'continued it' : 'woke it']),
  ].join(' · ');
  const end = ok ? `${good}done` : `${bad}failed`;
  return [...result, { line: `${end}${quiet} · ${words}${plain}`, spoken: `${ok ? 'done' : 'failed'} · ${words}` }];
}

const valueLine = (ok: boolean, value: string) => (ok ? `${quiet}=${plain} ${value}` : `${bad}! ${value}${plain}`);
