/**
 * The signal that a script was sent and has not acted on, and the shells that may have an action for it. A process runs
 * one script of a call at a time. Knows nothing of how an action runs.
 */
import type { StopSignal } from '../../workers/protocol/stop-signals.ts';

type Traps = ReadonlyMap<string, string> | undefined;

interface TrappingShell {
  readonly state: { traps?: Map<string, string> | undefined };
}

interface Pending {
  name: string;
  /** What was waited for may be waited for again. */
  resume: () => void;
}

let pending: Pending | null = null;
let current: TrappingShell | null = null;
/** The actions of the shells around the one that runs. */
const enclosing: Traps[] = [];

/** A shell or subshell begins. Call the result when it has ended. */
export function enterShell(shell: TrappingShell): () => void {
  const outer = current;
  enclosing.push(outer?.state.traps);
  current = shell;
  return () => {
    current = outer;
    enclosing.pop();
    if (outer === null) pending = null;
  };
}

/** How many shells are around what runs. */
export function shellDepth(): number {
  return enclosing.length;
}

/**
 * Takes a signal for the shells that have begun since `depth` was how many there are. False when none of them has an
 * action for it or for its end.
 */
export function takeSignal(name: StopSignal, resume: () => void, depth = 0): boolean {
  const all = enclosing.length > depth ? [current?.state.traps, ...enclosing.slice(depth + 1)] : [];
  if (!all.some((traps) => traps?.has(name) || traps?.has('EXIT'))) return false;
  pending = { name, resume };
  return true;
}

/** Whether the shell that runs, when it has begun since `depth` was how many there are, ignores a signal. */
export function ignoresSignal(name: StopSignal, depth: number): boolean {
  return enclosing.length > depth && current?.state.traps?.get(name) === '';
}

/** A script sends itself a signal. False when no shell has an action for it: then nothing happens. */
export function signalOneself(name: string): boolean {
  if (![current?.state.traps, ...enclosing].some((traps) => traps?.has(name))) return false;
  pending = { name, resume: () => {} };
  return true;
}

export function isSignalled(): boolean {
  return pending !== null;
}

/** The signal that waits. */
export function pendingSignal(): string | null {
  return pending?.name ?? null;
}

/** Runs what acts on the end of a shell, for which no signal waits. */
export async function withoutSignal<T>(run: () => Promise<T>): Promise<T> {
  const waiting = pending;
  pending = null;
  try {
    return await run();
  } finally {
    pending ??= waiting;
  }
}

/** A shell acts on it: nothing waits any more. */
export function signalTaken(): void {
  const taken = pending;
  pending = null;
  taken?.resume();
}
