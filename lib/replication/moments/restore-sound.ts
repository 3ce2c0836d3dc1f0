/** Restores the newest moment that can be made: what is damaged in bundles is passed over, and what follows it. */

import type { Rebuilt } from '../ltx/rebuild.ts';
import { damagedPart } from '../segment-bundles/bundle-format.ts';
import type { TenantBundles } from '../segment-bundles/bundle-reader.ts';
import { type FoundMoment, findMoment, restoreMoment } from './replica-reader.ts';

/**
 * Makes the file of `moment`, or of the newest one before it of which every segment in a bundle is sound; resolves with
 * that moment. `id`, `atMs`, `bundles`: by which it was found. Otherwise as `restoreMoment`.
 */
export async function restoreSound(
  store: Parameters<typeof restoreMoment>[0],
  { id, atMs, bundles }: { id: string; atMs: number | null; bundles: TenantBundles | null },
  moment: FoundMoment,
  how: Parameters<typeof restoreMoment>[2],
): Promise<{ rebuilt: Rebuilt; moment: FoundMoment }> {
  for (let sound = moment; ; ) {
    try {
      return { rebuilt: await restoreMoment(store, sound, how), moment: sound };
    } catch (error) {
      const part = damagedPart(error);
      if (part === null || bundles === null) throw error;
      bundles.passOver(part);
      const before = await findMoment(store, id, atMs, bundles);
      if (before === null) throw error;
      sound = before;
    }
  }
}
