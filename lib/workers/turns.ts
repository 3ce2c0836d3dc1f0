/**
 * Whose turn it is in a sandbox: calls of one kind take turns in the order they came, and do not wait for those of
 * another kind. Owns which turn a call takes. Knows nothing of processes.
 */
import { WinterdockError } from '../base/errors.ts';
import type { CallAhead, EvalRequest, ExecRequest, TurnKind } from './protocol/instance.ts';

/** Calls of each kind that may be under way at the same time. */
export const TURN_PLACES: Readonly<Record<TurnKind, number>> = {
  shell: 1,
  python: 1,
  js: 1,
  components: 1,
  run: 2,
  job: 2,
};
/** Calls of each kind that may wait. */
const MAX_WAITING = 64;

const INTERPRETERS: Readonly<Record<string, TurnKind>> = { python3: 'python', python: 'python', js: 'js' };
const NAMES = /(?<![\w./-])(?:python3?|js)(?=[\s;&|<>)}]|$)/g;
/** What may stand before the name of a command, up to the one before it. */
const COMMAND_START =
  /(?:^|[\n;&|({`]|(?<![\w-])(?:do|then|else|exec|time|nohup|env|xargs))[ \t]*(?:\w+=[^\s;&|]*[ \t]+)*(?:timeout[ \t]+\S+[ \t]+)?$/;
const START_CHARACTERS = 200;
/** Names that are looked at: a script is text of anybody. */
const MOST_NAMES = 200;

/**
 * Whose turn a script takes: that of the first interpreter that it starts by name, else the shell's. Nothing else
 * depends on it. A script that starts one in another way, `sh x.sh` for example, takes the shell's turn, and runs as
 * well.
 */
export function turnOfScript(script: string): TurnKind {
  let names = 0;
  for (const { 0: name, index } of script.matchAll(NAMES)) {
    if (COMMAND_START.test(script.slice(Math.max(0, index - START_CHARACTERS), index)))
      return INTERPRETERS[name] ?? 'shell';
    names += 1;
    if (names === MOST_NAMES) break;
  }
  return 'shell';
}

export function turnOfExec({ command, background }: Pick<ExecRequest, 'command' | 'background'>): TurnKind {
  return background ?? turnOfScript(command);
}

export function turnOfEval({ language, background }: Pick<EvalRequest, 'language' | 'background'>): TurnKind {
  return background ?? language;
}

export function isBackground(kind: TurnKind): boolean {
  return kind === 'run' || kind === 'job';
}

/** The turn of one call: while it waits, and while the call runs. */
export interface CallTurn {
  readonly kind: TurnKind;
  readonly code: string;
  /** When it began, in milliseconds of `performance.now()`; null while it waits. */
  begunMs: number | null;
  /** It has begun, and its process runs a call of another kind first. */
  isHeldUp: boolean;
}

const SHOWN_CHARACTERS = 200;

interface Waiting {
  turn: CallTurn;
  begin: () => void;
  reject: (error: unknown) => void;
}

/** The turns of one kind. */
class TurnQueue {
  readonly running = new Set<CallTurn>();
  readonly #places: number;
  readonly #waiting: Waiting[] = [];

  constructor(places: number) {
    this.#places = places;
  }

  /** How many wait before this one; null when it does not wait. */
  waitingBefore(turn: CallTurn): number | null {
    const at = this.#waiting.findIndex((waiting) => waiting.turn === turn);
    return at < 0 ? null : at;
  }

  /**
   * Takes a turn, which `leave` ends: null when it begins at once, else it begins when the promise resolves. Throws
   * `rate_limited` when too many wait; rejects with `conflict` when `signal` aborts first.
   */
  enter(turn: CallTurn, id: string, signal?: AbortSignal): Promise<void> | null {
    if (signal?.aborted) throw givenUp();
    if (this.running.size < this.#places) {
      this.#begin(turn);
      return null;
    }
    if (this.#waiting.length >= MAX_WAITING) {
      throw new WinterdockError('rate_limited', `${MAX_WAITING} calls wait for "${id}" already.`, {
        retryAfterSeconds: 1,
      });
    }
    return new Promise((resolve, reject) => {
      const cancel = () => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
        reject(givenUp());
      };
      const settled = (settle: () => void) => () => {
        signal?.removeEventListener('abort', cancel);
        settle();
      };
      const begin = settled(resolve);
      const waiting: Waiting = { turn, begin, reject: (error) => settled(() => reject(error))() };
      this.#waiting.push(waiting);
      signal?.addEventListener('abort', cancel, { once: true });
    });
  }

  /** Ends a turn: the next one begins, in the same tick. */
  leave(turn: CallTurn): void {
    this.running.delete(turn);
    const next = this.#waiting.shift();
    if (next === undefined) return;
    this.#begin(next.turn);
    next.begin();
  }

  /** Refuses all that wait. */
  clear(error: () => unknown): void {
    for (const { reject } of this.#waiting.splice(0)) reject(error());
  }

  #begin(turn: CallTurn): void {
    turn.begunMs = performance.now();
    this.running.add(turn);
  }
}

/** The turns of one sandbox. */
export class SandboxTurns {
  readonly #queues = new Map<TurnKind, TurnQueue>();

  get areFree(): boolean {
    for (const { running } of this.#queues.values()) if (running.size > 0) return false;
    return true;
  }

  /** As `enter` of its kind's queue. */
  enter(turn: CallTurn, id: string, signal?: AbortSignal): Promise<void> | null {
    const queue = this.#queues.get(turn.kind) ?? new TurnQueue(TURN_PLACES[turn.kind]);
    this.#queues.set(turn.kind, queue);
    return queue.enter(turn, id, signal);
  }

  /** Ends a turn: the next one begins, in the same tick. */
  leave(turn: CallTurn): void {
    turn.isHeldUp = false;
    this.#queues.get(turn.kind)?.leave(turn);
  }

  /** Refuses all that wait. */
  clear(error: () => unknown): void {
    for (const queue of this.#queues.values()) queue.clear(error);
  }

  /** What a call waits for, the longest first; null when it waits for no other call. */
  aheadOf(turn: CallTurn): CallAhead | null {
    const queue = this.#queues.get(turn.kind);
    const others = queue?.waitingBefore(turn) ?? null;
    if (others === null && !turn.isHeldUp) return null;
    const running = others === null ? this.#running() : [...(queue?.running ?? [])];
    const begun = (one: CallTurn) => one.begunMs ?? Number.POSITIVE_INFINITY;
    const [first] = running.filter((one) => one !== turn).toSorted((one, other) => begun(one) - begun(other));
    if (first === undefined) return null;
    const code = first.code.slice(0, SHOWN_CHARACTERS).toWellFormed();
    return { kind: first.kind, code, forMs: Math.round(performance.now() - begun(first)), others: others ?? 0 };
  }

  #running(): CallTurn[] {
    return [...this.#queues.values()].flatMap(({ running }) => [...running]);
  }
}

function givenUp(): WinterdockError {
  return new WinterdockError('conflict', 'The call was given up before it began.', { extra: { cause: 'aborted' } });
}
