/** The ledger of everything and the support desk: by clicking, by keyboard, without JavaScript, in other roles. */
import { readFile } from 'node:fs/promises';
import type { Browser, BrowserContextOptions, Locator, Page } from '#peers/playwright.ts';
import type { Event, Instance } from '../lib/contract/schema.ts';
import { flaws } from './axe.ts';
import { expect, openDoor, openSession, signInByKey, test, visited } from './visited.ts';

const PASSWORD = 'a long enough password';
const TENANT = 'desk';
const CHANGES = 55;
const NARROW = { width: 390, height: 844 };

function headline(page: Page): Locator {
  return page.getByRole('heading', { level: 1 });
}

function part(page: Page, name: string): Locator {
  return page.getByRole('region', { name, exact: true });
}

async function place(page: Page, name: string): Promise<void> {
  await page.getByRole('navigation', { name: 'Places' }).getByRole('link', { name, exact: true }).click();
}

/** A sandbox that was filed away, with work and a private note in it. */
async function filed(id: string, name: string): Promise<void> {
  const { call } = visited();
  if ((await call('GET', `/api/instances/${id}`)).status !== 404) return;
  await call('POST', '/api/instances', { id, tenant: TENANT, name, labels: { season: id } });
  await call('PUT', `/api/instances/${id}/volumes/workspace/report.md`, '# The report\n\nEverything is in it.\n');
  await call('PUT', `/api/instances/${id}/volumes/memory/private.txt`, 'not for everyone');
  await call('POST', `/api/instances/${id}/archive`, { reason: `the season of ${name} is over` });
}

async function stateOf(id: string): Promise<Instance['state']> {
  return (await visited().call<Instance>('GET', `/api/instances/${id}`)).json.state;
}

async function revivalOf(id: string): Promise<Event | undefined> {
  const lines = await visited().call<Event[]>('GET', `/api/instances/${id}/events?type=transition&limit=1`);
  return lines.json.find(({ from, to }) => from === 'archived' && to === 'active');
}

/** A person of that role, signed in in a browser of their own. */
async function someone(browser: Browser, role: string, options: BrowserContextOptions = {}): Promise<Page> {
  const { call, url } = visited();
  const invited = await call<{ link: string }>('POST', '/api/people/invitations', { role });
  const page = await (await browser.newContext({ ...options, baseURL: url })).newPage();
  const { pathname, search } = new URL(invited.json.link);
  await page.goto(`${pathname}${search}`);
  await page.getByLabel('E-mail').fill(`${role}-${Date.now()}@example.com`);
  await page.getByLabel('Name').fill(`The ${role}`);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Create the account' }).click();
  await expect(page.getByRole('button', { name: 'Sign out' })).toBeVisible();
  return page;
}

/** Presses Tab until `target` has the focus. */
async function tabTo(page: Page, target: Locator): Promise<void> {
  for (let presses = 0; presses < 80; presses += 1) {
    if (await target.evaluate((element) => element === document.activeElement)) return;
    await page.keyboard.press('Tab');
  }
  throw new Error('The keyboard does not reach it.');
}

test.beforeAll(async () => {
  const { call } = visited();
  if ((await call('GET', '/api/instances/desk-busy')).status !== 404) return;
  await call('POST', '/api/instances', { id: 'desk-busy', tenant: TENANT, name: 'Busy' });
  for (let n = 0; n < CHANGES; n += 1) {
    await call('PATCH', '/api/instances/desk-busy', { labels: { turn: String(n) } });
  }
  await filed('desk-march', 'March figures');
});

