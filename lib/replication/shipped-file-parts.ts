/** What the replica of one open file is built from, and what it cuts. */
import { join } from 'node:path';
import { makeFolderNow } from '../base/effects.ts';
import type { Logger } from '../base/log.ts';
import type { LogPosition } from './log/cut.ts';
import type { Cutter } from './log/cutter.ts';
import { type SegmentSeries, segmentFile, seriesName } from './names/replica-names.ts';
import type { SegmentUploads } from './shipping/segment-uploads.ts';

/** A segment that is about to be cut. */
export interface SegmentTarget {
  series: SegmentSeries;
  level: number;
  txid: number;
  timeMs: number;
  /** Absolute. */
  path: string;
}

export interface ShippedFileParts {
  id: string;
  /** Absolute, of the database. */
  file: string;
  /** Absolute folder of its spool. */
  spool: string;
  /** What orders its series: those that begin now come after those of a smaller one. */
  term: number;
  cutter: Pick<Cutter, 'cutSegment' | 'cutBase' | 'cutFirstPage' | 'walkLog'>;
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

/** A segment of a spool (absolute) that is about to be cut. Makes its folder; throws what the disk throws. */
export function segmentIn(spool: string, segment: Omit<SegmentTarget, 'path'>): SegmentTarget {
  const { series, level, txid } = segment;
  const folder = join(spool, seriesName(series));
  makeFolderNow(folder);
  return { ...segment, path: join(folder, `${level}-${segmentFile(txid, txid)}`) };
}
