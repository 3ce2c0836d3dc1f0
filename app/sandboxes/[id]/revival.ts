/** What a revival of an archived sandbox brings back, and how long the last ones took. It wakes nothing. */
import type { RevivalFacts } from '#components/sandbox/revival-words.ts';
import type { Caller } from '#lib/auth/caller.ts';
import { mayDo } from '#lib/contract/access.ts';
import type { Instance } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { VOLUME_CONTRACTS } from '#lib/vfs/volumes.ts';

/** Revivals to judge by. */
const LAST = 6;
/** How many moves of its tenant are looked through for them. */
const LINES = 200;

async function readVolumes(caller: Caller, { id, tenant, fault }: Instance): Promise<RevivalFacts['volumes']> {
  // What its file holds is what is in doubt.
  if (fault !== null || !mayDo(caller, 'volumes', { tenant })) return null;
  try {
    const volumes = await getHost().operations.volumes(caller, id);
    return volumes.map(({ volume, files, bytes }) => ({
      volume,
      files,
      bytes,
      survives: VOLUME_CONTRACTS[volume].survivesResume,
    }));
  } catch {
    // A file that cannot be read now is shown as such below; its revival is offered all the same.
    return null;
  }
}

/** Of its tenant's sandboxes, newest first. */
async function lastRevivals(caller: Caller, { tenant }: Instance): Promise<number[]> {
  const { items } = await getHost().operations.events(caller, { tenant, type: 'transition', limit: LINES });
  return items
    .flatMap(({ from, to, took_ms }) => (from === 'archived' && to === 'active' && took_ms !== null ? [took_ms] : []))
    .slice(0, LAST);
}

export async function readRevival(caller: Caller, instance: Instance): Promise<RevivalFacts> {
  const [volumes, tookMs] = await Promise.all([readVolumes(caller, instance), lastRevivals(caller, instance)]);
  return { volumes, tookMs };
}
