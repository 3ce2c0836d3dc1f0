/** What sandboxes may reach and did reach of the network, set on two pages, with JavaScript and without. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from '#peers/playwright.ts';
import { flaws } from './axe.ts';
import { expect, openSession, test, visited } from './visited.ts';

async function setLists(page: Page, tenant: string): Promise<void> {
  const { call } = visited();
  const id = `${tenant}-box`;
  const receiver = createServer((_request, response) => void response.end('12345')).listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  const origin = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
  expect((await call('POST', '/api/instances', { id, tenant, policy: 'network' })).status).toBe(201);

  await page.goto(`/tenants/${tenant}`);
  const part = page.locator('#network');
  await part.getByLabel('May reach').fill(`GET,POST api.example.com`);
  await part.getByRole('button', { name: 'Set what it may reach' }).click();
  await expect(part.getByText('Line 1 is no entry')).toBeVisible();
  await expect(part.getByLabel('May reach')).toHaveValue('GET,POST api.example.com');
  await part.getByLabel('May reach').fill(`GET ${origin}/ private\nGET,POST https://api.example.com/v1/`);
  await part.getByLabel('Requests a minute').fill('100');
  await part.getByRole('button', { name: 'Set what it may reach' }).click();
  await expect(part.getByText('Set. It holds from the next request.')).toBeVisible();
  await expect(part.getByLabel('May reach')).toHaveValue(
    `GET ${origin}/ private\nGET,POST https://api.example.com/v1/`,
  );

  await call('POST', `/api/instances/${id}/exec`, { command: `curl -s ${origin}/x; curl -s http://127.0.0.1:1/` });
  await page.goto(`/sandboxes/${id}?tab=network`);
  await expect(page.locator('#allowed')).toContainText('GET,POST https://api.example.com/v1/');
  const { json } = await call<{ reached: { bytes_in: number }[] }>('GET', `/api/instances/${id}/network`);
  await expect(page.getByRole('row', { name: new RegExp(`^${origin} 1 0 `) })).toContainText(
    `${json.reached[0]?.bytes_in} B`,
  );
  await expect(page.getByRole('row', { name: /^http:\/\/127\.0\.0\.1:1 0 1 / })).toBeVisible();
  const own = page.locator('#network-list');
  await own.getByLabel('No list of its own').uncheck();
  await own.getByLabel('May reach').fill('https://api.example.com/v1/things/');
  await own.getByRole('button', { name: 'Set what it may reach' }).click();
  await expect(own.getByText('Set. It holds from its next request.')).toBeVisible();
  await expect(page.locator('#allowed').getByRole('listitem')).toHaveText(['GET https://api.example.com/v1/things/']);
  const refused = await call<{ exit_code: number }>('POST', `/api/instances/${id}/exec`, {
    command: `curl -s ${origin}/`,
  });
  expect(refused.json.exit_code).toBe(7);
  receiver.close();
}

test('a list is set and narrowed, and what was reached is shown by host', async ({ page }) => {
  await openSession(page);
  await setLists(page, 'reaching');
  expect(await flaws(page)).toEqual([]);
  // On a phone there is no head above the figures: each says what it counts.
  await page.setViewportSize({ width: 390, height: 800 });
  const labels = page.locator('#reached tbody tr').first().locator('td[data-label]');
  const said = (cell: Element) => [getComputedStyle(cell, '::before').content, cell.getAttribute('data-label')];
  for (const cell of await labels.all()) {
    const [shown, label] = await cell.evaluate(said);
    expect(shown).toContain(`"${label}"`);
  }
  expect(await labels.count()).toBe(4);
  await page.goto('/tenants/reaching');
  expect(await flaws(page)).toEqual([]);
});

test.describe('without JavaScript', () => {
  test.use({ javaScriptEnabled: false });

  test('a list is set and narrowed by plain forms', async ({ page }) => {
    await openSession(page);
    await setLists(page, 'reaching-plainly');
  });
});

test('what may be reached is that of the policy which runs, and what holds from the next start is a press away', async ({
  page,
}) => {
  const { call } = visited();
  const id = 'later-reaching';
  await call('PUT', '/api/tenants/later/network', { rules: [{ url: 'https://api.example.com/' }] });
  await call('POST', '/api/instances', { id, tenant: 'later', policy: 'posix' });
  await call('POST', `/api/instances/${id}/resume`, {});
  expect((await call('PATCH', `/api/instances/${id}`, { policy: 'network' })).status).toBe(200);
  await openSession(page);
  await page.goto(`/sandboxes/${id}?tab=network`);
  const allowed = page.locator('#allowed');
  await expect(allowed).toContainText('Nothing now: its process was started under the policy “posix”.');
  await expect(allowed.getByRole('heading', { name: 'From its next start' })).toBeVisible();
  expect(await flaws(page)).toEqual([]);
  await allowed.getByRole('button', { name: 'Start it anew' }).click();
  await expect(allowed.getByRole('heading', { name: 'From its next start' })).toHaveCount(0);
  await expect(allowed.getByRole('listitem')).toHaveText(['GET,HEAD https://api.example.com/']);
  const { json } = await call<{ running_policy: string; enabled_now: boolean }>('GET', `/api/instances/${id}/network`);
  expect(json).toMatchObject({ running_policy: 'network', enabled_now: true });
  await call('POST', `/api/instances/${id}/suspend`, {});
  await page.reload();
  await expect(allowed).toContainText('Nothing now: no process of it runs.');
});
