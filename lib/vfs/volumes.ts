/**
 * The three volumes and their contracts: the one list from which the guard, the clearing of tmp and the volume filter
 * of bundles are derived. Pure.
 */
import { WinterdockError } from '../base/errors.ts';

export const VOLUMES = ['workspace', 'memory', 'tmp'] as const;
export type Volume = (typeof VOLUMES)[number];

export const DEFAULT_VOLUME: Volume = 'workspace';

/** What each volume promises: whether its bytes outlive a cold resume, and whether they travel in a bundle. */
export const VOLUME_CONTRACTS: Readonly<Record<Volume, { survivesResume: boolean; ships: boolean; says: string }>> = {
  workspace: {
    survivesResume: true,
    ships: true,
    says: 'The work itself: survives every sleep and travels when shared.',
  },
  memory: { survivesResume: true, ships: false, says: 'What was learned: survives every sleep and stays home.' },
  tmp: { survivesResume: false, ships: false, says: 'Temporary files: gone at the next wake and never shared.' },
};

/** Parses the name of a volume, once, where it comes in. Throws `unknown_volume` for any other name. */
export function parseVolume(name: string): Volume {
  if ((VOLUMES as readonly string[]).includes(name)) return name as Volume;
  throw new WinterdockError('unknown_volume', `There is no volume "${name.slice(0, 80)}".`, {
    hint: `The volumes are ${VOLUMES.join(', ')}.`,
  });
}
