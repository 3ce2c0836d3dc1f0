/** What is in the three volumes, read where the file rests: looking wakes nothing. */
import Link from 'next/link';
import { sizeInWords } from '#components/durations.ts';
import { folderEntries, folderOf } from '#components/file-tree.ts';
import { Outcome } from '#components/outcome.tsx';
import { Part } from '#components/part.tsx';
import { Preview } from '#components/preview.tsx';
import { previewOf } from '#components/preview-kind.ts';
import { VOLUME_COLOURS } from '#components/volume-names.tsx';
import { whyNot } from '#lib/api/access.ts';
import type { Caller } from '#lib/api/operations.ts';
import type { FileInfo, Instance, VolumeInfo } from '#lib/api/schema.ts';
import { getHost } from '#lib/host.ts';
import { VOLUME_CONTRACTS, VOLUMES, type Volume } from '#lib/vfs/volumes.ts';
import { requireCaller } from '../../caller.ts';
import { problemOf, wordsOf } from '../../problem.ts';
import type { Search } from '../../search.ts';
import { addressOf, FILES_READ, Listing, type Place, Way } from './folder.tsx';

const PAGE = 500;
const PREVIEW_BYTES = 64 * 1024;

function first(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}

/** Where the API gives the bytes of a file. */
function downloadOf(id: string, volume: Volume, path: string): string {
  return `/api/instances/${id}/volumes/${volume}${path.split('/').map(encodeURIComponent).join('/')}`;
}

/** The files below a folder, as many as a page can sum up. */
async function readFolder(caller: Caller, id: string, volume: Volume, folder: string) {
  const { operations } = getHost();
  const files: FileInfo[] = [];
  let cursor: string | undefined;
  do {
    const page = await operations.files(caller, id, volume, { prefix: folder, limit: PAGE, cursor });
    files.push(...page.items);
    cursor = page.next ?? undefined;
  } while (cursor !== undefined && files.length < FILES_READ);
  return { files, more: cursor !== undefined };
}

async function readPreview(caller: Caller, id: string, volume: Volume, path: string) {
  const { stat, content } = await getHost().operations.file(caller, id, volume, path, {
    start: 0,
    end: PREVIEW_BYTES - 1,
  });
  return { stat, shown: content.length, preview: previewOf(path, content, content.length >= stat.size) };
}

/** `closed`: why its contents are not for this visitor, or null. */
function VolumeTab({
  place,
  info,
  current,
  closed,
}: {
  place: Place;
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
      href={addressOf(place, volume)}
      prefetch={false}
      scroll={false}
      aria-current={current ? 'true' : undefined}
      className={`${look} ${current ? 'border-ink bg-sheet' : 'border-rule-2 hover:border-ink'}`}
    >
      {says}
    </Link>
  );
}

/** Reads everything that this part shows; a refusal comes back in words, for a damaged file has a page too. */
async function read(caller: Caller, id: string, volume: Volume, path: string) {
  try {
    const folder = folderOf(path);
    const [infos, listing, opened] = await Promise.all([
      getHost().operations.volumes(caller, id),
      readFolder(caller, id, volume, folder),
      path.endsWith('/')
        ? null
        : readPreview(caller, id, volume, path).catch((error: unknown) => wordsOf(problemOf(error, caller))),
    ]);
    return {
      infos,
      folder,
      entries: folderEntries(listing.files, folder),
      more: listing.more,
      opened,
      refused: undefined,
    };
  } catch (error) {
    return { refused: { ok: false, ...wordsOf(problemOf(error, caller)) } };
  }
}

/** `at`: the page that it stands on. */
export async function Inside({
  instance,
  search,
  rendered,
  at = '/sandboxes',
}: {
  instance: Instance;
  search: Search;
  rendered: number;
  at?: Place['at'];
}) {
  const { id } = instance;
  const place = { id, at };
  const caller = await requireCaller(`${at}/${id}`);
  const asked = VOLUMES.find((known) => known === first(search.volume)) ?? 'workspace';
  // A volume that may not be looked into is not opened; its tab says why.
  const mayLook = whyNot(caller, 'files', { volume: asked }) === null;
  const volume = mayLook ? asked : 'workspace';
  const wished = (mayLook ? first(search.path) : undefined) ?? '/';
  const path = wished.startsWith('/') ? wished : `/${wished}`;
  const unseen = whyNot(caller, 'volumes');
  if (unseen !== null) {
    return (
      <Part id="inside" name="Inside">
        <p className="text-ink-2">{unseen}</p>
      </Part>
    );
  }
  const found = await read(caller, id, volume, path);
  const note =
    instance.state === 'active' ? 'Read beside its process.' : 'Read where the file rests. Looking wakes nothing.';
  if (found.refused !== undefined) {
    return (
      <Part id="inside" name="Inside" note={note}>
        <Outcome outcome={found.refused} />
      </Part>
    );
  }
  const { infos, folder, entries, more, opened } = found;
  return (
    <Part id="inside" name="Inside" note={note}>
      <div className="grid gap-3 md:grid-cols-3">
        {infos.map((info) => (
          <VolumeTab
            key={info.volume}
            place={place}
            info={info}
            current={info.volume === volume}
            closed={whyNot(caller, 'files', { volume: info.volume })}
          />
        ))}
      </div>
      <div className={`mt-6 grid gap-8 ${opened === null ? '' : 'xl:grid-cols-[minmax(0,5fr)_minmax(0,7fr)]'}`}>
        <div className="min-w-0">
          <Way place={place} volume={volume} folder={folder} />
          <Listing
            place={place}
            volume={volume}
            entries={entries}
            more={more}
            openPath={opened === null ? null : path}
            rendered={rendered}
          />
        </div>
        {opened !== null &&
          (!('preview' in opened) ? (
            <Outcome outcome={{ ok: false, says: opened.says, hint: opened.hint }} />
          ) : (
            <Preview
              title={`/${volume}${path}`}
              name={path.slice(path.lastIndexOf('/') + 1)}
              size={opened.stat.size}
              mtime={opened.stat.mtime}
              shown={opened.shown}
              preview={opened.preview}
              address={downloadOf(id, volume, path)}
            />
          ))}
      </div>
    </Part>
  );
}
