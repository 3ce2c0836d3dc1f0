/** Thresholds and their simulator, storage, and the settings of a sandbox, with JavaScript and without. */
import type { Page } from '#peers/playwright.ts';
import { flaws } from './axe.ts';
import { expect, openSession, test, visited } from './visited.ts';

/**
 * A tenant with one active sandbox, and one that was suspended for idleness: the least that the simulator computes
 * from.
 */
async function tenantWithIdleOne(tenant: string): Promise<void> {
  const { call } = visited();
  for (const input of [{ id: `${tenant}-a` }, { id: `${tenant}-b`, idle_to_suspend_s: 1 }]) {
    expect((await call('POST', '/api/instances', { ...input, tenant })).status).toBe(201);
    expect((await call('POST', `/api/instances/${input.id}/resume`, {})).status).toBe(200);
  }
  await expect
    .poll(async () => (await call('GET', `/api/instances/${tenant}-b`)).json.state, { timeout: 240_000 })
    .toBe('suspended');
}

async function setThem(page: Page, tenant: string): Promise<void> {
  const own = async () =>
    (await visited().call<{ idle_to_suspend_s: number | null }>('GET', `/api/tenants/${tenant}`)).json
      .idle_to_suspend_s;
  await page.goto(`/settings/thresholds?tenant=${tenant}`);
  const part = page.locator('#thresholds');
  const field = part.getByLabel('Suspends after');
  await field.fill('soon');
  await part.getByRole('button', { name: 'See what it would do' }).click();
  await expect(part.getByText('must be a length of time, like 15 min')).toBeVisible();
  await expect(field).toHaveValue('soon');
  await field.fill('30 s');
  await part.getByRole('button', { name: 'See what it would do' }).click();
  const says = '1 active sandbox would be suspended within the next minute.';
  await expect(part.getByRole('status').getByText(says)).toBeVisible();
  expect(await own()).toBeNull();
  await field.fill('364 d');
  await part.getByRole('button', { name: 'Set them' }).click();
  await expect(part.getByText('No sandbox would move within the next minute')).toBeVisible();
  expect(await own()).toBeNull();
  await part.getByRole('button', { name: 'Set them' }).click();
  await expect(part.getByRole('status').getByText('Set. The ladder uses them')).toBeVisible();
  await expect(field).toHaveValue('364 d');
  expect(await own()).toBe(364 * 86_400);
  await page.goto(`/tenants/${tenant}`);
  await expect(page.locator('#thresholds')).toContainText('suspend once idle for 364 d (set for it)');
}

async function simulate(page: Page, tenant: string): Promise<void> {
  await page.goto(`/settings/thresholds?tenant=${tenant}`);
  const part = page.locator('#simulator');
  await expect(part.getByText('Only 1 suspension for idleness happened in this time')).toBeVisible();
  await expect(part.getByRole('row', { name: /^364 d now/ })).toBeVisible();
  await part.getByRole('link', { name: '5 min', exact: true }).click();
  await expect(part.getByRole('status')).toContainText('Suspending after 5 min in the last 7 days: ');
  await expect(part.getByLabel('If it suspended after')).toHaveValue('5 min');
  await part.getByLabel('If it suspended after').fill('never');
  await part.getByRole('button', { name: 'Compute' }).click();
  await expect(part.getByText('must be a length of time, like 10 min')).toBeVisible();
}

