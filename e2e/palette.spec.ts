/** What stands over the pages: messages, the palette, the shortcuts and their sheet. By keyboard alone. */
import type { Locator, Page } from '#peers/playwright.ts';
import { SHORTCUTS } from '../components/palette/shortcut-table.ts';
import { flaws } from './axe.ts';
import { commandLine } from './typing.ts';
import { expect, openSession, test, visited } from './visited.ts';

const TENANT = 'palette';

/** Makes sandboxes of this file's tenant; those that are there stay. */
async function made(...ids: string[]): Promise<void> {
  const { call } = visited();
  for (const id of ids) {
    if ((await call('GET', `/api/instances/${id}`)).status === 404)
      await call('POST', '/api/instances', { id, tenant: TENANT });
  }
}

async function isLive(page: Page): Promise<void> {
  await expect(page.getByText('live', { exact: true })).toBeVisible();
}

function palette(page: Page) {
  return page.getByRole('dialog', { name: 'Jump to anything' });
}

test('a job that ends while another page is open says how it went, and leaves when it is told to', async ({ page }) => {
  const { call } = visited();
  await made('palette-job-1', 'palette-job-2');
  await call('POST', '/api/instances/palette-job-1/resume', {});
  await openSession(page);
  await page.goto('/tenants');
  await isLive(page);
  const ids = ['palette-job-1', 'palette-job-2'];
  await call('POST', '/api/jobs', { verb: 'suspend', ids });
  const message = page.getByRole('status').filter({ hasText: 'Suspend 2 sandboxes' });
  await expect(message).toContainText('1 done, 1 passed over');
  expect(await flaws(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await expect(message).toHaveCount(0);

  await call('POST', '/api/jobs', { verb: 'suspend', ids });
  await expect(message).toBeVisible();
  await page.keyboard.press('m');
  await expect(message.getByRole('button', { name: 'Dismiss this message' })).toBeFocused();
  await page.keyboard.press('Shift+Tab');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { level: 1 })).toContainText('Suspend 2 sandboxes');
  await expect(message).toHaveCount(0);
});

