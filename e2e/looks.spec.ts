/** Pages in both themes and on a narrow screen, half of them a round: accessible, nothing cut off, no complaints. */
import type { BrowserContext, Page, Request } from '#peers/playwright.ts';
import { partOf } from '../lib/testing/draw.ts';
import { flaws } from './axe.ts';
import { trouble } from './crowd.ts';
import { PAGES, STORM } from './looked-at.ts';
import { HARBOUR, harm, moor, stock } from './sample-data.ts';
import { openTerminal, runCommand } from './typing.ts';
import { expect, openSession, test, visited } from './visited.ts';

const WIDE = { width: 1280, height: 900 };
const NARROW = { width: 390, height: 844 };

/** The overview's own limit, in bytes of compressed JavaScript. */
const OVERVIEW_LIMIT = 169_000;

// Filling the harbour takes as long as several tests: one worker does it.
test.describe.configure({ mode: 'default' });

/** Ids of jobs that are never done. */
let jobs: string[] = [];

test.beforeAll(async () => {
  const { call, folder } = visited();
  if ((await call('GET', '/api/instances/fresh-one')).status === 404) {
    for (const berth of HARBOUR) await moor(call, berth);
    await harm(call, folder);
    await stock(call);
  }
  if ((await call('GET', `/api/instances/${STORM}-0`)).status === 404) jobs = await trouble(folder, STORM, Date.now());
  // So that the page of thresholds has a table too.
  await call('PATCH', `/api/tenants/${STORM}`, { idle_to_freeze_s: 30 * 86_400 });
});

test.afterAll(async () => {
  const { call } = visited();
  for (const job of jobs) await call('DELETE', `/api/jobs/${job}`);
  await call('POST', `/api/instances/${STORM}-6/settle`);
});

interface Watched {
  /** Every shift: how far, and what moved from where to where. */
  shifts?: { far: number; what: string[] }[];
}

/** Has each page of the context note how far its parts moved by themselves, from its first paint on. */
async function watchShifts(context: BrowserContext): Promise<void> {
  await context.addInitScript(() => {
    const watched = globalThis as Watched;
    watched.shifts = [];
    type Shift = PerformanceEntry & {
      value: number;
      hadRecentInput: boolean;
      sources: { node: Node | null; previousRect: DOMRectReadOnly; currentRect: DOMRectReadOnly }[];
    };
    const placeOf = ({ x, y, width, height }: DOMRectReadOnly) => [x, y, width, height].map(Math.round).join(' ');
    new PerformanceObserver((list) => {
      for (const { value, hadRecentInput, sources } of list.getEntries() as Shift[]) {
        if (hadRecentInput) continue;
        const what = sources.map(({ node, previousRect, currentRect }) => {
          const html = node instanceof Element ? node.outerHTML : (node?.textContent ?? 'gone');
          return `${html.slice(0, 120)}: ${placeOf(previousRect)} to ${placeOf(currentRect)}`;
        });
        watched.shifts?.push({ far: value, what });
      }
    }).observe({ type: 'layout-shift', buffered: true });
  });
}

/** Nothing of the page has moved by itself so far. */
async function expectStill(page: Page, name: string): Promise<void> {
  const shifts = (await page.evaluate(() => (globalThis as Watched).shifts)) ?? [{ far: 1, what: ['not watched'] }];
  const far = shifts.reduce((sum, shift) => sum + shift.far, 0);
  expect(far, `${name}: ${JSON.stringify(shifts)}`).toBeLessThan(0.01);
}

/** What makes a page wider than its screen, outermost first; nothing when it fits. */
function tooWide(): string[] {
  const { scrollWidth, clientWidth } = document.documentElement;
  if (scrollWidth <= clientWidth) return [];
  return [...document.body.querySelectorAll('*')]
    .filter((element) => element.getBoundingClientRect().right > clientWidth)
    .slice(0, 8)
    .map((element) => `${element.tagName} ${element.className} ${element.textContent.slice(0, 60)}`);
}

