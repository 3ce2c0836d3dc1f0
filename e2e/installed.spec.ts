/** What browsers and whoever shows a link take of the console, before anybody has signed in. */
import { expect, test } from './visited.ts';

/** Width and height of a PNG: https://www.w3.org/TR/png-3/#11IHDR. */
const sizeOf = (png: Buffer) => `${png.readUInt32BE(16)}x${png.readUInt32BE(20)}`;

test('the console can be installed: its manifest is found, and every icon is what it says', async ({ page }) => {
  await page.goto('/');
  const manifest = await page.evaluate(async () => {
    const link = document.querySelector<HTMLLinkElement>('link[rel=manifest]');
    return (await fetch(link?.href ?? '')).json();
  });
  expect(manifest).toMatchObject({ name: 'Winterdock', start_url: '/' });
  for (const { src, sizes } of manifest.icons as { src: string; sizes: string }[]) {
    const answer = await page.request.get(src);
    expect(answer.headers()['content-type']).toBe('image/png');
    expect(sizeOf(await answer.body())).toBe(sizes);
  }
  const apple = await page.locator('link[rel=apple-touch-icon]').getAttribute('href');
  expect(sizeOf(await (await page.request.get(apple ?? '')).body())).toBe('180x180');
  // The browser itself takes it, with the policy of the page.
  const session = await page.context().newCDPSession(page);
  const { errors, data } = await session.send('Page.getAppManifest');
  expect(errors).toEqual([]);
  expect(data).toContain('Winterdock');
});

test('a link shows a picture at a whole address, and machines that read everything are turned away', async ({
  page,
}) => {
  await page.goto('/');
  const picture = await page.locator('meta[property="og:image"]').getAttribute('content');
  expect(picture).toMatch(/^https?:\/\//);
  const { pathname } = new URL(picture ?? '');
  expect(sizeOf(await (await page.request.get(pathname)).body())).toBe('1200x630');
  expect(await (await page.request.get('/robots.txt')).text()).toMatch(/^User-agent: \*\nDisallow: \/$/m);
});
