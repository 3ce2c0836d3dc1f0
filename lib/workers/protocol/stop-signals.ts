/** Signals that ask a script to end. It may have an action for each (`trap`); what ends it whatever it has is none. */

const STOP_SIGNALS = ['HUP', 'INT', 'QUIT', 'TERM'] as const;
export type StopSignal = (typeof STOP_SIGNALS)[number];

const NUMBERS: Readonly<Record<StopSignal, number>> = { HUP: 1, INT: 2, QUIT: 3, TERM: 15 };

/** How long a call may take to stop after an abort, before its process is killed; in milliseconds. */
export const CALL_STOP_MS = 1000;
/** How long a script has for its action, and for what follows it, before it is ended; in milliseconds. */
export const ACTION_MS = 10_000;

/** The reason of an abort that asks a script to end. */
export class StopRequest extends DOMException {
  readonly stopSignal: StopSignal;

  constructor(stopSignal: StopSignal) {
    super('It was told to end.', 'AbortError');
    this.stopSignal = stopSignal;
  }
}

/** The signal of an abort; null when it is to end at once. */
export function stopSignalOf(signal: AbortSignal | undefined): StopSignal | null {
  return signal?.reason instanceof StopRequest ? signal.reason.stopSignal : null;
}

export function isStopSignal(value: unknown): value is StopSignal {
  return STOP_SIGNALS.includes(value as StopSignal);
}

/** Of a shell that a signal ended. */
export function exitCodeOf(signal: StopSignal): number {
  return 128 + NUMBERS[signal];
}
