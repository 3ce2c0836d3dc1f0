/** The files of a sandbox: looked through asleep and by the keyboard, changed with a way back, and by plain forms. */
import type { Page } from '#peers/playwright.ts';
import type { Event, Instance } from '../lib/contract/schema.ts';
import { flaws } from './axe.ts';
import { LONG, MAKE_MANY, MARKUP, ODD, SAMPLES } from './file-samples.ts';
import { expect, openSession, test, visited } from './visited.ts';

const TENANT = 'paperwork';
const ASLEEP = 'files-asleep';
const AWAKE = 'files-awake';
const PLAIN = 'files-plain';

// Many files are made before the first test: one worker makes them.
test.describe.configure({ mode: 'default' });

const box = (id: string) => `/api/instances/${id}`;
const bytesOf = (id: string, path: string) =>
  `${box(id)}/volumes/workspace/${path.split('/').map(encodeURIComponent).join('/')}`;
const textOf = async (id: string, path: string) => {
  const { status, text } = await visited().call('GET', bytesOf(id, path));
  return status === 200 ? text : status;
};
const page = (id: string, path = '/', more = '') =>
  `/sandboxes/${id}?volume=workspace&path=${encodeURIComponent(path)}${more}`;

async function make(id: string, files: Readonly<Record<string, string | Uint8Array>>): Promise<void> {
  const { call } = visited();
  if ((await call('GET', box(id))).status !== 404) return;
  await call('POST', '/api/instances', { id, tenant: TENANT });
  for (const [path, content] of Object.entries(files)) {
    expect([path, (await call('PUT', bytesOf(id, path), content)).status]).toEqual([path, 201]);
  }
}

test.beforeAll(async () => {
  const { call } = visited();
  await make(ASLEEP, SAMPLES);
  await make(AWAKE, { 'notes.txt': 'the first notes\n', 'taken.txt': 'was here\n' });
  await make(PLAIN, { 'kept.txt': 'kept\r\nwith care\r\n' });
  if ((await call<Instance>('GET', box(ASLEEP))).json.state === 'active') {
    await call('POST', `${box(ASLEEP)}/snapshots`, { tag: 'as it began' });
    await call('PUT', bytesOf(ASLEEP, 'data/added since.txt'), 'new');
    await call('POST', `${box(ASLEEP)}/exec`, { command: MAKE_MANY });
    await call('PUT', `${box(ASLEEP)}/volumes/memory/diary/one.md`, 'private');
    for (const id of [ASLEEP, PLAIN])
      for (const verb of ['suspend', 'freeze']) await call('POST', `${box(id)}/${verb}`, {});
  }
});

const focused = (visit: Page) => visit.evaluate(() => document.activeElement?.getAttribute('data-path') ?? null);

