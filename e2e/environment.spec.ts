/** Variables and secrets, set on the pages of a sandbox, a tenant and a blueprint, with JavaScript and without. */
import type { Page } from '#peers/playwright.ts';
import { flaws } from './axe.ts';
import { expect, openSession, test, visited } from './visited.ts';

const SECRET = 'canary-of-a-form-6f1d';
const ADDRESS = 'https://api.example.com/v1/';

async function setVariable(page: Page, name: string, value: string): Promise<void> {
  const part = page.locator('#variables');
  await part.getByLabel('Name of the variable').fill(name);
  await part.getByLabel('Its value').fill(value);
  await part.getByRole('button', { name: 'Set the variable' }).click();
}

async function setAll(page: Page, tenant: string): Promise<void> {
  const { call } = visited();
  const id = `${tenant}-box`;
  expect((await call('POST', '/api/instances', { id, tenant })).status).toBe(201);

  await page.goto(`/tenants/${tenant}`);
  await setVariable(page, 'REGION', 'eu');
  await expect(page.getByRole('row', { name: /^REGION eu/ })).toBeVisible();

  await page.goto(`/sandboxes/${id}?tab=environment`);
  const variables = page.locator('#variables');
  await expect(page.getByRole('row', { name: /^REGION eu its tenant/ })).toBeVisible();
  await setVariable(page, 'PATH', 'kept');
  await expect(variables.getByText('is set by the sandbox itself')).toBeVisible();
  await expect(variables.getByLabel('Its value')).toHaveValue('kept');
  await setVariable(page, 'LINES_OF', 'one\ntwo');
  await expect(variables.getByText('LINES_OF is set. It holds for the next call.')).toBeVisible();
  const { stdout } = (await call<{ stdout: string }>('POST', `/api/instances/${id}/exec`, { command: 'env' })).json;
  expect(stdout).toContain('LINES_OF=one\ntwo\n');
  await page.getByRole('button', { name: 'Remove the variable LINES_OF' }).click();
  await expect(variables.getByText('LINES_OF', { exact: true })).toHaveCount(0);

  const secrets = page.locator('#secrets');
  await secrets.getByLabel('Name of the secret').fill('TOKEN');
  await secrets.getByLabel('The secret', { exact: true }).fill(SECRET);
  await secrets.getByLabel('Goes to').fill('http://api.example.com/');
  await secrets.getByRole('button', { name: 'Set the secret' }).click();
  await expect(secrets.getByText('must begin with https://')).toBeVisible();
  await expect(secrets.getByLabel('The secret', { exact: true })).toHaveValue('');
  await secrets.getByLabel('The secret', { exact: true }).fill(SECRET);
  await secrets.getByLabel('Goes to').fill(ADDRESS);
  await secrets.getByRole('button', { name: 'Set the secret' }).click();
  await expect(secrets.getByText('TOKEN is set. Nobody can read it again.')).toBeVisible();
  const row = secrets.getByRole('row', { name: /^TOKEN/ });
  await expect(row).toContainText(`${ADDRESS}as authorization: Bearer ••••`);
  await expect(row).toContainText(/(now|ago|moment).* by /);
  expect(await page.content()).not.toContain(SECRET);
}

async function removeSecret(page: Page): Promise<void> {
  const secrets = page.locator('#secrets');
  await secrets.getByText('Remove…').click();
  await secrets.getByRole('button', { name: 'Remove for good the secret TOKEN' }).click();
  await expect(secrets.getByText('None.')).toBeVisible();
}

test('variables and a secret are set, shown and removed, and no page holds the secret', async ({ page }) => {
  await openSession(page);
  await setAll(page, 'environed');
  expect(await flaws(page)).toEqual([]);
  await removeSecret(page);
  await page.goto('/tenants/environed');
  expect(await flaws(page)).toEqual([]);
});

test('the forms show their calls, with a placeholder for the secret', async ({ page }) => {
  const { call } = visited();
  await call('POST', '/api/instances', { id: 'shown-calls', tenant: 'environed-calls', policy: 'network' });
  await call('POST', '/api/blueprints', { name: 'environed', from_instance: 'shown-calls' });
  await openSession(page);
  await page.goto('/sandboxes/shown-calls?tab=environment');
  const panel = page.getByRole('region', { name: 'The call of a button' });
  // Pressed before the page is ready, the key does nothing.
  const openPanel = () =>
    expect(async () => {
      await page.keyboard.press('c');
      await expect(panel).toBeVisible({ timeout: 1000 });
    }).toPass();
  await openPanel();
  await page.getByLabel('Name of the variable').fill('STAGE');
  await page.getByLabel('Its value').fill('test');
  await expect(panel).toContainText('{"env":{"STAGE":"test"}}');
  await page.getByLabel('Name of the secret').fill('TOKEN');
  await page.getByLabel('Goes to').fill(ADDRESS);
  await page.getByLabel('The secret', { exact: true }).fill(SECRET);
  await expect(panel).toContainText('/api/instances/shown-calls/secrets/TOKEN');
  await expect(panel).toContainText('THE-SECRET');
  await expect(panel).not.toContainText(SECRET);
  await page.goto('/sandboxes/shown-calls?tab=network');
  await openPanel();
  await page.getByLabel('No list of its own').uncheck();
  await page.getByRole('textbox', { name: 'May reach' }).fill(`GET,POST ${ADDRESS}`);
  await page.getByLabel('Bytes a day').fill('5 MB');
  await expect(panel).toContainText(`"rules":[{"url":"${ADDRESS}","methods":["GET","POST"]}]`);
  await expect(panel).toContainText('"bytes_per_day":5000000');
  await page.getByLabel('No list of its own').check();
  await page.getByRole('button', { name: 'Set what it may reach' }).focus();
  await expect(panel).toContainText('"rules":null');
  await page.goto('/blueprints/environed');
  await setVariable(page, 'STAGE', 'of the blueprint');
  await expect(page.getByRole('row', { name: /^STAGE of the blueprint/ })).toBeVisible();
  expect(await flaws(page)).toEqual([]);
});

test.describe('without JavaScript', () => {
  test.use({ javaScriptEnabled: false });

  test('variables and a secret are set and removed by plain forms', async ({ page }) => {
    await openSession(page);
    await setAll(page, 'environed-plainly');
    await removeSecret(page);
  });
});
