/** What stands beside the tree: the open file, its editor, or the open folder; with what may be done with it. */
import Link from 'next/link';
import { FileActs } from '#components/files/file-acts.tsx';
import { addressOf, type Place, type Volume } from '#components/files/file-address.ts';
import { FileEditor } from '#components/files/file-editor.tsx';
import type { Folder } from '#components/files/file-tree.ts';
import { Preview } from '#components/files/preview.tsx';
import { Outcome } from '#components/ui/outcome.tsx';
import { remove, rename, save } from './file-actions.ts';
import type { OpenedFile } from './inside-reading.ts';

export function FilePane({
  place,
  volume,
  file,
  writable,
}: {
  place: Place;
  volume: Volume;
  file: OpenedFile;
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
        action={save.bind(null, id, volume, path)}
        done={addressOf(place, volume, path)}
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
              href={addressOf(place, volume, path, { edit: true })}
              prefetch={false}
              scroll={false}
              className="button button-quiet"
            >
              Edit
            </Link>
          )}
          <FileActs
            volume={volume}
            path={path}
            size={size}
            etag={etag}
            actions={{ rename: rename.bind(null, id, volume, path), remove: remove.bind(null, id, volume, path) }}
          />
        </div>
      )}
      {typeof edited === 'string' && (
        <Outcome outcome={{ ok: false, says: edited, hint: 'Download it, change it, and upload it again.' }} />
      )}
    </Preview>
  );
}

/** `folder`: null when it is not there. */
export function FolderPane({
  place,
  volume,
  folder,
  writable,
}: {
  place: Place;
  volume: Volume;
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
          <FileActs
            volume={volume}
            path={path}
            size={null}
            etag={null}
            actions={{ rename: rename.bind(null, id, volume, path), remove: remove.bind(null, id, volume, path) }}
          />
        </div>
      )}
    </div>
  );
}
