/**
 * The signal that a script was sent and has not acted on, and the shells that may have an action for it. A process runs
 * one script of a call at a time. Knows nothing of how an action runs.
 */
import type { StopSignal } from '../../workers/protocol/stop-signals.ts';

/** Those that a script is sent or sends itself, by their numbers. */
const ORDER = ['HUP', 'INT', 'QUIT', 'KILL', 'USR1', 'USR2', 'ALRM', 'TERM'];

type Traps = ReadonlyMap<string, string> | undefined;

interface TrappingShell {
  readonly state: { traps?: Map<string, string> | undefined; bashPid?: number };
}

interface Pending {
  name: string;
  /** What was waited for may be waited for again. */
  resume: () => void;
  /** How deep the shell is that it ends, or that acts on it, with those inside; left out: the outermost one. */
  depth?: number;
}

/** Each waits once, and they are acted on in the order of their numbers, as bash has it. */
let pending: Pending[] = [];
let current: TrappingShell | null = null;
/** The actions of the shells around the one that runs. */
const enclosing: Traps[] = [];
/** The shells that have begun, the one that runs last. Subshells share the state of their shell. */
const begun: TrappingShell[] = [];

/** A shell or subshell begins. Call the result when it has ended. */
export function enterShell(shell: TrappingShell): () => void {
  const outer = current;
  enclosing.push(outer?.state.traps);
  begun.push(shell);
  current = shell;
  return () => {
    current = outer;
    pending = pending.filter(({ depth = 0 }) => depth < enclosing.length);
    enclosing.pop();
    begun.pop();
    if (outer === null) pending = [];
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
  addPending({ name, resume });
  return true;
}

function addPending(signal: Pending): void {
  const others = pending.filter(({ name }) => name !== signal.name);
  pending = [...others, signal].toSorted((a, b) => ORDER.indexOf(a.name) - ORDER.indexOf(b.name));
}

/** Whether the shell that runs, when it has begun since `depth` was how many there are, ignores a signal. */
export function ignoresSignal(name: StopSignal, depth: number): boolean {
  return enclosing.length > depth && current?.state.traps?.get(name) === '';
}

/** `$BASHPID` of the shell that runs; null where none does. */
export function currentPid(): string | null {
  const pid = current?.state.bashPid;
  return pid === undefined ? null : String(pid);
}

/** A script sends itself a signal, or, where not `isWhole`, the subshell that runs: it acts on it, or ends. */
export function signalOneself(name: string, isWhole: boolean): void {
  const isIgnored = enclosing.some((traps) => traps?.get(name) === '');
  if (isIgnored && !current?.state.traps?.has(name)) return;
  const whole = begun.findIndex(({ state }) => state === current?.state) + 1;
  addPending({ name, resume: () => {}, depth: isWhole ? whole : begun.length });
}

/** A signal that ends the shell which runs, and none around it; it waits no more. Null: none does. */
export function takeFatal(traps: Traps): string | null {
  const fatal = pending.find(({ name, depth }) => depth === begun.length && !traps?.has(name));
  if (fatal !== undefined) pending = pending.filter((signal) => signal !== fatal);
  return fatal?.name ?? null;
}

/** One for a shell around the one that runs waits until that goes on. */
const isForThis = ({ depth }: Pending) => depth === undefined || depth === begun.length;

/** Whether a signal waits for the shell that runs. */
export function isSignalled(): boolean {
  return pending.length > 0 && pending.some(isForThis);
}

/** The first one. */
export function pendingSignal(): string | null {
  return pending.find(isForThis)?.name ?? null;
}

/** Runs what acts on the end of a shell, for which no signal waits. */
export async function withoutSignal<T>(run: () => Promise<T>): Promise<T> {
  const waiting = pending;
  pending = [];
  try {
    return await run();
  } finally {
    for (const signal of waiting) addPending(signal);
  }
}

/** Takes and returns the signals that wait and that `traps` has an action for. What comes from now on waits anew. */
export function takePending(traps: Traps): string[] {
  const taken = pending.filter((signal) => isForThis(signal) && traps?.has(signal.name));
  pending = pending.filter((signal) => !taken.includes(signal));
  for (const { resume } of taken) resume();
  return taken.map(({ name }) => name);
}

/** No shell acts any more on a signal that may still wait. */
export function dropPending(name: StopSignal): void {
  const dropped = pending.find((signal) => signal.name === name);
  pending = pending.filter((signal) => signal !== dropped);
  dropped?.resume();
}
