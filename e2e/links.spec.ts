/**
 * Links that let nobody in any more: what they say when they are opened, with and without JavaScript, on every screen.
 */
import { flaws } from './axe.ts';
import { expect, openSession, test, visited } from './visited.ts';

/** Where pictures of the page are kept for whoever wants to look at it. */
const PICTURES = process.env.WB_TEST_PICTURES;

test.describe('without JavaScript', () => {
  test.use({ javaScriptEnabled: false });

  test('a made-up link says so when it is opened, is answered as gone, and leads on', async ({ page, complaints }) => {
    complaints.expected.push(/status of 410/);
    for (const token of ['made-up', 'x'.repeat(5000), '%00', 'a%2Fb']) {
      const answer = await page.goto(`/signin?token=${token}`);
      expect([token, answer?.status()]).toEqual([token, 410]);
      await expect(page.getByRole('heading', { level: 1 })).toHaveText('This link does not work any more');
      await expect(page.getByText('This server does not know it.')).toBeVisible();
      await expect(page.getByRole('button', { name: /Sign in|Create/ })).toHaveCount(0);
    }
    await page.getByRole('link', { name: 'sign in with your password' }).click();
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('Sign in');
  });

  test('a link that was not used yet is a page like any other', async ({ page }) => {
    expect((await page.goto('/signin?token='))?.status()).toBe(200);
    expect(visited().link).toContain('/signin?token=');
  });
});

test('who is signed in and opens an old link is told and led on', async ({ page, complaints }) => {
  complaints.expected.push(/status of 410/);
  await openSession(page);
  await page.goto('/signin?token=made-up');
  await page.getByRole('link', { name: 'go on to the console' }).click();
  await expect(page.getByRole('button', { name: 'Sign out' })).toBeVisible();
});

for (const width of [390, 1280, 1920]) {
  for (const colorScheme of ['light', 'dark'] as const) {
    test(`the page of a spent link fits ${width} pixels, and axe finds nothing on it in ${colorScheme}`, async ({
      page,
      complaints,
    }) => {
      complaints.expected.push(/status of 410/);
      await page.setViewportSize({ width, height: 900 });
      await page.emulateMedia({ colorScheme });
      await page.goto('/signin?token=made-up');
      expect(await flaws(page, [colorScheme])).toEqual([]);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      expect(wide).toBeLessThanOrEqual(0);
      if (PICTURES === undefined) return;
      await page.emulateMedia({ colorScheme });
      await page.screenshot({ path: `${PICTURES}/spent-${width}-${colorScheme}.png` });
    });
  }
}
