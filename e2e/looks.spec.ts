/** Every page in both themes and on a narrow screen: accessible, nothing cut off, nothing in the console. */
import AxeBuilder from '@axe-core/playwright';
import type { Page, Request } from '@playwright/test';
import { HARBOUR, harm, moor, stock } from './seed.ts';
import { expect, signInByKey, test, visited } from './visited.ts';

const LONG = 'migration-rehearsal-with-a-very-long-identifier-0001';

const PAGES: [name: string, path: string][] = [
  ['the overview', '/'],
  ['the list', '/sandboxes'],
  ['a filtered list', '/sandboxes?state=frozen&tenant=northwind&sort=name'],
  ['a list with a wrong filter', '/sandboxes?label=nothing'],
  ['an empty list', '/sandboxes?q=zzzzzz'],
  ['a created sandbox', '/sandboxes/fresh-one'],
  ['an active sandbox', '/sandboxes/crawler-eu-west'],
  ['a suspended sandbox and a file', '/sandboxes/support-triage?volume=workspace&path=/src/index.js'],
  ['a frozen sandbox with a long name and bytes', `/sandboxes/${LONG}?volume=workspace&path=/data/model.bin`],
  ['an archived sandbox and an image', '/sandboxes/onboarding-demo?volume=workspace&path=/data/pixel.png'],
  ['a sandbox whose file is missing', '/sandboxes/intern-project'],
  ['a damaged sandbox', '/sandboxes/fraud-model-eval'],
  ['a deleted sandbox', '/sandboxes/old-experiment'],
  ['the ledger of a sandbox', '/sandboxes/support-triage?tab=ledger'],
  ['the snapshots of a sandbox', '/sandboxes/support-triage?tab=snapshots'],
  ['the snapshots of a damaged sandbox', '/sandboxes/fraud-model-eval?tab=snapshots'],
  ['the shares of a sandbox', `/sandboxes/${LONG}?tab=shares`],
  ['snapshots', '/snapshots'],
  ['snapshots with a wrong filter', '/snapshots?tenant=No'],
  ['blueprints', '/blueprints'],
  ['a blueprint', '/blueprints/release-notes'],
  ['shares', '/shares'],
  ['the archive', '/archive'],
  ['an archive without what is looked for', '/archive?q=zzzzzz'],
  ['a sandbox in the archive and a file', '/archive/onboarding-demo?volume=workspace&path=/src/index.js'],
  ['a sandbox in the archive whose file is missing', '/archive/intern-project'],
  ['the tenants', '/tenants'],
  ['a tenant', '/tenants/northwind'],
  ['the ledger of everything', '/audit'],
  ['a ledger with a wrong filter', '/audit?tenant=No'],
];

test.beforeAll(async () => {
  const { call, folder } = visited();
  if ((await call('GET', '/api/instances/fresh-one')).status === 404) {
    for (const berth of HARBOUR) await moor(call, berth);
    await harm(call, folder);
    await stock(call);
  }
  const [snapshot] = (await call<{ id: string }[]>('GET', `/api/snapshots?source=${LONG}`)).json;
  PAGES.push(['a snapshot with a long tag', `/snapshots/${snapshot?.id}`]);
});

async function violations(page: Page): Promise<unknown[]> {
  const { violations: found } = await new AxeBuilder({ page })
    .withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'])
    .analyze();
  return found.map(({ id, nodes }) => ({
    id,
    where: nodes.map(({ html, failureSummary }) => `${html}\n${failureSummary}`),
  }));
}

