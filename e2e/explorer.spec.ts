/**
 * The API explorer: its examples run by clicking, it is readable without JavaScript, and it asks nobody else for
 * anything.
 */
import { readFileSync } from 'node:fs';
import type { Download, Locator, Page } from '#peers/playwright.ts';
import { flaws } from './axe.ts';
import { expect, openSession, test, visited } from './visited.ts';

async function open(page: Page): Promise<void> {
  await openSession(page);
  await page.goto('/');
  const menu = page.getByRole('button', { name: 'Menu', exact: true });
  if (await menu.isVisible()) await menu.click();
  await page.getByRole('link', { name: 'Explorer', exact: true }).click();
  await expect(page.getByRole('heading', { level: 1 })).toContainText('Explorer');
  await expect(page.locator('.explorer')).toBeVisible();
}

/** Opens a call and runs it as it stands. Returns what is shown of its answer. */
async function run(page: Page, name: string): Promise<Locator> {
  const call = page.locator(`[id$="-${name}"]`);
  await call.locator('.opblock-summary-control').click();
  await call.getByRole('button', { name: 'Execute' }).click();
  const answer = call.locator('.live-responses-table');
  await expect(answer).toBeVisible();
  return answer;
}

async function text(download: Download): Promise<string> {
  return readFileSync(await download.path(), 'utf8');
}

test('create, exec and files run by clicking, one after another, as they stand', async ({ page, complaints }) => {
  complaints.expected.push(/409/);
  const requests = new Set<string>();
  const keys: string[] = [];
  page.on('request', (request) => {
    requests.add(new URL(request.url()).origin);
    if (request.headers().authorization !== undefined) keys.push(request.url());
  });
  await open(page);
  for (const [name, status, says] of [
    ['createInstance', '201', '"state": "created"'],
    ['execInInstance', '200', 'kept for the winter'],
    ['putFile', '201', 'location'],
    ['getFile', '200', 'Download file'],
    ['searchFiles', '200', 'hello.txt'],
    ['queryFiles', '200', 'note.txt'],
    ['deleteInstance', '409', 'invalid_transition'],
  ] as const) {
    const answer = await run(page, name);
    await expect(answer.locator('tbody .response-col_status')).toContainText(status);
    await expect(answer).toContainText(says);
  }
  const downloading = page.waitForEvent('download');
  await page.getByRole('link', { name: 'Download file' }).click();
  expect(await text(await downloading)).toBe('hello from the explorer\n');
  // All of it went by the session alone.
  expect(keys).toEqual([]);
  expect([...requests]).toEqual([visited().url]);
});

test('a stream shows what came in a short while', async ({ page }) => {
  await open(page);
  const answer = await run(page, 'streamEvents');
  await expect(answer.locator('tbody .response-col_status')).toContainText('200');
  await expect(answer).toContainText('retry: 2000');
});

test('the component is loaded on its own page only', async ({ page }) => {
  const heavy: string[] = [];
  page.on('requestfinished', async (request) => {
    if (request.resourceType() !== 'script') return;
    const { responseBodySize } = await request.sizes();
    if (responseBodySize > 250_000) heavy.push(request.url());
  });
  await openSession(page);
  for (const path of ['/', '/sandboxes']) await page.goto(path);
  expect(heavy).toEqual([]);
  await page.goto('/explorer');
  await expect(page.locator('.explorer')).toBeVisible();
  expect(heavy.length).toBeGreaterThan(0);
});

test('axe finds nothing, with a call open and answered', async ({ page }) => {
  await open(page);
  await run(page, 'patchSettings');
  await run(page, 'listInstances');
  expect(await flaws(page)).toEqual([]);
});

test('the plain list stays when the component does not come, and axe finds nothing in it', async ({
  page,
  complaints,
}) => {
  complaints.expected.push(/503/);
  await openSession(page);
  await page.route('**/openapi.json', (route) => route.fulfill({ status: 503, body: '' }));
  await page.goto('/explorer');
  await expect(page.getByRole('alert').getByText('did not load')).toBeVisible();
  await page.locator('summary', { hasText: '/api/instances/{id}/exec' }).click();
  expect(await flaws(page)).toEqual([]);
});

test.describe('on a narrow screen', () => {
  test.use({ viewport: { width: 390, height: 844 } });

  test('nothing scrolls sideways, with a call open and answered', async ({ page }) => {
    await open(page);
    await run(page, 'listInstances');
    await run(page, 'patchSettings');
    const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    expect(over).toBeLessThanOrEqual(0);
  });
});

test.describe('without JavaScript', () => {
  test.use({ javaScriptEnabled: false });

  test('every call and every error can be read', async ({ page }) => {
    await openSession(page);
    await page.goto('/explorer');
    const { json } = await visited().call<{ paths: Record<string, Record<string, object>> }>('GET', '/openapi.json');
    const calls = Object.values(json.paths).flatMap((methods) => Object.keys(methods));
    await expect(page.locator('details.call')).toHaveCount(calls.length);
    await page.locator('summary', { hasText: '/api/instances/{id}/exec' }).click();
    await expect(page.getByText('kept for the winter')).toBeVisible();
    await expect(page.getByRole('cell', { name: 'invalid_transition' })).toBeVisible();
  });
});
