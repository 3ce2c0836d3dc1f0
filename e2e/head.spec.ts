/** The head of a sandbox's page: low, and as high in every state, so that nothing below it moves. */
import { randomUUID } from 'node:crypto';
import type { Page } from '#peers/playwright.ts';
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
