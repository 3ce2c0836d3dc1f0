/**
 * The past of a sandbox in the console: a moment is chosen by mouse, keyboard and plain links, its files are those of
 * then, two moments are compared, and something is made of one. Nothing of it wakes the sandbox.
 */
import { renameSync, rmSync } from 'node:fs';
import type { Page, Request } from '#peers/playwright.ts';
import { flaws } from './axe.ts';
import { shoot } from './shots.ts';
import { expect, openSession, test, visited } from './visited.ts';

test.use({ ownServer: 'past', hasReplica: true });

interface Row {
  state: string;
  recovery_point: { at: number | null; behind_s: number | null };
}

interface Moment {
  time_ms: number;
}

const rowOf = async (id: string): Promise<Row> => (await visited().call<Row>('GET', `/api/instances/${id}`)).json;
const momentsOf = async (id: string): Promise<Moment[]> =>
  (await visited().call<Moment[]>('GET', `/api/instances/${id}/moments`)).json;

async function put(id: string, path: string, text: string): Promise<void> {
  const answer = await visited().call('PUT', `/api/instances/${id}/volumes/${path}`, text);
  expect([path, answer.status < 300]).toEqual([path, true]);
}

async function exec(id: string, command: string): Promise<void> {
  const { json } = await visited().call<{ exit_code: number }>('POST', `/api/instances/${id}/exec`, { command });
  expect([command, json.exit_code]).toEqual([command, 0]);
}

/** Waits until the replica has everything, and the next second has begun; returns the second that it is of. */
async function shipped(id: string): Promise<number> {
  await expect(async () => expect(await rowOf(id)).toMatchObject({ recovery_point: { behind_s: 0 } })).toPass({
    timeout: 240_000,
  });
  const at = (await rowOf(id)).recovery_point.at ?? 0;
  await expect(async () => expect(Math.floor(Date.now() / 1000)).toBeGreaterThan(at)).toPass({ timeout: 60_000 });
  return at;
}

/** A sandbox with two states, asleep; returns the seconds of both. */
async function makePast(id: string): Promise<{ first: number; second: number }> {
  await visited().call('POST', '/api/instances', { id, tenant: 'harbour' });
  await put(id, 'workspace/notes.txt', 'one\ntwo\nthree\n');
  await put(id, 'workspace/src/gone.txt', 'was here');
  await exec(
    id,
    "sqlite3 marks.db \"CREATE TABLE marks (name TEXT, mark INT); INSERT INTO marks VALUES ('ada', 90), ('bob', 80)\"",
  );
  const first = await shipped(id);
  await put(id, 'workspace/notes.txt', 'one\n2\nthree\nfour\n');
  await put(id, 'workspace/new.txt', 'fresh');
  await exec(
    id,
    "rm -r src; sqlite3 marks.db \"UPDATE marks SET mark = 95 WHERE name = 'ada'; DELETE FROM marks WHERE name = 'bob'\"",
  );
  await visited().call('POST', `/api/instances/${id}/suspend`, {});
  const second = await shipped(id);
  return { first, second };
}

const banner = (page: Page) => page.getByRole('region', { name: 'Which moment this is of' });
const moments = (page: Page) => page.getByRole('navigation', { name: 'Moments' });
/** The link of the newest moment up to a second. */
async function linkOf(page: Page, id: string, second: number) {
  const found = (await momentsOf(id)).find(({ time_ms }) => Math.floor(time_ms / 1000) <= second);
  return moments(page).locator(`a:has(time[datetime="${new Date(found?.time_ms ?? 0).toISOString()}"])`);
}

const clock = (second: number) => new Date(second * 1000).toISOString().slice(11, 19);

/** Looks through what was there then: files, search, tables. */
async function lookAround(page: Page): Promise<void> {
  const inside = page.locator('#inside');
  await expect(inside.locator('.tree')).toContainText('src/');
  await expect(inside.locator('.tree')).not.toContainText('new.txt');
  await inside.locator('.tree').getByText('notes.txt').click();
  await expect(inside.locator('figure')).toContainText('two');
  await expect(banner(page)).toBeVisible();
  await expect(inside.getByRole('button', { name: 'Upload' })).toHaveCount(0);
  await inside.getByLabel('Search the files').fill('gone');
  await inside.getByRole('button', { name: 'Search' }).click();
  await expect(inside.locator('.found')).toContainText('/src/gone.txt');
  await inside.locator('.found a').first().click();
  await expect(inside.locator('figure')).toContainText('was here');
  await inside.locator('.tree').getByText('marks.db').click();
  await expect(inside.getByRole('region', { name: 'Rows of marks' })).toContainText('bob');
}