/** The tabs of a sandbox begin on the first screen, whatever stands above them. */
async function expectTabsInSight(page: Page, name: string, above: number): Promise<void> {
  const tabs = page.getByRole('navigation', { name: 'Parts of this sandbox' });
  if ((await tabs.count()) === 0) return;
  await page.evaluate(() => scrollTo(0, 0));
  expect((await tabs.boundingBox())?.y, `the tabs of ${name}`).toBeLessThan(above);
}

test('a browser that asks for the icon by its oldest name gets it, signed in or not', async ({ request }) => {
  const answer = await request.get('/favicon.ico');
  expect(answer.status()).toBe(200);
  expect(answer.headers()['content-type']).toBe('image/x-icon');
});

test('axe finds what is too faint, in the theme in which it is, and what is wrong in both', async ({ page }) => {
  const faint = 'color: light-dark(#767676, #6b6b6b); background: light-dark(white, black)';
  await page.setContent(`<!doctype html><html lang="en"><meta name="color-scheme" content="light dark"><title>A page</title>
    <main><h1 style="color: CanvasText">Words</h1>${`<p style="${faint}">faint</p>`.repeat(3)}<img alt="" src="data:,"></main></html>`);
  const found = (await flaws(page)).map((flaw) => flaw.split('\n', 1)[0]?.replace(/ style.*/, ''));
  expect(found).toEqual(Array(3).fill('color-contrast in the dark: <p'));
  await page.evaluate(() => document.querySelector('img')?.removeAttribute('alt'));
  expect((await flaws(page)).map((flaw) => flaw.split(':', 1)[0])).toContain('image-alt in the dark');
});

test('axe finds nothing on the sign-in page', async ({ page }) => {
  await page.goto('/signin');
  expect(await flaws(page)).toEqual([]);
});

test.describe('in a browser that was never here', () => {
  test.use({ ownContext: true });

  test('a typeface that comes late moves nothing', async ({ page, context }) => {
    await openSession(page);
    await watchShifts(context);
    const shown = Promise.withResolvers<void>();
    let late = 0;
    await context.route(/\.woff2$/, async (route) => {
      late += 1;
      await shown.promise;
      await route.continue();
    });
    await page.goto('/shares', { waitUntil: 'commit' });
    await expect(page.getByText('live', { exact: true })).toBeVisible();
    const loaded = Promise.all(Array.from({ length: late }, () => page.waitForEvent('requestfinished')));
    shown.resolve();
    await loaded;
    await page.evaluate(async () => {
      await document.fonts.ready;
      for (let frames = 0; frames < 2; frames += 1) await new Promise(requestAnimationFrame);
    });
    expect(late).toBeGreaterThan(0);
    await expectStill(page, 'shares');
  });

  for (const [part, pages] of Object.entries(PAGES)) {
    test(`${part}: each page is accessible in both themes, fits a narrow screen, has one first heading and at most 200 kB of JavaScript, and nothing in it moves by itself`, async ({
      page,
      context,
    }) => {
      test.slow();
      await openSession(page);
      await watchShifts(context);
      await page.emulateMedia({ reducedMotion: 'reduce' });
      // Every visit is a first visit, so that all scripts of a page are counted.
      const network = await context.newCDPSession(page);
      await network.send('Network.enable');
      await network.send('Network.setCacheDisabled', { cacheDisabled: true });
      for (const [name, where] of partOf(pages, 2)) {
        const path = typeof where === 'string' ? where : await where(jobs);
        const scripts: Request[] = [];
        const gather = (request: Request) => {
          if (request.resourceType() === 'script') scripts.push(request);
        };
        page.on('requestfinished', gather);
        const html = (await (await page.goto(path))?.text()) ?? '';
        await expect(page.getByRole('heading', { level: 1 }), name).toHaveCount(1);
        page.off('requestfinished', gather);
        // The terminal's emulator and the editor's highlighting come after their pages, which work without them.
        const hasLater = path.includes('tab=terminal') || path.startsWith('/workbooks/');
        const isFirst = (request: Request) => !hasLater || html.includes(new URL(request.url()).pathname);
        const sizes = await Promise.all(scripts.filter(isFirst).map((request) => request.sizes()));
        const shipped = sizes.reduce((sum, { responseBodySize }) => sum + responseBodySize, 0);
        expect(shipped, name).toBeGreaterThan(50_000);
        expect(shipped, name).toBeLessThanOrEqual(path === '/' ? OVERVIEW_LIMIT : 200_000);

        await expect(page.getByText('live', { exact: true }), name).toBeVisible();
        await expectStill(page, name);
        expect(await page.evaluate(() => document.getAnimations().length), name).toBe(0);

        expect(await flaws(page), name).toEqual([]);
        await expectTabsInSight(page, name, 330);

        await page.setViewportSize(NARROW);
        await expect.poll(() => page.evaluate(tooWide), name).toEqual([]);
        await expectTabsInSight(page, name, 480);
        // Figures and forms are laid out anew there; their colours are those of the wide page.
        expect(await flaws(page, ['light']), `${name}, narrow`).toEqual([]);
        await page.setViewportSize(WIDE);
      }
    });
  }
});

