/** The total content of a tenant's volumes, one sum for each, because each survives and ships differently. */
import { sizeInWords } from '#components/ui/durations.ts';
import { VolumeNames } from '#components/ui/volume-names.tsx';
import type { Tenant } from '#lib/contract/schema.ts';
import { VOLUMES } from '#lib/vfs/volumes.ts';

/** `of`: how many sandboxes it has. */
export function VolumeSums({ volumes, of }: { volumes: Tenant['volumes']; of: number }) {
  if (volumes.sandboxes === 0) return null;
  const whole = volumes.sandboxes >= of;
  return (
    <div className="mt-3 flex flex-wrap items-baseline gap-x-6 gap-y-1 text-small">
      <dl className="flex flex-wrap gap-x-6 gap-y-1">
        {VOLUMES.map((volume) => (
          <div key={volume} className="flex items-baseline gap-2">
            <dt>
              <VolumeNames volumes={[volume]} />
            </dt>
            <dd className="text-ink-2">{sizeInWords(volumes[volume])}</dd>
          </div>
        ))}
      </dl>
      <span className="text-ink-3">
        {whole
          ? 'is what lies in these files, as weighed when each was last filed'
          : `is what lies in those of ${volumes.sandboxes.toLocaleString('en')}, as weighed when each was last filed`}
      </span>
    </div>
  );
}
