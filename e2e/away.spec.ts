/**
 * A server that goes away under open pages: it is killed, a proxy answers for it, its answers break off, or another
 * version comes back. No page is left, what was typed stays, and what is pressed meanwhile is not done.
 */
import type { Browser, BrowserContext, Page } from '#peers/playwright.ts';
import { flaws } from './axe.ts';
import { type Restarted, startProxy, startRestarted, type TestProxy } from './restarted.ts';
import { commandLine } from './typing.ts';
import { expect, signInByKey, test } from './visited.ts';

/** How often the server is killed beside the open pages. `WB_TEST_KILLS=20` is the long trial. */
const KILLS = Number(process.env.WB_TEST_KILLS ?? 1);
const SANDBOXES = 40;

let server: Restarted;
let proxy: TestProxy;

test.beforeAll(async () => {
  server = await startRestarted();
  proxy = await startProxy(server.url);
  for (let n = 0; n < SANDBOXES; n += 1) {
    await server.call('POST', '/api/instances', { id: `away-${n}`, tenant: 'away', name: `Away ${n}` });
  }
});

test.afterAll(async () => {
  await proxy.close();
  await server.remove();
});

const bar = (page: Page) => page.getByRole('status').filter({ hasText: 'The server does not answer since' });
const newer = (page: Page) => page.getByRole('status').filter({ hasText: 'A newer version is there' });
const isLive = (page: Page) => expect(page.getByText('live', { exact: true })).toBeVisible();

/** Signs in at `url`, in a context of its own: cookies are for all ports of a host. */
async function signedIn(browser: Browser, url: string): Promise<BrowserContext> {
  const context = await browser.newContext({ baseURL: url, viewport: { width: 1280, height: 900 } });
  context.setDefaultTimeout(45_000);
  const page = await context.newPage();
  await signInByKey(page);
  await page.close();
  return context;
}

/** Opens a page that can be told from what comes in its place. */
async function open(context: BrowserContext, path: string): Promise<Page> {
  const page = await context.newPage();
  await page.goto(path);
  await isLive(page);
  await page.evaluate(() => Object.assign(window, { stillHere: true }));
  return page;
}

const isLeft = (page: Page) => page.evaluate(() => !('stillHere' in window));

async function left(pages: readonly Page[]): Promise<string[]> {
  const all = await Promise.all(pages.map(async (page) => ((await isLeft(page)) ? page.url() : null)));
  return all.filter((url) => url !== null);
}

const nameOf = (page: Page) => page.getByLabel('Name', { exact: true });

async function openTen(context: BrowserContext): Promise<Page[]> {
  const form = await open(context, '/sandboxes/away-0?tab=settings');
  await nameOf(form).fill('typed and not saved');
  const terminal = await open(context, '/sandboxes/away-1?tab=terminal');
  await commandLine(terminal).focus();
  await terminal.keyboard.type('echo half a li');
  const upload = await open(context, '/sandboxes/away-2?tab=files');
  const list = await open(context, '/sandboxes?tenant=away&q=away-7');
  await list.getByLabel('Choose Away 7', { exact: true }).check();
  const explorer = await open(context, '/explorer');
  const rest: Page[] = [];
  for (const path of ['/', '/jobs', '/audit', '/tenants', '/settings/thresholds']) rest.push(await open(context, path));
  return [form, terminal, upload, list, explorer, ...rest];
}

/** From now on the page sends so slowly that a file is not there when the server goes. */
async function sendSlowly(page: Page): Promise<void> {
  const network = await page.context().newCDPSession(page);
  const slow = { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: 100_000 };
  await network.send('Network.emulateNetworkConditions', slow);
}

async function beginUpload(page: Page, name: string): Promise<void> {
  const files = page.getByLabel('Files', { exact: true }).and(page.locator('input'));
  await files.setInputFiles({ name, mimeType: 'application/octet-stream', buffer: Buffer.alloc(2_000_000, 1) });
  const progress = page.getByRole('progressbar', { name: `Sent of /${name}` });
  await expect.poll(() => progress.evaluate((element) => (element as HTMLProgressElement).value)).toBeGreaterThan(0);
}

