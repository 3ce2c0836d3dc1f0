/** What keeps a page live: the shared stream, the ticking clock, and what happens when the line breaks. */
import type { Page } from '#peers/playwright.ts';
import type { Instance } from '../lib/contract/schema.ts';
import { TEST_KEY } from '../lib/testing/server.ts';
import { flaws } from './axe.ts';
import { trouble } from './crowd.ts';
import { expect, openSession, test, visited } from './visited.ts';

const ID = 'live-test';

test.beforeAll(async () => {
  const { call } = visited();
  if ((await call('GET', `/api/instances/${ID}`)).status === 404) {
    await call('POST', '/api/instances', { id: ID, tenant: 'harbour', name: 'Live test' });
  }
});

test('two tabs share one stream, and both show what happens elsewhere', async ({ page, context }) => {
  const streams: string[] = [];
  context.on('request', (request) => {
    if (request.url().includes('/api/events/stream')) streams.push(request.url());
  });
  const { call } = visited();
  await openSession(page);
  await page.goto(`/sandboxes/${ID}`);
  await expect(page.getByText('live', { exact: true })).toBeVisible();
  const second = await context.newPage();
  await second.goto('/sandboxes?tenant=harbour');
  await expect(second.getByText('live', { exact: true })).toBeVisible();
  const opened = streams.length;

  await call('POST', `/api/instances/${ID}/resume`, {});
  await expect(page.getByRole('heading', { level: 1 })).toContainText('Awake');
  await expect(second.getByRole('row', { name: /Live test/ })).toContainText('Awake');
  await call('POST', `/api/instances/${ID}/suspend`, {});
  await expect(page.getByRole('heading', { level: 1 })).toContainText('Asleep');
  await expect(second.getByRole('row', { name: /Live test/ })).toContainText('Asleep');
  expect(streams.length).toBe(opened);

  await page.close();
  await expect(second.getByText('live', { exact: true })).toBeVisible();
  await call('POST', `/api/instances/${ID}/resume`, {});
  await expect(second.getByRole('row', { name: /Live test/ })).toContainText('Awake');
});

test('the head of a tenant, its states and its quota say the same of how many are awake, while that changes', async ({
  page,
}) => {
  const { call } = visited();
  const id = 'live-figures';
  await call('POST', '/api/instances', { id, tenant: 'figures', keep_hot: true });
  await openSession(page);
  await page.goto('/tenants/figures');
  await expect(page.getByText('live', { exact: true })).toBeVisible();
  /** What each part says, read at the same moment. */
  const awake = () =>
    page.evaluate(() => {
      const text = document.querySelector('main')?.textContent ?? '';
      return [/(\d+) awake/, /(\d+) active/, /Awake at once(\d+)/].map((one) => one.exec(text)?.[1]);
    });
  for (const [verb, count] of [
    ['resume', '1'],
    ['suspend', '0'],
  ] as const) {
    await call('POST', `/api/instances/${id}/${verb}`, {});
    await expect(async () => {
      const [, active] = await awake();
      expect(active).toBe(count);
    }).toPass({ intervals: [50] });
    expect(await awake(), verb).toEqual([count, count, count]);
  }
});

test('the idle clock ticks to the next move, and can be held', async ({ page }) => {
  const { call } = visited();
  await call('POST', `/api/instances/${ID}/resume`, {});
  await openSession(page);
  await page.goto(`/sandboxes/${ID}`);
  const clock = page.getByRole('timer');
  const first = await clock.textContent();
  await expect(clock).not.toHaveText(first ?? '');
  await page.getByRole('button', { name: 'Keep hot' }).click();
  await expect(page.getByText('Kept hot: no automatic move.')).toBeVisible();
  await page.getByRole('button', { name: 'Stop keeping hot' }).click();
  await expect(clock).toBeVisible();
  await page.getByRole('button', { name: 'Hold for one hour' }).click();
  await expect(page.getByText(/held until/)).toBeVisible();
  await page.getByRole('button', { name: 'Let the clock run' }).click();
  await expect(page.getByText(/held until/)).toBeHidden();
});

