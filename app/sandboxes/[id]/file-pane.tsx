/** The pane beside the tree: the open file, its editor, or the open folder, with their controls. */

import Link from 'next/link';
import type { ReactNode } from 'react';
import { WithCall } from '#components/calls/with-call.tsx';
import { type FilesPage, fileAddress, type VolumeName } from '#components/files/file-address.ts';
import { FileControls } from '#components/files/file-controls.tsx';
import { FileEditor } from '#components/files/file-editor.tsx';
import type { Folder } from '#components/files/file-tree.ts';
import { Preview } from '#components/files/preview.tsx';
import { sizeInWords } from '#components/ui/durations.ts';
import { LocalTime } from '#components/ui/local-time.tsx';
import { Outcome } from '#components/ui/outcome.tsx';
import { SCROLLABLE } from '#components/ui/scrollable.ts';
import { DatabaseView } from './database-view.tsx';
import { removeEntry, renameEntry, saveFile } from './file-actions.ts';
import type { OpenFile } from './volume-reading.ts';

export function FilePane({
  place,
  volume,
  file,
  writable,
  times,
  past,
}: {
  place: FilesPage;
  volume: VolumeName;
  file: OpenFile;
  writable: boolean;
  /** Pages that show it at other times. */
  times: readonly { name: string; place: FilesPage }[];
  /** What may be done with one of the past. */
  past: ReactNode;
}) {
  const { opened, etag, edited, database } = file;
  const { path, size, preview } = opened;
  const { id } = place;
  if (writable && edited !== null && typeof edited !== 'string') {
    return (
      <WithCall name="putFile" path={{ id, volume, path }} headers={{ 'if-match': etag }}>
        <FileEditor
          key={path}
          title={`/${volume}${path}`}
          {...edited}
          action={saveFile.bind(null, id, volume, path)}
          done={fileAddress(place, volume, path)}
        />
      </WithCall>
    );
  }
  const text = preview.kind !== 'image' && preview.kind !== 'hex' && preview.kind !== 'database';
  return (
    <Preview
      place={place}
      volume={volume}
      opened={opened}
      tables={database !== null && <DatabaseView place={place} volume={volume} path={path} database={database} />}
    >
      {times.length > 0 && (
        <p className="flex flex-wrap gap-x-4 gap-y-2 text-small">
          {times.map((time) => (
            <Link key={time.name} href={fileAddress(time.place, volume, path)} prefetch={false} scroll={false}>
              {time.name}
            </Link>
          ))}
        </p>
      )}
      {past}
      {writable && (
        <div className="flex flex-wrap items-start gap-2" key={`${volume}${path}`}>
          {text && (
            <Link
              href={fileAddress(place, volume, path, { edit: true })}
              prefetch={false}
              scroll={false}
              className="button button-quiet"
            >
              Edit
            </Link>
          )}
          <FileControls
            id={id}
            volume={volume}
            path={path}
            size={size}
            etag={etag}
            actions={{
              rename: renameEntry.bind(null, id, volume, path),
              remove: removeEntry.bind(null, id, volume, path),
            }}
          />
        </div>
      )}
      {typeof edited === 'string' && (
        <Outcome outcome={{ ok: false, says: edited, hint: 'Download it, change it, and upload it again.' }} />
      )}
    </Preview>
  );
}

/** What lies in the folder, with sizes and the times of the last changes. */
function FolderList({ place, volume, folder }: { place: FilesPage; volume: VolumeName; folder: Folder }) {
  const { path, items } = folder;
  return (
    <div className="max-h-[36rem] overflow-auto" {...SCROLLABLE}>
      <table className="ledger cells w-full">
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col" className="text-right">
              Size
            </th>
            {/* As wide as a moment with its zone, or as half of it, which leaves when it becomes the reader's. */}
            <th scope="col" className="w-[29ch] max-sm:w-[15ch]">
              Changed
            </th>
          </tr>
        </thead>
        <tbody>
          {items.map(({ name, kind, size, mtime }) => {
            const isFolder = kind === 'dir';
            return (
              <tr key={name}>
                <td className="[overflow-wrap:anywhere]">
                  <Link
                    href={fileAddress(place, volume, `${path}${name}${isFolder ? '/' : ''}`)}
                    prefetch={false}
                    scroll={false}
                  >
                    {isFolder ? `${name}/` : name}
                  </Link>
                </td>
                <td className="text-right whitespace-nowrap">{kind === 'file' ? sizeInWords(size) : kind}</td>
                <td className="tabular-nums max-sm:[&_time]:whitespace-normal">
                  {mtime > 0 ? <LocalTime at={mtime} /> : '–'}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

/** `folder`: null when it does not exist. */
export function FolderPane({
  place,
  volume,
  folder,
  writable,
  past,
}: {
  place: FilesPage;
  volume: VolumeName;
  folder: Folder;
  writable: boolean;
  past: ReactNode;
}) {
  const { path, total } = folder;
  const { id } = place;
  return (
    <div className="grid content-start gap-3 rounded border border-dashed border-rule-2 px-5 py-4">
      <p className="text-ink-2">
        {total === 0
          ? `This folder is empty.${writable ? ' Upload its first file above, or make one.' : ''}`
          : `${total.toLocaleString('en')} ${total === 1 ? 'thing lies' : 'things lie'} in this folder. Choose a file to look at it.`}
      </p>
      {folder.items.length > 0 && <FolderList place={place} volume={volume} folder={folder} />}
      {past}
      {writable && path !== '/' && (
        <div className="flex flex-wrap items-start gap-2" key={`${volume}${path}`}>
          <FileControls
            id={id}
            volume={volume}
            path={path}
            size={null}
            etag={null}
            actions={{
              rename: renameEntry.bind(null, id, volume, path),
              remove: removeEntry.bind(null, id, volume, path),
            }}
          />
        </div>
      )}
    </div>
  );
}
