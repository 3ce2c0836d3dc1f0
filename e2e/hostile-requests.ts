/** Requests that nobody's browser sends, to pages, forms and actions: text for a socket. For tests. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { TEST_KEY } from '../lib/testing/server.ts';
import { ROOT } from '../scripts/build.ts';

const CLOSE = 'Connection: close\r\n';
const HOST = 'Host: dock.test\r\n';
const KEY = `Authorization: Bearer ${TEST_KEY}\r\n`;
const SAME = 'Sec-Fetch-Site: same-origin\r\nOrigin: http://dock.test\r\n';
const FORM = 'Content-Type: multipart/form-data; boundary=xx\r\n';

const PAGES = ['/', '/signin', '/sandboxes', '/sandboxes/box', '/settings/keys', '/nowhere'];

/** Targets that no browser makes of a link: broken escapes, climbs in every spelling, what is not an address. */
const TARGETS = [
  ...['/%', '/%f', '/%ff', '/%zz', '/%c0%ae', '/%ed%a0%80', '/sandboxes/%ff', '/sandboxes/%', '/sandboxes/%e0%a4%a'],
  ...[
    '/sandboxes/%00',
    '/sandboxes/a%0d%0ab',
    '/sandboxes/%7f',
    '/archive/%ff',
    '/tenants/%fe',
    '/jobs/%',
    '/snapshots/%c3',
  ],
  ...[
    '/_next/../api/me',
    '/_next/./api/me',
    '/./api/me',
    '/../api/me',
    '/a/../../api/me',
    '/..',
    '/.',
    '/../',
    '/a/..',
  ],
  ...[
    '/%2e/api/me',
    '/%2e%2e/api/me',
    '/_next/%2e%2e/api/me',
    '/_next/.%2e/api/me',
    '/_next/%2E./api/me',
    '/_next/..%2fapi/me',
  ],
  ...[
    '/_next/static/../../api/me',
    '/_next/static/%2e%2e/%2e%2e/api/me',
    '/_next/static/..%5c..%5capi/me',
    '/a\\..\\api\\me',
  ],
  ...[
    '/\\api\\me',
    '/%5capi',
    '/a/..;/api/me',
    '/_next/static/chunks/..%2f..%2f..%2fpackage.json',
    '/_next/static/%ff',
  ],
  ...[
    '/_next',
    '/_next/',
    '/_next/image',
    '/_next/image?url=%2Ficon.svg&w=64&q=75',
    '/_next/image?url=http://127.0.0.1:1/&w=64&q=75',
  ],
  ...[
    '/_next/data/x/sandboxes.json',
    '/_next/webpack-hmr',
    '/_next/hmr',
    '/__nextjs_original-stack-frame',
    '/_next/static',
  ],
  ...[
    '*',
    '?',
    '#',
    'api/me',
    '@',
    '//',
    '///',
    '//api/me',
    '//evil.example/x',
    'http://',
    'http://x',
    'ftp://x/y',
    'javascript:1',
  ],
  ...[
    '/?%',
    '/?a=%ff',
    '/?%00=%00',
    '/?a[b]=1&a[b]=2',
    '/?__proto__=1&constructor=2',
    '/sandboxes?cursor=%00&limit=-1&state=x',
  ],
  ...[
    '/audit?since=zz&until=%ff&seq=-1',
    '/jobs/new?verb=x&ids=%00',
    '/snapshots?cursor=!!',
    '/sandboxes/box?volume=%ff&path=%00',
  ],
  ...[
    '/sandboxes/box?volume=workspace&path=/../../x',
    '/sandboxes/box/plan?to=nowhere',
    '/signin?token=%00&to=//evil.example',
  ],
  ...[
    '/favicon.ico/x',
    '/icon.svg?x=%',
    '/sandboxes/__proto__',
    '/sandboxes/constructor',
    `/sandboxes/${'a'.repeat(9000)}`,
  ],
  ...[
    `/${'a/'.repeat(4000)}`,
    `/${'a'.repeat(15_000)}`,
    `/${'a'.repeat(20_000)}`,
    `/?${'a=1&'.repeat(3000)}`,
    '/sandboxes/box#/../api',
  ],
];

