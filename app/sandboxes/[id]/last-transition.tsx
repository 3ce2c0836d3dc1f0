/** Why a sandbox is where it is: the ledger line that put it there, in words. */

import { quoted, whyItIsHere } from '#components/ledger/event-words.ts';
import type { Caller } from '#lib/auth/caller.ts';
import type { Event, Instance } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { lineNames } from '../../actor-names.ts';
import { JobBehind } from './job-behind.tsx';

/** Its last transition, or its registration if it is still in the state that it was registered in. */
async function lineBehind(caller: Caller, { id, state }: Instance): Promise<Event | undefined> {
  const { operations } = getHost();
  const [moves, registrations] = await Promise.all([
    operations.instanceEvents(caller, id, { type: 'transition', limit: 1 }),
    operations.instanceEvents(caller, id, { type: 'instance.created', limit: 1 }),
  ]);
  return moves.items[0] ?? registrations.items.find((event) => event.to === state);
}

export async function WhyHere({ caller, instance }: { caller: Caller; instance: Instance }) {
  const line = await lineBehind(caller, instance);
  const names = await lineNames(line === undefined ? [] : [line]);
  const says = line === undefined ? 'It was registered, and nobody has woken it yet.' : whyItIsHere(line, names);
  const reason = line?.reason == null ? null : quoted(line.reason);
  return (
    // Where it is cut, all of it is on hover.
    <p className="line-clamp-3 min-w-0 [overflow-wrap:anywhere]" title={reason === null ? says : `${says} ${reason}`}>
      {says}
      {reason !== null && <span className="text-ink-2"> {reason}</span>}
      {line !== undefined && <JobBehind caller={caller} line={line} />}
    </p>
  );
}
