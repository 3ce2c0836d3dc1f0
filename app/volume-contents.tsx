/** The contents of a copy, volume by volume. */
import { sizeInWords } from '#components/ui/durations.ts';
import { VOLUME_COLOURS } from '#components/ui/volume-names.tsx';
import type { Snapshot } from '#lib/contract/schema.ts';

export function VolumeContents({ contents }: { contents: Snapshot['contents'] }) {
  const nonEmpty = contents.filter(({ files }) => files > 0);
  if (nonEmpty.length === 0) return 'nothing: every volume is empty';
  return (
    <ul className="flex flex-wrap gap-x-6 gap-y-1">
      {nonEmpty.map(({ volume, files, bytes }) => (
        <li key={volume} className="inline-flex items-center gap-2">
          <span
            className={`inline-block h-2.5 w-2.5 rounded-[2px] border border-ink ${VOLUME_COLOURS[volume]}`}
            aria-hidden="true"
          />
          {volume}
          <span className="text-small text-ink-2">
            {files.toLocaleString('en')} {files === 1 ? 'file' : 'files'}, {sizeInWords(bytes)}
          </span>
        </li>
      ))}
    </ul>
  );
}
