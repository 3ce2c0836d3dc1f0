'use client';
/**
 * Adds to the open folder: uploads, a new text file, a new folder. Plain forms; with scripts, uploads show their
 * progress.
 */
import { useRef } from 'react';
import { chosenFiles } from './dropped-files.ts';
import { type EntryAction, EntryForm } from './entry-form.tsx';
import type { VolumeName } from './file-address.ts';
import { useFiles } from './files-provider.tsx';

export interface BarActions {
  makeFile: EntryAction;
  makeFolder: EntryAction;
}

/** Uploads one file, for a browser without scripts. */
function PlainUpload({ action, volume, folder }: { action: string; volume: VolumeName; folder: string }) {
  return (
    <details className="unfold act" name="put">
      <summary>Upload</summary>
      <form action={action} method="post" encType="multipart/form-data" className="my-3 grid max-w-2xl gap-3">
        <input type="hidden" name="volume" value={volume} />
        <input type="hidden" name="folder" value={folder} />
        <label className="flex items-center gap-2 text-small">
          <input type="checkbox" className="check" name="replace" value="1" />
          Replace a file of that name
        </label>
        <label className="field">
          <span className="field-name">File</span>
          <input className="input" type="file" name="file" required />
        </label>
        <div>
          <button type="submit" className="button button-ink">
            Upload it
          </button>
        </div>
      </form>
    </details>
  );
}

function Choose({ volume, folder }: { volume: VolumeName; folder: string }) {
  const { upload } = useFiles();
  const files = useRef<HTMLInputElement>(null);
  const whole = useRef<HTMLInputElement>(null);
  const take = (input: HTMLInputElement) => {
    upload(volume, folder, chosenFiles(input.files));
    input.value = '';
  };
  return (
    <>
      <button type="button" className="button button-quiet" onClick={() => files.current?.click()}>
        Upload
      </button>
      <button type="button" className="button button-quiet" onClick={() => whole.current?.click()}>
        Upload a folder
      </button>
      <input
        ref={files}
        type="file"
        multiple
        hidden
        aria-label="Files"
        onChange={(event) => take(event.currentTarget)}
      />
      <input
        ref={(input) => {
          whole.current = input;
          if (input !== null) input.webkitdirectory = true;
        }}
        type="file"
        hidden
        aria-label="A folder"
        onChange={(event) => take(event.currentTarget)}
      />
    </>
  );
}

export function FileBar({
  volume,
  folder,
  uploadTo,
  actions,
  wakes,
}: {
  volume: VolumeName;
  folder: string;
  /** The address of a plain upload. */
  uploadTo: string;
  actions: BarActions;
  /** A note that writing wakes the sandbox, or null. */
  wakes: string | null;
}) {
  const { ready } = useFiles();
  return (
    <div className="grid gap-1">
      <div className="flex flex-wrap items-start gap-2">
        {ready ? (
          <Choose volume={volume} folder={folder} />
        ) : (
          <PlainUpload action={uploadTo} volume={volume} folder={folder} />
        )}
        <EntryForm
          id="new-file"
          name="New file"
          field="Name of the new text file"
          value=""
          note={`In /${volume}${folder}`}
          button="Create it"
          doing="Creating it…"
          action={actions.makeFile}
          group="put"
        />
        <EntryForm
          id="new-folder"
          name="New folder"
          field="Name of the new folder"
          value=""
          note={`In /${volume}${folder}`}
          button="Make it"
          doing="Making it…"
          action={actions.makeFolder}
          group="put"
        />
      </div>
      <p className="text-small text-ink-3">
        {wakes}
        {wakes !== null && ready && ' '}
        {ready && 'Files can be dropped here.'}
      </p>
    </div>
  );
}