test('the palette finds a sandbox by a few letters, moves it, and a message says what became of it', async ({
  page,
}) => {
  await made('palette-lantern');
  const { call } = visited();
  await openSession(page);
  await page.goto('/tenants');
  await isLive(page);
  // What opens it is named as it reads.
  await expect(page.getByRole('button', { name: /^Jump to… (Ctrl|⌘) K$/ })).toHaveText(/^Jump to…(Ctrl|⌘) K$/);
  await page.keyboard.press('Control+k');
  await expect(palette(page)).toBeVisible();
  // Nothing is lost of what is typed while it loads, and Enter waits for the answer.
  await page.keyboard.type('lantern');
  await expect(palette(page).getByRole('option', { name: /palette-lantern/ })).toHaveAttribute('aria-selected', 'true');
  expect(await flaws(page)).toEqual([]);
  await page.keyboard.press('Enter');
  await expect(palette(page).getByRole('option', { name: /^Open/ })).toHaveAttribute('aria-selected', 'true');
  await expect(palette(page).getByRole('option', { name: /^Revive/ })).toHaveAttribute('aria-disabled', 'true');
  await expect(palette(page).getByRole('option', { name: /^Freeze in three steps/ })).toBeVisible();
  expect(await flaws(page)).toEqual([]);
  await page.keyboard.type('resu');
  await page.keyboard.press('Enter');
  const said = page.getByRole('status').filter({ hasText: 'palette-lantern: It is awake. It woke' });
  await expect(said).toContainText(/in [\d.]+ m?s/);
  await expect(palette(page)).toBeHidden();
  expect((await call<{ state: string }>('GET', '/api/instances/palette-lantern')).json.state).toBe('active');

  await call('POST', '/api/instances/palette-lantern/archive', {});
  await page.keyboard.press('Control+k');
  await page.keyboard.type('lantern');
  await page.keyboard.press('Enter');
  await expect(palette(page).getByPlaceholder('What to do with palette-lantern')).toBeFocused();
  await page.keyboard.type('rev');
  await page.keyboard.press('Enter');
  await expect(palette(page).getByLabel('Why palette-lantern is revived, for the ledger')).toBeFocused();
  await page.keyboard.type('the lights are needed');
  await page.keyboard.press('Enter');
  await expect(page.getByText('palette-lantern: It is awake again.')).toBeVisible();
  const [line] = (
    await call<{ reason: string }[]>('GET', '/api/instances/palette-lantern/events?type=transition&limit=1')
  ).json;
  expect(line?.reason).toBe('the lights are needed');

  const kept = () =>
    page.evaluate(() => Object.keys(localStorage).filter((key) => key.startsWith('winterdock.recent')));
  await page.getByRole('link', { name: 'Open it' }).press('Enter');
  await expect(page).toHaveURL(/\/sandboxes\/palette-lantern$/);
  await expect.poll(kept).toHaveLength(1);

  // On its page a typed line acts on it; a command answers in place; what is not there is said.
  await page.keyboard.press('Control+k');
  await page.keyboard.type('hold 3d');
  await page.keyboard.press('Enter');
  await expect(page.getByText('palette-lantern: It is held for 3 days')).toBeVisible();
  const held = (await call<{ hold_until: number }>('GET', '/api/instances/palette-lantern')).json.hold_until;
  expect(held - Date.now() / 1000).toBeGreaterThan(2.9 * 86_400);
  await page.keyboard.press('Control+k');
  await page.keyboard.type('exec echo from the palette');
  await page.keyboard.press('Enter');
  await expect(palette(page).getByRole('figure', { name: 'What it printed' })).toHaveText('from the palette');
  expect(await flaws(page)).toEqual([]);
  // A long one counts its seconds, and ends here and in the sandbox when it is told to.
  const calls = async () => (await call<{ calls: number }>('GET', '/api/instances/palette-lantern')).json.calls;
  await palette(page).getByLabel('A command to run in').fill('sleep 50');
  await page.keyboard.press('Enter');
  await expect(palette(page).getByText(/^Running sleep 50… [1-9]\d* s$/)).toBeVisible();
  expect(await calls()).toBe(1);
  expect(await flaws(page)).toEqual([]);
  await palette(page).getByRole('button', { name: 'Stop' }).press('Enter');
  await expect(palette(page).getByText('sleep 50 is stopped.')).toBeVisible();
  await expect.poll(calls).toBe(0);
  await expect(palette(page).getByLabel('A command to run in')).toBeFocused();
  await page.keyboard.press('Escape');
  await expect(palette(page)).toBeHidden();
  await page.keyboard.press('Control+k');
  await page.keyboard.type('snapshot as by-palette');
  await page.keyboard.press('Enter');
  await expect(page.getByText('Its snapshot is taken as “by-palette”')).toBeVisible();
  await page.keyboard.press('Control+k');
  await page.keyboard.type('tenant nobody-of-this-name');
  await expect(palette(page).getByText('No tenant of yours is called “nobody-of-this-name”.')).toBeVisible();
  await page.keyboard.press('Escape');

  // A button shows the call that it makes.
  await page.getByRole('button', { name: 'Suspend', exact: true }).focus();
  await page.keyboard.press('c');
  const panel = page.getByRole('region', { name: 'The call of a button' });
  await expect(panel).toContainText('/api/instances/palette-lantern/suspend');
  await expect(panel).toContainText('$WINTERDOCK_KEY');
  const [left, top] = [
    await panel.getByRole('status').boundingBox(),
    await page.getByRole('banner').getByRole('link').first().boundingBox(),
  ];
  expect(left?.x).toBe(top?.x);
  expect(await flaws(page)).toEqual([]);
  await panel.getByRole('button', { name: /^Close/ }).press('Enter');
  await page.keyboard.press('Control+k');
  await page.keyboard.type('audit');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/\/audit$/);
  await page.getByRole('button', { name: 'Sign out' }).press('Enter');
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Sign in');
  await expect.poll(kept).toEqual([]);
});

test('shortcuts lead to the pages and through the rows, and take nothing from a person who types', async ({ page }) => {
  await made('palette-row-1', 'palette-row-2');
  await openSession(page);
  await page.goto('/');
  await isLive(page);
  await page.keyboard.press('g');
  await page.keyboard.press('s');
  await expect(page).toHaveURL(/\/sandboxes$/);
  await page.keyboard.press('/');
  const field = page.getByRole('searchbox', { name: 'Find, or type a filter' });
  await expect(field).toBeFocused();
  await page.keyboard.type('palette row ?gt/nxj');
  await expect(field).toHaveValue('palette row ?gt/nxj');
  await page.keyboard.press('Control+a');
  await page.keyboard.type('palette row');
  await page.keyboard.press('Enter');
  // The list that the address names replaces the one that was filtered while typing, and what is focused in it.
  await expect(page).toHaveURL(/[?&]q=palette/);
  await expect(page.locator('tbody tr')).toHaveCount(2);
  await field.blur();
  await page.keyboard.press('j');
  await page.keyboard.press('j');
  await page.keyboard.press('x');
  const rows = page.locator('tbody tr');
  await expect(rows.nth(1).getByRole('checkbox')).toBeChecked();
  await page.keyboard.press('k');
  await expect(rows.nth(0).getByRole('link').first()).toBeFocused();
  await page.keyboard.press('Control+j');
  await expect(rows.nth(0).getByRole('link').first()).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/\/sandboxes\/palette-row-\d$/);
  await page.keyboard.press('n');
  await expect(page.locator('#create-tenant')).toBeFocused();
});

