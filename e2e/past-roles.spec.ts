/** The past of a sandbox for other people than an admin, and while the replica is away. */
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import type { Browser, Page } from '#peers/playwright.ts';
import { flaws } from './axe.ts';
import { expect, openSession, test, visited } from './visited.ts';

test.use({ ownServer: 'past', hasReplica: true });

const PASSWORD = 'a long winter, said the dock';

interface Row {
  state: string;
  recovery_point: { at: number | null; behind_s: number | null };
}

const at = (id: string, rest = '') => `/api/instances/${id}${rest}`;
const rowOf = async (id: string): Promise<Row> => (await visited().call<Row>('GET', at(id))).json;
const planOf = async (id: string) => (await visited().call('GET', at(id, '/volumes/workspace/plan.txt'))).text;
const past = (page: Page) => page.locator('#past');

async function shipped(id: string): Promise<number> {
  await expect(async () => expect(await rowOf(id)).toMatchObject({ recovery_point: { behind_s: 0 } })).toPass({
    timeout: 240_000,
  });
  const second = (await rowOf(id)).recovery_point.at ?? 0;
  await expect(async () => expect(Math.floor(Date.now() / 1000)).toBeGreaterThan(second)).toPass({ timeout: 60_000 });
  return second;
}

/** A sandbox with two plans, asleep with the second one; returns the second of the first. */
async function makePast(id: string): Promise<number> {
  const { call } = visited();
  await call('POST', '/api/instances', { id, tenant: 'harbour' });
  await call('PUT', at(id, '/volumes/memory/diary.txt'), 'for the agent alone');
  await call('PUT', at(id, '/volumes/workspace/plan.txt'), 'the first plan');
  const first = await shipped(id);
  await call('PUT', at(id, '/volumes/workspace/plan.txt'), 'the second plan');
  await call('POST', at(id, '/suspend'), {});
  await shipped(id);
  return first;
}

async function someone(browser: Browser, role: string): Promise<Page> {
  const { call, url } = visited();
  const invited = await call<{ link: string }>('POST', '/api/people/invitations', { role });
  const page = await (await browser.newContext({ baseURL: url })).newPage();
  const { pathname, search } = new URL(invited.json.link);
  await page.goto(`${pathname}${search}`);
  await page.getByLabel('E-mail').fill(`${role}-${Date.now()}@example.com`);
  await page.getByLabel('Name').fill(`The ${role}`);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Create the account' }).click();
  await expect(page.getByRole('button', { name: 'Sign out' })).toBeVisible();
  return page;
}

test('a viewer is told that the past is for who sees what is in a sandbox, whatever the address says', async ({
  browser,
}) => {
  test.slow();
  const id = 'past-viewed';
  const first = await makePast(id);
  const page = await someone(browser, 'viewer');
  for (const more of ['', `&at=${first}`, `&at=${first}&to=now`, `&at=${first}&path=/plan.txt`]) {
    const answer = await page.goto(`/sandboxes/${id}?tab=past${more}`);
    expect([more, answer?.status()]).toEqual([more, 200]);
    await expect(past(page)).toContainText('A viewer may not do this.');
    await expect(past(page)).toContainText('Who sees what is in it sees its past.');
    expect([more, await page.content()]).toEqual([
      more,
      expect.not.stringMatching(/the first plan|for the agent alone/),
    ]);
  }
  expect(await flaws(page)).toEqual([]);
  await page.context().close();
});

test('support looks at the work of then and compares it, not at what was private, and is told why it changes nothing', async ({
  browser,
}) => {
  test.slow();
  const id = 'past-supported';
  const first = await makePast(id);
  const page = await someone(browser, 'support');
  await page.goto(`/sandboxes/${id}?tab=past&at=${first}&path=/plan.txt`);
  await expect(page.locator('#inside figure')).toContainText('the first plan');
  await expect(page.locator('#inside')).toContainText('Support reads workspace only.');
  for (const name of ['New sandbox from here', 'Restore here', 'Name this moment', 'Take this file back']) {
    await expect(page.getByRole('button', { name, exact: true })).toBeDisabled();
  }
  expect(await flaws(page)).toEqual([]);
  await page.goto(`/sandboxes/${id}?tab=past&at=${first}&volume=memory&path=/diary.txt`);
  await expect(page.locator('#inside')).toContainText('Support reads workspace only.');
  await page.goto(`/sandboxes/${id}?tab=past&at=${first}&to=now`);
  await expect(page.locator('#inside').getByRole('status')).toHaveText(
    '0 added, 0 removed, 1 changed; 0 as they were.',
  );
  await expect(page.getByRole('main')).not.toContainText('for the agent alone');
  expect((await rowOf(id)).state).toBe('suspended');
  await page.context().close();
});

test('while the replica is away the past says so, nothing is lost, and all of it is there again afterwards', async ({
  page,
}) => {
  test.slow();
  const { folder, call } = visited();
  const bucket = `${folder}-replica`;
  const id = 'past-away';
  const first = await makePast(id);
  await openSession(page);
  renameSync(bucket, `${bucket}-away`);
  // In its place is something that nobody takes for it.
  writeFileSync(bucket, '');
  try {
    for (const more of ['', `&at=${first}`, `&at=${first}&to=now`, `&near=${first}`]) {
      const answer = await page.goto(`/sandboxes/${id}?tab=past${more}`);
      expect([more, answer?.status()]).toEqual([more, 200]);
      await expect(past(page).getByRole('alert').first()).toContainText('The object store is away');
    }
    expect(await flaws(page)).toEqual([]);
    await page.goto(`/sandboxes/${id}`);
    await page.locator('#inside .tree').getByText('plan.txt').click();
    await expect(page.locator('#inside figure')).toContainText('the second plan');
    const refused = await call<{ code: string }>('POST', at(id, '/restore'), { time: first });
    expect([refused.status, refused.json.code]).toEqual([503, 'storage_unavailable']);
  } finally {
    rmSync(bucket);
    renameSync(`${bucket}-away`, bucket);
  }
  await expect(async () => {
    await page.goto(`/sandboxes/${id}?tab=past&at=${first}&path=/plan.txt`);
    await expect(page.locator('#inside figure')).toContainText('the first plan', { timeout: 60_000 });
  }).toPass({ timeout: 240_000 });
  expect([await planOf(id), (await rowOf(id)).state]).toEqual(['the second plan', 'suspended']);
  await page.getByText('Restore here', { exact: true }).click();
  await page.getByRole('button', { name: 'Restore it' }).click();
  await expect(page.locator('.past-banner .outcome')).toContainText('now. What it had');
  expect(await planOf(id)).toBe('the first plan');
});
