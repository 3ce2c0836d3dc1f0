/** What needs a person: counted on every page, listed in one inbox, acknowledged, also without a script. */
import type { Page } from '#peers/playwright.ts';
import { flaws } from './axe.ts';
import { expect, openSession, test, visited } from './visited.ts';

const count = (page: Page) => page.getByRole('banner').getByRole('link', { name: /^Attention: \d/ });
const row = (page: Page, name: string) => page.locator('main li').filter({ hasText: name });

/** A tenant at four fifths of its quota, which the server notices within half a minute. */
async function nearWall(tenant: string): Promise<void> {
  const { call } = visited();
  await call('PATCH', `/api/tenants/${tenant}`, { max_sandboxes: 5 });
  for (let n = 0; n < 4; n += 1) await call('POST', '/api/instances', { id: `${tenant}-${n}`, tenant });
}

async function decide(page: Page, tenant: string): Promise<void> {
  await nearWall(tenant);
  await openSession(page);
  await expect(async () => {
    await page.goto('/attention');
    await expect(row(page, tenant)).toBeVisible({ timeout: 1000 });
  }).toPass();
  await expect(row(page, tenant)).toContainText('4 of 5 sandboxes: 80 % of its quota.');
  await page.goto('/tenants');
  const before = Number(((await count(page).textContent()) ?? '').replace(/\D/g, ''));
  await count(page).click();
  await expect(page).toHaveURL(/\/attention$/);
  await row(page, tenant).getByRole('combobox').selectOption('for a week');
  await row(page, tenant)
    .getByRole('button', { name: /^Acknowledge/ })
    .click();
  const acknowledged = page.locator('#acknowledged').locator('li').filter({ hasText: tenant });
  await expect(acknowledged).toContainText('until ');
  await page.goto('/tenants');
  if (before > 1) await expect(count(page)).toHaveText(new RegExp(`${before - 1}$`));
  else await expect(count(page)).toHaveCount(0);
  await page.goto('/attention');
  await acknowledged.getByRole('button', { name: /^Take it back/ }).click();
  await expect(page.locator('#open').locator('li').filter({ hasText: tenant })).toBeVisible();
  await visited().call('PATCH', `/api/tenants/${tenant}`, { max_sandboxes: null });
}

test('what comes near a wall is counted on every page, acknowledged for a time and taken back', async ({ page }) => {
  await decide(page, 'walled');
  for (const width of [390, 1280]) {
    await page.setViewportSize({ width, height: 844 });
    await page.goto('/attention');
    expect(await flaws(page)).toEqual([]);
  }
});

test.describe('without JavaScript', () => {
  test.use({ javaScriptEnabled: false });

  test('the inbox works by plain forms', async ({ page }) => {
    await decide(page, 'walled-plainly');
  });
});
