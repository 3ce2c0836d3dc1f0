'use server';
/** Server actions of the layout: sign out, and choose the theme. */
import { cookies, headers } from 'next/headers';
import { redirect } from 'next/navigation';
import { cookieRules } from '#lib/auth/cookies.ts';
import { getHost } from '#lib/host/host.ts';
import { passOnCookies } from './cookies.ts';
import { rawField } from './form-values.ts';
import { isTheme, themeCookie } from './theme.ts';

const YEAR_SECONDS = 365 * 86_400;

/** Ends the session and leads to the sign-in page. */
export async function signOut(): Promise<void> {
  const { setCookie } = await getHost().auth.signOut(await headers());
  await passOnCookies(setCookie);
  redirect('/signin');
}

/** Stores the chosen theme in a cookie; `system` removes it. */
export async function chooseTheme(form: FormData): Promise<void> {
  const theme = rawField(form, 'theme');
  const jar = await cookies();
  const rules = cookieRules(getHost().config);
  const cookie = {
    name: themeCookie(rules),
    path: '/',
    secure: rules.secure,
    sameSite: 'lax',
    httpOnly: true,
  } as const;
  if (isTheme(theme)) jar.set({ ...cookie, value: theme, maxAge: YEAR_SECONDS });
  else jar.set({ ...cookie, value: '', maxAge: 0 });
}
