/** Workbooks by clicking, with JavaScript and without: write, check, save, compare, dock, run, upgrade, schedule. */
import { randomUUID } from 'node:crypto';
import type { Page } from '#peers/playwright.ts';
import type { Instance, Schedule, Workbook } from '../lib/contract/schema.ts';
import { flaws } from './axe.ts';
import { expect, openSession, test, visited } from './visited.ts';

const TENANT = 'scribes';

const SOURCE = `#+title: Rows that add up
* main :workflow:
** load :component:
#+begin_src js :in step:integer :out rows:integer[] :uses log
export default ({ step }) => {
  console.log('loading by', step);
  return { rows: [1, 2, 3].map((row) => row * step) };
};
#+end_src
** sum :component:
#+begin_src js :deps load :in rows:integer[] :out total:integer :persist
let kept = 0;
export const state = { get: () => kept, set: (value) => { kept = value; } };
export default ({ rows }) => {
  kept += rows.reduce((one, other) => one + other, 0);
  return { total: kept };
};
#+end_src
`;
const BROKEN = SOURCE.replace(':deps load', ':deps lode');

function newId(): string {
  return `book-${randomUUID().slice(0, 8)}`;
}

async function put(id: string, source: string): Promise<void> {
  const answer = await visited().call('PUT', `/api/workbooks/${id}?tenant=${TENANT}`, source, {
    headers: { 'content-type': 'text/org' },
  });
  expect(answer.status, answer.text).toBeLessThan(300);
}

async function versionsOf(id: string): Promise<number> {
  const { json } = await visited().call<Workbook[]>('GET', `/api/workbooks?tenant=${TENANT}&q=${id}`);
  return json[0]?.version ?? 0;
}

async function press(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name, exact: true }).click();
}

/** A sandbox docked to the workbook, by its form; returns its id. */
async function dock(page: Page, name: string): Promise<string> {
  await page.getByLabel('Name', { exact: true }).fill(name);
  await press(page, 'Make a sandbox of it');
  await expect(page).toHaveURL(/\/sandboxes\/[^/?]+\?tab=workbook/);
  return new URL(page.url()).pathname.split('/').at(-1) ?? '';
}

test('a source is written with its plan beside it, saved, and not over somebody else’s', async ({ page }) => {
  const id = newId();
  await openSession(page);
  await page.goto('/workbooks');
  await page.getByRole('region', { name: 'New' }).getByLabel('Tenant').fill(TENANT);
  await page.getByRole('region', { name: 'New' }).getByLabel('Id').fill(id);
  await press(page, 'Write its source');
  const heading = page.getByRole('heading', { level: 1 });
  await expect(heading).toHaveText(id);
  await expect(page.locator('header', { has: heading })).toContainText('New workbook');
  const plan = page.getByRole('region', { name: 'Plan' });
  await expect(plan).toContainText('One component');
  const source = page.getByLabel('Source, in org');
  await expect(page.locator('.source-ink .hljs-section').first()).toBeVisible();

  await source.fill(BROKEN);
  await expect(plan.getByRole('status')).toHaveText('2 problems.');
  await expect(plan.getByText(/lode/).first()).toBeVisible();
  await expect(page.locator('.ink-bad')).toHaveAttribute('data-line', '11');
  expect(await flaws(page)).toEqual([]);
  await plan.getByRole('link', { name: 'Line 11' }).first().click();
  await expect(source).toBeFocused();
  expect(
    await source.evaluate((area: HTMLTextAreaElement) => area.value.slice(0, area.selectionStart).split('\n').length),
  ).toBe(11);

  // The text area and its highlighting wrap alike, also where lines are longer than it is wide.
  await page.setViewportSize({ width: 390, height: 844 });
  const heights = () =>
    page.evaluate(() => {
      const [ink, text] = [document.querySelector('.source-ink'), document.querySelector('.source-text')];
      return (ink?.scrollHeight ?? 0) - (text?.scrollHeight ?? 1);
    });
  await source.fill(`${SOURCE}${'a long line that wraps and wraps '.repeat(60)}\n`.repeat(3));
  await expect.poll(heights).toBe(0);
  await page.setViewportSize({ width: 1280, height: 900 });

  await source.fill(SOURCE);
  await expect(plan).toContainText('No problems. 2 components.');
  await expect(plan.locator('svg.plan:visible')).toContainText('keeps state');
  // A link that is followed without a new document asks first, and Ctrl+S saves wherever the keyboard is.
  const questions: string[] = [];
  page.on('dialog', (dialog) => {
    questions.push(dialog.message());
    void dialog.dismiss();
  });
  await page.getByRole('main').getByRole('link', { name: 'Workbooks', exact: true }).click();
  expect(questions).toEqual(['What you have typed is not saved. Leave it all the same?']);
  await expect(source).toHaveValue(SOURCE);
  await page.keyboard.press('Control+s');
  await expect(page.getByText('Saved as version 1.')).toBeVisible();
  expect(await versionsOf(id)).toBe(1);

  await put(id, SOURCE.replace('[1, 2, 3]', '[4, 5, 6]'));
  await source.fill(SOURCE.replace('[1, 2, 3]', '[7, 8, 9]'));
  await press(page, 'Save');
  await expect(page.getByText('It was not saved: meanwhile somebody saved version 2.')).toBeVisible();
  await expect(source).toHaveValue(/\[7, 8, 9\]/);
  expect(await versionsOf(id)).toBe(2);
  await press(page, 'Save over the newer one');
  await expect(page.getByText('Saved as version 3.')).toBeVisible();

  await page.getByRole('link', { name: 'What changed in version 3' }).click();
  const versions = page.getByRole('region', { name: 'Versions' });
  await expect(versions.locator('.diff-removed')).toContainText('[4, 5, 6]');
  await expect(versions.locator('.diff-added')).toContainText('[7, 8, 9]');
  expect(await flaws(page)).toEqual([]);
  await versions.getByRole('link', { name: 'Version 1', exact: true }).click();
  await expect(page.getByText('This is version 1.')).toBeVisible();
  await press(page, 'Make it the newest');
  await expect(page.getByLabel('Source, in org')).toHaveValue(/\[1, 2, 3\]/);
  expect(await versionsOf(id)).toBe(4);
});

