/**
 * The mark in a registry that was carried to another one: no server starts on it any more, unless a person says so.
 * What it has is kept as it was. Knows nothing of how a registry is carried.
 */
import { z } from 'zod';
import { type Clock, epochSeconds } from '../base/clock.ts';
import { WinterdockError } from '../base/errors.ts';
import type { RegistryDriver } from '../registry/driver.ts';
import type { FactStore } from '../registry/facts.ts';

/** Name of the fact that is the mark. */
export const CARRIED_MARK = 'carried_away';

const markSchema = z.object({
  /** Names the other one for people; null: servers start on this one again. */
  to: z.string().nullable(),
  /** Epoch seconds. */
  time: z.number(),
});
type CarriedMark = z.infer<typeof markSchema> & { to: string };

/** Where the registry was carried to; null: nowhere, or there is none. */
export async function carriedTo(driver: RegistryDriver): Promise<CarriedMark | null> {
  if ((await driver.presence()).kind !== 'there') return null;
  const moment = await driver.inspect();
  try {
    const mark = markSchema
      .nullable()
      .catch(null)
      .parse(await moment.fact(CARRIED_MARK));
    return mark === null || mark.to === null ? null : { ...mark, to: mark.to };
  } finally {
    await moment.close();
  }
}

/** Marks an open registry as carried to another one; null: as one that servers start on. */
export async function markCarried(facts: FactStore, to: string | null, clock: Clock): Promise<void> {
  const time = epochSeconds(clock);
  await facts.write(CARRIED_MARK, { to, time } satisfies z.infer<typeof markSchema>, time);
}

/** Throws `conflict` with `start_refused` for a registry that was carried to another one. */
export async function refuseCarriedAway(driver: RegistryDriver): Promise<void> {
  const mark = await carriedTo(driver);
  if (mark === null) return;
  const when = new Date(mark.time * 1000).toISOString().replace('.000Z', 'Z');
  throw new WinterdockError(
    'conflict',
    `The server does not start: the registry ${driver.name} was carried to ${mark.to} at ${when}, and what changed since is there. Set WB_REGISTRY to that one. To go on from this one all the same: npm run migrate:registry -- --reopen.`,
    { extra: { start_refused: 'carried' } },
  );
}
