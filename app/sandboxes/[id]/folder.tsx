/** One folder of a volume: the way to it from the top, and what lies in it. */
import Link from 'next/link';
import { sizeInWords } from '#components/durations.ts';
import { type FolderEntry, wayTo } from '#components/file-tree.ts';
import { RelativeTime } from '#components/relative-time.tsx';
import type { Volume } from '#lib/vfs/volumes.ts';

/** How many files of a folder a page reads to sum it up. */
export const FILES_READ = 2000;

/** Where the files of a sandbox are looked at: its page, or its page at the support desk. */
export interface Place {
  id: string;
  at: '/sandboxes' | '/archive';
}

/** The page of a sandbox with a folder or a file of it open. */
export function addressOf({ id, at }: Place, volume: Volume, path?: string): string {
  const search = new URLSearchParams(path === undefined || path === '/' ? { volume } : { volume, path });
  return `${at}/${id}?${search}#inside`;
}

export function Way({ place, volume, folder }: { place: Place; volume: Volume; folder: string }) {
  return (
    <p className="mb-2 font-mono text-[0.8125rem] [overflow-wrap:anywhere]">
      <Link href={addressOf(place, volume)} prefetch={false} scroll={false}>
        /{volume}
      </Link>
      /
      {wayTo(folder).map(({ name, path }) => (
        <span key={path}>
          <Link href={addressOf(place, volume, path)} prefetch={false} scroll={false}>
            {name}
          </Link>
          /
        </span>
      ))}
    </p>
  );
}

function Row({
  place,
  volume,
  entry,
  open,
  rendered,
}: {
  place: Place;
  volume: Volume;
  entry: FolderEntry;
  open: boolean;
  rendered: number;
}) {
  return (
    <tr>
      <td className="w-full">
        <Link
          href={addressOf(place, volume, entry.path)}
          prefetch={false}
          scroll={false}
          aria-current={open ? 'true' : undefined}
          className={`font-mono text-[0.8125rem] [overflow-wrap:anywhere] ${open ? 'font-[600]' : ''} ${entry.folder ? '' : 'decoration-transparent hover:decoration-current'}`}
        >
          {entry.name}
        </Link>
        {entry.folder && (
          <span className="ml-2 text-small text-ink-3">
            {entry.files} {entry.files === 1 ? 'file' : 'files'}
          </span>
        )}
      </td>
      <td className="figure text-small text-ink-2">{sizeInWords(entry.size)}</td>
      <td className="figure text-small text-ink-2">
        <RelativeTime at={entry.mtime} rendered={rendered} />
      </td>
    </tr>
  );
}

export function Listing(props: {
  place: Place;
  volume: Volume;
  entries: readonly FolderEntry[];
  more: boolean;
  openPath: string | null;
  rendered: number;
}) {
  const { place, volume, entries, more, openPath, rendered } = props;
  if (entries.length === 0) {
    return (
      <p className="border-t border-rule py-3 text-ink-2">
        Nothing is in here. A command that writes a file puts it here.
      </p>
    );
  }
  return (
    <>
      <table className="ledger">
        <thead className="sr-only">
          <tr>
            <th scope="col">Name</th>
            <th scope="col">Size</th>
            <th scope="col">Written</th>
          </tr>
        </thead>
        <tbody>
          {entries.map((entry) => (
            <Row
              key={entry.path}
              place={place}
              volume={volume}
              entry={entry}
              open={entry.path === openPath}
              rendered={rendered}
            />
          ))}
        </tbody>
      </table>
      {more && (
        <p className="mt-2 text-small text-ink-3">
          From the first {FILES_READ.toLocaleString('en')} files here.{' '}
          <code>
            GET /instances/{place.id}/volumes/{volume}
          </code>{' '}
          lists all.
        </p>
      )}
    </>
  );
}
