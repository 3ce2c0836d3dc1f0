/** Copies and bundles by clicking, with JavaScript and without: snapshot, restore, ship, inspect, import, check out. */
import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { createGunzip } from 'node:zlib';
import { extract } from 'tar-stream';
import type { Locator, Page } from '#peers/playwright.ts';
import type { Invited } from '../lib/contract/schema/access.ts';
import type { Instance, Share, Snapshot } from '../lib/contract/schema.ts';
import { flaws } from './axe.ts';
import { expect, openDoor, openSession, test, visited } from './visited.ts';
import { membersOf, zipOf } from './zips.ts';

const NOTE = 'the work that leaves\n';
const SECRET = 'what-only-the-sandbox-knows';

/** A sandbox asleep, with work in it and a secret in its memory. */
async function sleeper(name: string): Promise<string> {
  const { call } = visited();
  const id = `copied-${randomUUID().slice(0, 8)}`;
  expect((await call('POST', '/api/instances', { id, tenant: 'harbour', name })).status).toBe(201);
  await call('PUT', `/api/instances/${id}/volumes/workspace/note.txt`, NOTE);
  await call('PUT', `/api/instances/${id}/volumes/workspace/src/tmp/kept.txt`, 'kept');
  await call('PUT', `/api/instances/${id}/volumes/memory/learned.md`, SECRET);
  await call('POST', `/api/instances/${id}/suspend`, {});
  return id;
}

async function press(place: Page | Locator, name: string): Promise<void> {
  await place.getByRole('button', { name, exact: true }).click();
}

async function tab(page: Page, name: string): Promise<void> {
  const link = page.getByRole('navigation', { name: 'Parts of this sandbox' }).getByRole('link', { name });
  await link.click();
  await expect(link).toHaveAttribute('aria-current', 'page');
}

/** What a click downloads. */
async function downloaded(page: Page, click: () => Promise<void>): Promise<{ name: string; bytes: Buffer }> {
  const coming = page.waitForEvent('download');
  await click();
  const download = await coming;
  return { name: download.suggestedFilename(), bytes: await readFile(await download.path()) };
}

async function textOf(id: string, path: string): Promise<{ status: number; text: string }> {
  const { status, text } = await visited().call('GET', `/api/instances/${id}/volumes/${path}`);
  return { status, text };
}

