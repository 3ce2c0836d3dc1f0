/** People of every role in the browser: how they come in, what they see, what they are offered. */
import type { Page } from '#peers/playwright.ts';
import { flaws } from './axe.ts';
import { expect, openDoor, test, visited } from './visited.ts';

const PASSWORD = 'a long winter, said the dock';

test.beforeAll(async () => {
  const { call } = visited();
  for (const tenant of ['alpha', 'beta']) {
    const id = `access-${tenant}`;
    await call('POST', '/api/instances', { id, tenant, name: `Of ${tenant}` });
    await call('PUT', `/api/instances/${id}/volumes/workspace/plan.txt`, 'work for everyone');
    await call('PUT', `/api/instances/${id}/volumes/memory/diary.txt`, 'for the agent alone');
  }
});

/** Invites somebody by the API; gives the path of the link. */
async function invite(invitation: { email: string; role: string; tenants?: string[] }): Promise<string> {
  const made = await visited().call<{ link: string }>('POST', '/api/people/invitations', invitation);
  expect(made.status).toBe(201);
  const { pathname, search } = new URL(made.json.link);
  return `${pathname}${search}`;
}

async function join(page: Page, link: string, name: string): Promise<void> {
  await page.goto(link);
  await page.getByLabel('Name', { exact: true }).fill(name);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Create the account' }).click();
  await expect(page.getByRole('button', { name: 'Sign out' })).toBeVisible();
}

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

test('an invitation says what it is for, asks again for what is missing, and works once', async ({
  page,
  complaints,
}) => {
  const link = await invite({ email: 'vera@example.com', role: 'viewer', tenants: ['alpha'] });
  await page.goto(link);
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Join');
  await expect(page.getByText('You are invited as a viewer of alpha.')).toBeVisible();
  await expect(page.getByLabel('E-mail')).toHaveValue('vera@example.com');
  await expect(page.getByLabel('Name', { exact: true })).toBeFocused();
  expect(await flaws(page)).toEqual([]);
  await page.getByLabel('Name', { exact: true }).fill('Vera');
  await page.getByLabel('Password').fill('too short');
  await button(page, 'Create the account').click();
  await expect(page.getByText('must have at least 12 characters')).toBeVisible();
  await expect(page.getByLabel('Name', { exact: true })).toHaveValue('Vera');
  await page.getByLabel('Password').fill(PASSWORD);
  await button(page, 'Create the account').click();
  await expect(page).toHaveURL(/\/$/);
  await button(page, 'Sign out').click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Sign in');
  complaints.expected.push(/status of 410/);
  expect((await page.goto(link))?.status()).toBe(410);
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('This link does not work any more');
  await expect(page.getByText('It was used already: a link lets somebody in once.')).toBeVisible();
});

test('a viewer sees states and the ledger of the own tenant, and is told why not the rest', async ({ page }) => {
  await join(page, await invite({ email: 'vito@example.com', role: 'viewer', tenants: ['alpha'] }), 'Vito');
  await page.goto('/sandboxes');
  await expect(page.getByRole('link', { name: 'Of alpha' })).toBeVisible();
  await expect(page.getByText('Of beta')).toHaveCount(0);
  await expect(page.getByText('New sandbox')).toHaveCount(0);
  await page.goto('/sandboxes/access-alpha');
  await openDoor(page, 'More');
  for (const verb of ['Resume', 'Suspend', 'Freeze', 'Archive', 'Delete'])
    await expect(button(page, verb)).toBeDisabled();
  await expect(page.getByText('A viewer may not do this.').first()).toBeVisible();
  await expect(page.getByText('A viewer may not do this.').last()).toBeVisible();
  await expect(button(page, 'Keep hot')).toHaveCount(0);
  await expect(page.getByText('plan.txt')).toHaveCount(0);
  await page.goto('/sandboxes/access-alpha?tab=terminal');
  await expect(page.getByText('Commands are for operators and admins')).toBeVisible();
  await page.goto('/sandboxes/access-alpha?tab=ledger');
  await expect(page.getByRole('table').last()).toContainText('registered');
  await page.getByRole('button', { name: 'Jump to…' }).focus();
  await page.keyboard.press('Control+Backquote');
  const drawer = page.getByRole('region', { name: 'Terminal of Of alpha' });
  await expect(drawer).toContainText('Commands are for operators and admins');
  expect(await flaws(page)).toEqual([]);
});

test('a server without a replica says that it keeps no past', async ({ page }) => {
  await join(page, await invite({ email: 'olga@example.com', role: 'operator' }), 'Olga');
  for (const more of ['', '&at=1765504800', '&at=1765504800&to=now']) {
    expect((await page.goto(`/sandboxes/access-alpha?tab=past${more}`))?.status()).toBe(200);
    await expect(page.locator('#past')).toContainText('This server has no replica');
  }
  expect(await flaws(page)).toEqual([]);
  await page.goto('/sandboxes/access-alpha?tab=snapshots');
  await expect(page.getByRole('link', { name: 'Its past' })).toHaveCount(0);
});

