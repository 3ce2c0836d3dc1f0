/** Backups, by clicking, with JavaScript and without: set up, made, tried, and a sandbox brought back. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from '#peers/playwright.ts';
import { flaws } from './axe.ts';
import { shoot } from './shots.ts';
import { expect, openSession, test, visited } from './visited.ts';

const root = mkdtempSync(join(tmpdir(), 'winterdock-console-backups-'));
test.afterAll(() => rmSync(root, { recursive: true, force: true }));

/** Backups are of a whole server. */
test.use({ ownServer: 'backups' });

const SCHEDULE = '#schedule';

async function setUp(page: Page, target: string): Promise<void> {
  await page.goto('/settings/backups');
  const form = page.locator(SCHEDULE);
  await form.getByLabel('Where').fill(target);
  await form.getByLabel('When', { exact: true }).fill('0 3 * * *');
  await form.getByRole('button', { name: 'Change it' }).click();
  await expect(form.locator('.outcome')).toHaveText('Changed.');
}

async function backUp(page: Page, reason: string): Promise<void> {
  const now = page.locator('#now');
  await now.getByLabel('Reason').fill(reason);
  await now.getByRole('button', { name: 'Back up now' }).click();
  const row = page.locator('#backups tr', { hasText: reason });
  await expect(async () => {
    // A reload would send the form again where there is no JavaScript.
    await page.goto('/settings/backups');
    await expect(row).toContainText('made', { timeout: 1000 });
  }).toPass({ timeout: 240_000 });
}

async function bringBack(page: Page, id: string, as: string): Promise<void> {
  const one = page.locator('#one');
  await one.getByLabel('Sandbox', { exact: true }).fill(id);
  await one.getByLabel('As a new one').fill(as);
  await one.getByRole('button', { name: 'Say what it would do' }).click();
  await expect(one.locator('.outcome')).toContainText(`It would be made as ${as}`);
  await one.getByLabel('Reason').fill('ticket 7');
  await one.getByRole('button', { name: 'Bring it back' }).click();
  await expect(one.locator('.outcome')).toContainText(`${as} is created now`);
}

async function life(page: Page, word: string): Promise<void> {
  await openSession(page);
  const id = `backed-${word}`;
  const { call } = visited();
  await call('POST', '/api/instances', { id, tenant: 'harbour' });
  await call('PUT', `/api/instances/${id}/volumes/workspace/what`, word);
  await call('POST', `/api/instances/${id}/suspend`, {});

  await page.goto('/settings/backups');
  const form = page.locator(SCHEDULE);
  await form.getByLabel('Where').fill('somewhere');
  await form.getByRole('button', { name: 'Change it' }).click();
  await expect(form.locator('.complaint')).toContainText('must be the absolute path of a folder');

  await setUp(page, join(root, word));
  await backUp(page, `before ${word}`);
  await page
    .locator('#backups tr', { hasText: `before ${word}` })
    .getByRole('link')
    .first()
    .click();
  await expect(page.getByRole('heading', { level: 1 })).toContainText('Backup of');
  await expect(page.locator('#all')).toContainText('npm run restore -- --all --from');
  await page.getByRole('button', { name: 'Restore one drawn sandbox' }).click();
  await expect(page.locator('#facts')).toContainText('came back as it was', { timeout: 240_000 });
  await bringBack(page, id, `${id}-before`);
  const read = await call('GET', `/api/instances/${id}-before/volumes/workspace/what`);
  expect(read.text).toBe(word);
}

test('backups are set up, made and tried, and a sandbox comes back, by clicking', async ({ page }) => {
  test.slow();
  await life(page, 'clicks');
});

test.describe('without JavaScript', () => {
  test.use({ javaScriptEnabled: false });
  test('the same works by forms', async ({ page }) => {
    test.slow();
    await life(page, 'forms');
  });
});

test('axe finds nothing in the pages of backups, wide and narrow', async ({ page }) => {
  test.slow();
  await openSession(page);
  await setUp(page, join(root, 'axe'));
  await backUp(page, 'for axe');
  const link = page.locator('#backups tr', { hasText: 'for axe' }).getByRole('link').first();
  const paths = ['/settings/backups', (await link.getAttribute('href')) ?? ''];
  for (const width of [390, 1280]) {
    await page.setViewportSize({ width, height: 900 });
    for (const path of paths) {
      await page.goto(path);
      expect([width, path, await flaws(page)]).toEqual([width, path, []]);
      const { scroll, client } = await page.evaluate(() => ({
        scroll: document.documentElement.scrollWidth,
        client: document.documentElement.clientWidth,
      }));
      expect([width, path, scroll]).toEqual([width, path, client]);
    }
  }
  for (const path of paths) {
    await page.goto(path);
    await shoot(page, path === paths[0] ? 'list' : 'one');
  }
});
