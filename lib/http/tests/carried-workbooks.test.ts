/** Workbooks that travel in bundles: shipped with their sandbox, docked by an import, shown on the page. */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { verify } from '../../base/signing.ts';
import { DISK, MANIFEST, PAGE, readManifest, SOURCE, signedBytes } from '../../bundles/manifest.ts';
import type { Event, Instance, Problem, Workbook } from '../../contract/schema.ts';
import { type BundleServer, membersOf, startBundleServer, zipOf } from '../../testing/bundle-server.ts';

let server: BundleServer;
beforeAll(async () => {
  server = await startBundleServer();
});
afterAll(() => server.stop());

const SOURCE_TEXT = `#+TITLE: Report
Some *bold* words, ~code~ and [[https://evil.example/x][a link]].
* etl :workflow:
| a | <b>b</b> |
|---+----------|
| 1 | 2        |
** count :component:
- <img src=x onerror=alert(1)>
#+begin_src js :out n:integer :persist
export default () => ({ n: "</script><script>alert(1)</script>" });
export const state = {};
#+end_src
`;

/** A sandbox that is docked to a workbook of this source. */
async function docked(id: string, source: string, tenant = 'acme'): Promise<string> {
  await server.call('PUT', `/api/workbooks/${id}?tenant=${tenant}`, source);
  const made = await server.call<Instance>('POST', '/api/instances', { tenant, workbook: id });
  expect(made.status).toBe(201);
  await server.call('PUT', `/api/instances/${made.json.id}/volumes/workspace/note`, 'work');
  return made.json.id;
}

const workbooks = async (tenant: string) =>
  (await server.call<Workbook[]>('GET', `/api/workbooks?tenant=${tenant}`)).json.map(({ id }) => id);
const imported = async () =>
  (await server.call<Event[]>('GET', '/api/events?type=instance.imported&limit=1')).json[0]?.reason ?? '';

test('31. a ship carries the source of the docked version, and the signature covers it', async () => {
  const id = await docked('report', SOURCE_TEXT);
  await server.call('PUT', '/api/workbooks/report?tenant=acme', `${SOURCE_TEXT}# newer\n`);
  const { bytes } = await server.ship(id);
  const members = await membersOf(bytes);
  expect(Object.keys(members).sort()).toEqual([MANIFEST, SOURCE, DISK, PAGE].sort());
  expect(members[SOURCE]?.toString()).toBe(SOURCE_TEXT);
  const read = readManifest(members[MANIFEST] ?? Buffer.alloc(0));
  if (!('manifest' in read)) throw new Error(read.problems.join());
  const { manifest } = read;
  expect(manifest.workbook).toEqual({ id: 'report', version: 1 });
  expect(manifest.members?.[SOURCE]).toEqual({
    sha256: createHash('sha256').update(SOURCE_TEXT).digest('hex'),
    bytes: Buffer.byteLength(SOURCE_TEXT),
  });
  expect(verify(manifest.issuer ?? '', signedBytes(manifest), manifest.signature ?? '')).toBe(true);
  const plain = await membersOf((await server.ship(await server.sandbox({ 'workspace/a': 'b' }))).bytes);
  expect(Object.keys(plain)).not.toContain(SOURCE);
});

test('31. a source that was altered, added or taken away is refused', async () => {
  const members = await membersOf((await server.ship(await docked('altered', SOURCE_TEXT))).bytes);
  const bundle = (over: Record<string, Buffer | undefined>) => zipOf({ ...members, ...over } as typeof members);
  const refusal = async (bytes: Buffer) => {
    const { status, json } = await server.take(bytes);
    return [status, (json as unknown as Problem).detail];
  };
  expect(await refusal(await bundle({ [SOURCE]: Buffer.from('* other') }))).toEqual([
    422,
    expect.stringContaining('workbook.org was altered'),
  ]);
  const { [SOURCE]: _, ...without } = members;
  expect(await refusal(await zipOf(without as typeof members))).toEqual([
    422,
    expect.stringContaining('workbook.org is not in it'),
  ]);
  const plain = await membersOf((await server.ship(await server.sandbox({ 'workspace/a': 'b' }))).bytes);
  expect(await refusal(await zipOf({ ...plain, [SOURCE]: Buffer.from('* x') } as typeof members))).toEqual([
    422,
    expect.stringContaining('its manifest does not name it'),
  ]);
});

test('32. the page shows the source as text, without a URL, a script or an attribute of it', async () => {
  const page = (await membersOf((await server.ship(await docked('shown', SOURCE_TEXT))).bytes))[PAGE]?.toString() ?? '';
  expect(page).toContain('<h3><bdi>etl</bdi> <span class="quiet">:workflow:</span></h3>');
  expect(page).toContain('<strong>bold</strong> words, <code>code</code>');
  expect(page).toContain('<tr><td>a</td><td>&lt;b&gt;b&lt;/b&gt;</td></tr>');
  expect(page).toContain('<code>js :out n:integer :persist</code>');
  expect(page).toContain('&lt;/script&gt;&lt;script&gt;alert(1)');
  expect(page).not.toMatch(/<script|<img|<a |href=|src=x[^&]*>/);
});

