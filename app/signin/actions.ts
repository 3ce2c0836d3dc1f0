'use server';
/** Server actions that sign in: by password, by link, by invitation, by the admin key. */
import { headers } from 'next/headers';
import { redirect } from 'next/navigation';
import type { ActionOutcome } from '#components/ui/outcome.tsx';
import { requestIdOf } from '#lib/auth/header.ts';
import type { SignInRequest } from '#lib/auth/sign-ins.ts';
import { isWinterdockError } from '#lib/base/errors.ts';
import { emailSchema, passwordSchema, personNameSchema } from '#lib/contract/schema/access.ts';
import { getHost } from '#lib/host/host.ts';
import { toProblem } from '#lib/http/problem.ts';
import { currentAddress } from '../caller.ts';
import { passOnCookies } from '../cookies.ts';
import { rawField, textField } from '../form-values.ts';
import type { JoinField, JoinState } from './join-form.tsx';
import type { EnterOutcome } from './key-form.tsx';
import { safePath } from './safe-path.ts';

type Entered = { setCookie: string[] } | null;

const USED_UP = {
  ok: false,
  says: 'This link does not work any more.',
  hint: 'A link works once and expires soon. Ask for a new one; a restart of the server prints one.',
};

async function visitor(): Promise<SignInRequest> {
  const sent = await headers();
  return { address: await currentAddress(), agent: sent.get('user-agent'), requestId: requestIdOf(sent) };
}

/** A password as typed: spaces are part of it. */
const passwordOf = (form: FormData, name: string) => rawField(form, name) ?? '';

/** Runs a sign-in; returns a refusal in words. */
async function attempt(
  enter: (visitor: SignInRequest) => Promise<Entered>,
  wrong: ActionOutcome,
): Promise<Entered | ActionOutcome> {
  try {
    return (await enter(await visitor())) ?? wrong;
  } catch (error) {
    if (!isWinterdockError(error) || error.code === 'internal') throw error;
    const { detail, hint } = toProblem(error, '');
    return { ok: false, says: detail, hint };
  }
}

/** Signs in with the form's password, `token` or `key` and redirects, or returns the refusal. */
export async function signIn(_previous: EnterOutcome | null, form: FormData): Promise<EnterOutcome | null> {
  const { signIns } = getHost().auth;
  const token = textField(form, 'token');
  const key = textField(form, 'key');
  const email = textField(form, 'email');
  const password = passwordOf(form, 'password');
  let answer: Entered | ActionOutcome;
  if (token !== '') {
    const typed = passwordOf(form, 'new-password');
    const newPassword = typed === '' ? undefined : passwordSchema.safeParse(typed);
    if (newPassword?.success === false) {
      return { ok: false, says: `The new password ${newPassword.error.issues[0]?.message ?? 'will not do'}.` };
    }
    answer = await attempt((from) => signIns.signIn({ token, newPassword: newPassword?.data }, from), USED_UP);
  } else if (key !== '') {
    answer = await attempt((from) => signIns.signIn({ key }, from), {
      ok: false,
      says: 'That is not the admin key.',
      hint: 'Copy all of it, without the line’s end.',
    });
  } else if (rawField(form, 'key') !== null) {
    return { ok: false, says: 'Paste the admin key first.' };
  } else if (email === '' || password === '') {
    return { ok: false, says: 'Give your e-mail address and your password.', email };
  } else {
    answer = await attempt((from) => signIns.signIn({ email, password }, from), {
      ok: false,
      says: 'This address and this password do not belong together.',
      hint: 'If you forgot your password, ask an admin for a new invitation, or use the link that the server prints at its start.',
    });
  }
  if (answer === null || 'ok' in answer) return answer === null ? null : { ...answer, email };
  await passOnCookies(answer.setCookie);
  redirect(safePath(textField(form, 'to')));
}

/** Creates the account that a link offers and opens the console, or returns the complaints by field. */
export async function acceptInvitation(_previous: JoinState, form: FormData): Promise<JoinState> {
  const values = { email: textField(form, 'email'), name: textField(form, 'name') };
  const parsed = {
    email: emailSchema.safeParse(values.email),
    name: personNameSchema.safeParse(values.name),
    password: passwordSchema.safeParse(passwordOf(form, 'password')),
  };
  const errors: Partial<Record<JoinField, string>> = {};
  for (const field of ['email', 'name', 'password'] as const) {
    const { error } = parsed[field];
    if (error !== undefined) errors[field] = error.issues[0]?.message ?? 'will not do';
  }
  if (values.name === '') errors.name = 'How shall others see you?';
  const { email, name, password } = parsed;
  if (!email.success || !name.success || !password.success) return { values, errors, problem: null };
  const token = textField(form, 'token');
  const person = { email: email.data, name: name.data, password: password.data };
  const answer = await attempt((from) => getHost().auth.signIns.join(token, person, from), USED_UP);
  if (answer === null || 'ok' in answer) return { values, errors: {}, problem: answer };
  await passOnCookies(answer.setCookie);
  redirect('/');
}
