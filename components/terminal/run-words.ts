/** How a run began and ended, in words: for the plain form, the screen and a screen reader. Pure. */
import type { ExecAnswer, Instance, SandboxRun } from '#lib/contract/schema.ts';
import { lengthInWords, tookInWords } from '../ui/durations.ts';

export interface WakeResult {
  /** How the sandbox was found: `hot`, `warm` or `cold`. */
  woke: string;
  /** The state that it was woken from; null when its process was there. */
  from: Instance['state'] | null;
  took_ms: number;
}

export interface RunEnd extends Pick<ExecAnswer, 'exit_code' | 'took_ms' | 'timed_out' | 'truncated'> {
  /** Whether some of the output was not text. */
  binary: boolean;
}

/** What was woken or continued and how long that took; null when it ran already. */
export function wakeInWords({ woke, from, took_ms }: WakeResult): string | null {
  if (woke === 'hot') return null;
  const took = tookInWords(took_ms);
  if (woke === 'warm') return `continued it in ${took}`;
  return from === null || from === 'created'
    ? `woke it for the first time, in ${took}`
    : `woke it from ${from} in ${took}`;
}

const KINDS: Readonly<Record<string, string>> = {
  shell: 'shell',
  js: 'JavaScript',
  python: 'Python',
  components: 'component',
};
const SHOWN = 60;

/** What a line waits for, and how the wait is ended, as the event `waits` tells. */
export function waitInWords({ kind, code, for_ms: ms, others }: Record<string, unknown>): string {
  const [first = '', ...rest] = String(code).trim().split('\n');
  const clean = first.replaceAll(/[\p{Cc}\p{Cf}]+/gu, ' ').trim();
  const isCut = clean.length > SHOWN || rest.length > 0;
  const shown = isCut ? `${clean.slice(0, SHOWN).toWellFormed().trimEnd()} …` : clean;
  const name = KINDS[String(kind)] ?? '';
  const between = others === 0 ? '' : `, and ${others} more`;
  const since = lengthInWords(Number(ms) / 1000);
  return `waits behind another ${name} call, under way for ${since}${between}: ${shown} · Stop, or Ctrl + C, ends the wait`;
}

/** How a run ended, without its exit code. */
export function endInWords({ took_ms, timed_out, truncated, binary }: Omit<RunEnd, 'exit_code'>): string {
  return [
    ...(timed_out ? ['out of time'] : []),
    tookInWords(took_ms),
    ...(truncated ? ['output cut'] : []),
    ...(binary ? ['bytes that are no text shown as �'] : []),
  ].join(' · ');
}

/** What a person types: a shell script, or code of a language. */
export type Language = 'shell' | 'js' | 'python';

export const LANGUAGE_NAMES: Readonly<Record<Language, string>> = {
  shell: 'Shell',
  js: 'JavaScript',
  python: 'Python',
};

/** What a run is doing, or how it ended. */
export function runInWords(run: Pick<SandboxRun, 'state' | 'exit_code' | 'timed_out' | 'took_ms' | 'reason'>): string {
  const { state, exit_code: code, timed_out: timedOut, took_ms: tookMs, reason } = run;
  if (state === 'queued') return 'waits for its turn';
  if (state === 'running') return 'runs';
  const took = tookMs === null ? [] : [tookInWords(tookMs)];
  if (state !== 'done')
    return [reason === null ? state : `${state}: ${reason.replace(/\.$/, '')}`, ...took].join(' · ');
  return [timedOut ? 'out of time' : `exit ${code ?? '?'}`, ...took].join(' · ');
}