test('what is of another tenant is not there', async ({ page, complaints }) => {
  complaints.expected.push(/404/);
  await join(page, await invite({ email: 'otto@example.com', role: 'operator', tenants: ['alpha'] }), 'Otto');
  const [foreign, unknown] = [await page.goto('/sandboxes/access-beta'), await page.goto('/sandboxes/never-was')];
  expect([foreign?.status(), unknown?.status()]).toEqual([404, 404]);
  await page.goto('/sandboxes');
  await page.getByText('New sandbox', { exact: true }).click();
  await expect(page.locator('#create-tenant').locator('option')).toHaveText(['alpha']);
  await button(page, 'Create sandbox').click();
  await expect(page.getByRole('heading', { level: 1 })).toContainText('Registered');
  await expect(button(page, 'Resume')).toBeEnabled();
});

test('support reads the workspace only, and revives with a reason', async ({ page }) => {
  const { call } = visited();
  await call('POST', '/api/instances/access-beta/resume', {});
  await call('POST', '/api/instances/access-beta/archive', { reason: 'the season is over' });
  await join(page, await invite({ email: 'sue@example.com', role: 'support' }), 'Sue');
  await page.goto('/sandboxes/access-beta');
  // A link, which the page's script makes an item of a tree.
  const plan = page.getByRole('link', { name: 'plan.txt' });
  await plan
    .or(page.getByRole('treeitem', { name: /^plan\.txt/ }))
    .first()
    .click();
  await expect(page.locator('figure')).toContainText('work for everyone');
  await expect(page.getByText('Support reads workspace only.').first()).toBeVisible();
  await page.goto('/sandboxes/access-beta?volume=memory&path=/diary.txt');
  await expect(page.getByText('Support reads workspace only.').first()).toBeVisible();
  await expect(page.getByText('for the agent alone')).toHaveCount(0);
  await openDoor(page, 'More');
  await expect(button(page, 'Delete')).toBeDisabled();
  await page.getByLabel('Reason, for the ledger').fill('ticket 41');
  await button(page, 'Revive').click();
  await expect(page.getByRole('heading', { level: 1 })).toContainText('Awake');
  await expect(page.getByText(/^You revived it/)).toBeVisible();
  await expect(page.getByRole('banner').getByRole('link', { name: 'Signed in as Sue' })).toBeVisible();
  await page.goto('/sandboxes/access-beta?tab=ledger');
  await expect(page.getByRole('row', { name: /ticket 41/ })).toContainText('You revived it');
  expect(await page.locator('main').textContent()).not.toMatch(/user:|A person/);
});

/** Pages on which an act of a person is told. `ID`: a sandbox. */
const TOLD = [
  ...[
    '/',
    '/sandboxes',
    '/archive',
    '/snapshots',
    '/blueprints',
    '/shares',
    '/workbooks',
    '/tenants',
    '/audit',
    '/jobs',
  ],
  ...['', '?tab=terminal', '?tab=ledger', '?tab=time', '?tab=snapshots', '?tab=shares', '?tab=workbook'].map(
    (tab) => `/sandboxes/access-told${tab}`,
  ),
  ...['logs', 'schedules', 'settings'].map((tab) => `/sandboxes/access-told?tab=${tab}`),
  ...[
    '/tenants/alpha',
    '/tenants/alpha/logs',
    '/settings',
    '/settings/people',
    '/settings/keys',
    '/settings/webhooks',
    '/settings/storage',
  ],
  ...['/settings/thresholds', '/settings/ledger', '/settings/hosts', '/explorer'],
];

/** What a page shows as text: without tags, so without the values of links and fields, and without scripts. */
const shownText = (html: string) => html.replaceAll(/<script.*?<\/script>|<[^>]*>/gs, ' ');