test('ten open pages stay when the server is killed beside a running job, say so, do nothing meanwhile, and go on', async ({
  browser,
}) => {
  test.setTimeout(120_000 + KILLS * 60_000);
  const context = await signedIn(browser, server.url);
  const pages = await openTen(context);
  const [form, terminal, upload, list] = pages as [Page, Page, Page, Page];
  await sendSlowly(upload);
  for (let kill = 1; kill <= KILLS; kill += 1) {
    await beginUpload(upload, `large-${kill}.bin`);
    const verb = kill % 2 === 1 ? 'resume' : 'suspend';
    await server.call('POST', '/api/jobs', { verb, filter: { tenant: 'away' }, reason: 'beside a crash' });
    // Somewhere in the job's lines, each of which makes pages read anew.
    await form.waitForTimeout(kill * 37);
    await server.kill();
    for (const page of pages) await expect(bar(page)).toBeVisible();
    expect(await left(pages)).toEqual([]);

    // What is pressed meanwhile is not done and opens nothing, and says so.
    await form.getByRole('button', { name: 'Save' }).click();
    await expect(bar(form)).toContainText('Nothing was done');
    await list.getByRole('link', { name: 'Tenants' }).first().click();
    await expect(bar(list)).toContainText('Nothing was opened');
    const lost = upload.getByRole('button', { name: `Try again: /large-${kill}.bin` });
    await expect(lost).toBeVisible();
    expect(await left(pages)).toEqual([]);

    await server.start();
    for (const page of pages) await expect(bar(page)).toHaveCount(0);
    for (const page of pages) await isLive(page);
    expect(await left(pages)).toEqual([]);
    await expect(nameOf(form)).toHaveValue('typed and not saved');
    await expect(list.getByLabel('Choose Away 7', { exact: true })).toBeChecked();
    await expect(terminal).toHaveURL(/tab=terminal/);
    const { json } = await server.call<{ name: string }>('GET', '/api/instances/away-0');
    expect(json.name).toBe('Away 0');
    await expect(lost).toBeVisible();
  }
  // And it does what is asked again, on the page that was there all the time.
  await form.getByRole('button', { name: 'Save' }).click();
  await expect(form.getByText('typed and not saved').first()).toBeVisible();
  const saved = async () => (await server.call<{ name: string }>('GET', '/api/instances/away-0')).json.name;
  await expect.poll(saved).toBe('typed and not saved');
  expect(await left(pages)).toEqual([]);
  await context.close();
});

test('a page stays when a proxy answers 502 or 504 for the server, or cuts its answers', async ({ browser }) => {
  const context = await signedIn(browser, proxy.url);
  const page = await open(context, '/sandboxes/away-3?tab=settings');
  await nameOf(page).fill('typed');
  for (const treatment of [502, 504] as const) {
    // The server goes on: what happens in it reaches the page when the proxy lets it.
    proxy.treat(() => treatment);
    await expect(bar(page)).toBeVisible();
    await page.getByRole('link', { name: 'Tenants' }).first().click();
    await expect(bar(page)).toContainText('Nothing was opened');
    proxy.treat(() => 'pass');
    await expect(bar(page)).toHaveCount(0);
  }
  // That a proxy keeps the address of health to itself does not make the server go away.
  const stream = page.waitForResponse((answer) => answer.request().method() === 'HEAD' && answer.ok());
  proxy.treat(({ url }) => (url === '/healthz' ? 404 : 'pass'));
  await stream;
  await isLive(page);
  await expect(bar(page)).toHaveCount(0);

  // The first answers of the page are cut in their middle, and then one comes whole.
  let cuts = 0;
  proxy.treat(({ headers, url = '' }) =>
    headers.rsc !== undefined && url.startsWith('/sandboxes/away-3') && cuts++ < 2 ? 'cut' : 'pass',
  );
  await server.call('PATCH', '/api/instances/away-3', { labels: { seen: 'after-cut' } });
  await expect(page.getByText('after-cut').first()).toBeVisible();
  expect(cuts).toBeGreaterThan(2);
  expect(await isLeft(page)).toBe(false);
  await expect(nameOf(page)).toHaveValue('typed');

  // A link to a page that alone does not come is not followed, and the others are.
  proxy.treat(({ headers, url = '' }) => (headers.rsc !== undefined && url.startsWith('/audit') ? 504 : 'pass'));
  await nameOf(page).fill('Away 3');
  const other = await open(context, '/jobs');
  await other.getByRole('link', { name: 'Audit' }).first().click();
  await expect(other.getByText('did not come')).toBeVisible();
  expect(new URL(other.url()).pathname).toBe('/jobs');
  await other.getByRole('link', { name: 'Tenants' }).first().click();
  await expect(other).toHaveURL(/\/tenants$/);
  expect(await left([page, other])).toEqual([]);
  proxy.treat(() => 'pass');
  await context.close();
});

test('a browser that loses its network follows no link, and is back as soon as it has one', async ({ browser }) => {
  const context = await signedIn(browser, proxy.url);
  const page = await open(context, '/jobs');
  const box = await open(context, '/sandboxes/away-6?tab=settings');
  await context.setOffline(true);
  // Nothing is known yet: the router asks, and is not answered.
  await page.getByRole('link', { name: 'Tenants' }).first().click();
  await expect(bar(page)).toContainText('Nothing was opened');
  await nameOf(box).fill('typed offline');
  await box.getByRole('button', { name: 'Save' }).click();
  await expect(box.getByText('The server does not answer').first()).toBeVisible();
  await context.setOffline(false);
  for (const one of [page, box]) await expect(bar(one)).toHaveCount(0);
  expect(await left([page, box])).toEqual([]);
  expect(new URL(page.url()).pathname).toBe('/jobs');
  await expect(nameOf(box)).toHaveValue('typed offline');
  // The router is not caught in what it was not answered.
  await page.getByRole('link', { name: 'Tenants' }).first().click();
  await expect(page).toHaveURL(/\/tenants$/);
  expect(await isLeft(page)).toBe(false);
  await context.close();
});

