/** Doing a verb to many: what it would do is shown first, then the server does it, whoever watches. */
import { mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from '#peers/playwright.ts';
import { fillRegistry, placeFilledFiles } from '../lib/registry/sqlite/testing/fill.ts';
import { type ServerProcess, spawnServer } from '../lib/testing/process.ts';
import { TEST_KEY } from '../lib/testing/server.ts';
import { flaws } from './axe.ts';
import { expect, openDoor, openSession, test, visited } from './visited.ts';

const FLEET = 40_000;

function headline(page: Page) {
  return page.getByRole('heading', { level: 1 });
}

function part(page: Page, name: string) {
  return page.getByRole('region', { name });
}

async function must(method: string, path: string, body?: unknown): Promise<void> {
  const answer = await visited().call(method, path, body);
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
}

/** Five sandboxes of a tenant: two registered, two suspended, one active. */
async function moor(tenant: string): Promise<void> {
  for (const n of [1, 2, 3, 4, 5]) {
    await must('POST', '/api/instances', { id: `${tenant}-${n}`, tenant });
    if (n > 2) await must('POST', `/api/instances/${tenant}-${n}/resume`, {});
    if (n === 3 || n === 4) await must('POST', `/api/instances/${tenant}-${n}/suspend`, {});
  }
}

async function stateOf(id: string): Promise<string> {
  return (await visited().call<{ state: string }>('GET', `/api/instances/${id}`)).json.state;
}

/** Waits until a job has ended, reading its page again where no script does. */
async function ended(page: Page, words: string): Promise<void> {
  await expect(async () => {
    await page.reload();
    await expect(headline(page)).toContainText(words, { timeout: 1000 });
  }).toPass({ timeout: 240_000 });
}

/** Freezes everything of a tenant, then deletes one row that is ticked. */
async function freezeAndDelete(page: Page, tenant: string): Promise<void> {
  await moor(tenant);
  await openSession(page);
  await page.goto(`/sandboxes?tenant=${tenant}`);
  await page.getByLabel('All that match').check();
  await page.getByLabel('What to do').selectOption('freeze');
  await page.getByRole('button', { name: 'Show what it would do' }).click();

  await expect(headline(page)).toHaveText('Freeze 3 sandboxes of 5 chosen');
  await expect(part(page, 'What it would do').getByRole('row')).toHaveText([
    /Plan/,
    /active.*to.*suspended.*to.*frozen.*1/,
    /suspended.*to.*frozen.*2/,
  ]);
  await expect(part(page, 'What is lost')).toContainText('tmp');
  await expect(part(page, 'Passed over')).toContainText('It was never resumed: there is nothing to file.');
  expect(await stateOf(`${tenant}-5`)).toBe('active');

  await page.getByLabel('Reason, for the ledger').fill('the winter has come');
  await page.getByRole('button', { name: 'Freeze 3 sandboxes' }).click();
  await expect(page).toHaveURL(/\/jobs\/job-/);
  await ended(page, '3 done, 2 passed over');
  expect(await stateOf(`${tenant}-5`)).toBe('frozen');
  await expect(page.getByText('the winter has come')).toBeVisible();
  await page.getByRole('link', { name: 'Passed over 2' }).click();
  await expect(page.getByRole('row').filter({ hasText: `${tenant}-1` })).toContainText('It was never resumed');
  await expect(page.getByRole('row')).toHaveCount(3);

  await page.goto(`/sandboxes?tenant=${tenant}`);
  await page.getByLabel(`Choose ${tenant}-4`).check();
  await page.getByLabel('What to do').selectOption('delete');
  await page.getByRole('button', { name: 'Show what it would do' }).click();
  await expect(headline(page)).toHaveText('Delete 1 sandbox');
  await page.getByLabel('to confirm').fill('7');
  await page.getByRole('button', { name: 'Delete 1 sandbox' }).click();
  await expect(page.getByText('Nothing was deleted')).toBeVisible();
  await page.getByLabel('to confirm').fill('1');
  await page.getByRole('button', { name: 'Delete 1 sandbox' }).click();
  await expect(page).toHaveURL(/\/jobs\/job-/);
  await ended(page, 'all done');
  expect((await visited().call('GET', `/api/instances/${tenant}-4`)).status).toBe(410);
  expect(await stateOf(`${tenant}-3`)).toBe('frozen');
}

test('everything that matches is shown, frozen with reasons for the rest, and one ticked row is deleted', async ({
  page,
}) => {
  await freezeAndDelete(page, 'fleet-script');
});

test('a tick in the head ticks every row, and labels are set and taken away', async ({ page }) => {
  for (const n of [1, 2, 3])
    await must('POST', '/api/instances', { id: `tick-${n}`, tenant: 'ticks', labels: { old: 'x' } });
  await openSession(page);
  await page.goto('/sandboxes?tenant=ticks');
  await page.getByLabel('Choose every row of this page').check();
  await expect(page.getByLabel('Choose tick-2')).toBeChecked();
  await page.getByLabel('Choose tick-2').uncheck();
  await expect(page.getByLabel('Choose every row of this page')).not.toBeChecked();
  await page.getByLabel('What to do').selectOption('label');
  await page.getByRole('button', { name: 'Show what it would do' }).click();
  await page.getByRole('textbox', { name: 'Labels' }).fill('env: prod\nold:');
  await page.getByRole('button', { name: 'Show what it would do' }).click();
  await page.getByRole('button', { name: 'Label 2 sandboxes' }).click();
  await expect(headline(page)).toContainText('all done');
  const labels = async (id: string) =>
    (await visited().call<{ labels: unknown }>('GET', `/api/instances/${id}`)).json.labels;
  expect(await labels('tick-1')).toEqual({ env: 'prod' });
  expect(await labels('tick-2')).toEqual({ old: 'x' });
});

/** Freezes what is kept hot and what is not: the first only when it is included. */
async function freezeHeld(page: Page, tenant: string): Promise<void> {
  for (const name of ['plain', 'hot']) {
    await must('POST', '/api/instances', { id: `${tenant}-${name}`, tenant, keep_hot: name === 'hot' });
    await must('POST', `/api/instances/${tenant}-${name}/resume`, {});
  }
  await openSession(page);
  await page.goto(`/jobs/new?verb=freeze&all=1&tenant=${tenant}`);
  await expect(headline(page)).toHaveText('Freeze 1 sandbox of 2 chosen');
  await expect(part(page, 'Set apart').getByRole('row', { name: `${tenant}-hot` })).toContainText('It is kept hot.');
  await expect(part(page, 'Rows').getByRole('row', { name: `${tenant}-plain` })).toContainText('frozen');
  const include = page.getByLabel('Include 1 sandbox that is kept hot, held or shown in a terminal');
  await expect(include).not.toBeChecked();
  await include.check();
  await page.getByLabel('Reason, for the ledger').fill('the quay is full');
  await page.getByRole('button', { name: /^Freeze/ }).click();
  await expect(page).toHaveURL(/\/jobs\/job-/);
  await ended(page, 'all done');
  const job = page.url();
  await page.goto(`/sandboxes/${tenant}-hot`);
  await expect(page.locator('main')).toContainText('the quay is full');
  await expect(page.locator('main')).not.toContainText('Kept hot: no automatic move');
  await page.getByRole('link', { name: 'Freeze 2 sandboxes' }).click();
  await expect(page).toHaveURL(job);
  await expect(page.locator('main')).toContainText('included');
}

test('what is kept hot is set apart, frozen when it is included, and its page names the job', async ({ page }) => {
  await freezeHeld(page, 'held-script');
});

/** Deletes a suspended sandbox and freezes an active one by plans. */
async function runPlans(page: Page, tenant: string): Promise<void> {
  for (const n of ['asleep', 'awake']) {
    await must('POST', '/api/instances', { id: `${tenant}-${n}`, tenant });
    await must('POST', `/api/instances/${tenant}-${n}/resume`, {});
  }
  await must('PUT', `/api/instances/${tenant}-asleep/volumes/tmp/draft.txt`, 'gone soon');
  await must('POST', `/api/instances/${tenant}-asleep/suspend`, {});
  await openSession(page);

  await page.goto(`/sandboxes/${tenant}-asleep`);
  await openDoor(page, 'More');
  await page.getByRole('link', { name: 'Delete in three steps' }).click();
  await expect(headline(page)).toHaveText('From suspended to deleted in 3 steps');
  await expect(part(page, 'The steps').getByRole('listitem')).toHaveCount(3);
  await expect(part(page, 'The steps')).toContainText('passed through: no process starts');
  await expect(part(page, 'What is lost')).toContainText('Everything in it, for good.');
  await page.getByLabel('to confirm').fill('something else');
  await page.getByRole('button', { name: 'Run the 3 steps' }).click();
  await expect(page.getByText('Nothing was deleted')).toBeVisible();
  expect(await stateOf(`${tenant}-asleep`)).toBe('suspended');
  await page.getByLabel('to confirm').fill(`${tenant}-asleep`);
  await page.getByRole('button', { name: 'Run the 3 steps' }).click();
  await expect(headline(page)).toContainText('Deleted');

  await page.goto(`/sandboxes/${tenant}-awake`);
  await openDoor(page, 'More');
  await page.getByRole('link', { name: 'Freeze in two steps' }).click();
  await expect(part(page, 'What is lost')).toContainText('tmp');
  await page.getByLabel('Reason, for the ledger').fill('until the spring');
  await page.getByRole('button', { name: 'Run the 2 steps' }).click();
  await expect(headline(page)).toContainText('Asleep · frozen');
  expect(await stateOf(`${tenant}-awake`)).toBe('frozen');
}

test('a plan shows each hop and what is lost, then runs them', async ({ page }) => {
  await runPlans(page, 'plans');
});

test('the overview plots wake times by source, and tries once more what a fault stopped', async ({ page }) => {
  await must('POST', '/api/instances', { id: 'lost-file', tenant: 'overview' });
  for (const verb of ['resume', 'suspend', 'freeze', 'resume', 'suspend', 'freeze']) {
    await must('POST', `/api/instances/lost-file/${verb}`, {});
  }
  const { call, folder } = visited();
  const { vfs_path } = (await call<{ vfs_path: string }>('GET', '/api/instances/lost-file')).json;
  renameSync(join(folder, vfs_path), join(folder, 'laid-aside'));
  expect((await call('POST', '/api/instances/lost-file/resume', {})).status).toBeGreaterThanOrEqual(400);

  await openSession(page);
  await page.goto('/');
  await expect(part(page, 'Wake times').getByRole('row', { name: /the cold drawer/ })).toContainText(/ms|s/);
  const row = part(page, 'Faults').getByRole('listitem').filter({ hasText: 'lost-file' });
  await row.getByRole('button', { name: /Try again with force/ }).click();
  await expect(row.getByRole('alert')).toBeVisible();
  renameSync(join(folder, 'laid-aside'), join(folder, vfs_path));
  await row.getByRole('button', { name: /Try again with force/ }).click();
  await expect.poll(() => stateOf('lost-file')).toBe('active');
  await expect(row).toHaveCount(0);
  await expect(
    page.getByRole('status').getByText(/^lost-file: It is awake. It woke from the cold drawer in/),
  ).toBeVisible();
});

test.describe('without JavaScript', () => {
  test.use({ javaScriptEnabled: false });

  test('plans run from plain forms', async ({ page }) => {
    await runPlans(page, 'plain-plans');
  });

  test('the same is done by plain forms', async ({ page }) => {
    await freezeAndDelete(page, 'fleet-plain');
  });

  test('what is kept hot is set apart in plain forms too', async ({ page }) => {
    await freezeHeld(page, 'held-plain');
  });
});

test('axe finds nothing in the pages of jobs', async ({ page, complaints }) => {
  complaints.expected.push(/jobs\/nowhere.*404/);
  const tenant = 'axe';
  await moor(tenant);
  await openSession(page);
  const { json } = await visited().call<{ id: string }>('POST', '/api/jobs', {
    verb: 'freeze',
    filter: { tenant },
    reason: 'to be looked at',
  });
  const pages = [
    `/sandboxes?tenant=${tenant}`,
    `/jobs/new?verb=freeze&all=1&tenant=${tenant}`,
    `/jobs/new?verb=delete&all=1&tenant=${tenant}`,
    `/jobs/new?verb=label&id=${tenant}-1`,
    '/jobs/new',
    '/jobs',
    `/jobs/${json.id}`,
    '/jobs/nowhere',
    '/',
    `/sandboxes/${tenant}-3/plan?to=deleted`,
  ];
  for (const path of pages) {
    await page.goto(path);
    await expect(headline(page)).toBeVisible();
    expect(await flaws(page), path).toEqual([]);
  }
});

test.describe('a server that is killed', () => {
  let folder: string;
  let server: ServerProcess;
  const spawn = (port: string) =>
    spawnServer({ folder, args: [], settings: { NODE_ENV: 'production', WB_POOL: '1', WB_LOG: 'error', PORT: port } });

  test.beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'winterdock-bulk-'));
    fillRegistry(join(folder, 'registry.sqlite'), FLEET);
    placeFilledFiles(folder);
    server = await spawn('0');
  });
  test.afterAll(async () => {
    await server.end();
    rmSync(folder, { recursive: true, force: true });
  });

  /** How many have a result. */
  const settled = async (page: Page) => Number(await page.getByRole('progressbar').getAttribute('value'));

  test('a job shows how far it is, goes on without its page and after a restart, and is cancelled', async ({
    page,
    context,
    complaints,
  }) => {
    complaints.expected.push(/ERR_|Failed to (?:load|fetch)|NetworkError/);
    const { url } = server;
    await page.goto(`${url}/signin`);
    await page.getByLabel('Admin key').fill(TEST_KEY);
    await page.getByRole('button', { name: 'Sign in with the key' }).click();
    await expect(page.getByRole('button', { name: 'Sign out' })).toBeVisible();
    await page.goto(`${url}/jobs/new?verb=label&all=1&labels=${encodeURIComponent('seen: yes')}`);
    await expect(headline(page)).toHaveText(/Label 40,000 sandboxes/);
    await page.getByRole('button', { name: 'Label 40,000 sandboxes' }).click();
    await expect(headline(page)).toContainText('Labelling 40,000 sandboxes');
    const address = page.url();
    await expect(page.getByText('live', { exact: true })).toBeVisible();
    // From here on no page is rendered again: what moves was told.
    await page.route(/[?&]_rsc=/, () => undefined);
    await expect.poll(() => settled(page)).toBeGreaterThan(0);
    const before = await settled(page);
    await expect.poll(() => settled(page)).toBeGreaterThan(before);
    await page.close();

    await server.end('SIGKILL');
    server = await spawn(new URL(url).port);
    const again = await context.newPage();
    await again.goto(address);
    await expect(headline(again)).toContainText('Labelling 40,000 sandboxes');
    const found = await settled(again);
    expect(found).toBeGreaterThanOrEqual(before);
    await expect.poll(() => settled(again)).toBeGreaterThan(found);
    await again.goto(`${url}/jobs`);
    await again.getByRole('link', { name: 'Labelling 40,000 sandboxes' }).click();
    await again.getByRole('button', { name: 'Cancel the job' }).click();
    await expect(headline(again)).toContainText('cancelled after');
    // What was under way when it was cancelled still ends.
    await expect(async () => {
      const left = await settled(again);
      expect(left).toBeLessThan(FLEET);
      await again.reload();
      expect(await settled(again)).toBe(left);
    }).toPass();
    await expect(again.getByRole('button', { name: 'Cancel the job' })).toHaveCount(0);
  });
});
