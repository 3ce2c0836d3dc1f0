/**
 * The last frame of each page among frames of a log, in the order of pages, in bounded memory: when there are too many
 * pages, those with low numbers come first and the log is gone through again. Knows nothing of what is in a frame.
 */
import type { LogReader } from './log-reader.ts';

/** Pages in memory, each as a number of eight bytes: 4 MiB. */
const MOST_KEYS = 2 ** 19;
/** Frames of one cut, at most: 2 GB of the smallest pages. With their page they fit a number. */
export const MOST_FRAMES = 2 ** 22;

export interface FrameRange {
  from: number;
  /** The first frame after it. */
  end: number;
  /** The first page that is of interest. */
  firstPage: number;
  /** The last one; below 2^31. */
  lastPage: number;
}

/** The log is not as it was: a frame that was committed is gone. */
export class LogChanged extends Error {}

export interface LastFrame {
  page: number;
  frame: number;
  /** Frames from this one on, without a gap, that the next pages have. */
  runEnd: number;
}

/**
 * The last frame of each page, pages ascending. Throws `LogChanged`.
 *
 * @param mostKeys Pages in memory, 2 or more.
 */
export function* lastFrames(
  log: LogReader,
  { from, end, firstPage, lastPage }: FrameRange,
  mostKeys = MOST_KEYS,
): Generator<LastFrame> {
  const keys = new Float64Array(Math.min(mostKeys, end - from));
  let first = firstPage;
  while (first <= lastPage) {
    let last = lastPage;
    let count = 0;
    for (let frame = from; frame < end; frame += 1) {
      const page = log.pageOf(frame, end);
      if (page === 0) throw new LogChanged();
      if (page < first || page > last) continue;
      keys[count] = page * MOST_FRAMES + (frame - from);
      count += 1;
      if (count < keys.length || frame + 1 === end) continue;
      count = keepLast(keys, count);
      if (count <= keys.length / 2) continue;
      // The lower half stays; the rest has another turn.
      count = Math.ceil(count / 2);
      last = pageOfKey(keys[count - 1] ?? 0);
    }
    count = keepLast(keys, count);
    for (let at = 0, runEnd = 0; at < count; at += 1) {
      const key = keys[at] ?? 0;
      const page = pageOfKey(key);
      const frame = from + (key - page * MOST_FRAMES);
      if (frame >= runEnd || at === 0) {
        // The next page in the next frame is a key that is one larger in both.
        let next = at + 1;
        while (next < count && (keys[next] ?? 0) === key + (next - at) * (MOST_FRAMES + 1)) next += 1;
        runEnd = frame + next - at;
      }
      yield { page, frame, runEnd };
    }
    first = last + 1;
  }
}

const pageOfKey = (key: number) => Math.floor(key / MOST_FRAMES);

/** Sorts the keys and leaves the last of each page. Returns how many there are. */
function keepLast(keys: Float64Array, length: number): number {
  const sorted = keys.subarray(0, length).sort();
  let count = 0;
  for (let at = 0; at < length; at += 1) {
    const key = sorted[at] ?? 0;
    if (at + 1 < length && pageOfKey(sorted[at + 1] ?? 0) === pageOfKey(key)) continue;
    keys[count] = key;
    count += 1;
  }
  return count;
}