test('a moment is chosen by the mouse, its files are those of then, and a file stands beside now', async ({ page }) => {
  test.slow();
  const id = 'past-mouse';
  const { first } = await makePast(id);
  await openSession(page);
  await page.goto(`/sandboxes/${id}`);
  await page.getByRole('navigation', { name: 'Parts of this sandbox' }).getByRole('link', { name: 'Past' }).click();
  await (await linkOf(page, id, first)).click();
  await expect(banner(page)).toContainText(clock(first));
  await expect(moments(page).locator('[aria-current]')).toContainText(clock(first));
  await lookAround(page);

  await page.locator('#inside .tree').getByText('notes.txt').click();
  await expect(page.locator('#inside figure')).toContainText('two');
  await page.getByRole('link', { name: 'Beside now' }).click();
  const difference = page.getByRole('region', { name: '/workspace/notes.txt' });
  await expect(difference.locator('.diff-removed')).toHaveText('removed: two');
  await expect(difference.locator('.diff-added')).toHaveText(['added: 2', 'added: four']);
  await difference.getByRole('link', { name: 'As it became' }).click();
  await expect(page.locator('#inside figure')).toContainText('four');
  await page.getByRole('link', { name: 'Its past' }).click();
  await expect(page).toHaveURL(/tab=past.*path=%2Fnotes\.txt/);
  await (await linkOf(page, id, first)).click();
  await expect(page.locator('#inside figure')).toContainText('two');
  await banner(page).getByRole('link', { name: 'Back to now' }).click();
  await expect(page.locator('#inside figure')).toContainText('four');
  expect((await rowOf(id)).state).toBe('suspended');
});

test('the keyboard steps through the moments, and opens the one on which it rests', async ({ page }) => {
  test.slow();
  const id = 'past-keys';
  await makePast(id);
  await openSession(page);
  await page.goto(`/sandboxes/${id}?tab=past`);
  const slider = page.getByRole('slider', { name: 'Step through them' });
  const listed = await momentsOf(id);
  await expect(slider).toHaveValue(String(listed.length - 1));
  await slider.focus();
  await page.keyboard.press('Home');
  await expect(slider).toHaveAttribute('aria-valuetext', new RegExp(clock((listed.at(-1)?.time_ms ?? 0) / 1000)));
  await expect(banner(page)).toContainText(clock((listed.at(-1)?.time_ms ?? 0) / 1000));
  await page.keyboard.press('ArrowRight');
  await expect(banner(page)).toContainText(clock((listed.at(-2)?.time_ms ?? 0) / 1000));
  await expect(slider).toBeFocused();
  expect((await rowOf(id)).state).toBe('suspended');
});

test('what changed between two moments is one page: files, lines, rows, and what happened meanwhile', async ({
  page,
}) => {
  test.slow();
  const id = 'past-compared';
  const { first, second } = await makePast(id);
  await openSession(page);
  await page.goto(`/sandboxes/${id}?tab=past&at=${first}&to=${second}`);
  const inside = page.locator('#inside');
  await expect(inside.getByRole('status')).toHaveText('1 added, 1 removed, 2 changed; 0 as they were.');
  await expect(inside.getByRole('region', { name: '/workspace/new.txt' }).locator('.diff-added')).toHaveText(
    'added: fresh',
  );
  await expect(inside.getByRole('region', { name: '/workspace/src/gone.txt' }).locator('.diff-removed')).toHaveText(
    'removed: was here',
  );
  const table = inside.getByRole('region', { name: 'What changed in the table marks' });
  await expect(table).toContainText('1 row removed, 1 row changed.');
  await expect(table.locator('del')).toHaveText('90');
  await expect(table.locator('ins')).toHaveText('95');
  // The same the other way round.
  await page.goto(`/sandboxes/${id}?tab=past&at=${second}&to=${first}`);
  await expect(inside.getByRole('status')).toHaveText('1 added, 1 removed, 2 changed; 0 as they were.');
  await inside.getByRole('table').first().getByRole('link', { name: '/notes.txt' }).click();
  await expect(inside.getByRole('region')).toHaveCount(1);
  await inside.getByRole('link', { name: 'All that changed in /workspace' }).click();
  await inside.getByRole('link', { name: 'What changed until now' }).click();
  await expect(page).toHaveURL(/to=now/);
  await expect(page.locator('#meanwhile').getByRole('table')).toContainText('suspended');
  expect((await rowOf(id)).state).toBe('suspended');
});