const METHODS = [
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'TRACE',
  'PROPFIND',
  'SEARCH',
  'CONNECT',
  'QUERY',
];

/** Headers that break what reads them. */
const HEADERS = [
  ...['RSC: 1', 'RSC: 2', 'RSC: 1\r\nNext-Router-State-Tree: garbage', 'RSC: 1\r\nNext-Router-State-Tree: %ff'],
  ...[
    'RSC: 1\r\nNext-Router-State-Tree: []',
    'RSC: 1\r\nNext-Router-State-Tree: null',
    'Next-Router-State-Tree: %5B%22%22%2C5%5D',
  ],
  ...[`RSC: 1\r\nNext-Router-State-Tree: ${encodeURIComponent('['.repeat(400))}`, 'RSC: 1\r\nNext-Router-Prefetch: 9'],
  ...[
    'RSC: 1\r\nNext-Router-Prefetch: 1\r\nNext-Router-Segment-Prefetch: /../x',
    'RSC: 1\r\nNext-Router-Segment-Prefetch: %ff',
  ],
  ...[
    'RSC: 1\r\nNext-Url: //\\',
    'RSC: 1\r\nNext-Url: %',
    'Next-Url: http://evil.example',
    'X-Nextjs-Data: 1',
    'X-Matched-Path: /api/me',
  ],
  ...[
    'X-Middleware-Subrequest: middleware:middleware',
    'X-Invoke-Path: /api/me',
    'X-Invoke-Status: 500',
    'X-Invoke-Error: {}',
  ],
  ...[
    'Next-Resume: 1',
    'X-Action-Forwarded: 1',
    'X-Prerender-Revalidate: x',
    'X-Winterdock-Inner: x',
    'X-Winterdock-Peer: 6.6.6.6',
  ],
  ...[
    'Cookie: a=%',
    'Cookie: __Host-winterdock.session_token=%ff',
    'Cookie: __Host-winterdock.theme=%E0%A4%A',
    'Cookie: ;;;=;=',
  ],
  ...[
    'Cookie: __prerender_bypass=x; __next_preview_data=y',
    'Cookie: \xff\xfe=\xff',
    `Cookie: ${'a=b; '.repeat(2500)}`,
  ],
  ...[
    'Range: bytes=9-1',
    'Range: bytes=99999999-',
    'Range: lines=1',
    'If-None-Match: "',
    'If-Modified-Since: yesterday',
    'If-Range: x',
  ],
  ...[
    'Accept-Encoding: \xff;q=a',
    'Accept-Encoding: identity;q=0, *;q=0',
    'Accept: \xff',
    'Accept-Language: %',
    'User-Agent: \xff',
  ],
  ...[
    'X-Request-Id: \xff',
    `X-Request-Id: ${'a'.repeat(500)}`,
    'Authorization: Bearer \xff',
    'Authorization: Basic %',
    'Forwarded: for=%',
  ],
  ...[
    'X-Forwarded-Host: a b',
    'X-Forwarded-For: %',
    'X-Forwarded-Proto: javascript',
    'Expect: 200-ok',
    'Upgrade: h2c\r\nConnection: Upgrade',
  ],
  ...[
    'Content-Length: 0',
    'Transfer-Encoding: chunked\r\n\r\n0',
    'Content-Type: \xff',
    'Sec-Fetch-Dest: image',
    'Purpose: prefetch',
  ],
];

const HOSTS = [
  '',
  'Host:\r\n',
  'Host: a b\r\n',
  'Host: [::\r\n',
  'Host: \xff\r\n',
  'Host: x:99999\r\n',
  'Host: a\r\nHost: b\r\n',
  'Host: ../..\r\n',
];

