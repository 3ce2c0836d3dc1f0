'use server';
/**
 * What is done to the files of a sandbox from its page, by plain forms. Each answers with what stood against it, or
 * leads on.
 */
import { redirect } from 'next/navigation';
import type { EntryState } from '#components/files/entry-form.tsx';
import { addressOf, type Volume } from '#components/files/file-address.ts';
import type { EditState } from '#components/files/file-editor.tsx';
import { folderOf, parentOf } from '#components/files/file-tree.ts';
import type { OutcomeWords } from '#components/ui/outcome.tsx';
import type { Caller } from '#lib/auth/caller.ts';
import { isWinterdockError } from '#lib/base/errors.ts';
import { getHost } from '#lib/host/host.ts';
import { requireCaller } from '../../caller.ts';
import { expectTexts, textOf, typedIn } from '../../form-values.ts';
import { problemOf, wordsOf } from '../../problem.ts';

const AT = '/sandboxes';

function refusalOf(error: unknown, caller: Caller): OutcomeWords {
  const taken = isWinterdockError(error) && error.code === 'precondition_failed';
  if (taken) return { ok: false, says: 'There is something of that name already.', hint: 'Choose another name.' };
  return { ok: false, ...wordsOf(problemOf(error, caller)) };
}

/** The path that a typed name means in `folder`; '' for none. */
function pathIn(folder: string, typed: string): string {
  const name = typed.replace(/^\/+|\/+$/g, '');
  return name === '' ? '' : folder + name;
}

const NO_NAME: OutcomeWords = { ok: false, says: 'It needs a name.' };

/** Makes what `make` makes at the path that was typed, which may not be taken, and leads to `place` of it. */
async function makeEntry(
  { id, folder, form }: { id: string; folder: string; form: FormData },
  make: (caller: Caller, path: string) => Promise<unknown>,
  place: (path: string) => string,
): Promise<EntryState> {
  const caller = await requireCaller(`${AT}/${id}`);
  const value = textOf(form, 'value');
  const path = pathIn(folder, value);
  if (path === '') return { value, problem: NO_NAME };
  try {
    await make(caller, path);
  } catch (error) {
    return { value, problem: refusalOf(error, caller) };
  }
  redirect(place(path));
}

/** Makes an empty text file in `folder` and leads to its editor. */
export async function makeFile(
  id: string,
  volume: Volume,
  folder: string,
  _previous: EntryState,
  form: FormData,
): Promise<EntryState> {
  expectTexts(id, volume, folder);
  return makeEntry(
    { id, folder, form },
    (caller, path) => getHost().operations.putFile(caller, id, volume, path, new Uint8Array(), { ifNoneMatch: '*' }),
    (path) => addressOf({ id, at: AT }, volume, path, { edit: true }),
  );
}

/** Makes a folder in `folder` and leads to it. */
export async function makeFolder(
  id: string,
  volume: Volume,
  folder: string,
  _previous: EntryState,
  form: FormData,
): Promise<EntryState> {
  expectTexts(id, volume, folder);
  return makeEntry(
    { id, folder, form },
    (caller, path) => getHost().operations.makeFolder(caller, id, volume, path),
    (path) => addressOf({ id, at: AT }, volume, `${path}/`),
  );
}

/** Moves what is at `path` (a folder's ends with a slash) to the typed path, and leads to it there. */
export async function rename(
  id: string,
  volume: Volume,
  path: string,
  _previous: EntryState,
  form: FormData,
): Promise<EntryState> {
  expectTexts(id, volume, path);
  const caller = await requireCaller(`${AT}/${id}`);
  const value = textOf(form, 'value');
  const to = pathIn('/', value);
  if (to === '') return { value, problem: NO_NAME };
  try {
    await getHost().operations.moveFile(caller, id, volume, path.replace(/\/$/, ''), to);
  } catch (error) {
    return { value, problem: { ok: false, ...wordsOf(problemOf(error, caller)) } };
  }
  redirect(addressOf({ id, at: AT }, volume, path.endsWith('/') ? `${to}/` : to));
}

/**
 * Deletes a folder with all in it, or a file if it is still the version that the form was made for; leads to the folder
 * above.
 */
export async function remove(
  id: string,
  volume: Volume,
  path: string,
  _previous: OutcomeWords | null,
  form: FormData,
): Promise<OutcomeWords | null> {
  expectTexts(id, volume, path);
  const caller = await requireCaller(`${AT}/${id}`);
  const { operations } = getHost();
  const folder = path.endsWith('/');
  try {
    if (folder) await operations.deleteFolder(caller, id, volume, path, true);
    else await operations.deleteFile(caller, id, volume, path, { ifMatch: textOf(form, 'etag') });
  } catch (error) {
    if (isWinterdockError(error) && error.code === 'precondition_failed') {
      return { ok: false, says: 'Somebody else changed it meanwhile. Nothing was deleted.', hint: 'Look at it again.' };
    }
    return { ok: false, ...wordsOf(problemOf(error, caller)) };
  }
  redirect(addressOf({ id, at: AT }, volume, folder ? parentOf(path) : folderOf(path)));
}

/** The ETag of what is at `path` now; null when there is nothing. */
async function etagNow(caller: Caller, id: string, volume: Volume, path: string): Promise<string | null> {
  try {
    return (await getHost().operations.fileStat(caller, id, volume, path)).etag;
  } catch (error) {
    if (isWinterdockError(error) && error.code === 'not_found') return null;
    throw error;
  }
}

/** Saves an edited text over the version that was opened, or over the newer one that the visitor was told of. */
export async function save(
  id: string,
  volume: Volume,
  path: string,
  previous: EditState,
  form: FormData,
): Promise<EditState> {
  expectTexts(id, volume, path);
  const caller = await requireCaller(`${AT}/${id}`);
  const text = typedIn(form, 'text')?.replace(/\r\n?/g, '\n') ?? previous.text;
  expectTexts(id, volume, path, text);
  const etag = textOf(form, 'etag');
  const over = textOf(form, 'over');
  const content = new TextEncoder().encode(textOf(form, 'windows') === '1' ? text.replaceAll('\n', '\r\n') : text);
  try {
    const ifMatch = over === '' ? etag : over;
    const written = await getHost().operations.putFile(caller, id, volume, path, content, { ifMatch });
    return { text, etag: written.etag, newer: null, outcome: { ok: true, says: 'It is saved.' } };
  } catch (error) {
    if (!isWinterdockError(error) || error.code !== 'precondition_failed') {
      return { text, etag, newer: null, outcome: { ok: false, ...wordsOf(problemOf(error, caller)) } };
    }
    const newer = await etagNow(caller, id, volume, path);
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