test.describe('without JavaScript', () => {
  test.use({ javaScriptEnabled: false });

  test('a source is checked and saved, and a refusal keeps what was typed', async ({ page }) => {
    const id = newId();
    await openSession(page);
    await page.goto(`/workbooks/${id}?tenant=${TENANT}&new=1`);
    await page.getByLabel('Source, in org').fill(BROKEN);
    await press(page, 'Check it');
    await expect(page.getByRole('region', { name: 'Plan' })).toContainText('2 problems.');
    await expect(page.getByRole('region', { name: 'Plan' })).toContainText('Line 11');
    await expect(page.getByLabel('Source, in org')).toHaveValue(BROKEN);
    await page.getByLabel('Source, in org').fill(SOURCE);
    await press(page, 'Save');
    await expect(page.getByText('Saved as version 1.')).toBeVisible();
    await expect(page.locator('svg.plan:visible')).toContainText('sum');
    expect(await versionsOf(id)).toBe(1);
  });
});

test('a workbook is docked by its form, and one that is docked is not deleted', async ({ page }) => {
  const id = newId();
  await put(id, SOURCE);
  await openSession(page);
  await page.goto(`/workbooks/${id}?tenant=${TENANT}`);
  const sandbox = await dock(page, `Docked to ${id}`);
  const { json } = await visited().call<Instance>('GET', `/api/instances/${sandbox}`);
  expect([json.workbook, json.workbook_version]).toEqual([id, 1]);
  await page.goto(`/workbooks/${id}?tenant=${TENANT}`);
  await page.getByRole('region', { name: 'Delete' }).getByRole('textbox').fill(id);
  await press(page, 'Delete the workbook');
  await expect(page.getByRole('region', { name: 'Delete' }).getByRole('alert')).toBeVisible();
  expect(await versionsOf(id)).toBe(1);
});

/** What the last call gave, as its form shows it. */
async function output(page: Page): Promise<unknown> {
  const shown = page.getByRole('region', { name: 'Run' }).locator('pre').first();
  return JSON.parse((await shown.textContent()) ?? '');
}