test('a frozen sandbox is looked through by the keyboard alone, and searched, and no process starts', async ({
  page: visit,
}) => {
  const { call } = visited();
  const lines = async (type: string) =>
    (await call<Event[]>('GET', `${box(ASLEEP)}/events?type=${type}&limit=100`)).json.length;
  const before = await lines('transition');
  await openSession(visit);
  await visit.goto(page(ASLEEP));
  const tree = visit.getByRole('tree', { name: 'Files in workspace' });
  await tree.getByRole('treeitem', { name: 'data/' }).focus();
  await visit.keyboard.press('m');
  await expect.poll(() => focused(visit)).toBe('/many/');
  await visit.keyboard.press('ArrowRight');
  await expect(tree.getByRole('treeitem', { name: '1000.txt' })).toBeVisible();
  await visit.keyboard.press('ArrowRight');
  expect(await focused(visit)).toBe('/many/1000.txt');
  await visit.keyboard.press('ArrowLeft');
  await visit.keyboard.press('ArrowLeft');
  await expect(tree.getByRole('treeitem', { name: '1000.txt' })).toHaveCount(0);
  await visit.keyboard.press('ArrowRight');
  await tree.getByRole('treeitem', { name: 'Show more: 121 are left' }).focus();
  await visit.keyboard.press('Enter');
  await expect(tree.getByRole('treeitem', { name: '1620.txt' })).toBeAttached();
  await expect.poll(() => focused(visit)).toBe('/many/1500.txt');
  await visit.keyboard.press('Home');
  await visit.keyboard.press('n');
  await expect.poll(() => focused(visit)).toBe('/nothing/');
  await visit.keyboard.press('End');
  await visit.keyboard.press('r');
  await visit.keyboard.press('Enter');
  await expect(visit.locator('figure')).toContainText('Fine');

  await visit.goto(page(ASLEEP, '/src/index.ts'));
  await expect(visit.locator('figure .hljs-keyword').first()).toHaveText('import');
  await expect(visit.locator('#L3')).toContainText('// the needle');
  await visit.goto(page(ASLEEP, '/data/table.csv'));
  await expect(visit.locator('figure').getByRole('cell', { name: '<b>three</b>' })).toBeVisible();
  await expect(visit.locator('figure')).toContainText('2 rows');
  await visit.goto(page(ASLEEP, '/data/tree.json'));
  await expect(visit.locator('figure')).toContainText('12345678901234567890');
  await expect(visit.getByText('"<b>"')).toBeHidden();
  await visit.locator('summary', { hasText: '1 key' }).click();
  await expect(visit.getByText('"<b>"')).toBeVisible();
  await visit.goto(page(ASLEEP, '/data/model.bin'));
  await visit.getByRole('link', { name: 'Next part' }).click();
  await expect(visit.locator('figure')).toContainText('001000');
  await expect(visit.locator('figure')).toContainText('Bytes 4,096 to 8,192 of 10,000.');
  await visit.goto(page(ASLEEP, '/data/long.log'));
  await expect(visit.locator('figure')).toContainText('The first');
  await visit.getByRole('link', { name: 'Next part' }).click();
  await expect(visit.locator('#L2001')).toContainText('line 2001 of a long log');

  await visit.getByRole('button', { name: 'Compare /workspace' }).click();
  const compared = visit.locator('#compare');
  await expect(compared.getByRole('status')).toHaveText(/^622 added, 0 removed, 0 changed; \d+ as they were\.$/);
  await expect(tree).toBeVisible();
  await compared.getByRole('link', { name: '/data/added since.txt', exact: true }).click();
  await expect(visit.locator('figure pre')).toContainText('new');
  await visit.getByLabel('Search the files').fill('NEEDLE');
  await visit.getByLabel('Where to search').selectOption('content');
  await visit.getByRole('button', { name: 'Search', exact: true }).click();
  await expect(visit).toHaveURL(/find=NEEDLE&in=content/);
  await visit.getByRole('link', { name: '/src/index.ts:3' }).click();
  await expect(visit.locator('.line-found')).toContainText('// the needle');

  const read = await lines('private.read');
  await visit.goto(`/sandboxes/${ASLEEP}?volume=memory`);
  await visit.getByRole('treeitem', { name: 'diary/' }).focus();
  for (const key of ['ArrowDown', 'Home', 'End', 'ArrowUp', 'd']) await visit.keyboard.press(key);
  await expect(visit.getByText('It is frozen: writing wakes it.')).toBeVisible();
  expect((await lines('private.read')) - read).toBe(1);
  expect(await lines('transition')).toBe(before);
  expect((await call<Instance>('GET', box(ASLEEP))).json).toMatchObject({ state: 'frozen', thermal: 'cold' });
});