test('axe finds nothing while a form complains and a command has run', async ({ page }) => {
  await openSession(page);
  await page.goto('/sandboxes');
  await page.getByText('New sandbox', { exact: true }).click();
  await page.getByRole('button', { name: 'Create sandbox' }).click();
  await expect(page.getByText('Whose sandbox is it?')).toBeVisible();
  expect(await flaws(page)).toEqual([]);
  await openTerminal(page, 'crawler-eu-west');
  await runCommand(page, 'ls -la; nosuchcommand');
  expect(await flaws(page)).toEqual([]);
});

/** Settles one of the storm from the overview, and finds it free. */
async function settle(page: Page, id: string, state: string): Promise<void> {
  const { call } = visited();
  const name = (await call<{ name: string }>('GET', `/api/instances/${id}`)).json.name;
  await page.goto('/');
  const stuck = page.getByRole('region', { name: 'Stuck' });
  const row = stuck.getByRole('listitem').filter({ has: page.locator(`a[href="/sandboxes/${id}"]`) });
  await expect(row).toContainText('nobody carries it out any more');
  await row.getByRole('button', { name: `Settle it ${name}` }).click();
  await expect(row).toHaveCount(0);
  const seen = await call<{ state: string; pending: null; interrupted: boolean }>('GET', `/api/instances/${id}`);
  expect(seen.json).toMatchObject({ state, pending: null, interrupted: false });
}

test('an interrupted operation is settled from the overview, and the list finds what else is stuck', async ({
  page,
}) => {
  await openSession(page);
  await settle(page, `${STORM}-4`, 'suspended');
  await page.goto(`/sandboxes?pending=stuck&tenant=${STORM}&limit=1`);
  await expect(page.locator('main tbody tr')).toHaveCount(1);
  await page.getByRole('link', { name: 'Next page' }).click();
  await expect(page).toHaveURL(/pending=stuck&tenant=storm&limit=1&cursor=/);
  await expect(page.locator('main tbody tr')).toHaveCount(1);
  await page.getByRole('button', { name: 'Show', exact: true }).click();
  await expect(page).toHaveURL(/pending=stuck/);
  await page.getByRole('link', { name: 'Without: stuck for more than a minute' }).click();
  await expect(page).toHaveURL(/tenant=storm/);
  await expect(page).not.toHaveURL(/pending/);
  await expect(page.getByRole('heading', { level: 1 })).toContainText('7 sandboxes');
});

