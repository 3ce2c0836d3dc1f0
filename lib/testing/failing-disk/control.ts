/** What the test and the process of a failing disk tell each other, by a file. */

/** `change`: of size, mode or owner. */
export type DiskRequest =
  | 'stat'
  | 'open'
  | 'create'
  | 'read'
  | 'write'
  | 'sync'
  | 'rename'
  | 'unlink'
  | 'list'
  | 'change';

export interface DiskFault {
  /** A system error code. */
  error: string;
  /** A pattern of paths, relative to the disk's root. */
  path: string;
  /** Default: all. */
  requests?: DiskRequest[];
  /** The first of these requests that fails, counted from 1, and how many of them; null: all from then on. */
  from: number;
  count: number | null;
}

export interface Control {
  /** Counts the changes. */
  turn: number;
  fault: DiskFault | null;
  /** A pattern of paths whose requests are written down. */
  traced: string | null;
}
