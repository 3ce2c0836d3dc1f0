/** What axe finds on a page, in the light and in the dark. Knows nothing of the pages. */
import { readFileSync } from 'node:fs';
import { AXE_PATH, type axe, type Page } from '#peers/playwright.ts';

/** To describe what passed, and to read the style sheets for experimental rules, would take as long as to look. */
const OPTIONS: axe.RunOptions = {
  runOnly: { type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] },
  resultTypes: ['violations'],
  preload: false,
};

const SCRIPT = readFileSync(AXE_PATH, 'utf8');

/** The page's own `window`, once the script has run in it. */
type WithAxe = typeof globalThis & { axe?: typeof axe };

type Theme = 'light' | 'dark';

/** Every flaw that axe finds in the themes of the page as it stands, in words; the page is left in the last of them. */
export async function flaws(page: Page, themes: readonly Theme[] = ['dark', 'light']): Promise<string[]> {
  const found: string[] = [];
  // The script is large, and quicker the second time: it stays in the page for both themes.
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(SCRIPT);
  for (const colorScheme of themes) {
    // A message that fades in has the contrast of its half-way colour for a moment.
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    const violations = await page.evaluate(
      async (options) => (await (globalThis as WithAxe).axe?.run(document, options))?.violations,
      OPTIONS,
    );
    if (violations === undefined) throw new Error('The page was left while axe looked at it.');
    for (const { id, nodes } of violations) {
      for (const { html, failureSummary } of nodes) {
        found.push(`${id} in the ${colorScheme}: ${html.slice(0, 300)}\n${failureSummary}`);
      }
    }
  }
  await page.emulateMedia({ reducedMotion: null });
  return found;
}
