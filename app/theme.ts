/** The theme a visitor chose, kept in a cookie so that the first paint is right. */
export const THEME_COOKIE = 'winterdock.theme';

export type Theme = 'light' | 'dark';

export function isTheme(value: unknown): value is Theme {
  return value === 'light' || value === 'dark';
}