test.describe('without JavaScript', () => {
  test.use({ javaScriptEnabled: false });
  test('links and plain forms choose a moment, compare two, and make a sandbox of one', async ({ page }) => {
    test.slow();
    const id = 'past-plain';
    const { first, second } = await makePast(id);
    await openSession(page);
    await page.goto(`/sandboxes/${id}?tab=past`);
    await (await linkOf(page, id, first)).click();
    await expect(banner(page)).toContainText(clock(first));
    await lookAround(page);
    await page.goto(`/sandboxes/${id}?tab=past`);
    await page.getByLabel('As it was up to (UTC)').fill(new Date(first * 1000).toISOString().slice(0, 19));
    await page.getByRole('button', { name: 'Open it' }).click();
    await expect(banner(page)).toContainText(clock(first));

    await page.getByText('What changed between two times', { exact: true }).click();
    await page.getByLabel('Up to (UTC)', { exact: true }).fill(new Date(second * 1000).toISOString().slice(0, 19));
    await page.getByRole('button', { name: 'Compare them' }).click();
    await expect(page.locator('#inside').getByRole('status')).toHaveText(
      '1 added, 1 removed, 2 changed; 0 as they were.',
    );
    await page.getByRole('link', { name: 'All as it was then' }).click();
    await page.getByText('New sandbox from here', { exact: true }).click();
    await page.getByLabel('Its name').fill('made of then');
    await page.getByRole('button', { name: 'Make it' }).click();
    await expect(page.locator('.past-banner .outcome')).toContainText('made of then is made');
    await page.locator('.past-banner').getByRole('link', { name: 'Open it' }).click();
    await expect(page.getByRole('heading', { level: 1 })).toContainText('made of then');
    await expect(page.locator('#inside .tree')).toContainText('notes.txt');

    await page.goto(`/sandboxes/${id}?tab=past&at=${first}`);
    await page.getByText('Restore here', { exact: true }).click();
    await page.getByRole('button', { name: 'Restore it' }).click();
    await expect(page.locator('.past-banner .outcome')).toContainText('now. What it had');
    const { text } = await visited().call('GET', `/api/instances/${id}/volumes/workspace/notes.txt`);
    expect(text).toBe('one\ntwo\nthree\n');
    await page.getByRole('button', { name: /^Undo that restore/ }).click();
    await expect(page.getByRole('region', { name: 'With a name' })).toContainText('before-undo-');
    const again = await visited().call('GET', `/api/instances/${id}/volumes/workspace/notes.txt`);
    expect(again.text).toBe('one\n2\nthree\nfour\n');
    expect((await rowOf(id)).state).toBe('suspended');
  });
});

test('a file is taken back, and a moment named, opened by its name, and let go', async ({ page }) => {
  test.slow();
  const id = 'past-moves';
  const { first } = await makePast(id);
  await openSession(page);
  await page.goto(`/sandboxes/${id}?tab=past&at=${first}&path=/notes.txt`);
  await page.getByText('Name this moment', { exact: true }).click();
  await page.getByLabel('Name of the moment').fill('before the migration');
  await page.getByRole('button', { name: 'Keep it' }).click();
  const named = page.getByRole('region', { name: 'With a name' });
  await named.getByRole('link', { name: 'before the migration' }).click();
  await expect(banner(page)).toContainText('Named “before the migration”');
  await expect(moments(page).locator('[aria-current]')).toContainText('before the migration');
  await named.getByRole('button', { name: 'Remove before the migration' }).click();
  await expect(named).toHaveCount(0);
  expect((await rowOf(id)).state).toBe('suspended');

  await page.locator('#inside summary').filter({ hasText: 'Take this file back' }).click();
  await page.getByRole('button', { name: 'Put the file of then in its place' }).click();
  await expect(page.locator('#inside figure .outcome')).toContainText(
    '/workspace/notes.txt is as it was then: 1 file.',
  );
  const { text } = await visited().call('GET', `/api/instances/${id}/volumes/workspace/notes.txt`);
  expect(text).toBe('one\ntwo\nthree\n');
  const kept = await visited().call('GET', `/api/instances/${id}/volumes/workspace/new.txt`);
  expect(kept.text).toBe('fresh');
});

