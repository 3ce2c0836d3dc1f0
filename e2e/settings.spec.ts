/** People, roles, sessions, keys and the ledger's proof, by clicking, with JavaScript and without. */
import type { Browser, BrowserContextOptions, Locator, Page } from '#peers/playwright.ts';
import { flaws } from './axe.ts';
import { expect, openSession, test, visited } from './visited.ts';

const PASSWORD = 'a long enough password';

function headline(page: Page): Locator {
  return page.getByRole('heading', { level: 1 });
}

async function press(page: Page | Locator, name: string): Promise<void> {
  await page.getByRole('button', { name, exact: true }).click();
}

/** Makes an invitation as the admin whose page this is. Returns the path of its link. */
async function invite(page: Page, role: string, tenants: string): Promise<string> {
  await page.goto('/settings/people');
  const form = page.locator('#invite');
  await form.getByLabel('Role').selectOption(role);
  await form.getByLabel('Tenants').fill(tenants);
  await press(form, 'Make an invitation link');
  const secret = form.locator('.outcome code');
  await expect(secret).toContainText('/signin?token=');
  const link = new URL((await secret.textContent()) ?? '');
  expect(link.origin).toBe(visited().url);
  return `${link.pathname}${link.search}`;
}

/** Someone else's browser, joined by an invitation. */
async function join(
  browser: Browser,
  options: BrowserContextOptions,
  link: string,
  email: string,
  name: string,
): Promise<Page> {
  const page = await (await browser.newContext({ ...options, baseURL: visited().url })).newPage();
  await page.goto(link);
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Name').fill(name);
  await page.getByLabel('Password').fill(PASSWORD);
  await press(page, 'Create the account');
  await expect(page.getByRole('button', { name: 'Sign out' })).toBeVisible();
  return page;
}

async function signIn(page: Page, email: string, password: string): Promise<void> {
  await page.goto('/signin');
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await press(page, 'Sign in');
}

async function people(
  page: Page,
  browser: Browser,
  options: BrowserContextOptions,
  email: string,
  name: string,
): Promise<void> {
  await openSession(page);
  await page.goto('/settings');
  await expect(headline(page)).toContainText('The admin key');
  await expect(page.getByText('· this one')).toBeVisible();

  const guest = await join(browser, options, await invite(page, 'operator', 'harbour'), email, name);
  await guest.goto('/settings');
  await expect(headline(guest)).toHaveText(`${name} operator of harbour`);
  await expect(guest.getByText('· this one')).toBeVisible();
  await guest.goto('/settings/people');
  await expect(guest.getByRole('alert').getByText('may not do this')).toBeVisible();
  await expect(guest.getByText(email)).toHaveCount(0);
  for (const path of ['/settings/ledger', '/settings/hosts']) {
    await guest.goto(path);
    await expect(guest.getByRole('alert').getByText('of some tenants')).toBeVisible();
  }

  await guest.goto('/settings');
  await guest.getByLabel('Password now').fill('not the password at all');
  await guest.getByLabel('New password').fill('another long enough password');
  await press(guest, 'Change the password');
  await expect(guest.getByText('That is not your current password.')).toBeVisible();
  await guest.getByLabel('Password now').fill(PASSWORD);
  await guest.getByLabel('New password').fill('short');
  await press(guest, 'Change the password');
  await expect(guest.getByText('must have at least 12 characters')).toBeVisible();
  await guest.getByLabel('Password now').fill(PASSWORD);
  await guest.getByLabel('New password').fill('another long enough password');
  await press(guest, 'Change the password');
  await expect(guest.getByRole('status').getByText('Your password is changed.')).toBeVisible();

  await page.goto('/settings/people');
  await page.getByRole('link', { name, exact: true }).click();
  await expect(headline(page)).toHaveText(`${name} operator of harbour`);
  const role = page.locator('#person-role');
  await role.selectOption('viewer');
  await page.getByLabel('Tenants').fill('Not A Tenant!');
  await press(page, 'Change');
  await expect(page.getByText('must be 1 to 63 of a-z')).toBeVisible();
  await expect(role).toHaveValue('viewer');
  await page.getByLabel('Tenants').fill('harbour, acme');
  await press(page, 'Change');
  await expect(headline(page)).toHaveText(`${name} viewer of harbour, acme`);
  await guest.goto('/settings');
  await expect(headline(guest)).toHaveText(`${name} viewer of harbour, acme`);

  await page
    .locator('#sessions')
    .getByRole('button', { name: /^End the session/ })
    .click();
  await expect(page.getByText('No session is open.')).toBeVisible();
  await guest.goto('/settings');
  await expect(headline(guest)).toHaveText('Sign in');
  await signIn(guest, email, PASSWORD);
  await expect(guest.getByRole('alert').getByText('do not belong together')).toBeVisible();
  await signIn(guest, email, 'another long enough password');
  await expect(guest.getByRole('button', { name: 'Sign out' })).toBeVisible();

  await page.locator('summary', { hasText: 'Disable…' }).click();
  await press(page, 'Disable the account');
  await expect(headline(page)).toContainText('disabled');
  await guest.goto('/');
  await expect(headline(guest)).toHaveText('Sign in');
  await signIn(guest, email, 'another long enough password');
  await expect(guest.getByRole('alert').getByText('do not belong together')).toBeVisible();
  await guest.context().close();

  const { json } = await visited().call<{ type: string; reason: string }[]>('GET', '/api/events?limit=50');
  const types = json.map(({ type }) => type);
  expect(types).toEqual(
    expect.arrayContaining([
      'person.invited',
      'person.joined',
      'person.changed',
      'person.disabled',
      'session.ended',
      'password.changed',
    ]),
  );
}

