/** A sandbox's whole life, by clicking, with JavaScript and without. */
import type { Page } from '#peers/playwright.ts';
import { runCommand } from './typing.ts';
import { expect, openDoor, signInByKey, test, visited } from './visited.ts';

// An admin whom a test of another file invites would use the printed link up.
test.use({ ownServer: 'life' });

function headline(page: Page) {
  return page.getByRole('heading', { level: 1 });
}

async function press(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name, exact: true }).click();
}

/** Creates a sandbox with the form and returns its id. */
async function create(page: Page, name: string): Promise<string> {
  await page.getByRole('navigation', { name: 'Places' }).getByRole('link', { name: 'Sandboxes' }).click();
  await expect(page).toHaveURL(/\/sandboxes$/);
  const tenant = page.locator('#create-tenant');
  if (!(await tenant.isVisible())) await page.getByText('New sandbox', { exact: true }).click();
  await tenant.fill('Not A Tenant');
  await page.getByLabel('Name', { exact: true }).fill(name);
  await page.getByRole('textbox', { name: 'Labels' }).fill('kind: test\nseason: winter');
  await press(page, 'Create sandbox');
  await expect(page.getByText('must be 1 to 63 of a-z')).toBeVisible();
  await expect(page.getByLabel('Name', { exact: true })).toHaveValue(name);
  await expect(page.getByRole('textbox', { name: 'Labels' })).toHaveValue('kind: test\nseason: winter');
  await tenant.fill('harbour');
  await press(page, 'Create sandbox');
  await expect(headline(page)).toContainText('Registered');
  await expect(headline(page)).toContainText(name);
  return new URL(page.url()).pathname.split('/').at(-1) ?? '';
}

async function live(page: Page, name: string, { plain = false } = {}): Promise<void> {
  const id = await create(page, name);
  const { call } = visited();
  const state = async () => (await call<{ state: string }>('GET', `/api/instances/${id}`)).json.state;

  const parts = page.getByRole('navigation', { name: 'Parts of this sandbox' });
  await parts.getByRole('link', { name: 'Terminal' }).click();
  await runCommand(page, 'echo "kept through the winter" > note.txt && cat note.txt && false', { plain });
  const output = page.getByRole('log');
  await expect(output).toContainText('kept through the winter');
  await expect(output).toContainText('exit 1');
  await expect(output).toContainText('woke it for the first time, in');
  await expect(headline(page)).toContainText('Awake');

  await parts.getByRole('link', { name: 'Files' }).click();
  await press(page, 'Suspend');
  await expect(headline(page)).toContainText('Asleep · suspended');
  await expect(page.getByRole('status').getByText(/It is suspended/)).toBeVisible();
  await openDoor(page, 'More');
  await expect(page.getByRole('button', { name: 'Suspend', exact: true })).toBeDisabled();

  await page.locator('.tree').getByText('note.txt').click();
  await expect(page.locator('figure')).toContainText('kept through the winter');
  await expect(headline(page)).toContainText('Asleep · suspended');
  expect(await state()).toBe('suspended');

  // A part of its life is chosen with the keyboard; the address keeps it, and the lines below are of that part.
  await parts.getByRole('link', { name: 'Time' }).click();
  await expect(page.getByRole('img', { name: /active/ })).toBeVisible();
  await page.getByRole('navigation', { name: 'Parts of this time' }).getByRole('link').first().press('Enter');
  await expect(page).toHaveURL(/tab=time&from=\d+&to=\d+/);
  await expect(page.getByRole('table')).toContainText('created');
  await page.getByRole('link', { name: 'Show it larger' }).click();
  await expect(page).toHaveURL(/begin=\d+&end=\d+/);
  await parts.getByRole('link', { name: 'Files' }).click();
  await page.locator('.tree').getByText('note.txt').click();

  await press(page, 'Freeze');
  await expect(headline(page)).toContainText('Asleep · frozen');
  await expect(page.locator('figure')).toContainText('kept through the winter');
  expect(await state()).toBe('frozen');

  await press(page, 'Resume');
  await expect(headline(page)).toContainText('Awake');

  await press(page, 'Archive');
  await expect(headline(page)).toContainText('Filed away · archived');
  await expect(page.locator('figure')).toContainText('kept through the winter');

  await page.getByLabel('Reason, for the ledger').fill('spring has come');
  await press(page, 'Revive');
  await expect(headline(page)).toContainText('Awake');
  await parts.getByRole('link', { name: 'Ledger' }).click();
  await expect(page.getByRole('table')).toContainText('spring has come');

  await press(page, 'Archive');
  await expect(headline(page)).toContainText('Filed away');
  await openDoor(page, 'Delete…');
  await page.getByLabel(/to confirm/).fill('something-else');
  await press(page, 'Delete');
  await expect(page.getByRole('alert').getByText(/Nothing was deleted/)).toBeVisible();
  await page.getByLabel(/to confirm/).fill(id);
  await press(page, 'Delete');
  await expect(headline(page)).toContainText('Deleted');
  await expect(page.getByRole('table')).toContainText('spring has come');
  expect((await call('GET', `/api/instances/${id}`)).status).toBe(410);
}

