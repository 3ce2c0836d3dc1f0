import { readdirSync, readFileSync } from 'node:fs';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { FILE_PAGES, headerCountProblem, pageSizeProblem, readForPage } from './page-bounds.ts';

const APP = join(import.meta.dirname, '../../app');

test('the addresses that take files are those of the console’s own routes that are posted to', () => {
  const posted = readdirSync(APP, { recursive: true, encoding: 'utf8' }).filter(
    (path) =>
      path.endsWith('route.ts') &&
      !path.includes('[[...path]]') &&
      /export (?:async )?function POST\b/.test(readFileSync(join(APP, path), 'utf8')),
  );
  const addresses = posted.map((path) => `/${dirname(path).replace(/\[\w+\]/g, 'some.one')}`);
  expect(addresses.length).toBeGreaterThan(5);
  expect(addresses.filter((address) => !FILE_PAGES.test(address))).toEqual([]);
  for (const other of ['/signin', '/', '/sandboxes/box', '/sandboxes/a/b/upload', '/shares', '/shares/import/x']) {
    expect([other, FILE_PAGES.test(other)]).toEqual([other, false]);
  }
});

const problem = (url: string, headers: Record<string, string> = {}) => pageSizeProblem({ url, headers })?.code ?? null;
const pairs = (count: number) => Array.from({ length: count }, (_, at) => `id=${at}`).join('&');
const tree = (depth: number) => `${'["",{"children":'.repeat(depth)}["",{}]${'}]'.repeat(depth)}`;

test.each([
  ['as many parameters as may be', `/jobs/new?${pairs(256)}`, {}, null],
  ['one more', `/jobs/new?${pairs(257)}`, {}, 'uri_too_long'],
  ['as long a path as may be', `/${'a'.repeat(2047)}`, {}, null],
  ['a longer one', `/${'a'.repeat(2048)}`, {}, 'uri_too_long'],
  ['as many segments as may be', '/a'.repeat(32), {}, null],
  ['one segment more', '/a'.repeat(33), {}, 'uri_too_long'],
  ['a long value', `/audit?q=${'a'.repeat(9000)}`, {}, null],
  ['the state of a page', '/', { 'next-router-state-tree': encodeURIComponent(tree(8)) }, null],
  ['a state that is deeper than any page', '/', { 'next-router-state-tree': tree(150) }, 'headers_too_large'],
  ['the same, encoded', '/', { 'next-router-state-tree': encodeURIComponent(tree(150)) }, 'headers_too_large'],
  ['brackets in a value of a state', '/', { 'next-router-state-tree': JSON.stringify(['['.repeat(900)]) }, null],
  ['a state with a broken escape', '/', { 'next-router-state-tree': '%ff' }, null],
] as [string, string, Record<string, string>, string | null][])(
  'the size of an address and of a router’s state: %s',
  (_what, url, headers, code) => {
    expect(problem(url, headers)).toBe(code);
  },
);

test('a hundred headers are taken, and no more', () => {
  const lines = (count: number) => Array.from({ length: 2 * count }, () => 'x');
  expect(headerCountProblem(lines(100))).toBeNull();
  expect(headerCountProblem(lines(101))?.code).toBe('headers_too_large');
});

/** A POST whose body comes in pieces. */
function posted(url: string, body: string, headers: Record<string, string> = {}) {
  const req = new IncomingMessage(new Socket());
  Object.assign(req, { method: 'POST', url, headers: { 'transfer-encoding': 'chunked', ...headers } });
  for (let at = 0; at < body.length; at += 10_000) req.push(body.slice(at, at + 10_000));
  req.complete = true;
  req.push(null);
  return { req, res: new ServerResponse(req) };
}

async function read(
  { req, res }: ReturnType<typeof posted>,
  isStranger: boolean,
): Promise<{ text: string; isSame: boolean }> {
  const handed = await readForPage(req, res, async () => isStranger);
  const pieces = (await handed.toArray()) as Buffer[];
  return { text: Buffer.concat(pieces).toString(), isSame: handed === req };
}

test('what a stranger posts is sixty-four kilobytes at most, and what others post a mebibyte', async () => {
  const small = 'a'.repeat(64 * 1024);
  expect((await read(posted('/signin', small), true)).text).toBe(small);
  await expect(read(posted('/signin', `${small}a`), true)).rejects.toMatchObject({ code: 'too_large' });
  expect((await read(posted('/signin', `${small}a`), false)).text).toBe(`${small}a`);
  await expect(read(posted('/signin', 'a'.repeat(1024 * 1024 + 1)), false)).rejects.toMatchObject({
    code: 'too_large',
  });
});

test('a form has a thousand parts at most, however it writes them; a text may have what it likes', async () => {
  const form = { 'content-type': 'Multipart/Form-Data; boundary=xx' };
  const part = '--xx\r\ncontent-disposition: FORM-data; name="a"\r\n\r\n\r\n';
  expect((await read(posted('/', part.repeat(1000), form), false)).text).toHaveLength(1000 * part.length);
  await expect(read(posted('/', part.repeat(1001), form), false)).rejects.toMatchObject({ code: 'too_large' });
  expect((await read(posted('/', part.repeat(1001)), false)).text).toHaveLength(1001 * part.length);
});

test('a file is not read before its page does', async () => {
  const { text, isSame } = await read(posted('/sandboxes/box/upload', 'a'.repeat(2_000_000)), true);
  expect([text.length, isSame]).toEqual([2_000_000, true]);
});
