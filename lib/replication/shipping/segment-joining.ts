/**
 * Makes one segment of several that wait for the store: while more sandboxes wait than can be served at once, each
 * takes its turn with all that it has of a minute. So what is behind stays as long as a round of turns, and does not
 * grow without end. The segments stay in the spool until the one is whole in the store.
 */
import { dirname, join } from 'node:path';
import type { Cutter } from '../log/cutter.ts';
import { type LevelGroup, takes } from '../names/level-groups.ts';
import type { SpooledSegment } from '../spool/spooled-segment.ts';

/** Nothing that a spool keeps over a stop has such a name. */
const JOINED = 'joined.ltx';

/** The first segments that wait of one sandbox, as many as may be sent as one: commits of the same minute. */
export function joinable(waiting: readonly SpooledSegment[]): SpooledSegment[] {
  const group: LevelGroup<SpooledSegment> = { step: 'minute', segments: [] };
  for (const segment of waiting) {
    if (segment.level !== 0 || !takes(group, segment)) break;
    group.segments.push(segment);
  }
  return group.segments;
}

/** One segment of several. Throws `corrupt`, and the system's errors. */
export async function joinSegments(
  cutter: Pick<Cutter, 'merge'>,
  segments: readonly [SpooledSegment, ...SpooledSegment[]],
): Promise<SpooledSegment> {
  const [first] = segments;
  const target = join(dirname(first.path), JOINED);
  const paths = segments.map(({ path }) => path);
  const { bytes, maxTxid: max, timeMs } = await cutter.merge({ segments: paths, target, sync: false });
  return { ...first, max, bytes, timeMs, path: target };
}
