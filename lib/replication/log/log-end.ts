/** How a log ends, by looks that cost little: its stat, and two of its headers. */
import { lookAtNow } from '../../base/strangers-file.ts';
import type { LogPosition } from './cut.ts';
import { LogReader } from './log-reader.ts';

const NONE = 'none';
/** No file system notes times more coarsely than this, in milliseconds. */
const COARSEST_MS = 2500;

/** The stat of a log (absolute) as one text. Two writes within a tick of the file system's clock may have one. */
export function logStamp(log: string): string {
  const stat = lookAtNow(log);
  return stat === null ? NONE : `${stat.ino}-${stat.size}-${stat.mtimeNs}`;
}

/** Whether every write from now on gives the log another stamp than this one, which it has now. */
export function isSettled(stamp: string): boolean {
  if (stamp === NONE) return true;
  const writtenMs = Number(BigInt(stamp.slice(stamp.lastIndexOf('-') + 1)) / 1_000_000n);
  return Date.now() - writtenMs > COARSEST_MS;
}

/** `log`: absolute. A frame that nobody has committed yet counts too. Null: nothing of it was cut. */
export function hasMoreThan(log: string, position: Pick<LogPosition, 'salts' | 'frames'> | null): boolean {
  if (position === null) return false;
  const reader = LogReader.open(log);
  if (reader === null) return false;
  try {
    const { header } = reader;
    return header !== null && (header.salts !== position.salts || reader.sumsOf(position.frames) !== null);
  } finally {
    reader.close();
  }
}
