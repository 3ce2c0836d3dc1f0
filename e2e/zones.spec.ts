/** Times in the reader's own zone: told by the browser or chosen, and the same on the server and in the browser. */
import type { Page } from '#peers/playwright.ts';
import { expect, signInByKey, test, visited } from './visited.ts';

const PASSWORD = 'a long enough password';

/** Texts and titles of every time on the page. */
function timesOf(page: Page): Promise<string[]> {
  return page.locator('main time').evaluateAll((times) => times.map((time) => (time as HTMLElement).title));
}

test.describe('in another zone than that of the server', () => {
  test.use({ ownContext: true, timezoneId: 'Asia/Kolkata' });

  test('times are in the zone of the browser, as the server printed them', async ({ page }) => {
    const { call } = visited();
    await call('POST', '/api/instances', { id: 'zoned', tenant: 'acme' });
    await signInByKey(page);
    await page.goto('/sandboxes/zoned?tab=settings');
    const titles = await timesOf(page);
    expect(titles.length).toBeGreaterThan(0);
    for (const title of titles) expect(title).toMatch(/\d\d:\d\d:\d\d UTC\+5:30$/);
    const html = await (await page.request.get('/sandboxes/zoned?tab=settings')).text();
    for (const title of titles) expect(html).toContain(title);
    // The download says it in a form that programs read.
    const csv = await (await page.request.get('/api/events/export?format=csv&instance=zoned')).text();
    const [header = '', line = ''] = csv.split('\r\n');
    expect(header.split(',').at(-1)).toBe('time_iso');
    expect(line).toMatch(/,\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  test('what a profile says goes before what the browser says, until it is taken back', async ({ page }) => {
    const { call } = visited();
    const invitation = { email: 'zora@example.com', role: 'operator' };
    const { link } = (await call<{ link: string }>('POST', '/api/people/invitations', invitation)).json;
    await page.goto(new URL(link).pathname + new URL(link).search);
    await page.getByLabel('Name', { exact: true }).fill('Zora');
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Create the account' }).click();
    await expect(page.getByRole('banner')).toBeVisible();
    await page.goto('/settings');
    const zone = page.getByRole('combobox', { name: 'Time zone' });
    await expect(zone).toHaveAttribute('placeholder', /^Asia\/(?:Kolkata|Calcutta)$/);
    await zone.fill('Europe/Nowhere');
    await page.getByRole('button', { name: 'Save' }).click();
    await expect(page.getByText('is no time zone, such as Europe/Berlin')).toBeVisible();
    await zone.fill('America/St_Johns');
    await page.getByRole('button', { name: 'Save' }).click();
    await expect(page.getByText('Times are in America/St_Johns.')).toBeVisible();
    await expect.poll(async () => (await timesOf(page)).at(0)).toMatch(/UTC-[23]:30$/);
    await zone.fill('');
    await page.getByRole('button', { name: 'Save' }).click();
    await expect.poll(async () => (await timesOf(page)).at(0)).toMatch(/UTC\+5:30$/);
  });
});

test.describe('without JavaScript', () => {
  test.use({ javaScriptEnabled: false });

  test('times are in UTC, and say so', async ({ page }) => {
    const { call } = visited();
    await call('POST', '/api/instances', { id: 'unzoned', tenant: 'acme' });
    await signInByKey(page);
    await page.goto('/sandboxes/unzoned?tab=settings');
    const titles = await timesOf(page);
    expect(titles.length).toBeGreaterThan(0);
    for (const title of titles) expect(title).toMatch(/\d\d:\d\d:\d\d UTC$/);
  });
});
