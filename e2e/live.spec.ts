/** What keeps a page live: the shared stream, the ticking clock, and what happens when the line breaks. */
import { expect, signInByKey, test, visited } from './visited.ts';

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
  await signInByKey(page);
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

test('the idle clock ticks to the next move, and can be held', async ({ page }) => {
  const { call } = visited();
  await call('POST', `/api/instances/${ID}/resume`, {});
  await signInByKey(page);
  await page.goto(`/sandboxes/${ID}`);
  const clock = page.getByRole('timer');
  const first = await clock.textContent();
  await expect(clock).not.toHaveText(first ?? '');
  await page.getByRole('button', { name: 'Keep hot' }).click();
  await expect(page.getByText('Kept hot: no automatic move.')).toBeVisible();
  await page.getByRole('button', { name: 'Stop keeping hot' }).click();
  await expect(clock).toBeVisible();
  await page.getByRole('button', { name: 'Not before one hour' }).click();
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
  await signInByKey(page);
  await page.goto(`/sandboxes/${ID}?volume=memory`);
  await expect(page.getByText('diary.txt')).toBeVisible();
  await expect(page.getByText('live', { exact: true })).toBeVisible();
  await page.waitForTimeout(4000);
  const shown = await reads();
  expect(shown).toBeGreaterThan(before);
  expect(shown).toBeLessThanOrEqual(before + 2);
  await call('PUT', `/api/instances/${ID}/volumes/memory/second.txt`, 'more');
  await call('PATCH', `/api/instances/${ID}`, { name: 'Live test' });
  await expect(page.getByText('second.txt')).toBeVisible();
});

test('a sandbox that falls asleep by itself is seen to do so', async ({ page }) => {
  const { call } = visited();
  await call('POST', '/api/instances', { id: 'sleepy', tenant: 'harbour', idle_to_suspend_s: 2 });
  await signInByKey(page);
  await page.goto('/sandboxes/sleepy');
  await page.getByLabel(/^Command/).fill('echo awake');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('log')).toContainText('awake');
  await expect(page.getByRole('heading', { level: 1 })).toContainText('Asleep · suspended');
  await expect(page.getByText(/The ladder suspended it because it was idle/)).toBeVisible();
});

test('output arrives while the command runs, the directory is carried, and a command can be stopped', async ({
  page,
}) => {
  await signInByKey(page);
  await page.goto(`/sandboxes/${ID}`);
  const command = page.getByLabel(/^Command/);
  const output = page.getByRole('log');
  await command.fill('mkdir -p /workspace/deep && cd /workspace/deep\npwd');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await expect(page.getByText('Command, in /workspace/deep')).toBeVisible();
  await command.fill('echo first\nsleep 30\necho never');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await expect(output.getByText('first', { exact: true })).toBeVisible();
  await page.getByRole('button', { name: 'Stop' }).click();
  await expect(output.getByText('Stopped.')).toBeVisible();
  await expect(output.getByText('never', { exact: true })).toHaveCount(0);
  await command.press('ArrowUp');
  await expect(command).toHaveValue('echo first\nsleep 30\necho never');
});