test('hostile names and Markdown are shown, lead where they say, and run nothing', async ({ page: visit }) => {
  await openSession(visit);
  for (const [name, content] of [
    [MARKUP, 'markup'],
    [ODD, 'odd'],
    [LONG, 'long'],
  ] as const) {
    await visit.goto(page(ASLEEP));
    await visit.locator('.tree').getByText(name, { exact: true }).click();
    await expect(visit.locator('figure code').first()).toHaveText(`/workspace/${name}`);
    await expect(visit.locator('figure pre')).toContainText(content);
  }
  await visit.goto(page(ASLEEP, '/README.md'));
  const shown = visit.locator('.markdown');
  await expect(shown.getByRole('heading', { name: 'Fine' })).toBeVisible();
  await expect(shown.locator('.hljs-keyword')).toHaveText('const');
  expect(await shown.locator('script, [onclick], [onerror], [style]').count()).toBe(0);
  const sources = await shown.locator('img').evaluateAll((all) => all.map((image) => image.getAttribute('src')));
  expect(sources).toEqual([`${box(ASLEEP)}/volumes/workspace/data/pixel.png`]);
  const links = await shown.locator('a').evaluateAll((all) => all.map((link) => link.getAttribute('href')));
  expect(links).toEqual(['https://example.invalid/', expect.stringContaining('path=%2Fsrc%2Findex.ts')]);
  await expect(shown.getByRole('link', { name: 'out' })).toHaveAttribute('rel', /noopener noreferrer nofollow/);
  expect(await visit.evaluate(() => (window as { pwned?: number }).pwned ?? null)).toBeNull();
  await visit.getByRole('link', { name: 'Source', exact: true }).click();
  await expect(visit.locator('figure pre')).toContainText('<script>window.pwned = 3</script>');
});

test('files are sent with their progress, decided on, dropped, deleted and brought back', async ({
  page: visit,
  complaints,
}) => {
  complaints.expected.push(/412/);
  const { call } = visited();
  await openSession(visit);
  await visit.goto(page(AWAKE));
  const network = await visit.context().newCDPSession(visit);
  const slowly = (bytesPerSecond: number) =>
    network.send('Network.emulateNetworkConditions', {
      offline: false,
      latency: 0,
      downloadThroughput: -1,
      uploadThroughput: bytesPerSecond,
    });
  await slowly(300_000);
  const files = visit.getByLabel('Files', { exact: true }).and(visit.locator('input'));
  const large = { name: 'large.bin', mimeType: 'application/octet-stream', buffer: Buffer.alloc(3_000_000, 1) };
  const taken = { name: 'taken.txt', mimeType: 'text/plain', buffer: Buffer.from('mine now\n') };
  await files.setInputFiles([large, taken]);
  const bar = visit.getByRole('progressbar', { name: 'Sent of /large.bin' });
  await expect.poll(() => bar.evaluate((element) => (element as HTMLProgressElement).value)).toBeGreaterThan(0);
  await visit.getByRole('button', { name: 'Break off: /large.bin' }).click();
  await expect(visit.getByText('broken off')).toBeVisible();
  await slowly(-1);
  // An answer to the next file: the browser is at its own pace again, which it takes up some time after it was told to.
  await expect(visit.getByRole('button', { name: 'Replace it: /taken.txt' })).toBeVisible();
  await visit.getByRole('button', { name: 'Try again: /large.bin' }).click();
  const standing = visit.getByRole('status').filter({ hasText: /file|send/ });
  await expect(standing).toHaveText('1 of 2 files are there, 1 to decide on.');
  expect(await textOf(AWAKE, 'taken.txt')).toBe('was here\n');
  await visit.getByRole('button', { name: 'Replace it: /taken.txt' }).click();
  await expect(standing).toHaveText('2 of 2 files are there.');
  expect(await textOf(AWAKE, 'taken.txt')).toBe('mine now\n');
  const tree = visit.getByRole('tree');
  await expect(tree.getByRole('treeitem', { name: 'large.bin' })).toBeVisible();

  const dropped = await visit.evaluateHandle(() => {
    const data = new DataTransfer();
    data.items.add(new File(['out of the blue'], 'dropped here.txt'));
    return data;
  });
  // Beside the box: on the page's heading.
  await visit.locator('h1').first().dispatchEvent('drop', { dataTransfer: dropped });
  await visit.getByRole('link', { name: '/dropped here.txt', exact: true }).click();
  await expect(visit.locator('figure pre').first()).toContainText('out of the blue');
  await expect(visit.locator('figcaption time')).toHaveAttribute('datetime', /^20\d\d-/);
  await visit.getByRole('button', { name: 'Follow its end' }).click();
  const end = visit.getByRole('log', { name: 'The end of dropped here.txt' });
  await expect(end).toHaveText('out of the blue');
  await call('PUT', bytesOf(AWAKE, 'dropped here.txt'), `out of the blue\nand more of it${'\n.'.repeat(30)}`);
  await expect(end).toHaveText(/out of the blue\s+and more of it/);
  await visit.reload();
  await visit.getByLabel('Line', { exact: true }).fill('2');
  await visit.getByLabel('Line', { exact: true }).press('Enter');
  await expect(visit.locator('.line-found')).toHaveText('and more of it');
  await visit.getByLabel('Wrap lines').check();
  await expect(visit.locator('figure pre')).toHaveCSS('white-space-collapse', 'preserve');
  await expect(visit.locator('figure pre')).toHaveCSS('text-wrap-mode', 'wrap');
  await visit.goto(page(AWAKE));
  await tree.getByRole('treeitem', { name: 'notes.txt' }).click();
  await expect(visit.locator('figure pre')).toContainText('the first notes');
  const deleting = visit.getByRole('button', { name: 'Delete file' });
  await deleting.click();
  await expect(visit.getByText('/workspace/notes.txt is deleted.')).toBeVisible();
  await expect(tree.getByRole('treeitem', { name: 'notes.txt' })).toHaveCount(0);
  expect(await textOf(AWAKE, 'notes.txt')).toBe(404);
  const undo = visit.getByRole('button', { name: 'Undo: put /notes.txt back' });
  await expect(undo).toBeFocused();
  await undo.click();
  await expect(visit.getByText('/workspace/notes.txt is back.')).toBeVisible();
  await expect(visit.locator('figure pre')).toContainText('the first notes');
  expect(await textOf(AWAKE, 'notes.txt')).toBe('the first notes\n');
  await deleting.click();
  await expect(undo).toBeVisible();
  await call('PUT', bytesOf(AWAKE, 'notes.txt'), 'newer\n');
  await undo.click();
  await expect(visit.getByText('There is a newer /workspace/notes.txt now.')).toBeVisible();
  expect(await textOf(AWAKE, 'notes.txt')).toBe('newer\n');
});

