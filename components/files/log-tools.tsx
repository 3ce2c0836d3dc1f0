/** What a long text is read with: a jump to a line or to its end, wrapped lines, and its growing end. */
import Link from 'next/link';
import { type FilesPage, fileAddress, type VolumeName } from './file-address.ts';
import { KeptFields } from './kept-fields.tsx';
import { PART_BYTES } from './preview-kind.ts';

/** Lines that are in sight at once. */
const A_SCREEN = 20;

/** The figure around the text wraps its lines while this box is ticked, with or without scripts. */
export const WRAPPING =
  'has-[.wrap-lines:checked]:[&_pre]:whitespace-pre-wrap has-[.wrap-lines:checked]:[&_pre]:[overflow-wrap:anywhere]';

export function LogTools({
  place,
  volume,
  path,
  size,
  lines,
}: {
  place: FilesPage;
  volume: VolumeName;
  path: string;
  size: number;
  /** How many of its lines are shown: few need no jump. */
  lines: number;
}) {
  return (
    <div className="flex flex-wrap items-center gap-x-4 gap-y-2 text-small">
      {(lines > A_SCREEN || size > PART_BYTES) && (
        <form action={`/sandboxes/${place.id}#inside`} className="flex items-center gap-2">
          <KeptFields place={place} />
          <input type="hidden" name="volume" value={volume} />
          <input type="hidden" name="path" value={path} />
          <label className="flex items-center gap-2">
            Line
            <input className="input w-24" type="number" name="line" min={1} required inputMode="numeric" />
          </label>
          <button type="submit" className="button button-quiet">
            Go
          </button>
        </form>
      )}
      {size > PART_BYTES && (
        <Link href={fileAddress(place, volume, path, { from: size - PART_BYTES })} prefetch={false} scroll={false}>
          To its end
        </Link>
      )}
      <label className="flex items-center gap-2">
        <input type="checkbox" className="size-4 flex-none accent-ink wrap-lines" />
        Wrap lines
      </label>
    </div>
  );
}