test('a page that shows private files reads them when something happens, and not because it read them', async ({
  page,
}) => {
  const { call } = visited();
  await call('PUT', `/api/instances/${ID}/volumes/memory/diary.txt`, 'dear diary');
  const reads = async () => {
    const { text } = await call('GET', `/api/events?type=private.read&instance=${ID}&limit=500`);
    return (JSON.parse(text) as unknown[]).length;
  };
  const before = await reads();
  await openSession(page);
  await page.goto(`/sandboxes/${ID}?volume=memory`);
  await expect(page.getByText('diary.txt').first()).toBeVisible();
  await expect(page.getByText('live', { exact: true })).toBeVisible();
  await page.waitForTimeout(4000);
  const shown = await reads();
  expect(shown).toBeGreaterThan(before);
  expect(shown).toBeLessThanOrEqual(before + 2);
  await call('PUT', `/api/instances/${ID}/volumes/memory/second.txt`, 'more');
  await call('PATCH', `/api/instances/${ID}`, { name: 'Live test' });
  await expect(page.getByText('second.txt').first()).toBeVisible();
});

test('a sandbox that falls asleep by itself is seen to do so', async ({ page }) => {
  const { call } = visited();
  await call('POST', '/api/instances', { id: 'sleepy', tenant: 'harbour', idle_to_suspend_s: 2 });
  await openSession(page);
  await page.goto('/sandboxes/sleepy');
  await call('POST', '/api/instances/sleepy/exec', { command: 'true' });
  await expect(page.getByRole('heading', { level: 1 })).toContainText('Asleep · suspended');
  await expect(page.getByText(/The ladder suspended it because it was idle/)).toBeVisible();
});

test('a verb that is refused leaves no trace of itself on a page that is open', async ({ page }) => {
  const { call } = visited();
  await call('POST', '/api/instances', { id: 'held-up', tenant: 'harbour' });
  await call('POST', '/api/instances/held-up/resume', {});
  await openSession(page);
  await page.goto('/sandboxes/held-up');
  await expect(alive(page)).toBeVisible();
  const title = page.getByRole('heading', { level: 1 });
  const running = call('POST', '/api/instances/held-up/exec', { command: 'sleep 8' });
  const refused = call('POST', '/api/instances/held-up/archive', {});
  await expect(title).toContainText('being archived now');
  await expect(page.getByText('Wait a moment: archive is under way.')).toBeVisible();
  await Promise.all([running, refused]);
  await expect(title).not.toContainText('now');
  await expect(page.getByText('Wait a moment: archive is under way.')).toBeHidden();
  await page.getByRole('button', { name: 'Archive', exact: true }).click();
  await expect(title).toContainText('Filed away · archived');
  await page.getByLabel('Reason, for the ledger').fill('once more');
  await page.getByRole('button', { name: 'Revive', exact: true }).click();
  await expect(title).toContainText('Awake');
  await expect(title).not.toContainText('being revived');
});

test('a sandbox that goes warm is seen to do so, and to be hot again with its next command', async ({ page }) => {
  const { call } = visited();
  await call('POST', '/api/instances', { id: 'cooling', tenant: 'harbour', hot_to_warm_s: 1 });
  await openSession(page);
  await page.goto('/sandboxes/cooling');
  await expect(alive(page)).toBeVisible();
  await call('POST', '/api/instances/cooling/exec', { command: 'echo kept > /tmp/kept' });
  const title = page.getByRole('heading', { level: 1 });
  await expect(title).toContainText('Awake · warm, paused for');
  await expect(page.getByText(/^Its process is paused in memory since \d\d:\d\d UTC: the next request/)).toBeVisible();
  await page.locator('#map summary').click();
  await expect(page.getByRole('img', { name: 'this one is active, warm' })).toBeVisible();
  expect(await flaws(page)).toEqual([]);
  const [row] = (await call<{ id: string }[]>('GET', '/api/instances?thermal=warm&tenant=harbour&q=cooling')).json;
  expect(row).toMatchObject({ id: 'cooling', state: 'active' });
  await call('PATCH', '/api/instances/cooling', { hot_to_warm_s: 0 });
  const { json } = await call('POST', '/api/instances/cooling/exec', { command: 'cat /tmp/kept' });
  expect(json).toMatchObject({ stdout: 'kept\n', woke: 'warm' });
  await expect(title).toContainText(/Awake · for /);
  await expect(page.getByRole('img', { name: 'this one is active, hot' })).toBeVisible();
});