test('no page shows the id of a person', async ({ page }) => {
  await join(page, await invite({ email: 'ida@example.com', role: 'admin' }), 'Ida');
  const { url } = visited();
  const act = async (path: string, data: object): Promise<{ id: string }> => {
    const answer = await page.request.post(path, { data, headers: { origin: url } });
    expect([path, answer.status()]).toEqual([path, expect.any(Number)]);
    expect([path, answer.ok(), answer.ok() ? '' : await answer.text()]).toEqual([path, true, '']);
    return answer.json();
  };
  const at = '/api/instances/access-told';
  await act('/api/instances', { id: 'access-told', tenant: 'alpha' });
  await act(`${at}/exec`, { command: 'echo told > plan' });
  await act(`${at}/runs`, { command: 'true' });
  await act(`${at}/terminals`, {});
  const schedule = await act(`${at}/schedules`, { command: 'true', cron: '0 3 * * *' });
  await act(`${at}/schedules/${schedule.id}/run`, {});
  const snapshot = await act(`${at}/snapshots`, { tag: 'told' });
  await page.request.post(`${at}/ship`, { data: {}, headers: { origin: url } });
  await act('/api/blueprints', { name: 'told', from_instance: 'access-told' });
  await act('/api/keys', { name: 'told', role: 'viewer' });
  const hook = await act('/api/webhooks', { name: 'told', url: 'https://example.com/hook' });
  const job = await act('/api/jobs', { verb: 'label', ids: ['access-told'], labels: { told: 'yes' } });
  const person = await page.request.get('/api/me').then(async (answer) => (await answer.json()).person.id as string);
  await page.request.patch(`/api/people/${person}`, { data: { name: 'Ida I.' }, headers: { origin: url } });
  const pages = [
    ...TOLD,
    `/snapshots/${snapshot.id}`,
    '/blueprints/told',
    `/jobs/${job.id}`,
    `/settings/people/${person}`,
    `/settings/webhooks/${hook.id}`,
    `/sandboxes/access-told?tab=schedules&schedule=${schedule.id}`,
  ];
  for (const path of pages) {
    const answer = await page.request.get(path);
    const text = shownText(await answer.text());
    expect([path, answer.status(), /.{0,60}user:[\w-]{4,}.{0,20}/s.exec(text)?.[0]]).toEqual([path, 200, undefined]);
    expect([path, text.includes(person)]).toEqual([path, false]);
  }
});

test('a role that changes holds with the next page, and a disabled account is out', async ({ page, complaints }) => {
  complaints.expected.push(/40[13]/);
  const { call } = visited();
  await join(page, await invite({ email: 'rita@example.com', role: 'operator' }), 'Rita');
  const people = await call<{ id: string; email: string }[]>('GET', '/api/people');
  const id = people.json.find(({ email }) => email === 'rita@example.com')?.id;
  await page.goto('/sandboxes/access-alpha');
  await expect(button(page, 'Keep hot')).toBeEnabled();
  await call('PATCH', `/api/people/${id}`, { role: 'viewer' });
  await page.goto('/sandboxes/access-alpha');
  await expect(page.getByText('A viewer may not do this.').first()).toBeVisible();
  await expect(button(page, 'Keep hot')).toHaveCount(0);
  await call('PATCH', `/api/people/${id}`, { disabled: true });
  await page.goto('/sandboxes');
  await expect(page).toHaveURL(/\/signin/);
});

test.describe('without JavaScript', () => {
  test.use({ javaScriptEnabled: false });

  test('a person joins, signs in by password, and is slowed down after wrong ones', async ({ page, complaints }) => {
    complaints.expected.push(/403/);
    await join(page, await invite({ email: 'pina@example.com', role: 'viewer' }), 'Pina');
    const signIn = async (password: string) => {
      await page.goto('/signin?to=/sandboxes');
      await expect(page.getByLabel('E-mail')).toBeFocused();
      await page.getByLabel('E-mail').fill('Pina@example.com');
      await page.getByLabel('Password', { exact: true }).fill(password);
      await button(page, 'Sign in').click();
    };
    const signOut = async () => {
      await button(page, 'Sign out').click();
      await expect(page.getByRole('heading', { level: 1 })).toHaveText('Sign in');
    };
    await signOut();
    await signIn(PASSWORD);
    await expect(page).toHaveURL(/\/sandboxes$/);

    // What the role does not open is refused in words, and with the status of a refusal.
    const { call } = visited();
    await call('POST', '/api/instances', { id: 'looked-at', tenant: 'acme' });
    expect((await page.goto('/settings/keys'))?.status()).toBe(403);
    await expect(page.getByText('A viewer may not do this.')).toBeVisible();
    expect((await page.goto('/settings/thresholds'))?.status()).toBe(200);
    await page.goto('/sandboxes/looked-at?tab=terminal');
    await expect(page.getByText('Commands are for operators and admins')).toBeVisible();

    await page.goto('/sandboxes');
    await signOut();
    for (let n = 0; n < 5; n += 1) {
      await signIn(`a guess of a password ${n}`);
      await expect(page.getByRole('alert').getByText(/do not belong together/)).toBeVisible();
      await expect(page.getByLabel('E-mail')).toHaveValue('Pina@example.com');
      await expect(page.getByLabel('Password', { exact: true })).toBeFocused();
    }
    await signIn(PASSWORD);
    await expect(page.getByRole('alert').getByText('There were too many attempts to sign in.')).toBeVisible();
    await expect(page.getByRole('alert').getByText(/Try again in 1[0-5] minutes/)).toBeVisible();
  });
});