test('a text that somebody else changed meanwhile is not written over, and nothing that was typed is lost', async ({
  page: visit,
}) => {
  const { call } = visited();
  await call('PUT', bytesOf(AWAKE, 'shared.md'), '# Ours\n');
  await openSession(visit);
  await visit.goto(page(AWAKE, '/shared.md'));
  await visit.getByRole('link', { name: 'Edit', exact: true }).click();
  const text = visit.getByLabel('/workspace/shared.md');
  await expect(text).toBeFocused();
  await visit.keyboard.press('Control+End');
  await visit.keyboard.type('note, and gone');
  await expect(text).toHaveValue('# Ours\nnote, and gone');
  await visit.getByRole('link', { name: 'Back to the file' }).focus();
  await visit.keyboard.press('Control+s');
  await expect(visit.getByText('It is saved.')).toBeVisible();
  expect(await textOf(AWAKE, 'shared.md')).toBe('# Ours\nnote, and gone');
  await text.press('!');
  const questions: string[] = [];
  visit.on('dialog', (dialog) => {
    questions.push(dialog.message());
    void (questions.length < 4 ? dialog.dismiss() : dialog.accept());
  });
  await visit.evaluate(() => history.back());
  await expect.poll(() => questions.length).toBe(1);
  await visit.keyboard.press('Control+k');
  await visit.getByPlaceholder('Find a sandbox, a tenant or a page').fill('storage');
  await visit.getByRole('option', { name: /^Storage/ }).click();
  await expect.poll(() => questions.length).toBe(2);
  await visit.keyboard.press('Escape');
  await visit.getByRole('link', { name: 'Back to the file' }).click();
  await expect(text).toHaveValue('# Ours\nnote, and gone!');
  await visit.getByRole('link', { name: 'Back to the file' }).click();
  await visit.getByRole('link', { name: 'Edit', exact: true }).click();
  expect(questions).toEqual(Array(4).fill('What you have typed is not saved. Leave it all the same?'));
  await expect(text).toHaveValue('# Ours\nnote, and gone');
  await text.fill('# Mine\n');
  await call('PUT', bytesOf(AWAKE, 'shared.md'), '# Theirs\n');
  await visit.getByRole('button', { name: 'Save', exact: true }).click();
  await expect(visit.getByText('Somebody else changed the file since you opened it.')).toBeVisible();
  await expect(text).toHaveValue('# Mine\n');
  expect(await textOf(AWAKE, 'shared.md')).toBe('# Theirs\n');
  await visit.getByRole('button', { name: 'Save over the newer one' }).click();
  await expect(visit.getByText('It is saved.')).toBeVisible();
  expect(await textOf(AWAKE, 'shared.md')).toBe('# Mine\n');
});