/** Open streams, as the server counts them. */
async function streams(): Promise<number> {
  const { text } = await visited().call('GET', '/metrics');
  return Number(/^winterdock_event_streams (\d+)$/m.exec(text)?.[1]);
}

const alive = (page: Page) => page.getByText('live', { exact: true });

test('twelve tabs share one stream; when the one that keeps it is closed another does, and no line is missed', async ({
  page,
  context,
}) => {
  const { call } = visited();
  await openSession(page);
  await page.goto('/');
  await expect(alive(page)).toBeVisible();
  const others: Page[] = [];
  for (let n = 1; n < 12; n += 1) {
    const tab = await context.newPage();
    others.push(tab);
    await tab.goto(n === 1 ? '/' : `/sandboxes/${ID}`);
    await expect(alive(tab)).toBeVisible();
  }
  await expect.poll(streams).toBe(1);
  const [overview, ...rest] = others as [Page, ...Page[]];

  const rename = (n: number) =>
    call('PATCH', `/api/instances/${ID}`, { name: `Live test` }, { headers: { 'x-request-id': `handed-over-${n}` } });
  const lines = [1, 2, 3, 4, 5, 6];
  const closing = page.close();
  for (const n of lines) await rename(n);
  await closing;
  for (const n of lines) await expect(overview.locator(`tr[title="request handed-over-${n}"]`)).toBeVisible();

  const awake = (await call<{ state: string }>('GET', `/api/instances/${ID}`)).json.state === 'active';
  await call('POST', `/api/instances/${ID}/${awake ? 'suspend' : 'resume'}`, {});
  for (const tab of rest) {
    await expect(tab.getByRole('heading', { level: 1 })).toContainText(awake ? 'Asleep' : 'Awake');
    await expect(alive(tab)).toBeVisible();
  }
  expect(await streams()).toBe(1);
});

test('what moved is patched at once, without another word of the server', async ({ page, context }) => {
  const { call } = visited();
  await call('POST', '/api/instances', { id: 'live-patched', tenant: 'pier', name: 'Patched' });
  await openSession(page);
  await page.goto('/sandboxes?tenant=pier');
  const overview = await context.newPage();
  await overview.goto('/');
  for (const tab of [page, overview]) await expect(alive(tab)).toBeVisible();
  // From here on no page is rendered again.
  await context.route(/[?&]_rsc=/, () => undefined);
  const node = overview.locator('svg.diagram:visible').getByRole('link', { name: /^active:/ });
  const before = Number(/\d+/.exec((await node.getAttribute('aria-label')) ?? '')?.[0]);
  await call('POST', '/api/instances/live-patched/resume', {});
  await expect(page.getByRole('row', { name: /Patched/ })).toContainText('Awake');
  await expect(page.getByRole('row', { name: /Patched/ })).toContainText('suspends in');
  // How many of them are warm is said after it.
  const label = new RegExp(`^active: ${before + 1} ${before === 0 ? 'sandbox' : 'sandboxes'}(, \\d+ warm)?$`);
  await expect(node).toHaveAttribute('aria-label', label);
  await expect(overview.getByRole('row', { name: /woke live-patched/ })).toBeVisible();
});

