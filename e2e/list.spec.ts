/** The list of sandboxes as a place of work: typed filters, saved ones, columns, rows chosen by ranges. */
import { flaws } from './axe.ts';
import { expect, openSession, test, visited } from './visited.ts';

async function make(body: Record<string, unknown>): Promise<void> {
  const answer = await visited().call('POST', '/api/instances', body);
  if (answer.status !== 201) throw new Error(`${answer.status} ${answer.text}`);
}

test('a page that is not there at once is announced by a line until it is', async ({ page }) => {
  await openSession(page);
  await page.goto('/sandboxes');
  const held = Promise.withResolvers<void>();
  await page.route(/\/tenants\?/, async (route) => {
    await held.promise;
    await route.continue();
  });
  const line = page.locator('.pending-line');
  await expect(line).toHaveCount(0);
  await page.getByRole('navigation', { name: 'Places' }).getByRole('link', { name: 'Tenants' }).click();
  await expect(line).toBeVisible();
  await expect.poll(async () => (await line.boundingBox())?.width ?? 0).toBeGreaterThan(50);
  expect(await line.boundingBox()).toMatchObject({ x: 0, y: 0 });
  held.resolve();
  await expect(page).toHaveURL(/\/tenants$/);
  await expect(line).toHaveCount(0);
});

test('ten rows stand on a small screen, and the box that finds stays where it is while one types', async ({ page }) => {
  const tenant = 'ten-rows';
  const labels = { env: 'production', region: 'europe-west', owner: 'the-data-team', tier: 'one' };
  for (let n = 0; n < 12; n += 1) {
    await make({
      id: `${tenant}-with-a-rather-long-identifier-${n}`,
      tenant,
      name: `The quarterly reconciliation ${n}`,
      labels,
    });
  }
  await openSession(page);
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.goto(`/sandboxes?tenant=${tenant}`);
  const rows = page.locator('main tbody tr');
  await expect(rows).toHaveCount(12);
  const tenth = await rows.nth(9).boundingBox();
  expect((tenth?.y ?? 800) + (tenth?.height ?? 0)).toBeLessThanOrEqual(800);
  const box = page.getByLabel('Find, or type a filter');
  const before = await box.boundingBox();
  await box.fill(`tenant:${tenant} nothing-of-this`);
  await expect(page.getByText('No sandbox matches')).toBeVisible();
  expect(await box.boundingBox()).toEqual(before);
  // One width for all pages: nothing of the masthead jumps from page to page.
  await page.setViewportSize({ width: 1920, height: 1080 });
  const places = new Set<number | undefined>();
  for (const path of ['/', '/sandboxes', '/archive', '/audit', `/tenants/${tenant}`, '/settings']) {
    await page.goto(path);
    places.add((await page.getByRole('banner').getByRole('link', { name: 'Winterdock' }).boundingBox())?.x);
  }
  expect(places.size).toBe(1);
});