/** What is posted as a form. */
const FORMS: readonly [headers: string, body: string][] = [
  [FORM, ''],
  [FORM, 'x'],
  [FORM, '--xx'],
  [FORM, '--xx--\r\n'],
  [FORM, '--xx\r\n\r\n\r\n--xx--\r\n'],
  [FORM, '--xx\r\nContent-Disposition: form-data; name="a"\r\n\r\ncut'],
  [
    FORM,
    '--xx\r\nContent-Disposition: form-data; name="a"; filename="\xff"\r\nContent-Type: \xff\r\n\r\n\xff\r\n--xx--\r\n',
  ],
  [FORM, part('$ACTION_ID_') + end()],
  [FORM, part('$ACTION_ID_x') + end()],
  [FORM, part(`$ACTION_ID_${'4'.repeat(42)}`) + end()],
  [FORM, part('$ACTION_REF_1') + end()],
  [FORM, part('$ACTION_REF_1') + part('$ACTION_1:0', '{"id":"x","bound":"$@1"}') + end()],
  [FORM, part('$ACTION_REF_1') + part('$ACTION_1:0', '{') + end()],
  [FORM, part('$ACTION_REF___proto__') + end()],
  [FORM, part('$ACTION_KEY', 'k') + end()],
  ['Content-Type: multipart/form-data\r\n', 'x'],
  ['Content-Type: multipart/form-data; boundary=\r\n', 'x'],
  [`Content-Type: multipart/form-data; boundary=${'b'.repeat(500)}\r\n`, 'x'],
  ['Content-Type: application/x-www-form-urlencoded\r\n', '%ff=%'],
  ['Content-Type: application/json\r\n', '{'],
  ['Content-Type: text/plain\r\n', '$ACTION'],
  ['', 'x'],
  [`${FORM}Content-Encoding: gzip\r\n`, 'x'],
];

/** The arguments of a call of an action, in the console's own format and out of it. */
const ARGUMENTS: readonly [headers: string, body: string][] = [
  ...[
    ...['', 'x', '{', '5', 'null', '"x"', '{}', '[]', '[1]', '[null,null,null,null,null,null]', '[{},{},{},{},{},{}]'],
    ...[
      '["a","b","c","d","e","f"]',
      '[[],[],[],[],[]]',
      '["$undefined","$undefined","$undefined"]',
      '["$K1","$K1","$K1"]',
    ],
    ...[
      '["$1"]',
      '["$@1"]',
      '["$F1"]',
      '["$Q1","$W1","$i1"]',
      '["$B1"]',
      '["$D9","$n1","$NaN"]',
      '["$T","$T"]',
      '["$R1"]',
      '["$1:__proto__:x"]',
    ],
    ...[
      `[${'['.repeat(3000)}${']'.repeat(3000)}]`,
      `[${'1,'.repeat(1500)}1]`,
      `["${'x'.repeat(1_100_000)}"]`,
      '["\\u0000","\\ud800"]',
    ],
  ].map((body): [string, string] => ['Content-Type: text/plain;charset=UTF-8\r\n', body]),
  [FORM, ''],
  [FORM, '--xx'],
  [FORM, '--xx--\r\n'],
  [FORM, part('0', '[') + end()],
  [FORM, part('0', '[null,"$K1"]') + end()],
  [FORM, part('_1_x', 'y') + part('0', '["box","$K1","$K1","$K1","$K1"]') + end()],
  [FORM, part('_1_', '') + part('0', '["$K1","$K1","$K1","$K1","$K1"]') + end()],
  [FORM, part('_1_name', '\0') + part('0', '["box","workspace","/x",{},"$K1"]') + end()],
  [FORM, part('0', '[{"runs":5,"cwd":7},{"runs":5},"$K1"]') + end()],
  [FORM, part('0', '["$1"]').slice(0, -4)],
  ['Content-Type: application/x-www-form-urlencoded\r\n', 'a=b'],
  ['Content-Type: multipart/form-data\r\n', 'x'],
  ['', '[]'],
];

