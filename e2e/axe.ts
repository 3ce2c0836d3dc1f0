/** What axe finds on a page, in the light and in the dark. Knows nothing of the pages. */

import type { Page } from '#peers/playwright.ts';
import { AxeBuilder } from '#peers/playwright.ts';

const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/**
 * Every flaw that axe finds in either theme of the page as it stands, in words; the page is left in the light.
 * Describing what passed, and the style sheets that only experimental rules read, would take as long as looking.
 */
export async function flaws(page: Page): Promise<string[]> {
  const found: string[] = [];
  for (const colorScheme of ['dark', 'light'] as const) {
    // A message that fades in has the contrast of its half-way colour for a moment.
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    const { violations } = await new AxeBuilder({ page })
      .options({ runOnly: { type: 'tag', values: TAGS }, resultTypes: ['violations'], preload: false })
      // The other mode opens a page of its own to put the frames of a document together.
      .setLegacyMode()
      .analyze();
    for (const { id, nodes } of violations) {
      for (const { html, failureSummary } of nodes) {
        found.push(`${id} in the ${colorScheme}: ${html.slice(0, 300)}\n${failureSummary}`);
      }
    }
  }
  await page.emulateMedia({ reducedMotion: null });
  return found;
}
