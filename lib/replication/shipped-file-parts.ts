/** What the replica of one open file is built from. */
import type { Logger } from '../base/log.ts';
import type { LogPosition } from './cut.ts';
import type { Cutter } from './cutter.ts';
import type { SegmentUploads } from './segment-uploads.ts';

export interface ShippedFileParts {
  id: string;
  /** Absolute, of the database. */
  file: string;
  /** Absolute folder of its spool. */
  spool: string;
  term: number;
  cutter: Pick<Cutter, 'cutSegment' | 'cutBase' | 'cutFirstPage'>;
  uploads: Pick<SegmentUploads, 'add' | 'drop' | 'waiting' | 'bytes' | 'away'>;
  clock: { now(): number };
  log: Logger;
  /** Bytes of the spool of all sandboxes, at most. */
  spoolBytes: number;
  /** Frames of a log above which it is confirmed without being asked. Default: 1 000. */
  confirmFrames?: number;
  /** Lets who writes the log write over what is confirmed. */
  confirm: (position: Pick<LogPosition, 'salts' | 'frames'>) => void;
  /** A new series begins because the former one could not be continued. */
  onGap: (why: string) => void;
}