for (const colorScheme of ['light', 'dark'] as const) {
  test.describe(`in ${colorScheme}`, () => {
    test.use({ colorScheme });

    test('axe finds nothing on the sign-in page', async ({ page }) => {
      await page.goto('/signin?token=none');
      expect(await violations(page)).toEqual([]);
    });

    test('axe finds nothing on any page', async ({ page }) => {
      test.slow();
      await signInByKey(page);
      for (const [name, path] of PAGES) {
        await page.goto(path);
        await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
        expect(await violations(page), name).toEqual([]);
      }
    });

    test('axe finds nothing while a form complains and a command has run', async ({ page }) => {
      await signInByKey(page);
      await page.goto('/sandboxes');
      await page.getByText('New sandbox', { exact: true }).click();
      await page.getByRole('button', { name: 'Create sandbox' }).click();
      await expect(page.getByText('Whose sandbox is it?')).toBeVisible();
      expect(await violations(page)).toEqual([]);
      await page.goto('/sandboxes/crawler-eu-west');
      await page.getByLabel(/^Command/).fill('ls -la; nosuchcommand');
      await page.getByRole('button', { name: 'Run', exact: true }).click();
      await expect(page.getByRole('log')).toContainText('exit');
      expect(await violations(page)).toEqual([]);
    });
  });
}

test.describe('on a narrow screen', () => {
  test.use({ viewport: { width: 390, height: 844 } });

  test('no page scrolls sideways', async ({ page }) => {
    await signInByKey(page);
    for (const [name, path] of PAGES) {
      await page.goto(path);
      await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
      const over = await page.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      );
      expect(over, name).toBeLessThanOrEqual(0);
    }
  });
});

test('each page has one title of its own and one first heading', async ({ page }) => {
  await signInByKey(page);
  const titles = new Map<string, string>();
  for (const [name, path] of PAGES) {
    await page.goto(path);
    await expect(page.getByRole('heading', { level: 1 })).toHaveCount(1);
    const title = await page.title();
    expect(title, name).toMatch(/^.+ · Winterdock$/);
    titles.set(new URL(path, 'http://x').pathname, title);
  }
  expect(new Set(titles.values()).size).toBe(titles.size);
});

test('the first visit of a page ships at most 200 kB of JavaScript', async ({ browser }) => {
  const signedIn = await browser.newContext({ baseURL: visited().url });
  await signInByKey(await signedIn.newPage());
  const cookies = await signedIn.cookies();
  await signedIn.close();
  for (const [name, path] of PAGES) {
    const context = await browser.newContext({ baseURL: visited().url });
    await context.addCookies(cookies);
    const page = await context.newPage();
    const scripts: Request[] = [];
    page.on('requestfinished', (request) => {
      if (request.resourceType() === 'script') scripts.push(request);
    });
    await page.goto(path);
    const sizes = await Promise.all(scripts.map((request) => request.sizes()));
    const shipped = sizes.reduce((sum, { responseBodySize }) => sum + responseBodySize, 0);
    expect(shipped, name).toBeGreaterThan(50_000);
    expect(shipped, name).toBeLessThanOrEqual(200_000);
    await context.close();
  }
});

test('a page that is not there says what is', async ({ page, complaints }) => {
  complaints.expected.push(/404/);
  await signInByKey(page);
  expect((await page.goto('/sandboxes/never-was'))?.status()).toBe(404);
  await expect(page.getByRole('heading', { level: 1 })).toContainText('No such sandbox');
  await page.getByLabel('Find a sandbox').fill('triage');
  await page.getByRole('button', { name: 'Find' }).click();
  await expect(page.getByRole('link', { name: 'Support triage' })).toBeVisible();
  expect((await page.goto('/no/such/page'))?.status()).toBe(404);
  await expect(page.getByRole('heading', { level: 1 })).toContainText('Nothing here');
});

test('the chosen theme is kept, without JavaScript too', async ({ browser }) => {
  const context = await browser.newContext({ baseURL: visited().url, javaScriptEnabled: false, colorScheme: 'light' });
  const page = await context.newPage();
  await page.goto('/signin');
  await page.getByRole('button', { name: 'Night' }).click();
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark');
  await page.goto('/signin');
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark');
  await page.getByRole('button', { name: 'System' }).click();
  await expect(page.locator('html')).not.toHaveAttribute('data-theme', /./);
  await context.close();
});