test('the sheet lists exactly the shortcuts there are, and switches those of one letter off', async ({ page }) => {
  await openSession(page);
  await page.goto('/tenants');
  await isLive(page);
  await page.keyboard.press('?');
  const sheet = page.getByRole('dialog', { name: 'Shortcuts' });
  await expect(sheet).toBeVisible();
  expect(await flaws(page)).toEqual([]);
  const said = SHORTCUTS.flatMap(({ shortcuts }) => shortcuts.map(({ says }) => says));
  await expect(sheet.getByRole('term')).toHaveText(said);
  await page.keyboard.press('g');
  await page.keyboard.press('a');
  await sheet.getByRole('checkbox').focus();
  await page.keyboard.press('Space');
  await page.keyboard.press('Escape');
  await expect(sheet).toBeHidden();
  await page.reload();
  await isLive(page);
  await page.keyboard.press('g');
  await page.keyboard.press('a');
  await page.keyboard.press('?');
  await page.keyboard.press('Control+k');
  await expect(palette(page)).toBeVisible();
  await expect(sheet).toBeHidden();
  await expect(page).toHaveURL(/\/tenants$/);
  await page.keyboard.type('shortcuts');
  await page.keyboard.press('Enter');
  await expect(sheet.getByRole('checkbox')).not.toBeChecked();
});

/** Moves the focus on by Tab until it is on `target`, as somebody without a mouse does. */
async function tabTo(page: Page, target: Locator): Promise<void> {
  await expect(target).toBeVisible();
  for (let pressed = 0; pressed < 120; pressed += 1) {
    if (await target.evaluate((element) => element === document.activeElement)) return;
    await page.keyboard.press('Tab');
  }
  throw new Error('The focus never came there.');
}

async function pressOn(page: Page, name: string): Promise<void> {
  await tabTo(page, page.getByRole('button', { name, exact: true }));
  await page.keyboard.press('Enter');
}

test('a sandbox lives its whole life by the keyboard alone', async ({ page }) => {
  const id = 'palette-by-hand';
  const headline = page.getByRole('heading', { level: 1 });
  await openSession(page);
  await page.goto('/');
  await isLive(page);
  await page.keyboard.press('n');
  await expect(page.locator('#create-tenant')).toBeFocused();
  await page.keyboard.type(TENANT);
  await tabTo(page, page.locator('#create-id'));
  await page.keyboard.type(id);
  await page.keyboard.press('Enter');
  await expect(headline).toContainText('Registered');

  const parts = page.getByRole('navigation', { name: 'Parts of this sandbox' });
  await tabTo(page, parts.getByRole('link', { name: 'Terminal' }));
  await page.keyboard.press('Enter');
  await tabTo(page, commandLine(page));
  await page.keyboard.type('echo by hand');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('log')).toContainText('exit 0');
  await page.keyboard.press('Escape');
  await expect(headline).toContainText('Awake');
  await pressOn(page, 'Suspend');
  await expect(headline).toContainText('Asleep · suspended');
  await pressOn(page, 'Freeze');
  await expect(headline).toContainText('Asleep · frozen');
  await pressOn(page, 'Archive');
  await expect(headline).toContainText('Filed away');
  await tabTo(page, page.getByLabel('Reason, for the ledger'));
  await page.keyboard.type('it is needed again');
  await page.keyboard.press('Enter');
  await expect(headline).toContainText('Awake');
  await pressOn(page, 'Archive');
  await expect(headline).toContainText('Filed away');
  await tabTo(page, page.locator('#moves summary').filter({ hasText: 'Delete…' }));
  await page.keyboard.press('Enter');
  await tabTo(page, page.getByLabel(`Type ${id} to confirm`));
  await page.keyboard.type(id);
  await page.keyboard.press('Enter');
  await expect(headline).toContainText('Deleted');
});

test('the palette offers the buttons of the open page first: it fills nothing in, and presses one that stands alone', async ({
  page,
}) => {
  await made('palette-buttons');
  await openSession(page);
  await page.goto('/tenants/palette');
  await isLive(page);
  await page.keyboard.press('Control+k');
  await expect(palette(page).locator('.palette-group').first()).toContainText('Set the limits');
  await page.keyboard.type('set the lim');
  await page.keyboard.press('Enter');
  await expect(palette(page)).toBeHidden();
  await expect(page.getByLabel('Sandboxes at most')).toBeFocused();
  await page.goto('/sandboxes');
  await isLive(page);
  await page.keyboard.press('Control+k');
  await page.keyboard.type('columns');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('form', { name: 'Columns of the list' })).toBeVisible();
});