async function audit(page: Page): Promise<void> {
  await signInByKey(page);
  await place(page, 'Audit');
  await expect(headline(page)).toHaveText('The ledger of everything');
  await page.getByLabel('Tenant', { exact: true }).fill(TENANT);
  await page.getByLabel('What happened').selectOption('instance.changed');
  await page.getByRole('button', { name: 'Show', exact: true }).click();
  await expect(page).toHaveURL(/\/audit\?.*tenant=desk/);
  await expect(headline(page)).toHaveText('The ledger as filtered');
  const rows = page.getByRole('table').first().locator('tbody tr');
  await expect(rows).toHaveCount(50);
  await page.getByRole('link', { name: 'Next page' }).click();
  await expect(rows).toHaveCount(CHANGES - 50);
  await page.getByRole('link', { name: 'First page' }).click();
  await expect(rows).toHaveCount(50);

  await page.goto('/audit?instance=desk-march&type=transition&since=2020-01-01');
  await expect(rows.first()).toContainText('the season of March figures is over');
  await rows.first().locator('summary').click();
  await rows.first().getByRole('link', { name: 'key:admin', exact: true }).click();
  await expect(page).toHaveURL(/\/audit\?actor=key%3Aadmin$/);

  await page.goto('/audit?tenant=desk&until=2020-01-01');
  await expect(page.getByText('No line matches.')).toBeVisible();
  await page.goto('/audit?tenant=desk&since=yesterday');
  await expect(page.getByText('No line is shown: a filter above is not valid.')).toBeVisible();
  await expect(page.getByText('must be a day or a minute')).toBeVisible();

  await page.goto('/audit');
  await page.getByRole('button', { name: 'Check the ledger' }).click();
  await expect(page.getByRole('status').filter({ hasText: 'lines are proven' })).toBeVisible();
}

async function desk(page: Page, id: string, name: string): Promise<void> {
  await filed(id, name);
  await openSession(page);
  await page.goto('/');
  await place(page, 'Archive');
  const today = new Date().toISOString().slice(0, 10);
  await page.getByLabel('What does the customer say?').fill(`igure season:${id} ${today}`);
  await page.getByRole('button', { name: 'Find', exact: true }).click();
  await expect(headline(page)).toHaveText('1 sandbox filed away, as filtered');
  await expect(page.getByRole('row', { name: new RegExp(name) })).toContainText(`the season of ${name} is over`);
  await expect(page.getByText(`the label season:${id}, filed on ${today}`)).toBeVisible();
  await expect(page.getByRole('row', { name: new RegExp(name) })).toContainText('workspace 1 file (35 B)');
  await page.getByRole('link', { name }).click();
  await expect(headline(page)).toContainText('Filed away');

  await part(page, 'Inside').locator('.tree').getByText('report.md').click();
  await expect(part(page, 'Inside')).toContainText('Everything is in it.');
  await expect(page).toHaveURL(new RegExp(`/sandboxes/${id}\\?`));
  expect(await stateOf(id)).toBe('archived');

  const card = page.locator('#moves');
  await expect(card).toContainText('Comes back: workspace 1 file (35 B), memory 1 file (16 B).');
  const reason = `they ask for ${name} again`;
  await page.getByLabel('Reason, for the ledger').fill(reason);
  await page.getByRole('button', { name: 'Revive', exact: true }).click();
  await expect(page.getByText('It is awake again.')).toBeVisible();
  await expect(headline(page)).toContainText('Awake');
  await expect(card.getByRole('link', { name: 'Files' })).toBeVisible();
  await expect(card.getByRole('link', { name: 'Open terminal' })).toHaveAttribute('href', /tab=terminal/);
  expect((await revivalOf(id))?.reason).toBe(reason);
}

test('the ledger is narrowed by a form, read page by page, opened line by line, and proven', async ({ page }) => {
  await audit(page);
});

test('an archived sandbox is found, looked into without waking it, and revived with a reason', async ({ page }) => {
  await desk(page, 'desk-april', 'April figures');
});

