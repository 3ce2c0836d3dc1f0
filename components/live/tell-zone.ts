/** Tells the server the browser's time zone by a cookie, so that it prints every later page in it. */

const YEAR_SECONDS = 365 * 86_400;

/** The layout says what the cookie is called, and by its prefix whether it must be `Secure`. */
export function tellZone(): void {
  const name = document.documentElement.dataset.zoneCookie;
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  // A browser that hides its zone says none.
  if (name === undefined || !timeZone) return;
  const pair = `${name}=${encodeURIComponent(timeZone)}`;
  if (document.cookie.split('; ').includes(pair)) return;
  const secure = name.startsWith('__Host-') ? '; secure' : '';
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is not everywhere, and answers too late.
  document.cookie = `${pair}; path=/; max-age=${YEAR_SECONDS}; samesite=lax${secure}`;
}
