/** Volumes by name, each with its colour. */
import type { VolumeInfo } from '#lib/contract/schema.ts';

type Volume = VolumeInfo['volume'];

export const VOLUME_COLOURS: Readonly<Record<Volume, string>> = {
  workspace: 'bg-(--workspace)',
  memory: 'bg-(--memory)',
  tmp: 'bg-(--tmp)',
};

export function VolumeNames({ volumes }: { volumes: readonly Volume[] }) {
  if (volumes.length === 0) return <span className="text-ink-3">nothing</span>;
  return (
    <span className="inline-flex flex-wrap gap-x-3 gap-y-0.5">
      {volumes.map((volume) => (
        <span key={volume} className="inline-flex items-baseline gap-1.5">
          <span
            className={`inline-block h-2.5 w-2.5 rounded-[2px] border border-ink ${VOLUME_COLOURS[volume]}`}
            aria-hidden="true"
          />
          {volume}
        </span>
      ))}
    </span>
  );
}