test('a wrong filter shows nothing, and offers nothing to act upon', async ({ page }) => {
  await openSession(page);
  await page.goto('/sandboxes?label=nothing&tenant=northwind');
  await expect(page.getByText('Nothing is shown: a filter above is not valid.')).toBeVisible();
  await expect(page.getByText('must be key:value')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Show what it would do' })).toHaveCount(0);
});

test('a bar of the coming hour and a hop of the diagram lead to the sandboxes that they are about', async ({
  page,
}) => {
  await openSession(page);
  await page.goto('/');
  const bar = page
    .getByRole('region', { name: 'Next hour' })
    .getByRole('link', { name: / UTC: / })
    .first();
  const [, kinds = ''] = ((await bar.getAttribute('aria-label')) ?? '').split(' UTC: ');
  const count = [...kinds.matchAll(/\d+/g)].reduce((sum, [digits]) => sum + Number(digits), 0);
  expect(count).toBeGreaterThan(0);
  await bar.click();
  await expect(page).toHaveURL(/due_until=\d+/);
  await expect(page.getByRole('heading', { level: 1 })).toContainText(`${count} sandbox`);
  await page.goto('/');
  await page.getByRole('link', { name: /^active to suspended: idle/ }).click();
  await expect(page).toHaveURL(/state=active&due_until=/);
  await expect(page.getByRole('link', { name: /^Without: moving by itself until/ })).toBeVisible();
});

test('the shares of a sandbox are read page by page', async ({ page }) => {
  await openSession(page);
  await page.goto(`/sandboxes/${STORM}-0?tab=shares`);
  const rows = page.getByRole('region', { name: 'Shares' }).locator('tbody tr');
  await expect(rows).toHaveCount(50);
  await page.getByRole('link', { name: 'Next page' }).click();
  await expect(rows).toHaveCount(1);
  await expect(page).toHaveURL(/tab=shares&cursor=/);
  await page.getByRole('link', { name: 'First page' }).click();
  await expect(rows).toHaveCount(50);
});

test.describe('without JavaScript', () => {
  test.use({ javaScriptEnabled: false });

  test('every page can be read and has a title of its own, and what is stuck is settled', async ({ page }) => {
    test.slow();
    await openSession(page);
    /** By the pages' addresses without what follows the `?`. */
    const titles = new Map<string, string>();
    for (const [name, where] of Object.values(PAGES).flat()) {
      await page.goto(typeof where === 'string' ? where : await where(jobs));
      const title = await page.title();
      expect(title, name).toMatch(/^.+ · Winterdock$/);
      titles.set(new URL(page.url()).pathname, title);
      await expect(page.getByRole('heading', { level: 1 }), name).toBeVisible();
      expect((await page.locator('main').textContent())?.length, name).toBeGreaterThan(100);
      await expect(page.locator('main [aria-busy="true"]'), name).toHaveCount(0);
    }
    expect(new Set(titles.values()).size).toBe(titles.size);
    await settle(page, `${STORM}-5`, 'frozen');
  });
});

test('a page that is not there says what is', async ({ page, complaints }) => {
  complaints.expected.push(/404/);
  await openSession(page);
  expect((await page.goto('/sandboxes/never-was'))?.status()).toBe(404);
  await expect(page.getByRole('heading', { level: 1 })).toContainText('No such sandbox');
  await page.getByLabel('Find a sandbox').fill('triage');
  await page.getByRole('button', { name: 'Find' }).click();
  await expect(page.getByRole('link', { name: 'Support triage' })).toBeVisible();
  expect((await page.goto('/no/such/page'))?.status()).toBe(404);
  await expect(page.getByRole('heading', { level: 1 })).toContainText('Nothing here');
});

test('the chosen theme is kept, without JavaScript too', async ({ browser }) => {
  const context = await browser.newContext({ baseURL: visited().url, javaScriptEnabled: false, colorScheme: 'light' });
  const page = await context.newPage();
  await page.goto('/signin');
  await page.getByRole('button', { name: 'Night' }).click();
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark');
  await page.goto('/signin');
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark');
  await page.getByRole('button', { name: 'System' }).click();
  await expect(page.locator('html')).not.toHaveAttribute('data-theme', /./);
  await context.close();
});