async function namesIn(tarGz: Buffer): Promise<string[]> {
  const names: string[] = [];
  const gunzip = createGunzip();
  const entries = gunzip.pipe(extract());
  gunzip.end(tarGz);
  for await (const entry of entries) {
    if (entry.header.type === 'file') names.push(entry.header.name.replace(/^\.\//, ''));
    await buffer(entry);
  }
  return names;
}

function part(page: Page, name: string): Locator {
  return page.getByRole('region', { name, exact: true });
}

async function upload(form: Locator, file: { name: string; bytes: Buffer }, button: string): Promise<void> {
  const { name, bytes } = file;
  await form.locator('input[type=file]').setInputFiles({ name, mimeType: 'application/zip', buffer: bytes });
  await press(form, button);
}

async function useCopies(page: Page, name: string): Promise<void> {
  const { call } = visited();
  const id = await sleeper(name);
  const state = async () => (await call<Instance>('GET', `/api/instances/${id}`)).json.state;
  await page.goto(`/sandboxes/${id}`);

  await tab(page, 'Snapshots');
  await page.getByLabel('Tag', { exact: true }).fill('before the thaw');
  await press(page, 'Take a snapshot');
  await expect(page.getByRole('status').getByText(/It is kept/)).toBeVisible();
  await expect(page.getByRole('row', { name: /before the thaw/ })).toContainText('workspace');
  const { json: snapshots } = await call<Snapshot[]>('GET', `/api/snapshots?source=${id}`);
  expect(snapshots.map(({ tag }) => tag)).toEqual(['before the thaw']);

  await page.getByRole('link', { name: 'Restore it, or see what it holds' }).click();
  await expect(page.getByRole('heading', { level: 1 })).toContainText('before the thaw');
  await page.getByLabel('How many').fill('3000');
  await press(page, 'Restore');
  await expect(page.getByText('A whole number from 1 to 1,000.')).toBeVisible();
  await page.getByLabel('How many').fill('3');
  await page.getByLabel('Name', { exact: true }).fill(`${name} again`);
  await press(page, 'Restore');
  await expect(part(page, 'Just made')).toContainText('3 sandboxes were made');
  await expect(part(page, 'Lineage').locator('svg.lineage:visible')).toContainText('before the thaw');
  await part(page, 'Just made')
    .getByRole('link', { name: `${name} again-2` })
    .click();
  await expect(page.getByRole('heading', { level: 1 })).toContainText(`${name} again-2`);
  const second = new URL(page.url()).pathname.split('/').at(-1) ?? '';
  expect(await textOf(second, 'workspace/note.txt')).toEqual({ status: 200, text: NOTE });
  expect(await textOf(second, 'memory/learned.md')).toEqual({ status: 200, text: SECRET });

  await page.goto(`/sandboxes/${id}`);
  await tab(page, 'Shares');
  const bundle = await downloaded(page, () => press(page, 'Ship the workspace'));
  expect(bundle.name).toBe(`${id}.wbundle.zip`);
  const members = await membersOf(bundle.bytes);
  expect([...members.keys()].sort()).toEqual(['manifest.json', 'vfs.sqlite', 'workbook.html']);
  expect([...members.values()].some((bytes) => bytes.includes(SECRET))).toBe(false);
  await page.getByText('Ship the private volumes too').click();
  await page.getByLabel(/I mean it/).check();
  const whole = await downloaded(page, () => press(page, 'Ship all three volumes'));
  expect((await membersOf(whole.bytes)).get('vfs.sqlite')?.includes(SECRET)).toBe(true);
  await page.goto(`/sandboxes/${id}?tab=shares`);
  await expect(part(page, 'Shares').getByRole('row')).toHaveCount(3);
  await expect(part(page, 'Shares')).toContainText('private volumes too');
  const { json: shares } = await call<Share[]>('GET', `/api/instances/${id}/shares`);
  const share = shares.find(({ private_included }) => !private_included);
  expect(await state()).toBe('suspended');

  const work = await downloaded(page, () => page.getByRole('link', { name: 'Download the work' }).click());
  expect((await namesIn(work.bytes)).sort()).toEqual(['.gitignore', 'note.txt', 'src/tmp/kept.txt']);

  await page.goto('/shares?tenant=harbour');
  await expect(part(page, 'What left')).toContainText(share?.id ?? 'none');
  await upload(part(page, 'Inspect'), bundle, 'Inspect');
  await expect(part(page, 'Inspect')).toContainText(`This is share ${share?.id}, unaltered`);
  await expect(part(page, 'Inspect')).toContainText('Every hash and the signature fit.');
  const disk = Buffer.from(members.get('vfs.sqlite') ?? '');
  disk.write('THE WORK', disk.indexOf(NOTE));
  const altered = await zipOf(new Map([...members, ['vfs.sqlite', disk]]));
  await upload(part(page, 'Inspect'), { name: 'altered.zip', bytes: altered }, 'Inspect');
  await expect(part(page, 'Inspect')).toContainText('Altered: vfs.sqlite');

  await upload(part(page, 'Inspect'), { name: 'vfs.sqlite', bytes: members.get('vfs.sqlite') ?? disk }, 'Inspect');
  await expect(part(page, 'Inspect')).toContainText('Unsigned: nobody vouches for it');

  const importing = part(page, 'Import');
  await importing.getByLabel('Tenant').fill('harbour');
  await upload(importing, { name: 'vfs.sqlite', bytes: members.get('vfs.sqlite') ?? disk }, 'Import');
  await expect(importing.getByRole('status')).toContainText('UNSIGNED: it is a bare VFS file');
  await expect(importing.getByRole('status').getByRole('link')).toHaveAttribute('href', /^\/sandboxes\/sb/);

  await importing.getByLabel('Tenant').fill('harbour');
  await upload(importing, { name: 'altered.zip', bytes: altered }, 'Import');
  await expect(importing.getByRole('alert')).toContainText('It was not imported.');
  await importing.getByLabel('Tenant').fill('harbour');
  await importing.getByLabel('Name', { exact: true }).fill(`${name}, brought back`);
  await upload(importing, bundle, 'Import');
  await expect(page.getByRole('heading', { level: 1 })).toContainText(`${name}, brought back`);
  await page.locator('.tree').getByText('note.txt').click();
  await expect(page.locator('figure')).toContainText('the work that leaves');
  const back = new URL(page.url()).pathname.split('/').at(-1) ?? '';
  expect((await textOf(back, 'memory/learned.md')).status).toBe(404);
  expect(await state()).toBe('suspended');
}

test('a person keeps, restores, ships, inspects, imports and checks out by clicking', async ({ page }) => {
  await openSession(page);
  await useCopies(page, 'Clicked');
});

test('what is restored and started is seen to start', async ({ page }) => {
  const { call } = visited();
  const id = await sleeper('Started');
  const { json } = await call<Snapshot>('POST', `/api/instances/${id}/snapshots`, {});
  await openSession(page);
  await page.goto(`/snapshots/${json.id}`);
  await page.getByLabel('How many').fill('4');
  await page.getByLabel(/Start them at once/).check();
  await press(page, 'Restore');
  await expect(part(page, 'Just made')).toContainText('4 of 4 started.');
  await expect(page.getByRole('progressbar')).toHaveAttribute('value', '4');
  await page.getByLabel(/to confirm/).fill('something else');
  await press(page, 'Delete the snapshot');
  await expect(page.getByRole('alert').getByText(/Nothing was deleted/)).toBeVisible();
  await page.getByLabel(/to confirm/).fill(json.id);
  await press(page, 'Delete the snapshot');
  await expect(page).toHaveURL(/\/snapshots$/);
  expect((await call('GET', `/api/snapshots/${json.id}`)).status).toBe(404);
});

test('a blueprint is made of a sandbox and of a file, cloned, and deleted', async ({ page }) => {
  const { call } = visited();
  const id = await sleeper('Base');
  await openSession(page);
  await page.goto(`/blueprints?from=${id}`);
  await page.locator('#make').getByLabel('Name').fill('from-a-sandbox');
  await press(page, 'Make a blueprint');
  await expect(page).toHaveURL(/\/blueprints\/from-a-sandbox$/);
  await page.getByLabel('How many').fill('2');
  await page.getByLabel('Tenant').fill('');
  await press(page, 'Clone');
  await expect(page.getByText('Whose will they be?')).toBeVisible();
  await page.getByLabel('Tenant').fill('harbour');
  await press(page, 'Clone');
  await expect(part(page, 'Just made')).toContainText('2 sandboxes were made');

  const bundle = (await call('POST', `/api/instances/${id}/ship`, {})).bytes;
  const file = { name: 'vfs.sqlite', bytes: (await membersOf(bundle)).get('vfs.sqlite') ?? Buffer.alloc(0) };
  await page.goto('/blueprints');
  await page.locator('#upload').getByLabel('Name').fill('from-a-file');
  await upload(
    page.locator('#upload'),
    { name: 'junk', bytes: Buffer.from('no database') },
    'Upload and make a blueprint',
  );
  await expect(page.locator('#upload').getByRole('alert')).toContainText('It was not imported.');
  await page.locator('#upload').getByLabel('Name').fill('from-a-file');
  await upload(page.locator('#upload'), file, 'Upload and make a blueprint');
  await expect(page).toHaveURL(/\/blueprints\/from-a-file$/);
  await page.getByLabel(/to confirm/).fill('from-a-file');
  await press(page, 'Delete the blueprint');
  await expect(page).toHaveURL(/\/blueprints$/);
  await expect(page.getByRole('link', { name: 'from-a-sandbox' })).toBeVisible();
  await expect(page.getByRole('link', { name: 'from-a-file' })).toBeHidden();
});

async function askInSql(page: Page, name: string): Promise<void> {
  const { call } = visited();
  const id = await sleeper(name);
  await page.goto(`/sandboxes/${id}`);
  const query = part(page, 'Query');
  const question = "SELECT path, length(content) AS size FROM vfs WHERE volume = 'memory'";
  // The script of the page may take the field over in the middle of being filled.
  await expect(async () => {
    await query.getByRole('textbox').fill(question);
    await expect(query.getByRole('textbox')).toHaveValue(question, { timeout: 100 });
  }).toPass();
  await press(query, 'Ask');
  await expect(query.getByRole('row', { name: '/learned.md' })).toContainText(String(SECRET.length));
  await query.getByRole('textbox').fill('DELETE FROM vfs');
  await press(query, 'Ask');
  await expect(query.getByRole('alert')).toContainText('The query was refused');
  await expect(query.getByRole('textbox')).toHaveValue('DELETE FROM vfs');
  expect((await call<Instance>('GET', `/api/instances/${id}`)).json.state).toBe('suspended');
}

test('questions in SQL are answered in a table, and refused in place', async ({ page }) => {
  await openSession(page);
  await askInSql(page, 'Asked');
});

test('a form that is posted after the session has ended leads to the sign-in page, and is not sent on', async ({
  request,
}) => {
  const origin = new URL(visited().url).origin;
  for (const [path, page] of [
    ['/shares/inspect', '/shares'],
    ['/blueprints/upload', '/blueprints'],
    ['/sandboxes/any/ship', '/sandboxes/any?tab=shares'],
  ] as const) {
    const answer = await request.post(path, { headers: { origin }, form: { name: 'x' }, maxRedirects: 0 });
    expect([answer.status(), answer.headers().location]).toEqual([303, `/signin?to=${encodeURIComponent(page)}`]);
    expect((await request.post(path, { headers: { origin: 'http://evil.example' }, maxRedirects: 0 })).status()).toBe(
      403,
    );
  }
});

test('who may only look is told at each button why it may not be pressed', async ({ page }) => {
  const { call } = visited();
  const id = await sleeper('Looked at');
  const { json: snapshot } = await call<Snapshot>('POST', `/api/instances/${id}/snapshots`, { tag: 'to look at' });
  const invitation = { role: 'viewer', email: 'looker@example.com' };
  const { json: invited } = await call<Invited>('POST', '/api/people/invitations', invitation);
  await page.goto(new URL(invited.link).pathname + new URL(invited.link).search);
  await page.getByLabel('Name', { exact: true }).fill('Looker');
  await page.getByLabel('Password').fill('only looking around');
  await press(page, 'Create the account');
  await expect(page.getByRole('button', { name: 'Sign out' })).toBeVisible();
  const disabled: [path: string, button: string][] = [
    [`/sandboxes/${id}?tab=snapshots`, 'Take a snapshot'],
    [`/sandboxes/${id}?tab=shares`, 'Ship the workspace'],
    [`/sandboxes/${id}`, 'Resume'],
    [`/snapshots/${snapshot.id}`, 'Restore'],
    ['/blueprints', 'Make a blueprint'],
    ['/shares', 'Import'],
  ];
  for (const [path, name] of disabled) {
    await page.goto(path);
    if (name === 'Resume') await openDoor(page, 'More');
    const button = page.getByRole('button', { name, exact: true });
    await expect(button, path).toBeDisabled();
    await expect(button, path).toHaveAccessibleDescription(/^A viewer /);
  }
});

/** A sandbox with a snapshot, some pages of whose file a bad sector has taken since. */
async function damaged(name: string): Promise<{ id: string; path: string }> {
  const { call, folder } = visited();
  const id = await sleeper(name);
  await call('POST', `/api/instances/${id}/exec`, {
    command: 'for n in $(seq 1 200); do echo "line $n of the work, and some more words to fill it" > line-$n; done',
  });
  await call('POST', `/api/instances/${id}/snapshots`, { tag: 'before the storm' });
  await call('POST', `/api/instances/${id}/suspend`, {});
  const { vfs_path } = (await call<{ vfs_path: string }>('GET', `/api/instances/${id}`)).json;
  const path = join(folder, vfs_path);
  writeFileSync(path, readFileSync(path).fill(0x55, 4096 * 5, 4096 * 6));
  expect((await call('POST', `/api/instances/${id}/resume`, {})).status).toBe(409);
  return { id, path };
}

/** From the page of a damaged sandbox to its raw file, to a new one with what is readable, and back to a snapshot. */
async function mend(page: Page, name: string, check?: (what: string) => Promise<void>): Promise<void> {
  const { id, path } = await damaged(name);
  await openSession(page);
  await page.goto(`/sandboxes/${id}`);
  await expect(page.getByRole('heading', { level: 1 })).toContainText('Damaged');
  await check?.('damaged');
  const raw = await downloaded(page, () => page.getByRole('link', { name: 'Download the raw file' }).click());
  expect([raw.name, raw.bytes.equals(readFileSync(path))]).toEqual([`${id}.sqlite`, true]);

  await page.getByLabel('Name of the new sandbox').fill(`${name}, salvaged`);
  await press(page, 'Salvage');
  await expect(page.getByRole('status').getByText(/files recovered \(.*could not be read\.$/)).toBeVisible();
  await expect(page.getByText('its content cannot be read').first()).toBeVisible();
  await check?.('salvaged');
  await page.getByRole('link', { name: 'Open the new sandbox' }).click();
  await expect(page.getByRole('heading', { level: 1 })).toContainText(`${name}, salvaged`);
  await page.goto(`${new URL(page.url()).pathname}?volume=workspace&path=/line-150`);
  await expect(page.getByText('line 150 of the work')).toBeVisible();

  await page.goto(`/sandboxes/${id}`);
  await expect(page.getByLabel('Snapshot', { exact: true })).toContainText('before the storm');
  await press(page, 'Restore in place');
  await expect(page.getByRole('heading', { level: 1 })).not.toContainText('Damaged');
  await expect(page.getByRole('heading', { name: 'Ways out' })).toHaveCount(0);
  expect((await textOf(id, 'workspace/line-200')).text).toContain('line 200 of the work');
}

test('a damaged sandbox is salvaged into a new one and restored in place, from its page', async ({ page }) => {
  await mend(page, 'a torn ledger', async (what) => {
    expect(await flaws(page)).toEqual([]);
    const pictures = process.env.WB_TEST_PICTURES;
    if (pictures === undefined) return;
    for (const colorScheme of ['light', 'dark'] as const) {
      for (const width of [390, 1280]) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height: 900 });
        await page.screenshot({ path: join(pictures, `${what}-${colorScheme}-${width}.png`), fullPage: true });
      }
    }
  });
});

test.describe('without JavaScript', () => {
  test.use({ javaScriptEnabled: false });

  test('a damaged sandbox is mended by plain forms', async ({ page }) => {
    await mend(page, 'a plain wreck');
  });

  test('the same moves work by plain forms and links', async ({ page }) => {
    await openSession(page);
    await useCopies(page, 'On paper');
    await askInSql(page, 'Asked on paper');
  });

  test('private volumes leave only when it is said twice', async ({ page }) => {
    const id = await sleeper('Twice');
    await openSession(page);
    await page.goto(`/sandboxes/${id}?tab=shares`);
    await page.getByText('Ship the private volumes too').click();
    await page.getByLabel(/I mean it/).evaluate((box) => box.removeAttribute('required'));
    await press(page, 'Ship all three volumes');
    await expect(page.getByRole('alert')).toContainText('Nothing was shipped');
    expect((await visited().call<Share[]>('GET', `/api/instances/${id}/shares`)).json).toEqual([]);
  });
});
