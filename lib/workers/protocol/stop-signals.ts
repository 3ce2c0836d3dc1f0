/** Signals that ask a script to end. It may have an action for each (`trap`); what ends it whatever it has is none. */

const STOP_SIGNALS = ['HUP', 'INT', 'QUIT', 'TERM'] as const;
export type StopSignal = (typeof STOP_SIGNALS)[number];

const NUMBERS: Readonly<Record<StopSignal, number>> = { HUP: 1, INT: 2, QUIT: 3, TERM: 15 };

/** How long a call may take to stop after an abort, before its process is killed; in milliseconds. */
export const CALL_STOP_MS = 1000;
/** How long a script has for its action, and for what follows it, before it is ended; in milliseconds. */
export const ACTION_MS = 10_000;

/** The reason of an abort that asks a script to end. It carries what the script is sent behind the first signal too. */
export class StopRequest extends DOMException {
  readonly stopSignal: StopSignal;
  #listener: ((signal: StopSignal | null) => void) | null = null;

  constructor(stopSignal: StopSignal) {
    super('It was told to end.', 'AbortError');
    this.stopSignal = stopSignal;
  }

  /** Sends a further signal; null: it is to end at once. One that nobody listens for is lost: the call never began. */
  send(signal: StopSignal | null): void {
    this.#listener?.(signal);
  }

  /** Has the further signals passed on. One listener: the process that runs the call. */
  onFurther(listener: (signal: StopSignal | null) => void): void {
    this.#listener = listener;
  }
}

/** The request of an abort; null when the call is to end at once. */
export function stopRequestOf(signal: AbortSignal | undefined): StopRequest | null {
  return signal?.reason instanceof StopRequest ? signal.reason : null;
}

/** Calls `stop` with the signal of an abort, and with each that follows it; null: the call is to end at once. */
export function eachStop(signal: AbortSignal | undefined, stop: (signal: StopSignal | null) => void): void {
  const request = stopRequestOf(signal);
  request?.onFurther(stop);
  stop(request?.stopSignal ?? null);
}

export function isStopSignal(value: unknown): value is StopSignal {
  return STOP_SIGNALS.includes(value as StopSignal);
}

/** Of a shell that a signal ended. */
export function exitCodeOf(signal: StopSignal): number {
  return 128 + NUMBERS[signal];
}