async function keys(page: Page, name: string): Promise<void> {
  await page.goto('/settings/keys');
  await expect(page.locator('#endpoints')).toContainText('WB_SESSION_API=on opens /api/sessions');
  const form = page.locator('#make');
  await form.getByLabel('Name').fill('');
  await press(form, 'Make a key');
  await expect(form.getByText('What is it for?')).toBeVisible();
  await form.getByLabel('Name').fill(name);
  await press(form, 'Make a key');
  // Both complaints came with the first answer; this one goes with the second.
  await expect(form.getByText('What is it for?')).toHaveCount(0);
  await expect(form.getByText('is needed for the role tenant')).toBeVisible();
  await expect(form.getByLabel('Name')).toHaveValue(name);
  await form.getByLabel('Tenant', { exact: true }).fill('harbour');
  await press(form, 'Make a key');
  const key = (await form.locator('.outcome code').textContent()) ?? '';
  expect(key.length).toBeGreaterThan(30);

  const { call } = visited();
  expect((await call('GET', '/api/me', undefined, { key })).json).toMatchObject({
    role: 'tenant',
    tenants: ['harbour'],
  });
  await page.goto('/settings/keys');
  await expect(page.getByText(key)).toHaveCount(0);
  const row = page.getByRole('row', { name: new RegExp(name) });
  await expect(row).toContainText('tenant of harbour');
  await expect(row).toContainText('ends in 90 days');
  await expect(row).toContainText(/used (just now|\d+ second)/);
  expect(key).toContain(((await row.locator('code').first().textContent()) ?? 'nothing').replace('…', ''));

  await row.locator('summary').click();
  await row.getByRole('button', { name: `Revoke for good the key ${name}` }).click();
  await expect(row).toHaveCount(0);
  expect((await call('GET', '/api/me', undefined, { key })).status).toBe(401);
}

async function webhooks(page: Page, name: string): Promise<void> {
  await page.goto('/settings/webhooks');
  const form = page.locator('#make');
  await form.getByLabel('Name').fill(name);
  await form.getByLabel('Address').fill('https://127.0.0.1/hook');
  await press(form, 'Set up a webhook');
  await expect(form.getByText('must have a public address, not a loopback one')).toBeVisible();
  await form.getByLabel('Address').fill('https://receiver.invalid/hook');
  await press(form, 'Set up a webhook');
  const secret = (await form.locator('.outcome code').textContent()) ?? '';
  expect(secret).toMatch(/^whsec_/);
  await page.getByRole('link', { name }).click();
  await expect(headline(page)).toContainText('faults and refusals');
  await press(page, 'Send a test');
  await expect(page.getByText(/^Not taken after \d+ ms: /)).toBeVisible();
  await expect(page.locator('#deliveries').getByRole('row', { name: /a test/ })).toBeVisible();
  await press(page, 'Turn off');
  await expect(page.getByText('It is off.', { exact: true })).toBeVisible();
  await press(page, 'Turn on from now');
  await expect(page.getByText('It is on.', { exact: true })).toBeVisible();
  await page.locator('summary', { hasText: 'Remove…' }).click();
  await page.getByRole('button', { name: `Remove for good the webhook ${name}` }).click();
  await expect(page).toHaveURL(/\/settings\/webhooks$/);
  await expect(page.getByRole('link', { name })).toHaveCount(0);
}

test('a webhook is set up, tried, turned off and on, and removed', async ({ page }) => {
  await openSession(page);
  await webhooks(page, 'on call');
});

test('an admin invites someone, changes the role, ends the sessions and disables the account', async ({
  page,
  browser,
}) => {
  await people(page, browser, {}, 'hedy@harbour.example', 'Hedy');
});