test('while the store of the replica is away, the page says so, and what has a name is opened', async ({ page }) => {
  const { call, folder } = visited();
  const id = 'past-away';
  await makePast(id);
  expect((await call('PUT', `/api/instances/${id}/moments/kept`, {})).status).toBe(200);
  await openSession(page);
  const bucket = `${folder}-replica`;
  renameSync(bucket, `${bucket}-away`);
  try {
    await page.goto(`/sandboxes/${id}?tab=past`);
    const past = page.locator('#past');
    await expect(past.getByRole('alert')).toContainText('The object store is away');
    await expect(past.getByRole('alert')).toContainText('“kept”');
    expect(await flaws(page)).toEqual([]);
    await past.getByRole('link', { name: 'kept', exact: true }).click();
    await expect(banner(page)).toBeVisible();
    await expect(page.locator('#inside').locator('.tree')).toContainText('notes.txt');
  } finally {
    rmSync(bucket, { recursive: true, force: true });
    renameSync(`${bucket}-away`, bucket);
  }
});

test('what cannot be shown says why: a time that is too old, one that is none, nothing shipped, nothing kept', async ({
  page,
}) => {
  const { call } = visited();
  const id = 'past-words';
  const { first } = await makePast(id);
  await openSession(page);
  await page.goto(`/sandboxes/${id}?tab=past&at=${first - 86_400}`);
  await expect(page.locator('#past').getByRole('alert')).toContainText('Nothing of it that is so old is kept');
  await page.getByRole('link', { name: /^The oldest moment, / }).click();
  await expect(banner(page)).toBeVisible();
  await page.goto(`/sandboxes/${id}?tab=past&at=yesterday`);
  await expect(page.locator('#past').getByRole('alert')).toContainText('“yesterday” is no time');
  for (const [replicate, says] of [
    ['off', 'It is not replicated'],
    ['filed', 'shipped each time that it comes to rest'],
    ['1s', 'once something was written in it'],
  ] as const) {
    const other = `past-${replicate}`;
    await call('POST', '/api/instances', { id: other, tenant: 'harbour', replicate });
    await page.goto(`/sandboxes/${other}?tab=past`);
    await expect(page.locator('#past')).toContainText(says);
  }
});

test('axe finds nothing in the past and in what changed, wide and narrow, and the scripts stay small', async ({
  page,
}) => {
  test.slow();
  const id = 'past-looks';
  const { first, second } = await makePast(id);
  await openSession(page);
  // Every visit is a first visit, so that all scripts of a page are counted.
  const network = await page.context().newCDPSession(page);
  await network.send('Network.enable');
  await network.send('Network.setCacheDisabled', { cacheDisabled: true });
  const address = `/sandboxes/${id}?tab=past`;
  const pages = {
    list: address,
    moment: `${address}&at=${first}&path=/notes.txt`,
    compared: `${address}&at=${first}&to=${second}`,
  };
  for (const width of [390, 1280]) {
    await page.setViewportSize({ width, height: 900 });
    for (const [name, path] of Object.entries(pages)) {
      const scripts: Request[] = [];
      const gather = (request: Request) => {
        if (request.resourceType() === 'script') scripts.push(request);
      };
      page.on('requestfinished', gather);
      await page.goto(path);
      await expect(page.getByText('live', { exact: true })).toBeVisible();
      page.off('requestfinished', gather);
      const sizes = await Promise.all(scripts.map((request) => request.sizes()));
      const shipped = sizes.reduce((sum, { responseBodySize }) => sum + responseBodySize, 0);
      expect([width, name, shipped > 50_000, shipped <= 200_000]).toEqual([width, name, true, true]);
      expect([width, name, await flaws(page)]).toEqual([width, name, []]);
      const { scroll, client } = await page.evaluate(() => ({
        scroll: document.documentElement.scrollWidth,
        client: document.documentElement.clientWidth,
      }));
      expect([width, name, scroll]).toEqual([width, name, client]);
    }
  }
  for (const [name, path] of Object.entries(pages)) {
    await page.goto(path);
    await shoot(page, name);
  }
});
