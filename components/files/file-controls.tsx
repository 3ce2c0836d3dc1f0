'use client';
import { useActionState, useState } from 'react';
import { callMark, type MarkedCall } from '../calls/call-mark.ts';
/** The controls of one file or folder: rename or move, and delete, with undo where the file is small enough. */
import { WithCall } from '../calls/with-call.tsx';
import { type ActionOutcome, Outcome } from '../ui/outcome.tsx';
import { Submit } from '../ui/submit.tsx';
import { type EntryAction, EntryForm } from './entry-form.tsx';
import type { VolumeName } from './file-address.ts';
import { UNDO_BYTES } from './file-calls.ts';
import { useFiles } from './files-provider.tsx';

type RemoveAction = (previous: ActionOutcome | null, form: FormData) => Promise<ActionOutcome | null>;

export interface FileActions {
  rename: EntryAction;
  remove: RemoveAction;
}

export function FileControls({
  id,
  volume,
  path,
  size,
  etag,
  actions,
}: {
  id: string;
  volume: VolumeName;
  /** A folder's ends with a slash. */
  path: string;
  /** Bytes; null for a folder. */
  size: number | null;
  /** The version that the page shows; null for a folder. */
  etag: string | null;
  actions: FileActions;
}) {
  const { ready, remove } = useFiles();
  const [outcome, submit] = useActionState(actions.remove, null);
  const [busy, setBusy] = useState(false);
  const folder = size === null;
  const bare = path.replace(/\/$/, '');
  const removal: MarkedCall =
    etag === null
      ? { name: 'deleteFolder', path: { id, volume }, query: { path: bare, recursive: 'true' } }
      : { name: 'deleteFile', path: { id, volume, path }, headers: { 'if-match': etag } };
  const undoable = ready && !folder && size <= UNDO_BYTES;
  return (
    <>
      <WithCall name="moveFile" path={{ id, volume }} body={{ from: bare }} fields={{ value: { to: 'to' } }}>
        <EntryForm
          id="rename"
          name="Rename or move"
          field="Its new path"
          value={bare}
          note={`From the top of ${volume}. Nothing is overwritten.`}
          button="Move it"
          doing="Moving it…"
          action={actions.rename}
          group="do"
        />
      </WithCall>
      {undoable ? (
        <button
          type="button"
          className="button button-quiet"
          {...callMark(removal)}
          aria-busy={busy}
          onClick={async () => {
            if (busy) return;
            setBusy(true);
            await remove(volume, path);
            setBusy(false);
          }}
        >
          {busy ? 'Deleting it…' : 'Delete file'}
        </button>
      ) : (
        <details className="unfold act" name="do" open={outcome !== null || undefined}>
          <summary>Delete…</summary>
          <WithCall {...removal}>
            <form action={submit} className="my-3 grid gap-3">
              {etag !== null && <input type="hidden" name="etag" value={etag} />}
              <p>
                {folder ? 'The folder and everything in it will be gone.' : 'The file will be gone.'} This cannot be
                undone.
              </p>
              <div>
                <Submit className="button button-fault" doing="Deleting it…">
                  {folder ? 'Delete the folder' : 'Delete the file'}
                </Submit>
              </div>
              <Outcome outcome={outcome} />
            </form>
          </WithCall>
        </details>
      )}
    </>
  );
}