test('a key is made, shown once, used, and revoked at once', async ({ page }) => {
  await openSession(page);
  await keys(page, 'nightly backup');
});

test('an open invitation can be withdrawn, and its link does not work any more', async ({ page, complaints }) => {
  await openSession(page);
  const link = await invite(page, 'viewer', '');
  const withdrawals = page.locator('#invitations').getByRole('button', { name: /^Withdraw/ });
  const open = await withdrawals.count();
  await withdrawals.first().click();
  await expect(withdrawals).toHaveCount(open - 1);
  complaints.expected.push(/status of 410/);
  await page.goto(link);
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('This link does not work any more');
  await expect(page.getByRole('button', { name: 'Create the account' })).toHaveCount(0);
});

test('the ledger is proved by a button', async ({ page }) => {
  await openSession(page);
  await page.goto('/settings/ledger');
  await press(page, 'Check the ledger');
  await expect(page.getByRole('status').getByText(/^\d[\d,]* lines are proven/)).toBeVisible();
  const downloading = page.waitForEvent('download');
  await page.getByRole('link', { name: 'Download the signed head' }).click();
  expect((await downloading).suggestedFilename()).toBe('winterdock-ledger-head.json');
});

test('the page of hosts says which server answers, what room it has, and that a file needs no lease', async ({
  page,
}) => {
  await openSession(page);
  await page.goto('/settings');
  await page.getByRole('navigation', { name: 'Settings' }).getByRole('link', { name: 'Hosts' }).click();
  await expect(headline(page)).toHaveText('Hosts one runs');
  const { json } = await visited().call<{ name: string; capacity: { active: number } }[]>('GET', '/api/hosts');
  const row = page.getByRole('row', { name: json[0]?.name ?? '' });
  await expect(row).toContainText('answers this page');
  await expect(row).toContainText(`${(json[0]?.capacity.active ?? 0).toLocaleString('en')} awake`);
  await expect(row).toContainText('needs none');
  expect(json).toHaveLength(1);
});

test.describe('without JavaScript', () => {
  test.use({ javaScriptEnabled: false });

  test('people, keys and the proof work by plain forms', async ({ page, browser }) => {
    await people(page, browser, { javaScriptEnabled: false }, 'grace@harbour.example', 'Grace');
    await keys(page, 'paper key');
    await webhooks(page, 'paper hook');
    await page.goto('/settings/ledger');
    await press(page, 'Check the ledger');
    await expect(page.getByRole('status').getByText('lines are proven')).toBeVisible();
  });
});

test('axe finds nothing in the settings, and nothing scrolls sideways', async ({ page, browser }) => {
  test.slow();
  await openSession(page);
  const guest = await join(
    browser,
    {},
    await invite(page, 'support', 'harbour, acme'),
    'eve@harbour.example',
    'Eve of a rather long name',
  );
  await guest.goto('/settings');
  const look = async (at: Page, name: string) => {
    expect(await flaws(at), name).toEqual([]);
    for (const width of [390, 1280, 1920]) {
      await at.setViewportSize({ width, height: 900 });
      const over = await at.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      expect([name, width, over]).toEqual([name, width, 0]);
    }
  };
  await look(guest, 'own account');
  await guest.goto('/settings/keys');
  await look(guest, 'not with that role');
  await guest.context().close();
  await page.goto('/settings/hosts');
  await look(page, 'hosts');
  await page.goto('/settings/people');
  await invite(page, 'viewer', '');
  await look(page, 'people with a link');
  await page.getByRole('link', { name: 'Eve of a rather long name' }).first().click();
  await expect(headline(page)).toContainText('Eve');
  await page.locator('summary', { hasText: 'Disable…' }).click();
  await look(page, 'a person');
  await page.goto('/settings/keys');
  await press(page, 'Make a key');
  await expect(page.getByText('What is it for?')).toBeVisible();
  await page.getByLabel('Name').fill('for looks');
  await page.getByLabel('Tenant', { exact: true }).fill('harbour');
  await press(page, 'Make a key');
  await expect(page.getByText('Copy the key now')).toBeVisible();
  await look(page, 'keys');
  const told = { name: 'for looks', url: 'https://receiver.invalid/hook', types: ['problems'] };
  const { id } = (await visited().call<{ id: string }>('POST', '/api/webhooks', told)).json;
  await visited().call('POST', `/api/webhooks/${id}/test`);
  await page.goto('/settings/webhooks');
  await look(page, 'webhooks');
  await page.goto(`/settings/webhooks/${id}`);
  await look(page, 'a webhook');
  await page.goto('/settings/ledger');
  await press(page, 'Check the ledger');
  await expect(page.getByText('lines are proven')).toBeVisible();
  await look(page, 'the ledger');
  await page.goto('/settings');
  await look(page, 'the admin key');
});
