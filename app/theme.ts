/** The theme a visitor chose, kept in a cookie so that the first paint is right. */
import type { CookieRules } from '#lib/auth/cookies.ts';

export type Theme = 'light' | 'dark';

export function isTheme(value: unknown): value is Theme {
  return value === 'light' || value === 'dark';
}

/** Name of the cookie that holds it. */
export function themeCookie({ prefix }: CookieRules): string {
  return `${prefix}.theme`;
}
