/**
 * The jobs of a shell: runs that a script begins with `&` and asks after. What the process of a sandbox may ask the
 * server for, and what it is answered. Knows neither shells nor runs.
 */

import { isStopSignal, type StopSignal } from './stop-signals.ts';

/** Jobs have numbers, as processes have: `$!` is one. Each sandbox has its own. */
export type ShellJobRequest =
  | { op: 'start'; command: string; cwd: string; env: Record<string, string> }
  | { op: 'list' }
  /** Answered when the first of them has ended, with that one alone. */
  | { op: 'wait'; jobs: number[] }
  /** `signal`: its script may have an action for it; null: it is ended. */
  | { op: 'stop'; job: number; signal: StopSignal | null };

export interface ShellJobStatus {
  job: number;
  command: string;
  /** Null while it is under way. */
  exitCode: number | null;
}

export interface ShellJobAnswer {
  /** Those that were asked for: none for a job that there is not. */
  jobs: ShellJobStatus[];
  /** What a job that was waited for has written since it was last waited for. */
  output: { stream: 'stdout' | 'stderr'; text: string }[];
  /** Why nothing was begun, in one sentence. */
  refusal: string | null;
}

/** Carries out what a script asks for. `signal`: the call has ended. Never throws. */
export type ShellJobHost = (request: ShellJobRequest, signal: AbortSignal) => Promise<ShellJobAnswer>;

/** What a script is told in which `&` stands where it cannot begin a run. */
export const NESTED_JOB =
  'bash: "&" begins a run at the top level of a script and in its loops, conditions, groups and subshells, and not in a function, a pipeline, a "$(…)", a compound command with redirections or a script that is called; nothing of this was run: leave "&" out, or put it at the top level\n';

/** What a script is told whose call nobody follows: a schedule's, or a component's. */
export const NO_JOBS =
  'nobody would follow a run that a schedule or a component begins. Leave "&" out: the command then runs as part of this call. What should run beside it takes a schedule of its own, or POST /instances/:id/runs';

/** Questions of one call that have no answer yet. */
export const MAX_JOB_QUESTIONS = 64;
/** Characters of a command, and of its variables together. */
const MAX_COMMAND = 1024 * 1024;
const MAX_VARIABLES = 2000;
const MAX_CWD = 1100;
/** Jobs that a sandbox remembers, beside those under way. */
export const MOST_JOBS = 100;
/** Jobs of one question. */
const MAX_WAITED = 1000;
/** What a script is told whose job would take more than a question may have. */
export const LARGE_JOB =
  'its command and its variables may have 1 MiB each, its variables may be 2000, and its directory 1100 characters';
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** A question with its known fields alone, or null when it is none. */
export function parseShellJobRequest(value: unknown): ShellJobRequest | null {
  if (typeof value !== 'object' || value === null) return null;
  const { op, job, jobs, command, cwd, env, signal } = value as Record<string, unknown>;
  if (op === 'list') return { op };
  if (op === 'stop') return isJob(job) ? { op, job, signal: isStopSignal(signal) ? signal : null } : null;
  if (op === 'wait') {
    return Array.isArray(jobs) && jobs.length <= MAX_WAITED && Array.from(jobs).every(isJob) ? { op, jobs } : null;
  }
  if (op !== 'start' || typeof command !== 'string' || typeof cwd !== 'string' || cwd.length > MAX_CWD) return null;
  const variables = parseVariables(env);
  return variables === null || command.length > MAX_COMMAND ? null : { op, command, cwd, env: variables };
}

function isJob(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function parseVariables(value: unknown): Record<string, string> | null {
  if (typeof value !== 'object' || value === null) return null;
  const entries = Object.entries(value);
  if (entries.length > MAX_VARIABLES) return null;
  let characters = 0;
  const variables: Record<string, string> = {};
  for (const [name, text] of entries) {
    if (!NAME.test(name) || typeof text !== 'string') return null;
    characters += name.length + text.length;
    variables[name] = text;
  }
  return characters > MAX_COMMAND ? null : variables;
}
