/**
 * Forgetting a tenant, by clicking: what would go is shown first, its name is typed, and the job is followed; with
 * JavaScript and without.
 */
import { join } from 'node:path';
import type { Page } from '#peers/playwright.ts';
import { flaws } from './axe.ts';
import { expect, openSession, test, visited } from './visited.ts';

/** Where pictures go when somebody wants to look at them. */
const PICTURES = process.env.E2E_PICTURES;

async function picture(page: Page, name: string): Promise<void> {
  if (PICTURES === undefined) return;
  for (const [width, height] of [
    [390, 844],
    [1280, 860],
    [1920, 1080],
  ] as const) {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.setViewportSize({ width, height });
      await page.emulateMedia({ colorScheme });
      await page.screenshot({ path: join(PICTURES, `${name}-${width}-${colorScheme}.png`), fullPage: true });
    }
  }
  await page.setViewportSize({ width: 1280, height: 900 });
  await page.emulateMedia({ colorScheme: 'light' });
}

async function makeTenant(tenant: string): Promise<void> {
  const { call } = visited();
  for (const id of [`${tenant}-a`, `${tenant}-b`]) {
    expect((await call('POST', '/api/instances', { id, tenant, name: `The ${id}` })).status).toBe(201);
    expect((await call('PUT', `/api/instances/${id}/volumes/workspace/note.txt`, 'kept')).status).toBeLessThan(300);
  }
  expect((await call('PATCH', `/api/instances/${tenant}-a`, { keep_hot: true })).status).toBe(200);
  expect((await call('POST', `/api/instances/${tenant}-b/snapshots`, { tag: 'one' })).status).toBe(201);
  expect((await call('POST', '/api/blueprints', { name: `${tenant}-base`, from_instance: `${tenant}-b` })).status).toBe(
    201,
  );
}

async function forget(page: Page, tenant: string): Promise<void> {
  await page.goto(`/tenants/${tenant}`);
  await page.locator('#forget').getByRole('link', { name: 'See what would go' }).click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(`Forget the tenant ${tenant}`);
  await expect(page.locator('#goes')).toContainText(`${tenant}-base`);
  await expect(page.locator('#mind')).toContainText(`The ${tenant}-a active, kept hot`);
  await expect(page.locator('#holds')).toContainText('No backup on record');
  const form = page.locator('#forget');
  await form.getByLabel(`Type ${tenant} to confirm`).fill('another');
  await form.getByRole('button', { name: 'Forget the tenant' }).click();
  await expect(form.getByText('the typed name is not this tenant’s')).toBeVisible();
  expect((await visited().call('GET', `/api/instances/${tenant}-a`)).status).toBe(200);
  await form.getByLabel(`Type ${tenant} to confirm`).fill(tenant);
  await form.getByRole('button', { name: 'Forget the tenant' }).click();
  await expect(page.getByRole('heading', { level: 1 })).toContainText(`the tenant ${tenant}`);
  await expect(page.getByRole('button', { name: 'Cancel the job' })).toHaveCount(0);
}

async function isForgotten(tenant: string): Promise<void> {
  const state = async () => (await visited().call(`GET`, `/api/tenants/${tenant}`)).json.forgetting?.finished;
  await expect.poll(state, { timeout: 240_000 }).toEqual(expect.any(Number));
  expect((await visited().call('GET', `/api/instances/${tenant}-a`)).status).toBe(410);
}

test('an admin sees what would go, types the name, and follows the job to its end', async ({ page }) => {
  await makeTenant('harbourage');
  await openSession(page);
  await page.goto('/tenants/harbourage/forget');
  expect(await flaws(page)).toEqual([]);
  await picture(page, 'forget');
  await page.goto('/tenants/harbourage#forget');
  await picture(page, 'tenant');
  await forget(page, 'harbourage');
  await expect(page.getByRole('heading', { level: 1 })).toContainText('Forgotten the tenant harbourage', {
    timeout: 240_000,
  });
  await isForgotten('harbourage');
  await page.reload();
  await expect(page.getByText('The ledger keeps ids only')).toBeVisible();
  expect(await flaws(page)).toEqual([]);
  await picture(page, 'job');
  await page.getByRole('link', { name: 'What still holds the tenant' }).click();
  await expect(page.locator('#forget')).toContainText('It was forgotten');
  expect(await flaws(page)).toEqual([]);
  await picture(page, 'forgotten');
});

test.describe('without JavaScript', () => {
  test.use({ javaScriptEnabled: false });
  test('the same forms forget a tenant', async ({ page }) => {
    await makeTenant('quayside');
    await openSession(page);
    await forget(page, 'quayside');
    await isForgotten('quayside');
    await page.reload();
    await expect(page.getByRole('heading', { level: 1 })).toContainText('Forgotten the tenant quayside');
  });
});
