/** What the console offers, and what not: policies that are there, moves that an ephemeral sandbox may make. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, openDoor, openSession, test, visited } from './visited.ts';

const ID = 'brief-one';

test('an ephemeral sandbox is made by the form, is not put to sleep, and says when it ends', async ({ page }) => {
  await openSession(page);
  await page.goto('/sandboxes#new');
  expect(await page.getByLabel('Policy', { exact: true }).locator('option').allTextContents()).toEqual([
    'posix',
    'minimal',
    'compute',
    'network',
  ]);
  await page.locator('#create-tenant').fill('harbour');
  await page.getByLabel('Id', { exact: true }).fill(ID);
  await page.getByLabel(/^Ephemeral/).check();
  await page.getByRole('button', { name: 'Create sandbox', exact: true }).click();
  await expect(page).toHaveURL(new RegExp(`/sandboxes/${ID}$`));
  await page.getByRole('button', { name: 'Resume', exact: true }).click();
  await expect(page.getByRole('heading', { level: 1 })).toContainText('Awake');
  await openDoor(page, 'More');
  for (const name of ['Suspend', 'Freeze']) {
    const button = page.getByRole('button', { name, exact: true });
    await expect(button).toBeDisabled();
    await expect(button).toHaveAccessibleDescription(/It is ephemeral: it is neither suspended nor frozen/);
  }
  await expect(page.getByRole('link', { name: /^Freeze in/ })).toHaveCount(0);
  await expect(page.locator('#next')).toContainText('It is archived by itself');
  await expect(page.locator('#next')).toContainText('ephemeral, idle for 15 min');
  await page.goto(`/sandboxes/${ID}/plan?to=frozen`);
  await expect(page.getByText('It is ephemeral: it is neither suspended nor frozen')).toBeVisible();
  await expect(page.getByRole('button', { name: /^Run the/ })).toHaveCount(0);
  await page.goto(`/sandboxes/${ID}?tab=settings`);
  await expect(page.getByText('After this idle time it is archived and deleted.')).toBeVisible();
});

test('what an earlier version took is shown as it is, and the other settings can be saved', async ({ page }) => {
  await openSession(page);
  const { call, folder } = visited();
  const made = await call('POST', '/api/instances', { id: 'elder', tenant: 'harbour' });
  expect([201, 409]).toContain(made.status);
  const registry = new DatabaseSync(join(folder, 'registry.sqlite'));
  registry.prepare("UPDATE instances SET policy = 'former', workbook = 'book' WHERE id = 'elder'").run();
  registry.close();
  await page.goto('/sandboxes/elder?tab=settings');
  await expect(page.getByText('Its policy “former” is not known here.')).toBeVisible();
  await expect(page.getByText('Its workbook “book” is a name and no more')).toBeVisible();
  await expect(page.getByLabel('Policy', { exact: true })).toHaveValue('former');
  await page.getByLabel('Name', { exact: true }).fill('the elder');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await expect(page.getByText('Saved: name.')).toBeVisible();
  const { json } = await call<{ name: string; policy: string }>('GET', '/api/instances/elder');
  expect([json.name, json.policy]).toEqual(['the elder', 'former']);
});