test('a filter is typed and followed, says what is wrong, is saved as a link, and rows are chosen by ranges', async ({
  page,
}) => {
  const tenant = 'typed';
  for (const n of [1, 2, 3, 4]) {
    const labels = { env: n < 4 ? 'prod' : 'test' };
    await make({ id: `${tenant}-lighthouse-${n}`, tenant, labels });
  }
  await openSession(page);
  await page.goto(`/sandboxes?q=&state=&tenant=${tenant}&label=`);
  await expect(page).toHaveURL(`/sandboxes?tenant=${tenant}`);
  const box = page.getByLabel('Find, or type a filter');
  await expect(box).toHaveValue(`tenant:${tenant}`);
  const rows = page.locator('main tbody tr');
  await expect(rows).toHaveCount(4);
  await box.fill(`tenant:${tenant} label:env=prod ghthou`);
  await expect(rows).toHaveCount(3);
  await expect(page).toHaveURL(new RegExp(`tenant=${tenant}.*label=env%3Aprod.*q=ghthou`));
  await expect(box).toBeFocused();
  for (const [wrong, complaint] of [
    [`tenant:${tenant} state:asleep`, '“state:asleep” is no state'],
    ['#', '“#” has no letter and no digit'],
  ] as const) {
    await box.fill(wrong);
    await expect(page.getByText(complaint)).toBeVisible();
    await expect(page.getByText('Nothing is shown')).toBeVisible();
    await expect(rows).toHaveCount(0);
    await expect(page.getByRole('form', { name: 'Do something to many' })).toHaveCount(0);
    await expect(box).toHaveValue(wrong);
    // Pasted and sent at once: the page answers, and what it says stays.
    await box.fill(`tenant:${tenant}`);
    await expect(rows).toHaveCount(4);
    await box.fill(wrong);
    await box.press('Enter');
    await expect(page.getByText('Nothing is shown')).toBeVisible();
    await expect(page.getByText(complaint)).toBeVisible();
  }
  // As a chip prints it.
  await box.fill(`tenant:${tenant} env:test`);
  await expect(rows).toHaveCount(1);
  await expect(page).toHaveURL(/label=env%3Atest/);
  await page.goto(`/sandboxes?idle=%3E1m&tenant=${tenant}`);
  await expect(page).toHaveURL(/idle_over=60/);
  await expect(page.getByText('No sandbox matches')).toBeVisible();
  await box.fill(`tenant:${tenant} label:env=prod`);
  await expect(rows).toHaveCount(3);
  await page.getByRole('combobox', { name: 'Idle' }).selectOption('3600');
  await expect(page).toHaveURL(/idle_over=3600/);
  await expect(rows).toHaveCount(0);
  await page.getByRole('combobox', { name: 'Idle' }).selectOption('');
  await expect(rows).toHaveCount(3);

  await page.getByText('Save this filter').click();
  await page.getByLabel('Name of the filter').fill('prod of ours');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  const saved = page.getByRole('link', { name: 'prod of ours' });
  await expect(saved).toHaveAttribute('href', /^\/sandboxes\?tenant=typed&label=env(:|%3A)prod$/);

  await rows.nth(0).getByRole('checkbox').click();
  await rows
    .nth(2)
    .getByRole('checkbox')
    .click({ modifiers: ['Shift'] });
  await expect(page.getByText('3 sandboxes ticked')).toBeVisible();
  await expect(page.getByRole('columnheader', { name: 'Idle' })).toBeVisible();
  await page.getByText('Columns', { exact: true }).click();
  const columns = page.getByRole('form', { name: 'Columns of the list' });
  await columns.getByLabel('Tenant', { exact: true }).uncheck();
  await columns.getByLabel('compact').check();
  await columns.getByRole('button', { name: 'Idle: one place to the left' }).click();
  await expect(page.getByRole('columnheader').nth(2)).toHaveText('Idle');
  await expect(page.getByRole('columnheader', { name: 'Tenant' })).toHaveCount(0);
  await page.setViewportSize({ width: 390, height: 800 });
  await expect(page.getByRole('combobox', { name: 'Idle' })).toBeHidden();
  expect(await flaws(page)).toEqual([]);
  await page.getByText('Filters and order').click();
  await expect(page.getByRole('combobox', { name: 'Idle' })).toBeVisible();
  expect(await flaws(page)).toEqual([]);
});

test.describe('without JavaScript', () => {
  test.use({ javaScriptEnabled: false });

  test('a typed filter leads to the address that it means, or says what is wrong', async ({ page }) => {
    await make({ id: 'plain-typed', tenant: 'plain-typed' });
    await openSession(page);
    await page.goto('/sandboxes');
    await page.getByLabel('Find, or type a filter').fill('idle:<1h tenant:plain-typed');
    await page.getByRole('button', { name: 'Find', exact: true }).click();
    await expect(page).toHaveURL('/sandboxes?idle_under=3600&tenant=plain-typed');
    await expect(page.locator('main tbody tr')).toHaveCount(1);
    await page.getByRole('combobox', { name: 'State' }).selectOption('created');
    await page.getByRole('button', { name: 'Show', exact: true }).click();
    await expect(page).toHaveURL(/\?(?!.*=&)(?!.*=$).*state=created/);
    await page.getByLabel('Find, or type a filter').fill('state:nowhere');
    await page.getByRole('button', { name: 'Find', exact: true }).click();
    await expect(page.getByText('“state:nowhere” is no state')).toBeVisible();
    await expect(page.locator('main tbody tr')).toHaveCount(0);
  });
});
