/**
 * The API explorer: its examples run by clicking, a call is kept and copied, it is readable without JavaScript, and it
 * asks nobody else for anything.
 */
import { readFileSync } from 'node:fs';
import type { Download, Locator, Page, Request } from '#peers/playwright.ts';
import { flaws } from './axe.ts';
import { expect, openSession, test, visited } from './visited.ts';

async function open(page: Page): Promise<void> {
  await openSession(page);
  await page.goto('/');
  const menu = page.getByRole('button', { name: 'Menu', exact: true });
  if (await menu.isVisible()) await menu.click();
  await page.getByRole('link', { name: 'Explorer', exact: true }).click();
  await expect(page.getByRole('heading', { level: 1 })).toContainText('Explorer');
}

/** Opens a call and runs it as it stands. Returns the cell, with its answer. */
async function run(page: Page, name: string): Promise<Locator> {
  const cell = page.locator(`#calls [data-call-name="${name}"]`);
  await cell.locator('summary').click();
  await cell.getByRole('button', { name: 'Run', exact: true }).click();
  await expect(cell.locator('.outcome strong')).toBeVisible();
  return cell;
}

async function text(download: Download): Promise<string> {
  return readFileSync(await download.path(), 'utf8');
}

test('create, exec and files run by clicking, one after another, as they stand, and are kept and copied', async ({
  page,
  complaints,
  context,
}) => {
  complaints.expected.push(/409/);
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
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
    ['getFile', '200', 'hello from the explorer'],
    ['searchFiles', '200', 'hello.txt'],
    ['queryFiles', '200', 'note.txt'],
    ['deleteInstance', '409', 'invalid_transition'],
  ] as const) {
    const cell = await run(page, name);
    await expect(cell.locator('.outcome strong')).toHaveText(status);
    await expect(cell.locator('.outcome')).toContainText(says);
  }
  const file = page.locator('#calls [data-call-name="getFile"]');
  const downloading = page.waitForEvent('download');
  await file.getByRole('link', { name: 'Save the answer' }).click();
  expect(await text(await downloading)).toBe('hello from the explorer\n');
  // All of it went by the session alone, to this server.
  expect(keys).toEqual([]);
  expect([...requests]).toEqual([visited().url]);
  expect(await flaws(page)).toEqual([]);

  // Shown as three texts, each with the variable of the key.
  const exec = page.locator('#calls [data-call-name="execInInstance"]');
  await exec.getByLabel('Body, JSON').fill('{"command": "date"}');
  const shown = exec.getByRole('figure', { name: /^The call as/ });
  await expect(shown).toContainText('--header "Authorization: Bearer $WINTERDOCK_KEY"');
  await exec.getByText('Command line', { exact: true }).click();
  await expect(shown).toHaveText(/^npx winterdock exec try-\w+ date$/);
  await exec.getByRole('button', { name: 'Copy as Command line' }).click();
  await expect(exec.getByRole('button', { name: 'Copy as Command line' })).toHaveText('Copied');
  expect(await page.evaluate(() => navigator.clipboard.readText())).toMatch(/^npx winterdock exec try-\w+ date$/);
  await exec.getByText('TypeScript', { exact: true }).click();
  await expect(shown).toContainText('dock.execInInstance(');

  // Kept with its values over a reload, and found by words.
  await exec.getByRole('button', { name: 'Keep in the notebook' }).click();
  await page.goto('/explorer?q=execInInstance');
  const kept = page.locator('#notebook [data-call-name="execInInstance"]');
  await kept.locator('summary').click();
  await expect(kept.getByLabel('Body, JSON')).toHaveValue('{"command": "date"}');
  await kept.getByRole('button', { name: 'Run', exact: true }).click();
  await expect(kept.locator('.outcome')).toContainText('"exit_code": 0');
  await expect(page.locator('#calls [data-call-name]')).toHaveCount(1);
  await page.getByLabel('Find a call by its name, path or purpose').fill('no such call');
  await expect(page.getByText('No call has all of these words.')).toBeVisible();
  await kept.getByRole('button', { name: 'Take out of the notebook' }).click();
  await expect(page.locator('#notebook')).toHaveCount(0);
});

test('a stream shows what came in a short while', async ({ page }) => {
  await open(page);
  const cell = await run(page, 'streamEvents');
  await expect(cell.locator('.outcome strong')).toHaveText('200');
  await expect(cell.locator('.outcome')).toContainText('retry: 2000');
});

test('the explorer ships at most 250 kB of JavaScript', async ({ page, context }) => {
  await openSession(page);
  const network = await context.newCDPSession(page);
  await network.send('Network.enable');
  await network.send('Network.setCacheDisabled', { cacheDisabled: true });
  const scripts: Request[] = [];
  page.on('requestfinished', (request) => {
    if (request.resourceType() === 'script') scripts.push(request);
  });
  await page.goto('/explorer');
  await run(page, 'getSettings');
  const sizes = await Promise.all(scripts.map((request) => request.sizes()));
  const shipped = sizes.reduce((sum, { responseBodySize }) => sum + responseBodySize, 0);
  expect(shipped).toBeGreaterThan(50_000);
  expect(shipped).toBeLessThanOrEqual(250_000);
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
    await expect(page.locator('details[data-call-name]')).toHaveCount(calls.length);
    await page.locator('summary', { hasText: '/api/instances/{id}/exec' }).click();
    const curl = page.locator('pre:visible', { hasText: 'kept for the winter' }).last();
    await expect(curl).toContainText('Authorization: Bearer $WINTERDOCK_KEY');
    await expect(page.getByRole('cell', { name: 'invalid_transition' })).toBeVisible();
    await page.getByLabel('Find a call by its name, path or purpose').fill('takeSnapshot');
    await page.getByRole('button', { name: 'Find', exact: true }).click();
    await expect(page.locator('details[data-call-name]')).toHaveCount(1);
  });
});
