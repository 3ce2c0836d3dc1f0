/** What lies at a path, over links. Wakes nothing, unless it leads over a link. Safe for the browser. */
import type { CallOptions } from '../call.ts';
import { volumePathOf } from '../sandbox/paths.ts';
import type { Sandbox } from '../sandbox.ts';
import { followLinks, isRefusal } from './links.ts';

/** A file with its size in bytes, or a folder; null when nothing is there, or a link that leads nowhere. */
export function entryAt(
  box: Sandbox,
  path: string,
  options: CallOptions,
): Promise<{ type: 'file' | 'directory'; size: number } | null> {
  return followLinks(box, path, options, async (real) => {
    const { volume, path: inVolume } = volumePathOf(real);
    try {
      await box.client.listFolder(box.id, volume, { path: inVolume, limit: 1 }, options);
      return { type: 'directory', size: 0 };
    } catch (error) {
      if (!isRefusal(error, 'conflict')) throw error;
    }
    const { size, stream } = await box.client.getFile(box.id, volume, inVolume, {}, options);
    await stream.cancel();
    return { type: 'file', size: size ?? 0 };
  });
}
