/** What is looked for is found: deleted sandboxes, pasted addresses, themes; and what whoever sees no contents sees. */
import { randomUUID } from 'node:crypto';
import type { Page } from '#peers/playwright.ts';
import { flaws } from './axe.ts';
import { expect, openSession, test, visited } from './visited.ts';

const palette = (page: Page) => page.getByRole('dialog').filter({ has: page.getByRole('combobox') });

async function ask(page: Page, typed: string): Promise<void> {
  await page.keyboard.press('Control+k');
  await expect(palette(page)).toBeVisible();
  await page.keyboard.type(typed);
}

test('a deleted sandbox is found as a tombstone, in the list and in the palette', async ({ page }) => {
  const { call } = visited();
  const id = `gone-${randomUUID().slice(0, 8)}`;
  await call('POST', '/api/instances', { id, tenant: 'found', name: `Departed ${id}` });
  for (const verb of ['resume', 'archive']) await call('POST', `/api/instances/${id}/${verb}`, {});
  expect((await call('DELETE', `/api/instances/${id}`)).status).toBeLessThan(300);
  await openSession(page);
  await page.goto(`/sandboxes?q=${id}`);
  const deleted = page.getByRole('link', { name: '1 deleted matches' });
  await expect(deleted).toBeVisible();
  expect(await flaws(page)).toEqual([]);
  await deleted.click();
  await expect(page).toHaveURL(/state=deleted/);
  await expect(page.getByRole('row').filter({ hasText: id })).toBeVisible();
  await ask(page, id);
  await palette(page)
    .getByRole('option', { name: new RegExp(id) })
    .click();
  await expect(page).toHaveURL(new RegExp(`/sandboxes/${id}$`));
  await expect(page.getByRole('heading', { level: 1 })).toContainText('Deleted');
});

test('the palette resolves a pasted address, offers the open page’s own moves first, and changes the theme', async ({
  page,
}) => {
  const { call } = visited();
  const id = `pasted-${randomUUID().slice(0, 8)}`;
  await call('POST', '/api/instances', { id, tenant: 'found' });
  await call('POST', `/api/instances/${id}/resume`, {});
  await openSession(page);
  await page.goto('/audit');
  await ask(page, `https://dock.example.com/sandboxes/${id}?tab=settings`);
  await expect(
    palette(page)
      .getByRole('option', { name: new RegExp(`^${id}`) })
      .first(),
  ).toBeVisible();
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(new RegExp(`/sandboxes/${id}\\?tab=settings$`));

  await ask(page, 'susp');
  await expect(palette(page).getByRole('option', { name: /^Suspend/ })).toHaveAttribute('aria-selected', 'true');
  expect(await flaws(page)).toEqual([]);
  await page.keyboard.press('Enter');
  await expect(page.getByText(`${id}: It is suspended.`)).toBeVisible();
  await ask(page, 'ledg');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/tab=ledger/);

  await ask(page, 'look: night');
  await page.keyboard.press('Enter');
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark');
});

test('whoever sees no contents begins with the life of a sandbox, and is told why under Files', async ({ page }) => {
  const { call } = visited();
  const id = `unseen-${randomUUID().slice(0, 8)}`;
  await call('POST', '/api/instances', { id, tenant: 'found' });
  const invitation = { email: `${id}@example.com`, role: 'viewer' };
  const { link } = (await call<{ link: string }>('POST', '/api/people/invitations', invitation)).json;
  const { pathname, search } = new URL(link);
  await page.goto(`${pathname}${search}`);
  await page.getByLabel('Name', { exact: true }).fill('Vesna');
  await page.getByLabel('Password').fill('a long winter, said the dock');
  await page.getByRole('button', { name: 'Create the account' }).click();
  await expect(page.getByRole('banner')).toBeVisible();
  await page.goto(`/sandboxes/${id}`);
  const parts = page.getByRole('navigation', { name: 'Parts of this sandbox' });
  await expect(parts.getByRole('link', { name: 'Time' })).toHaveAttribute('aria-current', 'page');
  await expect(page.getByRole('heading', { name: 'Life' })).toBeVisible();
  await parts.getByRole('link', { name: 'Files' }).click();
  await expect(
    page.getByText('Your role sees no contents: what is inside is for support, operators and admins.'),
  ).toBeVisible();
  await expect(page.locator('main').getByRole('alert')).toHaveCount(0);
});

test('compact rows are one line high, and a long word of the head breaks nothing', async ({ page }) => {
  const { call } = visited();
  const name = 'A sandbox whose name is much longer than any column of a list can be, for reasons of its own';
  await call('POST', '/api/instances', { id: `long-${randomUUID().slice(0, 8)}`, tenant: 'found', name });
  await openSession(page);
  for (const width of [1280, 1920]) {
    await page.setViewportSize({ width, height: 800 });
    await page.goto('/sandboxes?tenant=found');
    await page.locator('summary').filter({ hasText: 'Columns' }).click();
    await page.getByLabel('compact').check();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await expect(page.locator('table.one-line')).toBeVisible();
    const heights = await page.locator('tbody tr').evaluateAll((rows) => rows.map((row) => row.clientHeight));
    expect(Math.max(...heights)).toBeLessThan(40);
    const beyond = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    expect(beyond).toBeLessThanOrEqual(0);
  }
});