test.describe('with a clock of its own', () => {
  test.use({ ownContext: true });

  test('a line that has gone silent is noticed and said, and what was missed is there afterwards', async ({ page }) => {
    const { call } = visited();
    await page.clock.install();
    await openSession(page);
    await page.goto(`/sandboxes/${ID}`);
    await expect(alive(page)).toBeVisible();
    let cut = true;
    await page.route('**/api/events/stream*', (route) => (cut ? undefined : route.continue()));
    await page.clock.fastForward(30_000);
    await expect(page.getByText(/behind, reconnecting since \d\d:\d\d:\d\d UTC/)).toBeVisible();
    await call('PATCH', `/api/instances/${ID}`, { name: 'Renamed in silence' });
    cut = false;
    await page.clock.fastForward(30_000);
    await expect(alive(page)).toBeVisible();
    await expect(page.getByRole('heading', { level: 1 })).toContainText('Renamed in silence');
    await call('PATCH', `/api/instances/${ID}`, { name: 'Live test' });
  });

  test('for how long a job runs goes on with when it was started', async ({ page }) => {
    const [job] = await trouble(visited().folder, 'live-jobs', Date.now());
    await page.clock.install();
    await openSession(page);
    await page.goto(`/jobs/${job}`);
    await expect(page.getByText('live', { exact: true })).toBeVisible();
    await page.clock.fastForward('03:00:00');
    const fact = (name: string) => page.locator('dl > div').filter({ has: page.locator('dt', { hasText: name }) });
    const times = async () =>
      Promise.all(['Started', 'Running'].map(async (name) => (await fact(name).locator('time').textContent()) ?? ''));
    await expect(async () => {
      const [started, running] = await times();
      expect(started).toBe(`${running} ago`);
      expect(running).toMatch(/^3 h/);
    }).toPass();
  });
});

test('who signs out elsewhere is told so in every tab, and nobody listens any more', async ({ page, context }) => {
  await openSession(page);
  await page.goto('/tenants');
  const second = await context.newPage();
  await second.goto('/audit');
  for (const tab of [page, second]) await expect(alive(tab)).toBeVisible();
  await expect.poll(streams).toBe(1);
  const third = await context.newPage();
  await third.goto('/');
  await third.getByRole('button', { name: 'Sign out' }).click();
  for (const tab of [page, second]) await expect(tab.getByText('signed out,')).toBeVisible();
  await expect.poll(streams).toBe(0);
  await page.getByRole('link', { name: 'sign in again' }).click();
  await page.getByLabel('Admin key').fill(TEST_KEY);
  await page.getByRole('button', { name: 'Sign in with the key' }).click();
  await expect(page.getByRole('heading', { level: 1, name: /Tenants/ })).toBeVisible();
  for (const tab of [page, second]) await expect(alive(tab)).toBeVisible();
  await expect.poll(streams).toBe(1);
});

test('a button whose server goes away keeps the page, says whether it was done, and repeats it only when asked', async ({
  page: visit,
  complaints,
}) => {
  complaints.expected.push(/Failed to load resource|net::ERR/);
  const { call } = visited();
  const at = '/api/instances/pressed';
  await call('POST', '/api/instances', { id: 'pressed', tenant: 'acme' });
  const state = async () => (await call<Instance>('GET', at)).json.state;
  await call('POST', `${at}/resume`, {});
  await openSession(visit);
  await visit.goto('/sandboxes/pressed');
  const isAct = (headers: Record<string, string>) => headers['next-action'] !== undefined;
  let lost: 'request' | 'answer' | null = 'request';
  await visit.route('**/*', async (route) => {
    if (lost === null || !isAct(route.request().headers())) return route.fallback();
    if (lost === 'answer') await route.fetch();
    lost = null;
    await route.abort('connectionreset');
  });
  const suspend = visit.getByRole('button', { name: 'Suspend', exact: true });
  await suspend.click();
  const alert = visit.getByRole('alert').filter({ hasText: 'server' });
  await expect(alert).toContainText('it is not known to have happened');
  expect(await state()).toBe('active');
  await expect(visit.getByRole('button', { name: 'Suspending…' })).toBeVisible();
  await alert.getByRole('button', { name: 'Do it again' }).click();
  await expect.poll(state).toBe('suspended');
  await expect(alert).toHaveCount(0);
  await call('POST', `${at}/resume`, {});
  await visit.reload();
  lost = 'answer';
  await suspend.click();
  await expect(visit.getByText('It was done before the server went away')).toBeVisible();
  expect(await state()).toBe('suspended');
  await call('POST', `${at}/resume`, {});
  // Where nothing takes a file, dropping one does not leave the page.
  const kept = await visit.evaluate(() => {
    const data = new DataTransfer();
    data.items.add(new File(['x'], 'stray.txt'));
    const drop = new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true });
    return !document.body.dispatchEvent(drop);
  });
  expect(kept).toBe(true);
});
