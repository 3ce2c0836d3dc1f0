/** The tabs of the three volumes: what each holds, whether it survives sleep, whether it ships. */
import Link from 'next/link';
import { type FilesPage, fileAddress } from '#components/files/file-address.ts';
import { sizeInWords } from '#components/ui/durations.ts';
import { VOLUME_COLOURS } from '#components/ui/volume-names.tsx';
import type { VolumeInfo } from '#lib/contract/schema.ts';
import { VOLUME_CONTRACTS } from '#lib/vfs/volumes.ts';

/** `closed`: why the visitor may not read it, or null. */
export function VolumeTab({
  place,
  info,
  current,
  closed,
}: {
  place: FilesPage;
  info: VolumeInfo;
  current: boolean;
  closed: string | null;
}) {
  const { volume, files, bytes } = info;
  const look = 'group grid content-start gap-1 rounded border px-4 py-3 no-underline';
  const says = (
    <>
      <span className="flex items-baseline justify-between gap-4">
        <span className="flex items-center gap-2.5 font-[580]">
          <span
            className={`inline-block h-3 w-3 rounded-[3px] border border-ink ${VOLUME_COLOURS[volume]}`}
            aria-hidden="true"
          />
          {volume}
        </span>
        <span className="text-small text-ink-2">
          {files === 0
            ? 'empty'
            : `${files.toLocaleString('en')} ${files === 1 ? 'file' : 'files'}, ${sizeInWords(bytes)}`}
        </span>
      </span>
      <span className="text-small text-ink-2">{closed ?? VOLUME_CONTRACTS[volume].says}</span>
    </>
  );
  if (closed !== null) return <div className={`${look} border-dashed border-rule-2`}>{says}</div>;
  return (
    <Link
      href={fileAddress(place, volume)}
      prefetch={false}
      scroll={false}
      aria-current={current ? 'true' : undefined}
      className={`${look} ${current ? 'border-ink bg-sheet' : 'border-rule-2 hover:border-ink'}`}
    >
      {says}
    </Link>
  );
}
