/**
 * Whose turn it is in a sandbox: calls of one kind take turns in the order they came, and do not wait for those of
 * another kind. Owns which turn a call takes. Knows nothing of processes.
 */
import { WinterdockError } from '../base/errors.ts';
import type { EvalRequest, ExecRequest } from './instance.ts';

/** `run`: what nobody waits for at the other end of a connection. */
export type TurnKind = 'shell' | 'python' | 'js' | 'run';

/** Calls of each kind that may be under way at the same time. */
export const TURN_PLACES: Readonly<Record<TurnKind, number>> = { shell: 1, python: 1, js: 1, run: 2 };
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

export function turnOfExec({ command, background = false }: Pick<ExecRequest, 'command' | 'background'>): TurnKind {
  return background ? 'run' : turnOfScript(command);
}

export function turnOfEval({ language, background = false }: Pick<EvalRequest, 'language' | 'background'>): TurnKind {
  return background ? 'run' : language;
}

interface Waiting {
  begin: () => void;
  reject: (error: unknown) => void;
}

/** The turns of one kind. */
export class TurnQueue {
  readonly #places: number;
  readonly #waiting: Waiting[] = [];
  #running = 0;

  constructor(places: number) {
    this.#places = places;
  }

  get isEmpty(): boolean {
    return this.#running === 0;
  }

  /**
   * Takes a turn, which `leave` ends: null when it begins at once, else it begins when the promise resolves. Throws
   * `rate_limited` when too many wait; rejects with `conflict` when `signal` aborts first.
   */
  enter(id: string, signal?: AbortSignal): Promise<void> | null {
    if (signal?.aborted) throw givenUp();
    if (this.#running < this.#places) {
      this.#running += 1;
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
      const waiting: Waiting = { begin: settled(resolve), reject: (error) => settled(() => reject(error))() };
      this.#waiting.push(waiting);
      signal?.addEventListener('abort', cancel, { once: true });
    });
  }

  /** Ends a turn: the next one begins, in the same tick. */
  leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#running -= 1;
    else next.begin();
  }

  /** Refuses all that wait. */
  clear(error: () => unknown): void {
    for (const { reject } of this.#waiting.splice(0)) reject(error());
  }
}

function givenUp(): WinterdockError {
  return new WinterdockError('conflict', 'The call was given up before it began.', { extra: { cause: 'aborted' } });
}