test.describe('without JavaScript', () => {
  test.use({ javaScriptEnabled: false });

  test('a database is read as tables by links alone, and nothing of it is markup', async ({ page: visit }) => {
    await openSession(visit);
    await visit.goto(page(ASLEEP, '/data/fruit.db'));
    const shown = visit.locator('figure');
    const rows = shown.getByRole('region', { name: /^Rows of/ });
    await expect(rows.getByRole('cell', { name: '<img src=x onerror=pwned=7>' })).toBeVisible();
    await shown.getByRole('link', { name: 'apples', exact: true }).click();
    await expect(rows).toContainText('Rows 1 to 50 of 60.');
    await expect(rows.getByRole('row', { name: 'sort 50 75' })).toContainText('50 bytes');
    await rows.getByRole('link', { name: 'Next rows' }).click();
    await expect(rows).toContainText('Rows 51 to 60 of 60.');
    await shown.getByRole('link', { name: 'heavy', exact: true }).click();
    await expect(rows.getByRole('cell', { name: 'sort 60' })).toBeVisible();
    await shown.getByRole('link', { name: 'Bytes', exact: true }).click();
    await expect(shown).toContainText('SQLite format 3');
    expect((await visited().call<Instance>('GET', box(ASLEEP))).json.state).toBe('frozen');
  });

  test('files are made, sent, edited, moved and deleted by plain forms, which say that they wake the sandbox', async ({
    page: visit,
  }) => {
    const { call } = visited();
    const state = async () => (await call<Instance>('GET', box(PLAIN))).json.state;
    await openSession(visit);
    await visit.goto(page(PLAIN));
    await visit.getByRole('link', { name: 'kept.txt', exact: true }).click();
    await expect(visit.locator('figure pre')).toContainText('with care');
    await expect(visit.getByText('It is frozen: writing wakes it.')).toBeVisible();
    expect(await state()).toBe('frozen');

    await visit.getByRole('link', { name: 'Edit', exact: true }).click();
    await visit.getByLabel('/workspace/kept.txt').fill('kept\nwith more care\n');
    await visit.getByRole('button', { name: 'Save', exact: true }).click();
    await expect(visit.getByText('It is saved.')).toBeVisible();
    expect(await textOf(PLAIN, 'kept.txt')).toBe('kept\r\nwith more care\r\n');
    expect(await state()).toBe('active');

    await visit.getByText('New folder', { exact: true }).click();
    await visit.getByLabel('Name of the new folder').fill('drafts');
    await visit.getByRole('button', { name: 'Make it' }).click();
    await expect(visit.getByText('This folder is empty.')).toBeVisible();
    await visit.getByText('New file', { exact: true }).click();
    await visit.getByLabel('Name of the new text file').fill('a & b.md');
    await visit.getByRole('button', { name: 'Create it' }).click();
    await expect(visit.getByLabel('/workspace/drafts/a & b.md')).toHaveValue('');
    await visit.getByRole('link', { name: 'Back to the file' }).click();
    await expect(visit.locator('figure')).toContainText('The file is empty.');

    const send = async (replace: boolean) => {
      await visit.getByText('Upload', { exact: true }).click();
      if (replace) await visit.getByLabel('Replace a file of that name').check();
      const buffer = Buffer.from(replace ? 'second' : 'first');
      await visit
        .getByLabel('File', { exact: true })
        .setInputFiles({ name: 'sent.txt', mimeType: 'text/plain', buffer });
      await visit.getByRole('button', { name: 'Upload it' }).click();
    };
    await send(false);
    await expect(visit.locator('figure pre')).toContainText('first');
    await send(false);
    await expect(visit.getByText('There is a file "sent.txt" there already.')).toBeVisible();
    await visit.goto(page(PLAIN, '/drafts/'));
    await send(true);
    await expect(visit.locator('figure pre')).toContainText('second');

    await visit.getByText('Rename or move', { exact: true }).click();
    await visit.getByLabel('Its new path').fill('/drafts/a & b.md');
    await visit.getByRole('button', { name: 'Move it' }).click();
    await expect(visit.getByText(/already exists/)).toBeVisible();
    await visit.getByLabel('Its new path').fill('/sent/at last.txt');
    await visit.getByRole('button', { name: 'Move it' }).click();
    await expect(visit.locator('figure code').first()).toHaveText('/workspace/sent/at last.txt');
    await visit.getByText('Delete…', { exact: true }).click();
    await visit.getByRole('button', { name: 'Delete the file' }).click();
    await expect(visit.getByText('This folder is empty.')).toBeVisible();
    expect(await textOf(PLAIN, 'sent/at last.txt')).toBe(404);
    await visit.goto(page(PLAIN, '/drafts/'));
    await visit.getByText('Delete…', { exact: true }).click();
    await visit.getByRole('button', { name: 'Delete the folder' }).click();
    await expect(visit.getByRole('link', { name: 'drafts/' })).toHaveCount(0);
    expect(await textOf(PLAIN, 'drafts/a & b.md')).toBe(404);

    await call('POST', `${box(PLAIN)}/archive`, { reason: 'put away' });
    await visit.goto(page(PLAIN, '/kept.txt', '&edit=1'));
    await expect(visit.locator('figure pre')).toContainText('with more care');
    await expect(
      visit.getByText('It is archived, and a write does not revive it: revive it first.').first(),
    ).toBeVisible();
    await expect(visit.getByRole('link', { name: 'Edit', exact: true })).toHaveCount(0);
    expect(await state()).toBe('archived');
  });
});

test('axe finds nothing in the file manager, in either theme', async ({ page: visit }) => {
  await openSession(visit);
  const taken = await visited().call<{ id: string }[]>('GET', `/api/snapshots?source=${ASLEEP}`);
  const compared = `/README.md&compare=${taken.json[0]?.id}`;
  for (const path of [
    compared,
    '/data/fruit.db',
    '/src/index.ts',
    '/data/tree.json',
    '/data/table.csv',
    '/README.md&find=a',
  ]) {
    await visit.goto(`/sandboxes/${ASLEEP}?volume=workspace&path=${path}`);
    await expect(visit.getByRole('tree')).toBeVisible();
    expect(await flaws(visit), path).toEqual([]);
  }
  await visit.goto(page(AWAKE, '/taken.txt', '&edit=1'));
  await expect(visit.getByRole('button', { name: 'Save', exact: true })).toBeVisible();
  await visit.getByText('New file', { exact: true }).click();
  expect(await flaws(visit)).toEqual([]);
});
