/** Why a sandbox is where it is: the ledger line that put it there, in words. */

import { whyItIsHere } from '#components/ledger/event-words.ts';
import type { Caller } from '#lib/auth/caller.ts';
import type { Event, Instance } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { actorNames } from '../../actor-names.ts';

/** Its last transition, or its registration if it is still in the state that it was registered in. */
async function lineBehind(caller: Caller, { id, state }: Instance): Promise<Event | undefined> {
  const { operations } = getHost();
  const [moves, registrations] = await Promise.all([
    operations.instanceEvents(caller, id, { type: 'transition', limit: 1 }),
    operations.instanceEvents(caller, id, { type: 'instance.created', limit: 1 }),
  ]);
  return moves.items[0] ?? registrations.items.find((event) => event.to === state);
}

/** `named`: people and keys by their names, where the visitor may know them. */
export async function WhyHere({
  caller,
  instance,
  named = false,
}: {
  caller: Caller;
  instance: Instance;
  named?: boolean;
}) {
  const [line, names] = await Promise.all([lineBehind(caller, instance), named ? actorNames() : undefined]);
  return (
    <>
      <p className="max-w-2xl">
        {line === undefined ? 'It was registered, and nobody has woken it yet.' : whyItIsHere(line, names)}
      </p>
      {line?.reason != null && <p className="mt-1 max-w-2xl text-ink-2">“{line.reason}”</p>}
    </>
  );
}