async function editSandbox(page: Page, id: string): Promise<void> {
  const { call } = visited();
  const at = `/api/instances/${id}`;
  expect(
    (await call('POST', '/api/instances', { id, tenant: 'thr-edit', labels: { env: 'test', old: '1' } })).status,
  ).toBe(201);
  await page.goto(`/sandboxes/${id}?tab=settings`);
  const part = page.locator('#settings');
  const name = part.getByLabel('Name');
  await name.fill(`Called ${id}`);
  await part.getByLabel('Labels').fill('env: prod\nteam: harbour');
  await part.getByLabel('Suspends after').fill('soon');
  await part.getByRole('button', { name: 'Save' }).click();
  await expect(part.getByText('must be a length of time, like 15 min')).toBeVisible();
  await expect(name).toHaveValue(`Called ${id}`);
  await part.getByLabel('Pauses after').fill('never');
  await part.getByLabel('Suspends after').fill('5 min');
  await part.getByLabel('Keep hot.').check();
  await part.getByRole('button', { name: 'Save' }).click();
  await expect(part.getByText('Saved: name, labels, pauses after, suspends after, keep hot.')).toBeVisible();
  await expect(page.getByRole('heading', { level: 1 })).toContainText(`Called ${id}`);
  expect((await call('GET', at)).json).toMatchObject({
    name: `Called ${id}`,
    labels: { env: 'prod', team: 'harbour' },
    hot_to_warm_s: 0,
    idle_to_suspend_s: 300,
    keep_hot: true,
  });
  await expect(page.locator('#row')).toContainText('5 min set for it');

  await name.fill('Mine');
  await call('PATCH', at, { name: 'Theirs', labels: { env: 'theirs' } });
  await part.getByRole('button', { name: 'Save' }).click();
  await expect(part.getByText('Somebody changed this meanwhile. Name: Theirs.')).toBeVisible();
  await expect(name).toHaveValue('Mine');
  expect((await call('GET', at)).json.name).toBe('Theirs');
  await part.getByRole('button', { name: 'Save' }).click();
  await expect(part.getByText('Saved: name.')).toBeVisible();
  expect((await call('GET', at)).json).toMatchObject({ name: 'Mine', labels: { env: 'theirs' }, keep_hot: true });

  const last = page.locator('#delete');
  await expect(last.getByRole('button', { name: 'Delete the sandbox' })).toBeDisabled();
  await expect(last.getByRole('link', { name: 'See the steps that delete it' })).toBeVisible();
  expect((await call('POST', `${at}/plan`, { to: 'archived' })).status).toBe(200);
  await page.reload();
  await last.getByLabel(/^Type /).fill('another');
  await last.getByRole('button', { name: 'Delete the sandbox' }).click();
  await expect(last.getByText('Nothing was deleted')).toBeVisible();
  await last.getByLabel(/^Why it goes/).fill('the season is over');
  await last.getByLabel(/^Type /).fill(id);
  await last.getByRole('button', { name: 'Delete the sandbox' }).click();
  await expect(page.getByRole('heading', { level: 1 })).toContainText('Deleted');
  const lines = await call<{ to: string; reason: string }[]>('GET', `/api/events?instance=${id}&type=transition`);
  expect(lines.json[0]).toMatchObject({ to: 'deleted', reason: 'the season is over' });
}

async function lookAtStorage(page: Page): Promise<void> {
  await page.goto('/settings/storage');
  await expect(page.locator('#backup')).toContainText('Nothing replicates');
  await page.getByRole('button', { name: 'Check its structure of the registry' }).click();
  await expect(page.locator('#registry').getByText(/^sound checked/)).toBeVisible();
  await page.getByRole('button', { name: /^Look .* in the drawers$/ }).click();
  await expect(page.locator('#measured').getByRole('row', { name: /^live / })).toContainText(/\d/);
  await expect(page.locator('#measured').getByText(/^As it was/)).toBeVisible();
}

test('thresholds are saved after their effect is shown, and the slider moves along that effect', async ({ page }) => {
  await tenantWithIdleOne('thr-quick');
  await openSession(page);
  await setThem(page, 'thr-quick');
  await simulate(page, 'thr-quick');
  await page.goto('/settings/thresholds?tenant=thr-quick&suspend=5+min');
  const slider = page.getByRole('slider', { name: /^Suspend after/ });
  await slider.press('ArrowRight');
  await expect(page.locator('#simulator output')).toContainText('Suspending after 10 min');
  await slider.press('Home');
  await expect(page.locator('#simulator output')).toContainText('Suspending after 1 min');
  await expect(page).toHaveURL(/suspend=5\+min$/);
});

test('a sandbox is named, labelled and deleted from its settings without a change lost, and the store is looked at', async ({
  page,
}) => {
  await openSession(page);
  await editSandbox(page, 'thr-edited');
  await lookAtStorage(page);
});

test.describe('without JavaScript', () => {
  test.use({ javaScriptEnabled: false });

  test('thresholds are set and simulated by plain forms and links', async ({ page }) => {
    await tenantWithIdleOne('thr-plain');
    await openSession(page);
    await setThem(page, 'thr-plain');
    await simulate(page, 'thr-plain');
    await editSandbox(page, 'thr-edited-plain');
    await lookAtStorage(page);
  });
});

test('axe finds nothing in either theme, and nothing scrolls sideways', async ({ page }) => {
  test.slow();
  await tenantWithIdleOne('thr-looks');
  await openSession(page);
  await page.goto('/settings/thresholds?tenant=thr-looks');
  await page.locator('#thresholds').getByLabel('Suspends after').fill('30 s');
  await page.getByRole('button', { name: 'See what it would do' }).click();
  await expect(page.getByText('Nothing is set yet.')).toBeVisible();
  expect(await flaws(page)).toEqual([]);
  for (const width of [390, 1280, 1920]) {
    await page.setViewportSize({ width, height: 900 });
    const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    expect([width, over]).toEqual([width, 0]);
  }
});