async function useWorkbook(page: Page, name: string): Promise<void> {
  const id = newId();
  await put(id, SOURCE);
  await page.goto(`/workbooks/${id}?tenant=${TENANT}`);
  const sandbox = await dock(page, name);
  const run = page.getByRole('region', { name: 'Run' });
  await run.getByLabel('step').fill('many');
  await press(page, 'Run all of it');
  await expect(run.getByText('It must be a number.')).toBeVisible();
  await run.getByLabel('step').fill('2');
  await press(page, 'Run all of it');
  await expect(run.getByText('All components are done.')).toBeVisible();
  expect(await output(page)).toEqual({ total: 12 });
  await expect(run).toContainText('loading by 2');

  expect((await visited().call('POST', `/api/instances/${sandbox}/suspend`, {})).status).toBe(200);
  // Calls of components are in the ledger within a second.
  const lines = `/api/instances/${sandbox}/events?type=component.called`;
  await expect.poll(async () => (await visited().call<unknown[]>('GET', lines)).json.length).toBe(2);
  await page.goto(`/sandboxes/${sandbox}?tab=workbook`);
  const plan = page.getByRole('region', { name: 'Plan' });
  await expect(plan.locator('svg.plan:visible')).toContainText(/last [\d.]+ m?s/);
  await plan.locator('svg.plan:visible').getByRole('link').filter({ hasText: 'sum' }).click();
  await expect(page).toHaveURL(/component=main%2Fsum/);
  await run.getByLabel('rows').fill('[100]');
  await press(page, 'Run it');
  await expect(run.getByText('main/sum is done.')).toBeVisible();
  expect(await output(page)).toEqual({ total: 112 });

  await put(id, SOURCE.replace(':out total:integer', ':out total:number'));
  await page.goto(`/sandboxes/${sandbox}?tab=workbook`);
  const upgrade = page.getByRole('region', { name: 'Upgrade' });
  await expect(upgrade.getByText('Breaks:')).toBeVisible();
  await upgrade.getByLabel('I have read what breaks.').check();
  await press(page, 'Upgrade to version 2');
  await expect(page.getByRole('region', { name: 'Plan' })).toContainText('version 2');
  const { json } = await visited().call<Instance>('GET', `/api/instances/${sandbox}`);
  expect(json.workbook_version).toBe(2);
}

test('a docked sandbox runs all and one, keeps its state, and is upgraded once what breaks is read', async ({
  page,
}) => {
  await openSession(page);
  await useWorkbook(page, 'Clicked rows');
  expect(await flaws(page)).toEqual([]);
});

test.describe('running without JavaScript', () => {
  test.use({ javaScriptEnabled: false });

  test('a docked sandbox runs and is upgraded by plain forms', async ({ page }) => {
    await openSession(page);
    await useWorkbook(page, 'Posted rows');
  });
});

test('an example is stored, docked and opened by one press', async ({ page }) => {
  await openSession(page);
  await page.goto('/workbooks');
  await page.getByRole('button', { name: /^Try this example.*An order/ }).click();
  await expect(page).toHaveURL(/\/sandboxes\/[^/?]+\?tab=workbook/);
  const run = page.getByRole('region', { name: 'Run' });
  await run.getByLabel('order').fill('{"lines": [{"item": "rope", "count": 2, "price": 12.5}]}');
  await press(page, 'Run all of it');
  await expect(run.getByText('All components are done.')).toBeVisible();
  expect(await output(page)).toEqual({ total: 28.2, text: 'Goods 25.00, postage 3.20, together 28.20' });
  // On a phone a long output scrolls in its box, and the page does not.
  await page.setViewportSize({ width: 390, height: 844 });
  await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
  await page.setViewportSize({ width: 1280, height: 900 });

  // A typed command is not dropped for the component that the form begins with.
  await page.getByRole('link', { name: 'Schedules', exact: true }).click();
  await page.getByLabel('Command').fill('echo mine');
  await press(page, 'Add the schedule');
  await expect(page.getByText('is chosen to run. Choose “the command below” there, or empty this.')).toBeVisible();
  await page.getByLabel('What runs').selectOption('the command below');
  await press(page, 'Add the schedule');
  await expect(page.getByText('It is added.')).toBeVisible();
  await expect(page.getByRole('row', { name: /echo mine/ })).toBeVisible();
});

