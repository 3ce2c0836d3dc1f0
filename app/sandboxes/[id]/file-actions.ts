'use server';
/** Server actions for a sandbox's files, by plain forms. Each returns the refusal, or redirects to the result. */
import { redirect } from 'next/navigation';
import type { EntryState } from '#components/files/entry-form.tsx';
import { fileAddress, type VolumeName } from '#components/files/file-address.ts';
import type { EditState } from '#components/files/file-editor.tsx';
import { folderOf, parentFolder } from '#components/files/file-tree.ts';
import type { ActionOutcome } from '#components/ui/outcome.tsx';
import type { Caller } from '#lib/auth/caller.ts';
import { isWinterdockError } from '#lib/base/errors.ts';
import type { InstanceId } from '#lib/base/ids.ts';
import { getHost } from '#lib/host/host.ts';
import { parseVfsPath, type VfsPath } from '#lib/vfs/paths.ts';
import { parseVolume } from '#lib/vfs/volumes.ts';
import { requireCaller } from '../../caller.ts';
import { boundInstanceId, expectTexts, rawField, textField } from '../../form-values.ts';
import { problemInWords, problemOf } from '../../problem.ts';

function refusalOf(error: unknown, caller: Caller): ActionOutcome {
  const taken = isWinterdockError(error) && error.code === 'precondition_failed';
  if (taken) return { ok: false, says: 'There is something of that name already.', hint: 'Choose another name.' };
  return { ok: false, ...problemInWords(problemOf(error, caller)) };
}

/** The path of a typed name in `folder`; '' for an empty name. */
function pathIn(folder: string, typed: string): string {
  const name = typed.replace(/^\/+|\/+$/g, '');
  return name === '' ? '' : folder + name;
}

const NO_NAME: ActionOutcome = { ok: false, says: 'It needs a name.' };

/** Creates something at the typed path, which must be free, and redirects to `place` of it. */
async function makeEntry(
  { id, folder, form }: { id: InstanceId; folder: string; form: FormData },
  make: (caller: Caller, path: VfsPath) => Promise<unknown>,
  place: (path: string) => string,
): Promise<EntryState> {
  const caller = await requireCaller(`/sandboxes/${id}`);
  const value = textField(form, 'value');
  const path = pathIn(folder, value);
  if (path === '') return { value, problem: NO_NAME };
  try {
    await make(caller, parseVfsPath(path));
  } catch (error) {
    return { value, problem: refusalOf(error, caller) };
  }
  redirect(place(path));
}

/** Creates an empty text file in `folder` and opens its editor. */
export async function createTextFile(
  bound: string,
  volume: VolumeName,
  folder: string,
  _previous: EntryState,
  form: FormData,
): Promise<EntryState> {
  const id = boundInstanceId(bound);
  expectTexts(volume, folder);
  return makeEntry(
    { id, folder, form },
    (caller, path) =>
      getHost().operations.putFile(caller, id, parseVolume(volume), path, new Uint8Array(), { ifNoneMatch: '*' }),
    (path) => fileAddress({ id }, volume, path, { edit: true }),
  );
}

/** Creates a folder in `folder` and opens it. */
export async function createFolder(
  bound: string,
  volume: VolumeName,
  folder: string,
  _previous: EntryState,
  form: FormData,
): Promise<EntryState> {
  const id = boundInstanceId(bound);
  expectTexts(volume, folder);
  return makeEntry(
    { id, folder, form },
    (caller, path) => getHost().operations.makeFolder(caller, id, parseVolume(volume), { path }),
    (path) => fileAddress({ id }, volume, `${path}/`),
  );
}

