/** Heads: low, as high in every state, in sight while one reads; and where the parts of a long page are. */
import { randomUUID } from 'node:crypto';
import type { Page } from '#peers/playwright.ts';
import { flaws } from './axe.ts';
import { expect, openSession, test, visited } from './visited.ts';

const topOf = async (page: Page, selector: string) => (await page.locator(selector).first().boundingBox())?.y ?? 0;

test('what is below the head stays where it is when the state changes, and begins above 260 pixels', async ({
  page,
}) => {
  const { call } = visited();
  const id = `head-${randomUUID().slice(0, 8)}`;
  const labels = { env: 'prod', region: 'eu-west', owner: 'data', tier: '1', more: 'yes' };
  await call('POST', '/api/instances', { id, tenant: 'heads', name: 'A name that is as long as names are', labels });
  await call('POST', `/api/instances/${id}/resume`, {});
  await openSession(page);
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.goto(`/sandboxes/${id}`);
  const headline = page.getByRole('heading', { level: 1 });
  await expect(headline).toContainText('Awake');
  expect(await topOf(page, '#inside .part-name')).toBeLessThan(260);
  const top = await topOf(page, '#parts');
  for (const [verb, says] of [
    ['suspend', 'Asleep · suspended'],
    ['freeze', 'Asleep · frozen'],
    ['resume', 'Awake'],
  ] as const) {
    expect((await call('POST', `/api/instances/${id}/${verb}`, {})).status).toBe(200);
    await expect(headline).toContainText(says);
    await expect.poll(() => topOf(page, '#parts')).toBe(top);
  }
  await page.goto(`/sandboxes/${id}?tab=terminal`);
  expect(await topOf(page, '.tabbed .part-name')).toBeLessThan(260);
});

test('the name, the state and the moves stay in sight, as high as before, and what is focused is not behind them', async ({
  page,
}) => {
  const { call } = visited();
  const id = `stays-${randomUUID().slice(0, 8)}`;
  await call('POST', '/api/instances', { id, tenant: 'heads', name: 'It stays' });
  await call('POST', `/api/instances/${id}/resume`, {});
  await openSession(page);
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.goto(`/sandboxes/${id}?tab=settings`);
  const headline = page.getByRole('heading', { level: 1 });
  const heightOf = async () => (await page.locator('.sandbox-head').boundingBox())?.height ?? 0;
  const height = await heightOf();
  await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
  for (const part of [headline, page.getByRole('button', { name: 'Suspend', exact: true })]) {
    const box = await part.boundingBox();
    expect(box?.y ?? -1).toBeGreaterThanOrEqual(0);
    expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThan(100);
  }
  expect((await call('POST', `/api/instances/${id}/suspend`, {})).status).toBe(200);
  await expect(headline).toContainText('Asleep');
  expect(await heightOf()).toBe(height);
  // Backwards, from the page's end to its beginning.
  const end = await page.evaluate(() => {
    const head = document.querySelector('.sandbox-head');
    const all = [
      ...document.querySelectorAll<HTMLElement>('main :is(input, select, textarea, button, a):not([tabindex="-1"])'),
    ];
    const hidden: string[] = [];
    for (const one of all.toReversed()) {
      if (head?.contains(one) || !one.checkVisibility()) continue;
      one.focus();
      const box = one.getBoundingClientRect();
      if (document.activeElement === one && box.bottom <= (head?.getBoundingClientRect().bottom ?? 0))
        hidden.push(one.outerHTML);
    }
    return hidden;
  });
  expect(end).toEqual([]);
});

test('the index of a tenant’s page leads to each of its parts, and to no other', async ({ page }) => {
  const tenant = `index-${randomUUID().slice(0, 8)}`;
  await visited().call('POST', '/api/instances', { id: tenant, tenant });
  await openSession(page);
  for (const width of [390, 1280]) {
    await page.setViewportSize({ width, height: 800 });
    await page.goto(`/tenants/${tenant}`);
    await expect(page.getByRole('heading', { level: 1 })).toHaveText(tenant);
    const index = page.getByRole('navigation', { name: 'On this page' });
    const links = await index.getByRole('link').evaluateAll((all) => all.map((one) => one.getAttribute('href')));
    const parts = await page.locator('main section[id]').evaluateAll((all) => all.map(({ id }) => `#${id}`));
    expect(links).toEqual(parts);
    await index.getByRole('link', { name: 'Secrets' }).click();
    const [bar, part] = [await index.boundingBox(), await page.locator('#secrets').boundingBox()];
    expect(bar?.y).toBe(0);
    expect(Math.abs((part?.y ?? 0) - (bar?.height ?? 0))).toBeLessThan(20);
    expect(await flaws(page)).toEqual([]);
  }
});
