/** The storage page of a server that is to do without its store: how far it is, what stays and why, what to do then. */
import { mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Page } from '#peers/playwright.ts';
import { type ServerProcess, spawnServer } from '../lib/testing/process.ts';
import { flaws } from './axe.ts';
import { expect, signInByKey, test } from './visited.ts';

const root = mkdtempSync(join(tmpdir(), 'winterdock-leaving-page-'));
const bucket = join(root, 'bucket');
const objects = join(bucket, 'drawers/cold/stays');
let server: ServerProcess | null = null;
test.afterAll(async () => {
  await server?.end('SIGKILL');
  rmSync(root, { recursive: true, force: true });
});

const start = async (settings: Record<string, string>, args: string[]) => {
  const store = { WB_COLD_URL: pathToFileURL(bucket).href, WB_STORE_CACHE: '0', WB_LOG: 'fatal' };
  server = await spawnServer({ folder: join(root, 'data'), settings: { ...store, ...settings }, args });
  return server;
};

async function look(page: Page, what: string): Promise<void> {
  for (const width of [390, 1280]) {
    await page.setViewportSize({ width, height: 900 });
    expect([what, width, await flaws(page)]).toEqual([what, width, []]);
    const { scroll, client } = await page.evaluate(() => ({
      scroll: document.documentElement.scrollWidth,
      client: document.documentElement.clientWidth,
    }));
    expect([what, width, scroll]).toEqual([what, width, client]);
    for (const theme of process.env.WB_TEST_SHOTS === undefined ? [] : (['light', 'dark'] as const)) {
      await page.emulateMedia({ colorScheme: theme });
      await page
        .locator('#store')
        .screenshot({ path: `${process.env.WB_TEST_SHOTS}/leaving-${what}-${width}-${theme}.png` });
      await page.emulateMedia({ colorScheme: null });
    }
  }
}

test('a server that leaves its store says how far it is, what stays and why, and what to do when all is here', async ({
  browser,
}) => {
  test.slow();
  const before = await start({}, ['--api-only']);
  for (const id of ['comes', 'stays']) {
    await before.call('POST', '/api/instances', { id, tenant: 'harbour' });
    await before.call('PUT', `/api/instances/${id}/volumes/workspace/kept`, `of ${id}`);
    await before.call('POST', `/api/instances/${id}/suspend`);
    expect((await before.call('POST', `/api/instances/${id}/freeze`)).status).toBe(200);
  }
  await before.end('SIGTERM');
  rmSync(join(root, 'data/cold'), { recursive: true });
  // One that the store does not give.
  const [name = ''] = readdirSync(objects).filter((one) => !one.endsWith('.json'));
  renameSync(join(objects, name), join(root, 'withheld'));

  const leaving = await start({ NODE_ENV: 'production', WB_STORE_LEAVING: '1' }, []);
  const page = await (await browser.newContext({ baseURL: leaving.url })).newPage();
  await signInByKey(page);
  await page.goto('/settings/storage');
  const store = page.locator('#store');
  // The page renders again by itself.
  await expect(store).toContainText('1 of 2');
  await expect(store.getByRole('progressbar', { name: 'Sandboxes on this machine' })).toHaveAttribute('value', '1');
  await expect(store.getByRole('row', { name: /^stays / })).toContainText(/store/);
  await expect(store).toContainText('stores nothing more');
  await expect(page.locator('#backup')).toContainText('Nothing replicates');
  await look(page, 'under-way');

  renameSync(join(root, 'withheld'), join(objects, name));
  await expect(store).toContainText('Every file is on this machine. Restart the server without WB_COLD_URL');
  await expect(store.getByRole('row')).toHaveCount(0);
  await look(page, 'done');
  const read = await leaving.call('GET', '/api/instances/stays/volumes/workspace/kept');
  expect(read.text).toBe('of stays');
  await page.context().close();
});
