/** The closed lists of words in the ledger and the row. Pure; imports nothing. */

/** `hot`: a process runs; `warm`: it is paused in memory; `cold`: there is only the file. Derived, never stored. */
export const THERMALS = ['hot', 'warm', 'cold'] as const;
export type Thermal = (typeof THERMALS)[number];

/** Independent of the state. `error` stops nothing; the others stop every wake and automatic move. */
export const FAULTS = ['error', 'unknown', 'corrupt', 'missing'] as const;
export type Fault = (typeof FAULTS)[number];

/** Whether a fault stops wakes and automatic moves until `force` or a repair. */
export function isBlocking(fault: Fault | null): boolean {
  return fault !== null && fault !== 'error';
}

/** Where the file of a cold resume came from. */
export const SOURCES = ['local', 'cold', 'archive', 'cloud', 'snapshot', 'blueprint', 'fresh'] as const;
export type Source = (typeof SOURCES)[number];

export const TRIGGERS = [
  'request',
  'idle',
  'schedule',
  'operator',
  'plan',
  'crash',
  'timeout',
  'reconcile',
  'quota',
  'memory',
  'pressure',
  'boot',
  'stop',
] as const;
export type Trigger = (typeof TRIGGERS)[number];

export const VIAS = ['api', 'console', 'cli', 'mcp', 'ticker', 'schedule', 'system'] as const;
export type Via = (typeof VIAS)[number];

/**
 * Seconds after which an operation under way counts as stuck: a move takes milliseconds, a copy or a compression
 * seconds.
 */
export const STUCK_SECONDS = 60;

/** How a list filters by operations under way. */
export const PENDINGS = ['any', 'stuck'] as const;