test('an empty server makes an example in one press, and shows the same in curl', async ({ page }) => {
  await signInByKey(page);
  await expect(headline(page)).toHaveText('The dock is empty.');
  await page.getByText('The same in curl', { exact: true }).click();
  await expect(page.getByText(/dock \/instances\/first-steps\/snapshots -d/)).toBeVisible();
  await page.getByRole('button', { name: /^Make the example/ }).click();
  await expect(page).toHaveURL(/\/sandboxes\/first-steps$/);
  await expect(headline(page)).toContainText('Awake');
  // The page before is not what an empty server shows.
  await page.goBack();
  await expect(page.getByRole('button', { name: /^Make the example/ })).toHaveCount(0);
  await page.goForward();
  await page.locator('.tree').getByText('totals.txt').click();
  await expect(page.locator('figure')).toContainText('ada 165');
  await page.goto('/snapshots');
  await expect(page.getByRole('link', { name: 'first totals' })).toBeVisible();
  await page.goto('/');
  await expect(page.getByRole('button', { name: /^Make the example/ })).toHaveCount(0);
});

test('a person signs in by the printed link and takes a sandbox through its whole life by clicking', async ({
  page,
  complaints,
}) => {
  complaints.expected.push(/status of 410/);
  await page.goto(visited().link);
  await expect(headline(page)).toHaveText('The first admin');
  await page.getByLabel('E-mail').fill('ada@example.com');
  await page.getByLabel('Name', { exact: true }).fill('Ada');
  await page.getByLabel('Password').fill('a long winter');
  await press(page, 'Create the admin account');
  await expect(page).toHaveURL(/\/$/);
  await live(page, 'First light');
  await press(page, 'Sign out');
  await expect(headline(page)).toHaveText('Sign in');
  await page.goto('/sandboxes');
  await expect(page).toHaveURL(/\/signin\?to=%2Fsandboxes$/);

  await page.goto(visited().link);
  await expect(headline(page)).toHaveText('This link does not work any more');
  await page.goto('/signin?to=/sandboxes');
  await page.getByLabel('E-mail').fill('Ada@example.com');
  await page.getByLabel('Password', { exact: true }).fill('not the password');
  await press(page, 'Sign in');
  await expect(page.getByRole('alert').getByText(/do not belong together/)).toBeVisible();
  await page.getByLabel('E-mail').fill('Ada@example.com');
  await page.getByLabel('Password', { exact: true }).fill('a long winter');
  await press(page, 'Sign in');
  await expect(page).toHaveURL(/\/sandboxes$/);
});

