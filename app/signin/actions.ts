'use server';
/** Exchanging a link or a key for a session. */
import { redirect } from 'next/navigation';
import type { OutcomeWords } from '#components/outcome.tsx';
import { getHost } from '#lib/host.ts';
import { passOnCookies } from '../cookies.ts';
import { textOf } from '../form-values.ts';
import { safePath } from './safe-path.ts';

/** Signs in with the form's `token` or `key` and goes on, or says why not. */
export async function enter(_previous: OutcomeWords | null, form: FormData): Promise<OutcomeWords | null> {
  const token = textOf(form, 'token');
  const key = textOf(form, 'key');
  if (token === '' && key === '') return { ok: false, says: 'Paste the admin key first.' };
  const entered = await getHost().auth.signIn(token === '' ? { key } : { token });
  if (entered === null) {
    return token === ''
      ? { ok: false, says: 'That is not the admin key.', hint: 'Copy all of it, without the line’s end.' }
      : {
          ok: false,
          says: 'This link does not work any more.',
          hint: 'It works once, for a quarter of an hour. Use the key, or start the server again for a new link.',
        };
  }
  await passOnCookies(entered.setCookie);
  redirect(safePath(textOf(form, 'to')));
}