test('a link without a router, a form that posts and a reload keep the page too', async ({ browser }) => {
  const context = await signedIn(browser, proxy.url);
  const page = await open(context, '/explorer');
  // Before anything has noticed: the stream stays, and everything else is answered by the proxy.
  proxy.treat(({ url = '' }) => (url.startsWith('/api/events/stream') ? 'pass' : 502));
  await isLive(page);
  await page.getByRole('link', { name: '/openapi.json' }).click();
  await expect(bar(page)).toContainText('Nothing was opened');
  await page.evaluate(() => location.reload());
  await page.waitForTimeout(500);
  expect(await isLeft(page)).toBe(false);
  proxy.treat(() => 'pass');
  await expect(bar(page)).toHaveCount(0);
  await page.getByRole('link', { name: '/openapi.json' }).click();
  await expect(page).toHaveURL(/openapi\.json$/);

  for (const verb of ['resume', 'suspend']) await server.call('POST', `/api/instances/away-8/${verb}`, {});
  const box = await open(context, '/sandboxes/away-8?tab=shares');
  const ship = box.getByRole('button', { name: 'Ship the workspace' });
  proxy.treat(({ url = '' }) => (url.startsWith('/api/events/stream') ? 'pass' : 502));
  await ship.click();
  await expect(bar(box)).toContainText('Nothing was done');
  proxy.treat(() => 'pass');
  await expect(bar(box)).toHaveCount(0);
  const shipped = box.waitForEvent('download');
  await ship.click();
  expect((await shipped).suggestedFilename()).toContain('away-8');
  expect(await isLeft(box)).toBe(false);
  await context.close();
});

test('a page of an older version stays as it is, says so, and is read anew only when asked', async ({ browser }) => {
  const context = await signedIn(browser, proxy.url);
  const page = await open(context, '/sandboxes/away-4?tab=settings');
  await nameOf(page).fill('typed before');
  proxy.alter((headers) => {
    if (headers['x-winterdock-build'] !== undefined) headers['x-winterdock-build'] = 'another';
  });
  await server.call('PATCH', '/api/instances/away-4', { labels: { seen: 'by-another' } });
  await expect(newer(page)).toBeVisible();
  expect(await isLeft(page)).toBe(false);
  await expect(nameOf(page)).toHaveValue('typed before');
  expect(await flaws(page)).toEqual([]);
  proxy.alter(() => {});
  page.on('dialog', (dialog) => void dialog.accept());
  await newer(page).getByRole('button', { name: 'Reload' }).click();
  await expect(page.getByText('by-another').first()).toBeVisible();
  expect(await isLeft(page)).toBe(true);
  await expect(newer(page)).toHaveCount(0);
  await context.close();
});

test('a script that is gone leaves the page as it is, and says that a newer version is there', async ({ browser }) => {
  const context = await signedIn(browser, proxy.url);
  const page = await open(context, '/tenants');
  await context.route('**/_next/static/**', (route) => route.fulfill({ status: 404, body: 'gone' }));
  await page.keyboard.press('Control+k');
  await expect(newer(page)).toBeVisible();
  expect(await isLeft(page)).toBe(false);
  await context.close();
});

test('the bar stands on narrow, wide and dark pages, hides nothing, and has no flaws', async ({ browser }) => {
  const context = await signedIn(browser, proxy.url);
  const page = await open(context, '/sandboxes/away-5?tab=settings');
  proxy.treat(() => 504);
  await expect(bar(page)).toBeVisible();
  const pictures = process.env.WB_TEST_PICTURES;
  for (const width of [390, 1280, 1920]) {
    await page.setViewportSize({ width, height: 900 });
    const box = await bar(page).boundingBox();
    expect(box?.width).toBe(width);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
    await page.evaluate(() => window.scrollTo(0, document.body.scrollHeight));
    await expect.poll(async () => (await bar(page).boundingBox())?.y).toBe(0);
    // In the light and in the dark.
    expect(await flaws(page)).toEqual([]);
    for (const colorScheme of pictures === undefined ? [] : (['light', 'dark'] as const)) {
      await page.emulateMedia({ colorScheme });
      await page.screenshot({ path: `${pictures}/bar-${width}-${colorScheme}.png` });
    }
  }
  proxy.treat(() => 'pass');
  await expect(bar(page)).toHaveCount(0);
  await context.close();
});
