/** The visitor's theme, in a cookie so that the first paint is right. */
import type { CookieRules } from '#lib/auth/cookies.ts';

export type Theme = 'light' | 'dark';

export function isTheme(value: unknown): value is Theme {
  return value === 'light' || value === 'dark';
}

/** The name of the cookie. */
export function themeCookie({ prefix }: CookieRules): string {
  return `${prefix}.theme`;
}
