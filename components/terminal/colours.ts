/** The console's colours as an emulator theme, read from the page, and again when the theme changes. */
import type { ITheme } from '@xterm/xterm';

const TOKENS: Readonly<Partial<Record<keyof ITheme, string>>> = {
  background: '--sheet',
  foreground: '--ink',
  cursor: '--ink',
  cursorAccent: '--sheet',
  selectionBackground: '--blueprint',
  selectionForeground: '--on-colour',
  scrollbarSliderBackground: '--rule-2',
  scrollbarSliderHoverBackground: '--ink-3',
  scrollbarSliderActiveBackground: '--ink-2',
  black: '--ink',
  red: '--fault-ink',
  green: '--good-ink',
  yellow: '--ansi-yellow',
  blue: '--ansi-blue',
  magenta: '--ansi-magenta',
  cyan: '--ansi-cyan',
  white: '--ink-2',
  brightBlack: '--ink-3',
  brightRed: '--fault-ink',
  brightGreen: '--good-ink',
  brightYellow: '--ansi-yellow',
  brightBlue: '--ansi-blue',
  brightMagenta: '--ansi-magenta',
  brightCyan: '--ansi-cyan',
  brightWhite: '--ink',
};

/** The present colours of `element`. */
export function coloursOf(element: HTMLElement): ITheme {
  const probe = document.createElement('span');
  element.append(probe);
  const theme = Object.fromEntries(
    Object.entries(TOKENS).map(([name, token]) => {
      probe.style.color = `var(${token})`;
      return [name, getComputedStyle(probe).color];
    }),
  );
  probe.remove();
  return theme;
}

/** Calls `change` whenever the page's theme may have changed, until the returned function is called. */
export function onThemeChange(change: () => void): () => void {
  const system = matchMedia('(prefers-color-scheme: dark)');
  const chosen = new MutationObserver(change);
  chosen.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] });
  system.addEventListener('change', change);
  return () => {
    chosen.disconnect();
    system.removeEventListener('change', change);
  };
}
