/** Operations on what somebody chose for themselves: how the console shows them things. Nobody else sees it. */
import type { Caller } from '../auth/caller.ts';
import { type Clock, epochSeconds } from '../base/clock.ts';
import { WinterdockError } from '../base/errors.ts';
import { isTimeZone } from '../base/zoned-time.ts';
import type { Registry } from '../registry/registry.ts';

export interface ProfileOperations {
  /** The time zone that a person chose, such as `Europe/Berlin`; null: that of their browser. A key chooses none. */
  ownZone(caller: Caller): Promise<string | null>;
  /** Throws `validation` when there is no such zone, `not_found` for a key. Null takes the choice back. */
  setOwnZone(caller: Caller, zone: string | null): Promise<void>;
}

const isPerson = ({ actor }: Caller) => actor.startsWith('user:');
const factOf = ({ actor }: Caller) => `zone of ${actor}`;

export function profileOperations(parts: { registry: Pick<Registry, 'facts'>; clock: Clock }): ProfileOperations {
  const { registry, clock } = parts;
  return {
    async ownZone(caller) {
      if (!isPerson(caller)) return null;
      const kept = await registry.facts.read(factOf(caller));
      return typeof kept === 'string' && isTimeZone(kept) ? kept : null;
    },
    async setOwnZone(caller, zone) {
      if (!isPerson(caller)) throw new WinterdockError('not_found', 'A key has no profile.');
      if (zone !== null && !isTimeZone(zone)) {
        throw new WinterdockError('validation', `There is no time zone "${zone}".`, {
          hint: 'Write it as in the IANA list: Europe/Berlin, UTC.',
          extra: { errors: [{ path: 'zone', message: 'is no time zone, such as Europe/Berlin' }] },
        });
      }
      await registry.facts.write(factOf(caller), zone ?? '', epochSeconds(clock));
    },
  };
}
