/**
 * Logs in the console: of a sandbox as a tab and of a tenant as a page, followed as lines come, searched and narrowed,
 * with the way from a line to its call; read by support with a reason, and drawn by the server without scripts.
 */
import type { Page } from '#peers/playwright.ts';
import { flaws } from './axe.ts';
import { shoot } from './shots.ts';
import { expect, openSession, test, visited } from './visited.ts';

test.use({ ownServer: 'logs' });
test.describe.configure({ mode: 'default' });

const TAB = '/sandboxes/talker?tab=logs';

const say = (command: string, id = 'talker') => visited().call('POST', `/api/instances/${id}/exec`, { command });

test.beforeAll(async () => {
  const { call } = visited();
  for (const id of ['talker', 'other']) await call('POST', '/api/instances', { id, tenant: 'harbour', keep_hot: true });
  await say('for n in $(seq 1 30); do echo "INFO counted $n"; done; echo "WARN nearly full"; echo "ERROR it broke"');
  await say('echo of the other', 'other');
});

const lines = (page: Page) => page.getByRole('log').getByRole('listitem');

test('the log of a sandbox begins at its end, and lines come to it by themselves until it is paused', async ({
  page,
}) => {
  await openSession(page);
  await page.goto(TAB);
  await expect(page.getByText('Follows what is printed.')).toBeVisible();
  // The window is scrolled to the box, and the box is at its end by itself.
  await page.getByRole('log').scrollIntoViewIfNeeded();
  await expect(lines(page).filter({ hasText: 'ERROR it broke' })).toBeInViewport();
  await expect(lines(page).filter({ hasText: /counted 1$/ })).not.toBeInViewport();
  await say('echo comes later');
  await expect(lines(page).last()).toContainText('comes later');
  await page.getByRole('button', { name: 'Pause' }).click();
  await expect(page.getByText('Paused.')).toBeVisible();
  await say('echo while paused');
  await page.getByRole('button', { name: 'Follow' }).click();
  await expect(lines(page).last()).toContainText('while paused');
  await shoot(page, 'logs-sandbox');
  // Scrolled as it is, a tab would be half under the head.
  await page.evaluate(() => window.scrollTo(0, 0));
  await page.setViewportSize({ width: 1280, height: 900 });
  expect(await flaws(page)).toEqual([]);
  await page.setViewportSize({ width: 390, height: 900 });
  expect(await flaws(page)).toEqual([]);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
});

test('lines are searched and narrowed by the address, and a line leads to its call and the ledger', async ({
  page,
}) => {
  await openSession(page);
  await page.goto(TAB);
  await page.getByLabel('Search', { exact: true }).fill('COUNTED 7');
  await page.getByRole('button', { name: 'Show' }).click();
  await expect(page).toHaveURL(/tab=logs&q=COUNTED/);
  await expect(lines(page)).toHaveText([/INFO counted 7/]);
  await page.getByRole('link', { name: 'Clear' }).click();
  // A filter that is set before the page is cleared would come on top of the former one.
  await expect(page.getByLabel('Search', { exact: true })).toHaveValue('');
  await expect(lines(page)).not.toHaveCount(1);
  await page.getByLabel('Level').selectOption('warn');
  await page.getByRole('button', { name: 'Show' }).click();
  await expect(lines(page)).toHaveText([/WARN nearly full/, /ERROR it broke/]);
  await lines(page).first().getByRole('link', { name: /^exec/ }).click();
  await expect(page.getByText('What one call printed.')).toBeVisible();
  await expect(lines(page)).toHaveCount(32);
  await page.getByRole('link', { name: 'Its lines in the ledger' }).click();
  await expect(page).toHaveURL(/\/audit\?request_id=/);
});

test('a tenant has the lines of its sandboxes together, each with its name', async ({ page }) => {
  await openSession(page);
  await page.goto('/tenants/harbour');
  await page.getByRole('link', { name: 'What they print' }).click();
  await expect(page.getByRole('heading', { level: 1 })).toContainText('What it printed');
  await expect(lines(page).filter({ hasText: 'of the other' })).toContainText('other');
  await say('echo for the tenant', 'other');
  await expect(lines(page).last()).toContainText('for the tenant');
  await shoot(page, 'logs-tenant');
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 900 });
    expect(await flaws(page)).toEqual([]);
  }
  await page.setViewportSize({ width: 1280, height: 900 });
  await page.getByRole('link', { name: 'other', exact: true }).first().click();
  await expect(page).toHaveURL(/\/sandboxes\/other\?tab=logs/);
});

test.describe('without scripts', () => {
  test.use({ javaScriptEnabled: false });

  test('the newest lines are there, older ones are a page away, and a search is a form', async ({ page }) => {
    await visited().call('POST', '/api/instances', { id: 'long', tenant: 'harbour' });
    await say('for n in $(seq 1 250); do echo "line $n"; done', 'long');
    await openSession(page);
    await page.goto('/sandboxes/long?tab=logs');
    await expect(lines(page)).toHaveCount(200);
    await expect(lines(page).last()).toContainText('line 250');
    await expect(page.getByRole('button', { name: 'Pause' })).toHaveCount(0);
    await page.getByRole('link', { name: 'Next page' }).click();
    await expect(lines(page)).toHaveCount(50);
    await expect(lines(page).first()).toContainText('line 1');
    await page.getByRole('link', { name: 'First page' }).click();
    await page.getByLabel('Search', { exact: true }).fill('line 24');
    await page.getByRole('button', { name: 'Show' }).click();
    await expect(lines(page)).toHaveCount(11);
  });
});
