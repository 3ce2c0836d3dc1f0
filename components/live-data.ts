/** What the live leaves read in the browser, and under which keys. Talks to the API only. */
import type { Instance } from '#lib/api/schema.ts';

/** The cache key of one row. */
export function instanceKey(id: string): readonly ['instance', string] {
  return ['instance', id];
}

/** Reads one row. Throws when the answer is not a row. */
export async function readInstance(id: string, signal: AbortSignal): Promise<Instance> {
  const answer = await fetch(`/api/instances/${encodeURIComponent(id)}`, {
    signal,
    headers: { accept: 'application/json' },
  });
  if (!answer.ok) throw new Error(`The row of ${id} could not be read: ${answer.status}.`);
  return (await answer.json()) as Instance;
}