function part(name: string, value = ''): string {
  return `--xx\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
}

function end(): string {
  return '--xx--\r\n';
}

const post = (target: string, headers: string, body: string) =>
  `POST ${target} HTTP/1.1\r\n${HOST}${CLOSE}${SAME}${headers}Content-Length: ${Buffer.byteLength(body, 'latin1')}\r\n\r\n${body}`;

/** The actions of the build by their ids. */
function builtActions(): Record<string, { workers: Record<string, unknown>; exportedName: string }> {
  return JSON.parse(readFileSync(join(ROOT, '.next/server/server-reference-manifest.json'), 'utf8')).node;
}

/** The id of an action by the name of its function. */
export function actionNamed(name: string): string {
  const found = Object.entries(builtActions()).find(([, { exportedName }]) => exportedName === name);
  if (found === undefined) throw new Error(`There is no action ${name}.`);
  return found[0];
}

/** Every action of the build with a page that has it. */
function actions(): { id: string; page: string }[] {
  return Object.entries(builtActions()).map(([id, { workers }]) => {
    const pages = Object.keys(workers).filter((worker) => worker !== 'app/_not-found/page');
    const page = (pages[0] ?? 'app/page')
      .replace(/^app/, '')
      .replace(/\/page$/, '')
      .replace(/\[\w+\]/, 'box');
    return { id, page: page === '' ? '/' : page };
  });
}

/** Requests to addresses, with methods and headers. */
export function hostileVisits(): string[] {
  return [
    ...TARGETS.flatMap((target) => ['', KEY].map((key) => `GET ${target} HTTP/1.1\r\n${HOST}${CLOSE}${key}\r\n`)),
    ...TARGETS.map((target) => post(target, KEY + FORM, '--xx')),
    ...METHODS.flatMap((method) =>
      [...PAGES, '*', '/icon.svg', '/api/auth/get-session'].flatMap((target) =>
        ['', SAME].map((same) => `${method} ${target} HTTP/1.1\r\n${HOST}${CLOSE}${KEY}${same}\r\n`),
      ),
    ),
    ...HEADERS.flatMap((header) =>
      [...PAGES, '/icon.svg', '/_next/static/x.js'].map(
        (page) =>
          `GET ${page} HTTP/1.1\r\n${HOST}${CLOSE}${header}\r\n${header.includes('Authorization') ? '' : KEY}\r\n`,
      ),
    ),
    ...HOSTS.flatMap((host) => PAGES.map((page) => `GET ${page} HTTP/1.1\r\n${host}${CLOSE}${KEY}\r\n`)),
    ...['null', 'x', 'javascript:1', 'http://', 'http://a b', 'http://evil.example'].map(
      (origin) =>
        `POST / HTTP/1.1\r\n${HOST}${CLOSE}${KEY}Sec-Fetch-Site: same-origin\r\nOrigin: ${origin}\r\n${FORM}Content-Length: 0\r\n\r\n`,
    ),
  ];
}

/** Forms and calls of actions, to pages and to what takes forms that carry files. */
export function hostileForms(): string[] {
  const takers = [
    '/sandboxes/box/upload',
    '/sandboxes/box/ship',
    '/blueprints/upload',
    '/shares/import',
    '/shares/inspect',
  ];
  return [
    ...FORMS.flatMap(([headers, body]) =>
      [...PAGES, ...takers].flatMap((page) => ['', KEY].map((key) => post(page, key + headers, body))),
    ),
    ...actions().flatMap(({ id, page }) =>
      ARGUMENTS.map(([headers, body]) =>
        post(page, `${KEY}Accept: text/x-component\r\nNext-Action: ${id}\r\n${headers}`, body),
      ),
    ),
    ...['', 'x', '0'.repeat(42), 'constructor', '__proto__', 'toString', '\xff', '../x', 'a'.repeat(5000)].flatMap(
      (id) => ARGUMENTS.slice(0, 4).map(([headers, body]) => post('/', `${KEY}Next-Action: ${id}\r\n${headers}`, body)),
    ),
  ];
}
