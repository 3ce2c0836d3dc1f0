/** Folders that are sent from the page of a sandbox, and what is said before a page is left that still sends them. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, openSession, test, visited } from './visited.ts';

const ID = 'folders-sent';

test('a folder is sent with the paths below it, and leaving its page asks while files are on their way', async ({
  page,
}) => {
  const { call } = visited();
  await call('POST', '/api/instances', { id: ID, tenant: 'harbour' });
  const folder = mkdtempSync(join(tmpdir(), 'winterdock-folder-'));
  mkdirSync(join(folder, 'photos', 'march'), { recursive: true });
  for (const [path, text] of [
    ['photos/one.txt', 'one'],
    ['photos/march/two.txt', 'two'],
  ] as const)
    writeFileSync(join(folder, path), text);
  const held = Promise.withResolvers<void>();
  await page.route('**/volumes/workspace/**', async (route) => {
    if (route.request().method() === 'PUT') await held.promise;
    await route.fallback();
  });
  const questions: string[] = [];
  page.on('dialog', (dialog) => {
    questions.push(dialog.message());
    void dialog.dismiss();
  });
  await openSession(page);
  await page.goto(`/sandboxes/${ID}`);
  const choosing = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: 'Upload a folder' }).click();
  await (await choosing).setFiles(join(folder, 'photos'));
  await expect(page.getByText('2 still to send.')).toBeVisible();

  // Another part of the files keeps them on their way; anything else would break them off.
  await page.getByRole('link', { name: /^memory/ }).click();
  await expect(page).toHaveURL(/volume=memory/);
  await page.getByRole('link', { name: 'Ledger', exact: true }).click();
  await expect.poll(() => questions).toEqual(['Files are still on their way. Leave them unsent?']);
  await expect(page).toHaveURL(/volume=memory/);

  held.resolve();
  await expect(page.getByText('2 of 2 files are there.')).toBeVisible();
  await page.getByRole('link', { name: '/photos/march/two.txt' }).click();
  await expect(page.locator('figure pre').first()).toContainText('two');
  await page.getByRole('link', { name: 'Ledger', exact: true }).click();
  await expect(page).toHaveURL(/tab=ledger/);
  expect(questions).toHaveLength(1);
  rmSync(folder, { recursive: true });
});