/** Moves the entry at `path` (a folder's ends with a slash) to the typed path and opens it there. */
export async function renameEntry(
  bound: string,
  volume: VolumeName,
  path: string,
  _previous: EntryState,
  form: FormData,
): Promise<EntryState> {
  const id = boundInstanceId(bound);
  expectTexts(volume, path);
  const caller = await requireCaller(`/sandboxes/${id}`);
  const value = textField(form, 'value');
  const to = pathIn('/', value);
  if (to === '') return { value, problem: NO_NAME };
  try {
    const source = parseVfsPath(path.replace(/\/$/, ''));
    await getHost().operations.moveFile(caller, id, parseVolume(volume), { from: source, to: parseVfsPath(to) });
  } catch (error) {
    return { value, problem: { ok: false, ...problemInWords(problemOf(error, caller)) } };
  }
  redirect(fileAddress({ id }, volume, path.endsWith('/') ? `${to}/` : to));
}

/** Deletes a folder with its content, or a file if it is still the version on the page. Opens the parent folder. */
export async function removeEntry(
  bound: string,
  volume: VolumeName,
  path: string,
  _previous: ActionOutcome | null,
  form: FormData,
): Promise<ActionOutcome | null> {
  const id = boundInstanceId(bound);
  expectTexts(volume, path);
  const caller = await requireCaller(`/sandboxes/${id}`);
  const { operations } = getHost();
  const folder = path.endsWith('/');
  try {
    const [from, entry] = [parseVolume(volume), parseVfsPath(path)];
    if (folder) await operations.deleteFolder(caller, id, from, { path: entry, recursive: 'true' });
    else await operations.deleteFile(caller, id, from, entry, { ifMatch: textField(form, 'etag') });
  } catch (error) {
    if (isWinterdockError(error) && error.code === 'precondition_failed') {
      return { ok: false, says: 'Somebody else changed it meanwhile. Nothing was deleted.', hint: 'Look at it again.' };
    }
    return { ok: false, ...problemInWords(problemOf(error, caller)) };
  }
  redirect(fileAddress({ id }, volume, folder ? parentFolder(path) : folderOf(path)));
}

/** The present ETag of the file at `path`; null when there is none. */
async function etagNow(caller: Caller, id: InstanceId, volume: VolumeName, path: VfsPath): Promise<string | null> {
  try {
    return (await getHost().operations.fileStat(caller, id, volume, path)).etag;
  } catch (error) {
    if (isWinterdockError(error) && error.code === 'not_found') return null;
    throw error;
  }
}

/** Saves an edited text over the version that was opened, or over a newer one that the visitor was told of. */
export async function saveFile(
  bound: string,
  volume: VolumeName,
  path: string,
  previous: EditState,
  form: FormData,
): Promise<EditState> {
  const id = boundInstanceId(bound);
  expectTexts(volume, path);
  const caller = await requireCaller(`/sandboxes/${id}`);
  const text = rawField(form, 'text')?.replace(/\r\n?/g, '\n') ?? previous.text;
  expectTexts(text);
  const [into, file] = [parseVolume(volume), parseVfsPath(path)];
  const etag = textField(form, 'etag');
  const over = textField(form, 'over');
  const content = new TextEncoder().encode(textField(form, 'windows') === '1' ? text.replaceAll('\n', '\r\n') : text);
  try {
    const ifMatch = over === '' ? etag : over;
    const written = await getHost().operations.putFile(caller, id, into, file, content, { ifMatch });
    return { text, etag: written.etag, newer: null, outcome: { ok: true, says: 'It is saved.' } };
  } catch (error) {
    if (!isWinterdockError(error) || error.code !== 'precondition_failed') {
      return { text, etag, newer: null, outcome: { ok: false, ...problemInWords(problemOf(error, caller)) } };
    }
    const newer = await etagNow(caller, id, into, file);
    const says =
      newer === null
        ? 'Somebody else deleted the file since you opened it.'
        : 'Somebody else changed the file since you opened it.';
    const hint =
      newer === null
        ? 'Your text is still here, and not saved. Copy it into a new file.'
        : 'Your text is still here, and not saved. Look at the newer one in another window, then decide.';
    return { text, etag, newer, outcome: { ok: false, says, hint } };
  }
}
