/** Pictures of a page for somebody to look at, where `WB_TEST_SHOTS` names a folder for them (absolute). */
import { join } from 'node:path';
import type { Page } from '#peers/playwright.ts';

const SHOTS = process.env.WB_TEST_SHOTS;
const WIDTHS = [390, 1280, 1920] as const;

/** Takes the page as it is, in both themes and at each width, as `NAME-THEME-WIDTH.png`; elsewhere does nothing. */
export async function shoot(page: Page, name: string): Promise<void> {
  if (SHOTS === undefined) return;
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 });
      await page.screenshot({ path: join(SHOTS, `${name}-${colorScheme}-${width}.png`), fullPage: true });
    }
  }
}
