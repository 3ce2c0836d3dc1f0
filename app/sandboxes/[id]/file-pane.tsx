/** The pane beside the tree: the open file, its editor, or the open folder, with their controls. */
import Link from 'next/link';
import { type FilesPage, fileAddress, type VolumeName } from '#components/files/file-address.ts';
import { FileControls } from '#components/files/file-controls.tsx';
import { FileEditor } from '#components/files/file-editor.tsx';
import type { Folder } from '#components/files/file-tree.ts';
import { Preview } from '#components/files/preview.tsx';
import { Outcome } from '#components/ui/outcome.tsx';
import { removeEntry, renameEntry, saveFile } from './file-actions.ts';
import type { OpenFile } from './volume-reading.ts';

export function FilePane({
  place,
  volume,
  file,
  writable,
}: {
  place: FilesPage;
  volume: VolumeName;
  file: OpenFile;
  writable: boolean;
}) {
  const { opened, etag, edited } = file;
  const { path, size, preview } = opened;
  const { id } = place;
  if (writable && edited !== null && typeof edited !== 'string') {
    return (
      <FileEditor
        key={path}
        title={`/${volume}${path}`}
        {...edited}
        action={saveFile.bind(null, id, volume, path)}
        done={fileAddress(place, volume, path)}
      />
    );
  }
  const text = preview.kind !== 'image' && preview.kind !== 'hex';
  return (
    <Preview place={place} volume={volume} opened={opened}>
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

/** `folder`: null when it does not exist. */
export function FolderPane({
  place,
  volume,
  folder,
  writable,
}: {
  place: FilesPage;
  volume: VolumeName;
  folder: Folder;
  writable: boolean;
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
      {writable && path !== '/' && (
        <div className="flex flex-wrap items-start gap-2" key={`${volume}${path}`}>
          <FileControls
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
