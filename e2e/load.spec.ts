/**
 * Load in the console: charts over one time, read by the pointer and by the keyboard, a part that is dragged or chosen
 * with Shift shown larger, and the same drawn by the server for a browser without scripts.
 */
import type { Page } from '#peers/playwright.ts';
import type { InstanceLoad } from '../lib/contract/schema/load.ts';
import { flaws } from './axe.ts';
import { shoot } from './shots.ts';
import { expect, openSession, test, visited } from './visited.ts';

test.use({ ownServer: 'load' });
// They share a sandbox that was awake for some samples.
test.describe.configure({ mode: 'default' });

const TIME = '/sandboxes/busy?tab=time';
const BURN = 'n=0; while [ $n -lt 20000 ]; do n=$((n + 1)); done; head -c 200000 /dev/zero > grown; echo done';

test.beforeAll(async () => {
  test.setTimeout(600_000);
  const { call } = visited();
  for (const id of ['busy', 'calm']) {
    await call('POST', '/api/instances', { id, tenant: 'harbour', keep_hot: true });
    await call('POST', `/api/instances/${id}/exec`, { command: 'true' });
  }
  // A minute and more: the shortest time that is shown larger has some samples, and a part of it has fewer.
  await expect(async () => {
    await call('POST', '/api/instances/busy/exec', { command: BURN });
    const { json } = await call<InstanceLoad>('GET', '/api/instances/busy/load');
    expect(json.points.length).toBeGreaterThanOrEqual(9);
  }).toPass({ timeout: 500_000, intervals: [3000] });
});

const crosshair = (page: Page) => page.getByRole('slider', { name: 'Moment that is read' });
const readAt = (page: Page) => crosshair(page).getAttribute('aria-valuetext');

test('the charts of a sandbox are read together, by the keyboard and by the pointer', async ({ page }) => {
  await openSession(page);
  await page.goto(TIME);
  await expect(page.getByText('live', { exact: true })).toBeVisible();
  const figures = page.locator('figure');
  await expect(figures).toHaveCount(5);
  await expect(page.getByText('Each ten seconds, as it goes on.')).toBeVisible();
  await crosshair(page).focus();
  const texts = new Set<string | null>();
  for (let presses = 0; presses < 5; presses += 1) {
    await page.keyboard.press('ArrowLeft');
    texts.add(await readAt(page));
  }
  expect(texts.size).toBe(5);
  for (const text of texts)
    expect(text).toMatch(/^\d\d:\d\d:\d\d UTC, active, (Processor .* % of a core, Memory |not measured)/);
  await page.keyboard.press('Home');
  const first = await readAt(page);
  await page.keyboard.press('End');
  expect(await readAt(page)).not.toBe(first);
  await page.keyboard.press('Escape');

  const box = await crosshair(page).boundingBox();
  if (box === null) throw new Error('The crosshair has no place.');
  await page.mouse.move(box.x + box.width * 0.7, box.y + 20);
  const seen = await readAt(page);
  const words = await figures.first().locator('figcaption > span').first().textContent();
  expect(seen?.replace('Processor ', '')).toContain(words?.replace(/^Processor /, '') ?? '?');
  await page.mouse.move(box.x + box.width * 0.2, box.y + 20);
  expect(await readAt(page)).not.toBe(seen);
  await shoot(page, 'load-sandbox');
  await page.setViewportSize({ width: 1280, height: 900 });
  expect(await flaws(page)).toEqual([]);
  await page.setViewportSize({ width: 390, height: 900 });
  expect(await flaws(page, ['light'])).toEqual([]);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
});

test('a part that is dragged, or chosen with Shift, is shown larger, and the address has it', async ({ page }) => {
  await openSession(page);
  await page.goto(TIME);
  await expect(page.getByText('live', { exact: true })).toBeVisible();
  const box = await crosshair(page).boundingBox();
  if (box === null) throw new Error('The crosshair has no place.');
  await page.mouse.move(box.x + box.width * 0.3, box.y + 30);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.95, box.y + 30, { steps: 5 });
  await page.mouse.up();
  await expect(page).toHaveURL(/tab=time&begin=\d+&end=\d+/);
  const { searchParams } = new URL(page.url());
  const dragged = Number(searchParams.get('end')) - Number(searchParams.get('begin'));
  expect(dragged).toBeGreaterThanOrEqual(60);
  await expect(crosshair(page)).toHaveAttribute('aria-valuemin', String(searchParams.get('begin')));
  await page.getByRole('link', { name: 'Whole life' }).click();
  await expect(page).toHaveURL(/tab=time#/);
  await crosshair(page).focus();
  for (let presses = 0; presses < 3; presses += 1) await page.keyboard.press('Shift+ArrowLeft');
  await expect(page.getByText(/: 30 seconds$/)).toBeVisible();
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/tab=time&begin=\d+&end=\d+/);
});

test('what goes on comes to the page by itself, and stays still while somebody reads', async ({ page }) => {
  await openSession(page);
  await page.goto(TIME);
  await expect(page.getByText('live', { exact: true })).toBeVisible();
  const end = async () => Number(await crosshair(page).getAttribute('aria-valuemax'));
  const before = await end();
  await expect.poll(end).toBeGreaterThan(before);
  await crosshair(page).focus();
  await page.keyboard.press('ArrowLeft');
  const held = await end();
  const answers: string[] = [];
  page.on('response', (answer) => {
    if (answer.url().includes('/load?')) answers.push(answer.url());
  });
  await page.waitForTimeout(25_000);
  expect([answers, await end()]).toEqual([[], held]);
});

test('a tenant and the server have the same charts, and name who takes the most', async ({ page }) => {
  await openSession(page);
  await page.goto('/tenants/harbour');
  const load = page.getByRole('region', { name: 'Load' });
  await expect(load.locator('figure')).toHaveCount(5);
  await expect(load.getByRole('link', { name: 'busy' })).toBeVisible();
  await shoot(page, 'load-tenant');
  await page.setViewportSize({ width: 1280, height: 900 });
  await load.getByRole('link', { name: 'Last day' }).click();
  await expect(page).toHaveURL(/load=day#load$/);
  await expect(load.getByText(/^By /).first()).toBeVisible();
  expect(await flaws(page)).toEqual([]);
  await page.goto('/');
  await expect(page.getByRole('region', { name: 'Load' }).getByRole('link', { name: 'harbour' })).toBeVisible();
  await shoot(page, 'load-server');
});

test.describe('without scripts', () => {
  test.use({ javaScriptEnabled: false });

  test('the server has drawn the charts, and has them as a table', async ({ page }) => {
    await openSession(page);
    await page.goto(TIME);
    await expect(page.locator('figure')).toHaveCount(5);
    const paths = await page
      .locator('figure svg path')
      .evaluateAll((found) => found.map((path) => path.getAttribute('d')));
    expect(paths.filter((path) => path !== null && /^M-?[\d. ]+[VH]/.test(path)).length).toBeGreaterThanOrEqual(14);
    await page.getByText('As a table', { exact: true }).click();
    const rows = page.getByRole('region', { name: 'What it took' }).getByRole('row');
    expect(await rows.count()).toBeGreaterThan(5);
    await expect(rows.nth(1)).toContainText('% of a core');
    const csv = await page.getByRole('link', { name: 'All of them as CSV' }).getAttribute('href');
    const answer = await page.request.get(csv ?? '');
    expect([answer.status(), (await answer.text()).startsWith('time,measured_s,cpu_s')]).toEqual([200, true]);
  });
});
