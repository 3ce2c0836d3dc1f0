/** What stands over the pages: messages, the palette, the shortcuts and their sheet. By keyboard alone. */
import { expect, signInByKey, test, visited } from './visited.ts';

const TENANT = 'palette';

/** Makes sandboxes of this file's tenant; those that are there stay. */
async function made(...ids: string[]): Promise<void> {
  const { call } = visited();
  for (const id of ids) {
    if ((await call('GET', `/api/instances/${id}`)).status === 404)
      await call('POST', '/api/instances', { id, tenant: TENANT });
  }
}

test('a job that ends while another page is open says how it went, and leaves when it is told to', async ({ page }) => {
  const { call } = visited();
  await made('palette-job-1', 'palette-job-2');
  await call('POST', '/api/instances/palette-job-1/resume', {});
  await signInByKey(page);
  await page.goto('/tenants');
  await expect(page.getByText('live', { exact: true })).toBeVisible();
  const ids = ['palette-job-1', 'palette-job-2'];
  await call('POST', '/api/jobs', { verb: 'suspend', ids });
  const message = page.getByRole('status').filter({ hasText: 'Suspend 2 sandboxes' });
  await expect(message).toContainText('1 done, 1 passed over');
  await page.getByRole('heading', { level: 1 }).click();
  await page.keyboard.press('Escape');
  await expect(message).toHaveCount(0);

  await call('POST', '/api/jobs', { verb: 'suspend', ids });
  await page.getByRole('link', { name: 'Look at the job' }).click();
  await expect(page.getByRole('heading', { level: 1 })).toContainText('Suspend 2 sandboxes');
  await expect(message).toHaveCount(0);
});