test.describe('without JavaScript', () => {
  test.use({ javaScriptEnabled: false });

  test('the ledger is narrowed, read page by page, opened line by line, and proven', async ({ page }) => {
    await audit(page);
  });

  test('an archived sandbox is found, looked into and revived', async ({ page }) => {
    await desk(page, 'desk-may', 'May figures');
    await reviveFromList(page, 'desk-september', 'September figures');
  });
});

test('new lines appear on the first page by themselves', async ({ page }) => {
  await openSession(page);
  await page.goto('/audit?tenant=desk-live');
  await expect(page.getByText('No line matches.')).toBeVisible();
  await expect(page.getByText('live', { exact: true })).toBeVisible();
  await visited().call('POST', '/api/instances', { id: 'desk-live-one', tenant: 'desk-live' });
  await expect(page.getByRole('row', { name: /registered.*desk-live-one/ })).toBeVisible();
});

test('what matches leaves as a file of either kind, and each export is a line', async ({ page }) => {
  await openSession(page);
  await page.goto('/audit?tenant=desk&type=instance.changed');
  const taken = async (name: string) => {
    const coming = page.waitForEvent('download');
    await page.getByRole('link', { name }).click();
    const download = await coming;
    return { name: download.suggestedFilename(), text: await readFile(await download.path(), 'utf8') };
  };
  const csv = await taken('Export CSV');
  expect(csv.name).toBe('winterdock-ledger.csv');
  expect(csv.text.trim().split('\n')).toHaveLength(CHANGES + 1);
  const jsonl = await taken('Export JSON lines');
  expect(jsonl.name).toBe('winterdock-ledger.jsonl');
  const lines = jsonl.text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Event);
  expect(lines).toHaveLength(CHANGES);
  expect(lines.every(({ tenant, type }) => tenant === TENANT && type === 'instance.changed')).toBe(true);
  await page.goto('/audit?type=ledger.exported&tenant=desk');
  await expect(page.getByRole('row', { name: /exported lines of the ledger/ }).first()).toContainText('jsonl:');
});

async function reviveFromList(page: Page, id: string, name: string): Promise<void> {
  await filed(id, name);
  await openSession(page);
  await page.goto(`/archive?q=${id}`);
  await page.locator('summary', { hasText: 'Revive…' }).click();
  await page.getByLabel('Reason, for the ledger').fill('a customer asks');
  await page.getByRole('button', { name: `Revive ${name}` }).click();
  const card = page.locator('#revived');
  await expect(card).toContainText(`${name} is back. It woke from the archive in`);
  await expect(card.locator('code')).toHaveText(`${visited().url}/sandboxes/${id}`);
  await expect(card.getByRole('link', { name: 'Open terminal' })).toHaveAttribute('href', /tab=terminal$/);
  expect((await revivalOf(id))?.reason).toBe('a customer asks');
  await page.goto('/archive');
  const row = part(page, 'Revived lately').getByRole('row', { name: new RegExp(name) });
  await expect(row).toContainText(/“a customer asks”.*Awake/);
}

test('a sandbox is revived from the list, with a link to send back and what happened afterwards', async ({ page }) => {
  await reviveFromList(page, 'desk-august', 'August figures');
  expect(await flaws(page)).toEqual([]);
});

test('what is not in the archive is looked for elsewhere', async ({ page }) => {
  await openSession(page);
  await page.goto('/archive?q=busy&tenant=desk');
  await page.getByRole('link', { name: 'look among all sandboxes' }).click();
  await expect(page).toHaveURL(/\/sandboxes\?q=busy&tenant=desk/);
  await expect(page.getByRole('link', { name: 'Busy' })).toBeVisible();
  await page.goto('/archive?label=nothing');
  await expect(page.getByText('must be key:value')).toBeVisible();
});

test('an id that nobody has is said not to be there', async ({ page, complaints }) => {
  complaints.expected.push(/404/);
  await openSession(page);
  expect((await page.goto('/archive/never-was'))?.status()).toBe(404);
  await expect(headline(page)).toContainText('No such sandbox');
  await page.getByLabel('Find a sandbox').fill('march');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('link', { name: 'March figures' })).toBeVisible();
});

