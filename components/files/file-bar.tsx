'use client';
import { useRef } from 'react';
import { callMark, type MarkedCall } from '../calls/call-mark.ts';
/**
 * Adds to the open folder: uploads, a new text file, a new folder. Plain forms; with scripts, uploads show their
 * progress.
 */
import { WithCall } from '../calls/with-call.tsx';
import { chosenFiles } from './dropped-files.ts';
import { type EntryAction, EntryForm } from './entry-form.tsx';
import type { VolumeName } from './file-address.ts';
import { useFiles } from './files-provider.tsx';

export interface BarActions {
  makeFile: EntryAction;
  makeFolder: EntryAction;
}

/** Uploads one file, for a browser without scripts. */
function PlainUpload({
  action,
  id,
  volume,
  folder,
}: {
  action: string;
  id: string;
  volume: VolumeName;
  folder: string;
}) {
  return (
    <details className="unfold act" name="put">
      <summary>Upload</summary>
      <WithCall
        name="putFile"
        path={{ id, volume }}
        headers={{ 'if-none-match': '*' }}
        fields={{ file: { to: 'path', in: 'path', before: folder } }}
      >
        <form action={action} method="post" encType="multipart/form-data" className="my-3 grid max-w-2xl gap-3">
          <input type="hidden" name="volume" value={volume} />
          <input type="hidden" name="folder" value={folder} />
          <label className="flex items-center gap-2 text-small">
            <input type="checkbox" className="size-4 flex-none accent-ink" name="replace" value="1" />
            Replace a file of that name
          </label>
          <label className="block min-w-0">
            <span className="field-name">File</span>
            <input className="input" type="file" name="file" required />
          </label>
          <div>
            <button type="submit" className="button button-ink">
              Upload it
            </button>
          </div>
        </form>
      </WithCall>
    </details>
  );
}

function Choose({ id, volume, folder }: { id: string; volume: VolumeName; folder: string }) {
  const { upload } = useFiles();
  const files = useRef<HTMLInputElement>(null);
  const whole = useRef<HTMLInputElement>(null);
  const take = (input: HTMLInputElement) => {
    upload(volume, folder, chosenFiles(input.files));
    input.value = '';
  };
  const put: MarkedCall = {
    name: 'putFile',
    path: { id, volume, path: `${folder}FILE` },
    headers: { 'if-none-match': '*' },
  };
  return (
    <>
      <button type="button" className="button button-quiet" {...callMark(put)} onClick={() => files.current?.click()}>
        Upload
      </button>
      <button type="button" className="button button-quiet" {...callMark(put)} onClick={() => whole.current?.click()}>
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
  id,
  volume,
  folder,
  uploadTo,
  actions,
  wakes,
}: {
  id: string;
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
          <Choose id={id} volume={volume} folder={folder} />
        ) : (
          <PlainUpload action={uploadTo} id={id} volume={volume} folder={folder} />
        )}
        <WithCall
          name="putFile"
          path={{ id, volume }}
          headers={{ 'if-none-match': '*' }}
          fields={{ value: { to: 'path', in: 'path', before: folder } }}
        >
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
        </WithCall>
        <WithCall name="makeFolder" path={{ id, volume }} fields={{ value: { to: 'path', before: folder } }}>
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
        </WithCall>
      </div>
      <p className="text-small text-ink-3">
        {wakes !== null && `${wakes} `}
        {/* It has its room before the scripts run, so that nothing below moves. */}
        <span className={ready ? '' : 'invisible'}>Files and folders can be dropped anywhere on this page.</span>
      </p>
    </div>
  );
}