test('a schedule is added, runs when somebody asks, and is paused and deleted', async ({ page }) => {
  const id = newId();
  const { call } = visited();
  await call('POST', '/api/instances', { id, tenant: TENANT });
  const schedules = async () => (await call<Schedule[]>('GET', `/api/instances/${id}/schedules`)).json;
  await openSession(page);
  await page.goto(`/sandboxes/${id}?tab=schedules`);
  await expect(page.getByText('Nothing runs by itself.')).toBeVisible();
  await press(page, 'Add the schedule');
  await expect(page.getByText('Give a command, or choose a component.')).toBeVisible();
  await page.getByLabel('Command').fill('echo done >> nightly.txt');
  await page.getByLabel('How often').selectOption('every week');
  await page.getByLabel('On', { exact: true }).selectOption('Monday to Friday');
  await page.getByLabel('At', { exact: true }).fill('03:00');
  await page.getByLabel('Time zone').fill('Mars/Olympus');
  await press(page, 'Show the next five times');
  await expect(page.getByText('"Mars/Olympus" is no time zone')).toBeVisible();
  await page.getByLabel('Time zone').fill('Europe/Berlin');
  await page.getByLabel('Command').focus();
  await expect(page.getByText('It is due next').locator('..').getByRole('listitem')).toHaveCount(5);
  expect(await schedules()).toEqual([]);
  await press(page, 'Add the schedule');
  await expect(page.getByText('It is added.')).toBeVisible();
  expect(await schedules()).toMatchObject([{ cron: '0 3 * * 1-5', timezone: 'Europe/Berlin', missed: 'once' }]);

  const next = page.getByRole('region', { name: 'Next', exact: true });
  await expect(next.getByRole('listitem')).toHaveCount(5);
  // What happens next is said above every tab.
  await page.goto(`/sandboxes/${id}`);
  await expect(page.getByText(/^Next schedule in \d+ \w+$/)).toBeVisible();
  await page.getByRole('link', { name: 'Next schedule' }).click();
  const row = page.getByRole('row', { name: /nightly\.txt/ });
  await row.getByRole('button', { name: /^Run now/ }).click();
  await expect(page.getByText('It runs. How that goes is in its history.')).toBeVisible();
  await expect.poll(async () => (await schedules())[0]?.last_result).toBe('done');
  await row.getByRole('link').click();
  await expect(page.getByRole('region', { name: 'History' })).toContainText('somebody asked for it');
  expect((await call('GET', `/api/instances/${id}/volumes/workspace/nightly.txt`)).text).toBe('done\n');
  expect(await flaws(page)).toEqual([]);

  await row.getByRole('button', { name: /^Pause/ }).click();
  await expect(row).toContainText('paused');
  expect((await schedules())[0]?.paused).toBe(true);
  await row.getByRole('button', { name: /^Delete/ }).click();
  await expect(page.getByText('Nothing runs by itself.')).toBeVisible();
  expect(await schedules()).toEqual([]);
});

test('a schedule that failed says so beside its last run, and leads to what it printed', async ({ page }) => {
  const id = newId();
  const { call } = visited();
  await call('POST', '/api/instances', { id, tenant: TENANT });
  const made = await call<Schedule>('POST', `/api/instances/${id}/schedules`, {
    cron: '0 3 * * *',
    command: 'cat gone',
  });
  await call('POST', `/api/instances/${id}/schedules/${made.json.id}/run`, {});
  const last = async () => (await call<Schedule[]>('GET', `/api/instances/${id}/schedules`)).json[0]?.last_result;
  await expect.poll(last).toBe('failed');
  await openSession(page);
  await page.goto(`/sandboxes/${id}?tab=schedules`);
  const row = page.getByRole('row', { name: /cat gone/ });
  const [, , next, ran] = await row.getByRole('cell').all();
  await expect(ran ?? row).toContainText(/^failed .*The command ended with the exit code 1\.$/);
  await expect(next ?? row).not.toContainText('exit code');
  await row.getByRole('link').click();
  const history = page.getByRole('region', { name: 'History' });
  await expect(history.getByText('failed: The command ended with the exit code 1.', { exact: true })).toBeVisible();
  await history.getByRole('link', { name: 'The end of what its runs printed' }).click();
  await expect(page.locator('figure')).toContainText('cat: gone: No such file or directory');
  await page.getByRole('link', { name: 'Ledger', exact: true }).click();
  await expect(page.getByText(/ran what is scheduled, which failed, in it/)).toBeVisible();
});