test('33. an import docks the source: to the same one, else under its own name or a free one', async () => {
  const { bytes } = await server.ship(await docked('travels', SOURCE_TEXT.replace('Report', 'Travels')));
  const second = (await server.take(bytes, 'tenant=away')).json as unknown as Instance;
  expect(second).toMatchObject({ tenant: 'away', workbook: 'travels', workbook_version: 1 });
  expect(await imported()).toContain('docked to workbook "travels", version 1, which is new');
  const third = (await server.take(bytes, 'tenant=away')).json as unknown as Instance;
  expect([third.workbook, await workbooks('away')]).toEqual(['travels', ['travels']]);
  expect(await imported()).toContain('which has the same source');

  await server.call(
    'PUT',
    '/api/workbooks/travels?tenant=taken',
    '* other :component:\n#+begin_src js\n1\n#+end_src\n',
  );
  const fourth = (await server.take(bytes, 'tenant=taken')).json as unknown as Instance;
  expect([fourth.workbook, await workbooks('taken')]).toEqual(['travels-2', ['travels', 'travels-2']]);
});

test('33. a source with problems is stored, and nothing is docked', async () => {
  const members = await membersOf((await server.ship(await docked('broken', SOURCE_TEXT))).bytes);
  const text = Buffer.from('* a :component:\nNothing here.\n');
  const manifest = JSON.parse(members[MANIFEST]?.toString() ?? '');
  manifest.members[SOURCE] = { sha256: createHash('sha256').update(text).digest('hex'), bytes: text.length };
  Object.assign(manifest, { id: 'wb-of-nobody', signed: false, signature: undefined, issuer: undefined });
  const bytes = await zipOf({ ...members, [SOURCE]: text, [MANIFEST]: Buffer.from(JSON.stringify(manifest)) });
  const made = (await server.take(bytes, 'tenant=elsewhere')).json as unknown as Instance;
  expect([made.workbook, made.workbook_version, await workbooks('elsewhere')]).toEqual([null, null, ['broken']]);
  expect(await imported()).toContain('is stored as "broken" and not docked: it has 1 problems');
});

test('34. a ship as html is one page, and what its link saves is the bundle', async () => {
  const id = await docked('paged', SOURCE_TEXT);
  const shipped = await server.ship(id, { format: 'html' });
  expect(shipped.headers['content-type']).toBe('text/html; charset=utf-8');
  expect(shipped.headers['content-disposition']).toContain(`${id}.wbundle.html`);
  const [, fileName, base64 = ''] =
    /<a download="([^"]+)" href="data:application\/zip;base64,([A-Za-z0-9+/]+=*)">/.exec(shipped.text) ?? [];
  expect(fileName).toBe(`${id}.wbundle.zip`);
  const bundle = Buffer.from(base64, 'base64');
  expect(createHash('sha256').update(bundle).digest('hex')).toBe(shipped.headers['x-sha256']);
  const page = (await membersOf(bundle))[PAGE]?.toString() ?? '';
  const around = shipped.text.replace(/<h2>The bundle<\/h2>[\s\S]*?<\/p>\n/, '');
  expect(around).toBe(page);
  expect((await server.take(bundle, 'tenant=paged')).status).toBe(201);
  expect((await server.inspect(bundle)).share?.verdict).toBe('unaltered');
});

test('35. such a page is inspected and imported as the bundle in it, and refused when it is not whole', async () => {
  const id = await docked('page-in', SOURCE_TEXT);
  const { bytes: page } = await server.ship(id, { format: 'html' });
  const seen = await server.inspect(page);
  expect(seen).toMatchObject({
    verified: true,
    share: { verdict: 'unaltered' },
    manifest: { workbook: { id: 'page-in' } },
  });
  const made = await server.take(page, 'tenant=by-page');
  expect([made.status, made.json]).toMatchObject([201, { workbook: 'page-in', workbook_version: 1 }]);
  expect(await server.readIn((made.json as unknown as Instance).id, 'workspace/note')).toBe('work');
  const text = page.toString('latin1');
  const at = text.indexOf('base64,') + 'base64,'.length;
  const refusals: [string, string][] = [
    [text.slice(0, at + 100), 'The bundle in the page is cut off.'],
    [text.replace(/<h2>The bundle<[\s\S]*?<\/p>\n/, ''), 'It is a page without a bundle in it.'],
    [`${text.slice(0, at)}%%%%${text.slice(at)}`, 'it is no base64'],
    [`${text.slice(0, at)}AAAA=${text.slice(at)}`, 'it is no base64'],
    [`${text.slice(0, at)}AAAA${text.slice(at)}`, ''],
    [`<!DOCTYPE HTML>${'href='.repeat(1000)}`, 'It is a page without a bundle in it.'],
  ];
  for (const [altered, why] of refusals) {
    const { status, json } = await server.take(Buffer.from(altered, 'latin1'), 'tenant=refused');
    expect([status, (json as unknown as Problem).detail]).toEqual([422, expect.stringContaining(why)]);
  }
  expect(await workbooks('refused')).toEqual([]);
});
