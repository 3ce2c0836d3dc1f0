/** Follows a log to its last commit and makes nothing of it: for one that may be written over without being shipped. */
import type { LogPosition } from './cut.ts';
import { FRAME_HEADER_BYTES, LOG_HEADER_BYTES, LogReader } from './log-reader.ts';

export interface WalkRequest {
  /** Absolute. */
  log: string;
  /** A position that was reached before; null: the beginning. */
  position: LogPosition | null;
}

/** Where a log ends, without its doubtful pages, and its bytes up to there. */
export interface LogEnd {
  position: LogPosition;
  bytes: number;
}

/** Null: it has no commit. Throws the system's errors. */
export function walkLog({ log, position }: WalkRequest): LogEnd | null {
  const reader = LogReader.open(log);
  if (reader === null) return null;
  try {
    const { header } = reader;
    if (header === null) return null;
    const { salts, sums, pageSize } = header;
    const isFollowed = position !== null && position.frames > 0 && position.salts === salts;
    const last = isFollowed ? reader.sumsOf(position.frames - 1) : null;
    const isThere = isFollowed && last?.[0] === position.sums[0] && last[1] === position.sums[1];
    const begin: LogPosition = isThere ? position : { salts, frames: 0, sums, commit: 0, doubtful: [] };
    const found = reader.committed(begin.frames, begin.sums, Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);
    if (found === null && begin.frames === 0) return null;
    const end = found === null ? begin : { ...begin, frames: found.end, sums: found.sums, commit: found.commit };
    const bytes = LOG_HEADER_BYTES + end.frames * (FRAME_HEADER_BYTES + pageSize);
    return { position: { ...end, doubtful: [] }, bytes };
  } finally {
    reader.close();
  }
}
