/** Moments of the past for the benchmarks to look at: commits a second apart, and what is asked of them over HTTP. */
import { setTimeout } from 'node:timers/promises';
import { must } from './measure.ts';
import { untilShipped } from './replica-places.ts';
import { fileUrl } from './sandboxes.ts';
import { KEY, type Running } from './server.ts';

/** After which a commit belongs to another second, and so to another moment. */
const APART_MS = 1100;

/** The address of a sandbox as of a moment, given in epoch milliseconds. `path` may have a query. */
export function pastUrl(server: Running, id: string, path: string, timeMs: number): string {
  const end = path.includes('?') ? '&' : '?';
  // A whole number would be the end of that second.
  return `${server.url}/api/instances/${id}/${path}${end}at=${timeMs / 1000 + 0.0004}`;
}

/** Writes once in each of so many seconds, to all sandboxes, and waits until the replica has everything of them. */
export async function makeMoments(server: Running, ids: readonly string[], count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) {
    await setTimeout(APART_MS);
    for (const id of ids) await must('PUT', fileUrl(server, id, 'changed'), KEY, Buffer.from(String(n)));
  }
  for (const id of ids) await untilShipped(server, id);
}

/** The newest moments of a sandbox, in epoch milliseconds. Throws when there are not so many. */
export async function lastMomentTimes(server: Running, id: string, count: number): Promise<number[]> {
  const { body } = await must('GET', `${server.url}/api/instances/${id}/moments?limit=${count}`, KEY);
  const times = JSON.parse(body.toString()).map(({ time_ms }: { time_ms: number }) => time_ms);
  if (times.length === count) return times;
  throw new Error(`${id} has ${times.length} moments instead of ${count}.`);
}