test('the desk is worked with the keyboard alone', async ({ page }) => {
  await filed('desk-june', 'June figures');
  await openSession(page);
  await page.goto('/archive');
  await tabTo(page, page.getByLabel('What does the customer say?'));
  await page.keyboard.type('june');
  await page.keyboard.press('Enter');
  const link = page.getByRole('link', { name: 'June figures' });
  await expect(headline(page)).toHaveText('1 sandbox filed away, as filtered');
  await tabTo(page, link);
  await page.keyboard.press('Enter');
  await expect(headline(page)).toContainText('Filed away');
  await tabTo(page, page.getByLabel('Reason, for the ledger'));
  await page.keyboard.type('by hand alone');
  await page.keyboard.press('Enter');
  await expect(headline(page)).toContainText('Awake');
  expect((await revivalOf('desk-june'))?.reason).toBe('by hand alone');
});

test('support looks into the work, not into what is private, and revives with a reason', async ({
  browser,
  page: admin,
}) => {
  await filed('desk-july', 'July figures');
  const page = await someone(browser, 'support');
  await page.goto('/archive/desk-july?volume=memory');
  const inside = part(page, 'Inside');
  await expect(inside.getByText('Support reads workspace only.')).toHaveCount(2);
  await expect(inside.locator('.tree').getByText('report.md')).toBeVisible();
  await expect(inside.getByText('private.txt')).toHaveCount(0);
  await page.getByLabel('Reason, for the ledger').fill('a customer asks');
  await page.getByRole('button', { name: 'Revive', exact: true }).click();
  await expect(headline(page)).toContainText('Awake');
  const line = await revivalOf('desk-july');
  expect(line?.reason).toBe('a customer asks');
  expect(line?.actor).toMatch(/^user:/);
  await page.context().close();

  await openSession(admin);
  await admin.goto('/audit?instance=desk-july&type=transition');
  await expect(admin.getByRole('row', { name: /a customer asks/ })).toContainText('The support revived');
});

test('a viewer reads the ledger and proves it, and is told why nothing else', async ({ browser }) => {
  const page = await someone(browser, 'viewer');
  await page.goto('/archive/desk-march');
  await expect(page).toHaveURL(/\/sandboxes\/desk-march$/);
  await openDoor(page, 'More');
  await expect(page.getByRole('button', { name: 'Revive', exact: true })).toBeDisabled();
  await expect(page.locator('#moves')).toContainText('A viewer may not do this.');
  await page.goto('/sandboxes/desk-march?tab=files');
  await expect(part(page, 'Inside')).toContainText('Your role sees no contents');
  await page.goto('/audit?tenant=desk');
  await expect(page.getByRole('link', { name: 'Export CSV' })).toBeVisible();
  await page.getByRole('button', { name: 'Check the ledger' }).click();
  await expect(page.getByText('lines are proven')).toBeVisible();
  await page.context().close();
});

