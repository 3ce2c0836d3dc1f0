/** What is in the three volumes, read where the file rests: looking wakes nothing. */

import Link from 'next/link';
import { type FilesPage, fileAddress, type VolumeName } from '#components/files/file-address.ts';
import { FileBar } from '#components/files/file-bar.tsx';
import { FileBrowser } from '#components/files/file-browser.tsx';
import { folderOf, pathSteps } from '#components/files/file-tree.ts';
import { FilesProvider } from '#components/files/files-provider.tsx';
import { DisabledAction } from '#components/ui/disabled-action.tsx';
import { Outcome } from '#components/ui/outcome.tsx';
import { PageSection } from '#components/ui/page-section.tsx';
import type { Caller } from '#lib/auth/caller.ts';
import { whyNot } from '#lib/contract/access.ts';
import type { Instance } from '#lib/contract/schema.ts';
import { isBlocking } from '#lib/lifecycle/words.ts';
import { VOLUMES } from '#lib/vfs/volumes.ts';
import { requireCaller } from '../../caller.ts';
import { readFlash } from '../../flash.ts';
import { problemInWords, problemOf } from '../../problem.ts';
import { type SearchParams, singleValues } from '../../search-params.ts';
import { createFolder, createTextFile } from './file-actions.ts';
import { FilePane, FolderPane } from './file-pane.tsx';
import { SearchForm, SearchHits } from './file-search.tsx';
import { type FileQuery, parseFileQuery, readVolume } from './volume-reading.ts';
import { VolumeTab } from './volume-tabs.tsx';

function first(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}

/** Why nothing can be written now, or null. */
function whyNoWriting(caller: Caller, { state, fault, tenant }: Instance, volume: VolumeName): string | null {
  const refusal = whyNot(caller, 'putFile', { tenant, volume });
  if (refusal !== null) return refusal;
  if (isBlocking(fault)) return 'Its fault stops every write. The ways out of it are above.';
  return state === 'archived' ? 'It is archived, and a write does not revive it: revive it first.' : null;
}

/** What a write does besides, or null. */
function wakes({ state, pending }: Instance): string | null {
  if (state === 'active' || pending === 'resume') return null;
  return state === 'created' ? 'Writing wakes it for the first time.' : `It is ${state}: writing wakes it.`;
}

function Way({ place, volume, folder }: { place: FilesPage; volume: VolumeName; folder: string }) {
  return (
    <p className="font-mono text-[0.8125rem] [overflow-wrap:anywhere]">
      <Link href={fileAddress(place, volume)} prefetch={false} scroll={false}>
        /{volume}
      </Link>
      /
      {pathSteps(folder).map(({ name, path }) => (
        <span key={path}>
          <Link href={fileAddress(place, volume, path)} prefetch={false} scroll={false}>
            {name}
          </Link>
          /
        </span>
      ))}
    </p>
  );
}

/** Everything, or why nothing can be read, in words: a damaged file has a page too. */
async function read(caller: Caller, id: string, asked: FileQuery) {
  try {
    return await readVolume(caller, id, asked);
  } catch (error) {
    return { refused: { ok: false, ...problemInWords(problemOf(error, caller)) } };
  }
}

/** `at`: the page that it stands on; at the support desk nothing is written. */
export async function VolumeBrowser({
  instance,
  search,
  at = '/sandboxes',
}: {
  instance: Instance;
  search: SearchParams;
  at?: FilesPage['at'];
}) {
  const { id } = instance;
  const place = { id, at };
  const caller = await requireCaller(`${at}/${id}`);
  const values = singleValues(search);
  const wished = VOLUMES.find((known) => known === values.volume) ?? 'workspace';
  // A volume that may not be looked into is not opened; its tab says why.
  const mayLook = whyNot(caller, 'files', { volume: wished }) === null;
  const volume = mayLook ? wished : 'workspace';
  const unseen = whyNot(caller, 'volumes');
  if (unseen !== null) {
    return (
      <PageSection id="inside" name="Inside">
        <p className="text-ink-2">{unseen}</p>
      </PageSection>
    );
  }
  // Names may begin and end with spaces, so the path is taken as it is.
  const asked = parseFileQuery(values, volume, mayLook ? first(search.path) : undefined);
  const inside = await read(caller, id, asked);
  const note =
    instance.state === 'active'
      ? 'Read beside its process. Looking keeps nothing awake.'
      : 'Read where the file rests. Looking wakes nothing.';
  if ('refused' in inside) {
    return (
      <PageSection id="inside" name="Inside" note={note}>
        <Outcome outcome={inside.refused} />
      </PageSection>
    );
  }
  const { infos, folders, path, found, file } = inside;
  const folder = folderOf(path);
  const desk = at === '/sandboxes';
  const blocked = whyNoWriting(caller, instance, volume);
  const writable = desk && blocked === null;
  const held = desk ? readFlash(caller, values.held) : null;
  const open = folders.at(-1);
  return (
    <PageSection id="inside" name="Inside" note={note}>
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
      <div className="mt-6">
        <FilesProvider
          place={place}
          volume={volume}
          folder={folder}
          blocked={!writable}
          bar={
            <div className="grid gap-3">
              <div className="flex flex-wrap items-center justify-between gap-x-8 gap-y-3">
                <Way place={place} volume={volume} folder={folder} />
                <SearchForm place={place} asked={{ ...asked, path }} />
              </div>
              {desk &&
                (blocked !== null ? (
                  <DisabledAction id="write" label="Upload" whyNot={blocked} quiet />
                ) : (
                  <FileBar
                    key={`${volume}${path}`}
                    volume={volume}
                    folder={folder}
                    uploadTo={`/sandboxes/${id}/upload`}
                    actions={{
                      makeFile: createTextFile.bind(null, id, volume, folder),
                      makeFolder: createFolder.bind(null, id, volume, folder),
                    }}
                    wakes={wakes(instance)}
                  />
                ))}
              {held?.kind === 'refusal' && <Outcome outcome={{ ok: false, says: held.says, hint: held.hint }} />}
            </div>
          }
        >
          <div className="mt-4 grid gap-6 lg:grid-cols-[minmax(0,19rem)_minmax(0,1fr)]">
            <nav className="min-w-0" aria-label="Files">
              <FileBrowser key={volume} place={place} volume={volume} folders={folders} openPath={path} />
            </nav>
            <div className="min-w-0">
              {found !== null ? (
                <SearchHits place={place} asked={{ ...asked, path }} found={found} />
              ) : file === null ? (
                open !== undefined && <FolderPane place={place} volume={volume} folder={open} writable={writable} />
              ) : 'opened' in file ? (
                <FilePane place={place} volume={volume} file={file} writable={writable} />
              ) : (
                <Outcome outcome={file} />
              )}
            </div>
          </div>
        </FilesProvider>
      </div>
    </PageSection>
  );
}