test.describe('without JavaScript', () => {
  test.use({ javaScriptEnabled: false });

  test('the whole life of a sandbox works by plain forms and links', async ({ page }) => {
    await signInByKey(page);
    await live(page, 'Paper only', { plain: true });
  });

  test('a wrong key is refused beside its field', async ({ page }) => {
    await page.goto('/signin');
    await page.getByLabel('Admin key').fill('not the admin key at all');
    await press(page, 'Sign in with the key');
    await expect(page.getByRole('alert').getByText('That is not the admin key.')).toBeVisible();
  });
});

test('after a move the head stays in one piece, and the keyboard goes on from what came of it', async ({ page }) => {
  const { call } = visited();
  await call('POST', '/api/instances', { id: 'moved-by-keys', tenant: 'harbour' });
  await signInByKey(page);
  await page.goto('/sandboxes/moved-by-keys');
  await page.getByRole('button', { name: 'Resume', exact: true }).press('Enter');
  const outcome = page.locator('#moves').getByRole('status');
  await expect(outcome).toContainText('It is awake.');
  await expect(outcome.locator('..')).toBeFocused();
  await page.keyboard.press('Tab');
  await expect(page.getByRole('link', { name: 'Open terminal' })).toBeFocused();
  // What stands below the name follows it at once, however much the move had to say.
  const name = await headline(page).boundingBox();
  const copy = await page.getByRole('button', { name: /^Copy/ }).first().boundingBox();
  expect((copy?.y ?? 0) - (name?.y ?? 0) - (name?.height ?? 0)).toBeLessThan(24);
  const more = page.locator('#moves summary').getByText('More', { exact: true });
  await more.press('Enter');
  await expect(page.getByText('It is active already.')).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(page.getByText('It is active already.')).toBeHidden();
  await expect(more).toBeFocused();
});

test('a revival at the desk takes its reason from the keyboard at once, and its form moves nothing', async ({
  page,
}) => {
  const { call } = visited();
  const id = 'asked-for-again';
  await call('POST', '/api/instances', { id, tenant: 'harbour' });
  await call('POST', `/api/instances/${id}/resume`, {});
  await call('POST', `/api/instances/${id}/archive`, { reason: 'the season is over' });
  await signInByKey(page);
  await page.goto(`/archive?q=${id}`);
  await expect(page.getByText('live', { exact: true })).toBeVisible();
  const row = page.getByRole('row', { name: new RegExp(id) });
  const before = await row.boundingBox();
  await row.locator('summary').press('Enter');
  await expect(row.getByLabel('Reason, for the ledger')).toBeFocused();
  expect(await row.boundingBox()).toEqual(before);
  await page.keyboard.press('Escape');
  await expect(row.getByLabel('Reason, for the ledger')).toBeHidden();
  await row.locator('summary').press('Enter');
  await page.keyboard.type('the customer asked for it');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/revived=asked-for-again/);
  await expect(page.getByRole('status').filter({ hasText: 'is back.' })).toBeFocused();
  await page.keyboard.press('Tab');
  await expect(page.locator('#revived').getByRole('link', { name: id, exact: true })).toBeFocused();
  expect((await call<{ state: string }>('GET', `/api/instances/${id}`)).json.state).toBe('active');
});

test('what goes with the press of its button leaves the keyboard beside it', async ({ page }) => {
  const { call } = visited();
  const id = 'pressed-away';
  await call('POST', '/api/instances', { id, tenant: 'harbour' });
  await call('PATCH', `/api/instances/${id}/env`, { env: { FIRST: '1', SECOND: '2' } });
  await signInByKey(page);
  await page.goto(`/sandboxes/${id}?tab=environment`);
  await expect(page.getByText('live', { exact: true })).toBeVisible();
  await page
    .getByRole('row', { name: /SECOND/ })
    .getByRole('button')
    .press('Enter');
  await expect(page.getByRole('row', { name: /SECOND/ })).toHaveCount(0);
  await expect(page.getByRole('region', { name: 'Variables' }).locator(':focus')).toHaveCount(1);
  await page.keyboard.press('Tab');
  await expect(page.getByRole('row', { name: /FIRST/ }).getByRole('button')).toBeFocused();
});