async function tenants(page: Page, tenant: string): Promise<void> {
  const { call } = visited();
  const id = `${tenant}-one`;
  await call('POST', '/api/instances', { id, tenant, name: 'The only one' });
  await call('POST', `/api/instances/${id}/resume`, {});
  await openSession(page);
  await page.goto('/');
  await place(page, 'Tenants');
  await page.getByRole('link', { name: tenant, exact: true }).click();
  await expect(headline(page)).toHaveText(tenant);
  await expect(page.getByText('1 sandbox · 1 awake', { exact: true })).toBeVisible();
  await expect(part(page, 'Due next').getByRole('link', { name: 'The only one' })).toBeVisible();

  await page.getByLabel('Sandboxes at most').fill('a few');
  await page.getByRole('button', { name: 'Set the limits' }).click();
  await expect(page.getByText('must be a whole number, like 50')).toBeVisible();
  await page.getByLabel('Sandboxes at most').fill('1');
  await page.getByLabel('On disk at most').fill('500 MB');
  await page.getByRole('button', { name: 'Set the limits' }).click();
  await expect(page.getByText('Set. What it has beyond a new limit stays')).toBeVisible();
  await expect(part(page, 'Quotas')).toContainText('1 of 1');
  await expect(part(page, 'Quotas')).toContainText('Used up.');
  await expect(page.getByLabel('On disk at most')).toHaveValue('500 MB');
  const refused = await call<{ code: string; quota: string }>('POST', '/api/instances', { tenant });
  expect(refused.json).toMatchObject({ code: 'quota_exceeded', quota: 'max_sandboxes' });
  await expect(
    part(page, 'Ledger')
      .getByRole('row', { name: /changed the settings of a tenant/ })
      .first(),
  ).toBeVisible();

  await page.getByLabel('Sandboxes at most').fill('');
  await page.getByRole('button', { name: 'Set the limits' }).click();
  await expect(part(page, 'Quotas')).toContainText('1 no limit');
  await part(page, 'Sandboxes').getByRole('link', { name: '1 active' }).click();
  await expect(page).toHaveURL(new RegExp(`/sandboxes\\?tenant=${tenant}&state=active`));
}

test('a tenant shows what it has and what comes next, and its limits are set and hold', async ({ page }) => {
  await tenants(page, 'desk-limits');
});

test.describe('a tenant without JavaScript', () => {
  test.use({ javaScriptEnabled: false });

  test('shows what it has, and its limits are set and hold', async ({ page }) => {
    await tenants(page, 'desk-plain');
  });
});

test('an operator sees the quotas of a tenant and not its keys, and is told who sets the limits', async ({
  browser,
}) => {
  const page = await someone(browser, 'operator');
  await page.goto('/tenants/desk');
  await expect(part(page, 'Quotas').getByRole('button', { name: 'Set the limits' })).toBeDisabled();
  await expect(part(page, 'Quotas')).toContainText('An operator may not do this.');
  await expect(part(page, 'Keys')).toHaveCount(0);
  await page.context().close();
});

test('a tenant that nobody has is said not to be there', async ({ page, complaints }) => {
  complaints.expected.push(/404/);
  await openSession(page);
  await page.goto('/tenants');
  await page.getByLabel('Find a tenant').fill('nobody-at-all');
  await page.keyboard.press('Enter');
  await expect(page.getByText('No tenant has “nobody-at-all” in its name.')).toBeVisible();
  await page.goto('/tenants/nobody-at-all');
  await expect(headline(page)).toContainText('No such tenant');
});

test.describe('on a narrow screen', () => {
  test.use({ viewport: NARROW });

  test('every place is reached through the navigation', async ({ page }) => {
    await openSession(page);
    await page.goto('/');
    const places = page.getByRole('navigation', { name: 'Places' }).getByRole('link');
    for (const name of await places.allTextContents()) {
      await place(page, name);
      await expect(
        page.getByRole('navigation', { name: 'Places' }).getByRole('link', { name, exact: true }),
      ).toHaveAttribute('aria-current', 'page');
      const over = await page.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      );
      expect(over, name).toBeLessThanOrEqual(0);
    }
  });
});

test('axe finds nothing while a line is open, a proof is shown and a filter complains', async ({ page }) => {
  await openSession(page);
  await page.goto('/audit?tenant=desk');
  await page.getByRole('table').first().locator('summary').first().click();
  await page.getByRole('button', { name: 'Check the ledger' }).click();
  await expect(page.getByText('lines are proven')).toBeVisible();
  expect(await flaws(page)).toEqual([]);
  await page.goto('/audit?tenant=No&until=never');
  await expect(page.getByText('must be a day or a minute')).toBeVisible();
  expect(await flaws(page)).toEqual([]);
});
