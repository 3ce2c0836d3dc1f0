/** The file browser of the three volumes. It reads files at rest, which wakes nothing. */

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
import type { InstanceId } from '#lib/base/ids.ts';
import { whyNot } from '#lib/contract/access.ts';
import type { Instance } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { isBlocking } from '#lib/lifecycle/words.ts';
import { VOLUMES } from '#lib/vfs/volumes.ts';
import { requireCaller } from '../../caller.ts';
import { readFlash } from '../../flash.ts';
import { problemInWords, problemOf } from '../../problem.ts';
import { type SearchParams, singleValues } from '../../search-params.ts';
import { createFolder, createTextFile } from './file-actions.ts';
import { FilePane, FolderPane } from './file-pane.tsx';
import { SearchForm, SearchHits } from './file-search.tsx';
import { FaultNotice } from './notices.tsx';
import { TakeBack } from './past/take-back.tsx';
import { RepairOptions } from './repair-options.tsx';
import { wakeNote, whyUnusable } from './use-refusals.ts';
import { type FileQuery, parseFileQuery, readVolume } from './volume-reading.ts';
import { VolumeTab } from './volume-tabs.tsx';

function first(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}

/** The open folder's path, each step a link. */
function PathLinks({ place, volume, folder }: { place: FilesPage; volume: VolumeName; folder: string }) {
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

/** Where the page reads the files; of a missing file nothing is read. */
function sourceInWords({ fault, state }: Instance): string {
  if (fault === 'missing') return 'Its file is missing: what is shown is what was recorded of it.';
  if (state === 'active') return 'Read beside its process. Reading does not keep it awake.';
  return 'Read where the file rests. Looking wakes nothing.';
}

/** Everything, or the refusal in words: a damaged sandbox has a page too. */
async function read(caller: Caller, id: InstanceId, query: FileQuery) {
  try {
    return await readVolume(caller, id, query);
  } catch (error) {
    return { refused: { ok: false, ...problemInWords(problemOf(error, caller)) } };
  }
}

/** Where else in time a file can be looked at. */
function timesOf({ id, replicate, recovery_point }: Instance, past: (FilesPage & { at: string }) | undefined) {
  if (past !== undefined) return [{ name: 'Beside now', place: { id, keep: { tab: 'past', at: past.at, to: 'now' } } }];
  if (replicate === 'off' && recovery_point.as === 'none') return [];
  return [{ name: 'Its past', place: { id, keep: { tab: 'past' } } }];
}

/** `past`: the files of a moment, which cannot be changed; absent: those of now. */
export async function VolumeBrowser({
  instance,
  search,
  past,
}: {
  instance: Instance;
  search: SearchParams;
  past?: FilesPage & { at: string };
}) {
  const { id } = instance;
  const place: FilesPage = past ?? { id };
  const caller = await requireCaller(`/sandboxes/${id}`);
  const values = singleValues(search);
  const requested = VOLUMES.find((known) => known === values.volume) ?? 'workspace';
  // A volume that the visitor may not read is not opened; its tab says why.
  const mayLook = whyNot(caller, 'files', { volume: requested }) === null;
  const volume = mayLook ? requested : 'workspace';
  const refusal = whyNot(caller, 'volumes');
  if (refusal !== null) {
    return (
      <PageSection id="inside" name="Inside">
        <p className="text-ink-2">Your role sees no contents: what is inside is for support, operators and admins.</p>
      </PageSection>
    );
  }
  // File names may begin or end with spaces, so the path is not trimmed.
  const asked = mayLook ? first(search.path) : undefined;
  const asOf = past === undefined ? {} : { at: Number(past.at) };
  const query = parseFileQuery(values, volume, asked, first(search.table), asOf);
  const contents = await read(caller, id, query);
  const note = past === undefined ? sourceInWords(instance) : 'As it was then. Nothing here can be changed.';
  const name = past === undefined ? 'Inside' : 'Inside, as it was';
  if ('refused' in contents) {
    // Looking found it: the head of this page was read before.
    const found = instance.fault === null ? await getHost().operations.getInstance(caller, id) : instance;
    if (found.fault !== null && found.fault !== 'error' && instance.fault === null) {
      return (
        <FaultNotice instance={found}>
          <RepairOptions fault={found.fault} instance={found} caller={caller} />
        </FaultNotice>
      );
    }
    return (
      <PageSection id="inside" name={name} note={note}>
        <Outcome
          outcome={
            isBlocking(instance.fault) ? { ...contents.refused, hint: 'The ways out are above.' } : contents.refused
          }
        />
      </PageSection>
    );
  }
  const { infos, folders, path, found, file } = contents;
  const folder = folderOf(path);
  const blocked = whyNot(caller, 'putFile', { tenant: instance.tenant, volume }) ?? whyUnusable('write', instance);
  const writable = blocked === null && past === undefined;
  const flash = readFlash(caller, values.flash);
  const open = folders.at(-1);
  const takeBack = past !== undefined && path !== '/' && (
    <TakeBack caller={caller} instance={instance} volume={volume} path={path} at={past.at} />
  );
  return (
    <PageSection id="inside" name={name} note={note}>
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
                <PathLinks place={place} volume={volume} folder={folder} />
                <SearchForm place={place} query={{ ...query, path }} />
              </div>
              {past !== undefined ? null : blocked !== null ? (
                <DisabledAction id="write" label="Upload" whyNot={blocked} quiet />
              ) : (
                <FileBar
                  key={`${volume}${path}`}
                  id={id}
                  volume={volume}
                  folder={folder}
                  uploadTo={`/sandboxes/${id}/upload`}
                  actions={{
                    makeFile: createTextFile.bind(null, id, volume, folder),
                    makeFolder: createFolder.bind(null, id, volume, folder),
                  }}
                  wakes={wakeNote('write', instance)}
                />
              )}
              {flash?.kind === 'refusal' && <Outcome outcome={{ ok: false, says: flash.says, hint: flash.hint }} />}
            </div>
          }
        >
          <div className="mt-4 grid gap-6 lg:grid-cols-[minmax(0,19rem)_minmax(0,1fr)]">
            <nav className="min-w-0" aria-label="Files">
              <FileBrowser
                key={`${volume}${past?.at}`}
                place={place}
                volume={volume}
                folders={folders}
                openPath={path}
              />
            </nav>
            <div className="min-w-0">
              {found !== null ? (
                <SearchHits place={place} query={{ ...query, path }} found={found} />
              ) : file === null ? (
                open !== undefined && (
                  <FolderPane place={place} volume={volume} folder={open} writable={writable} past={takeBack} />
                )
              ) : 'opened' in file ? (
                <FilePane
                  place={place}
                  volume={volume}
                  file={file}
                  writable={writable}
                  times={timesOf(instance, past)}
                  past={takeBack}
                />
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
