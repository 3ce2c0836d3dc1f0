import { readdirSync } from 'node:fs';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Instance } from '../../contract/schema.ts';
import { startServer, type TestServer } from '../../testing/server.ts';

const SQL = `x'; DROP TABLE instances; --`;
const QUOTES = `" OR 1=1 -- \\ %25 ${'é'.repeat(3)} ; \``;
let server: TestServer;

beforeAll(async () => {
  server = await startServer();
  await server.call('POST', '/api/instances', { id: 'target', tenant: 'acme' });
  await server.call('PUT', '/api/instances/target/volumes/workspace/kept', 'kept');
});
afterAll(() => server.stop());

test.each([
  ['dots', '..'],
  ['encoded dots', '%2e%2e'],
  ['an encoded climb', '..%2f..%2fetc%2fpasswd'],
  ['a NUL', 'target%00'],
  ['a broken escape', 'target%'],
  ['overlong UTF-8', '%c0%ae%c0%ae'],
  ['upper case', 'TARGET'],
  ['5 000 characters', 'a'.repeat(5000)],
  ['64 characters', 'a'.repeat(64)],
  ['SQL', encodeURIComponent(SQL)],
  ['a space', '%20target'],
])('an id made of %s reaches nothing', async (_what, id) => {
  for (const [method, path, body] of [
    ['GET', `/api/instances/${id}`],
    ['POST', `/api/instances/${id}/resume`],
    ['POST', `/api/instances/${id}/exec`, { command: 'true' }],
    ['GET', `/instances/${id}/volumes/workspace/kept`],
    ['PUT', `/api/instances/${id}/volumes/workspace/kept`, 'x'],
  ] as const) {
    const answer = await server.call(method, path, body);
    expect([answer.status, answer.json.code]).toEqual([422, 'validation']);
  }
  const made = await server.call('POST', '/api/instances', { id: decodeLoosely(id), tenant: 'acme' });
  expect(made.status).toBe(422);
  const tenant = await server.call('POST', '/api/instances', { tenant: decodeLoosely(id) });
  expect(tenant.status).toBe(422);
});

test.each([
  ['lists in lists', '['.repeat(500_000) + ']'.repeat(500_000)],
  ['lists that never close', '['.repeat(500_000)],
  ['more objects than anybody sends', `{"ids":[${'{},'.repeat(30_000)}{}]}`],
  ['more keys than anybody sends', `{${Array.from({ length: 60_000 }, (_, key) => `"${key}":0`).join(',')}}`],
])('a body of %s is refused before it is parsed', async (_what, body) => {
  const headers = { 'content-type': 'application/json' };
  const answer = await server.call('POST', '/api/instances', body, { headers });
  expect([answer.status, answer.json.code]).toEqual([413, 'too_large']);
});

test('what a guest’s code evaluates to is refused before it is parsed when it is as heavy', async () => {
  for (const code of [
    'Array.from({ length: 300000 }, () => [])',
    'let a = []; for (let i = 0; i < 600; i += 1) a = [a]; a',
  ]) {
    const answer = await server.call('POST', '/api/instances/target/eval', { language: 'js', code });
    expect([answer.status, answer.json.ok, answer.json.error]).toEqual([
      200,
      false,
      expect.stringMatching('RangeError'),
    ]);
  }
});

function decodeLoosely(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

test.each(
  [
    '..',
    '../memory/x',
    'a/../../x',
    '%2e%2e/x',
    '..%2fx',
    '%2e%2e%2f%2e%2e%2fx',
    '.%2e/x',
    'a%00b',
    'a//b',
    'a%2f%2fb',
    '/a',
    'a/',
    './a',
    '%2e/a',
    '%zz',
    '%c0%ae%c0%ae/x',
    'x'.repeat(1025),
    'x'.repeat(5000),
    `${'d/'.repeat(600)}x`,
  ].map((path) => [path.slice(0, 40), path] as const),
)('the path "%s" never leaves its volume', async (_start, path) => {
  for (const [method, body] of [['GET'], ['HEAD'], ['PUT', 'evil'], ['DELETE']] as const) {
    const answer = await server.call(method, `/api/instances/target/volumes/workspace/${path}`, body);
    expect([method, answer.status]).toEqual([method, 422]);
  }
  const move = await server.call('POST', '/api/instances/target/volumes/workspace/move', {
    from: '/kept',
    to: `/../${path}`,
  });
  expect(move.status).toBe(422);
  expect((await server.call('GET', '/api/instances/target/volumes/workspace/kept')).text).toBe('kept');
});

test('there is no fourth volume', async () => {
  for (const volume of [
    'secrets',
    'Workspace',
    '..',
    '%2e%2e',
    'workspace%00',
    encodeURIComponent(SQL),
    'v'.repeat(5000),
  ]) {
    for (const [method, path, body] of [
      ['GET', ''],
      ['GET', '/kept'],
      ['PUT', '/kept', 'x'],
      ['DELETE', '/kept'],
      ['POST', '/move', { from: '/a', to: '/b' }],
    ] as const) {
      const answer = await server.call(method, `/api/instances/target/volumes/${volume}${path}`, body);
      expect([answer.status, answer.json.code]).toEqual([404, 'unknown_volume']);
    }
  }
  expect((await server.call('GET', '/api/instances/target/search?q=a&volume=secrets')).status).toBe(422);
});

test('SQL in every string field is only a string', async () => {
  for (const text of [SQL, QUOTES]) {
    const made = await server.call<Instance>('POST', '/api/instances', {
      tenant: 'acme',
      name: text,
      labels: { note: text },
    });
    expect(made.status).toBe(201);
    expect(made.json).toMatchObject({ name: text, labels: { note: text } });
    const odd = await server.call('POST', '/api/instances', { tenant: 'acme', policy: text.slice(0, 60) });
    expect([odd.status, odd.json.code]).toEqual([422, 'validation']);
    const box = `/api/instances/${made.json.id}`;
    expect((await server.call<Instance>('PATCH', box, { name: `${text}2` })).json.name).toBe(`${text}2`);
    expect((await server.call('POST', `${box}/resume`, { reason: text })).status).toBe(200);
    expect((await server.call<{ reason: string }[]>('GET', `${box}/events?type=transition`)).json[0]?.reason).toBe(
      text,
    );
    const path = `${box}/volumes/workspace/${encodeURIComponent(text)}`;
    expect((await server.call('PUT', path, text)).status).toBe(201);
    expect((await server.call('GET', path)).text).toBe(text);
    expect(
      (
        await server.call('POST', `${box}/exec`, {
          command: `echo '${text.replaceAll("'", '')}'`,
          env: { A: text },
          stdin: text,
        })
      ).status,
    ).toBe(200);
    for (const query of ['q', 'name', 'cursor', 'tenant', 'label', 'state']) {
      const answer = await server.call('GET', `/api/instances?${query}=${encodeURIComponent(text)}`);
      expect([query, [200, 422].includes(answer.status)]).toEqual([query, true]);
    }
    for (const query of ['type', 'actor', 'cursor', 'instance', 'trigger']) {
      const answer = await server.call('GET', `/api/events?${query}=${encodeURIComponent(text)}`);
      expect([query, [200, 422].includes(answer.status)]).toEqual([query, true]);
    }
    for (const [place, query] of [
      ['volumes/workspace', 'prefix'],
      ['volumes/workspace', 'cursor'],
      ['search', 'q'],
    ] as const) {
      const answer = await server.call('GET', `${box}/${place}?${query}=${encodeURIComponent(text)}`);
      expect([place, query, answer.status]).toEqual([place, query, 200]);
    }
    const parameter = await server.call('POST', `${box}/query`, { sql: 'SELECT ? AS said', params: [text] });
    expect(parameter.json.rows).toEqual([[text]]);
  }
  expect((await server.call('GET', '/api/instances/target')).status).toBe(200);
});

test('long and odd strings are refused, not cut', async () => {
  for (const body of [
    { tenant: 'acme', name: 'n'.repeat(5000) },
    { tenant: 'acme', name: 'with\u0000nul' },
    { tenant: 'acme', name: '   ' },
    { tenant: 'acme', labels: { ['k'.repeat(5000)]: 'v' } },
    { tenant: 'acme', labels: { k: 'v'.repeat(5000) } },
    { tenant: 'acme', labels: Object.fromEntries(Array.from({ length: 33 }, (_, n) => [`k${n}`, 'v'])) },
    { tenant: 'acme', policy: 'p'.repeat(5000) },
    { tenant: 'acme', vfs_path: '/etc/passwd' },
    { tenant: 'acme', vfs_path: '../../registry.sqlite' },
    '{"tenant":"acme","idle_to_suspend_s":1e400}',
    { tenant: 'acme', state: 'active' },
    { tenant: ['acme'] },
    { tenant: { $ne: null } },
    {},
  ]) {
    expect((await server.call('POST', '/api/instances', body)).status).toBe(422);
  }
});

test('a request that is not HTTP gets an answer that tells nothing, and the server lives', async () => {
  const send = (text: string) =>
    new Promise<string>((resolve, reject) => {
      let answer = '';
      const socket = connect(Number(new URL(server.url).port), '127.0.0.1', () => socket.write(text));
      socket.setEncoding('utf8').on('data', (chunk) => {
        answer += chunk;
      });
      socket.on('close', () => resolve(answer)).on('error', reject);
    });
  for (const text of [
    'nonsense\r\n\r\n',
    'GET / HTTP/9.9\r\n\r\n',
    'POST /api/instances HTTP/1.1\r\nhost: x\r\ncontent-length: -5\r\n\r\n',
    'POST /api/instances HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n',
    `GET /api/instances HTTP/1.1\r\nhost: x\r\nx-large: ${'x'.repeat(100_000)}\r\n\r\n`,
  ]) {
    const answer = await send(text);
    expect(answer).toMatch(/^HTTP\/1\.1 4(00|31) /);
    expect(answer).not.toMatch(/\.ts|node:|at /);
  }
  expect((await server.call('GET', '/healthz')).status).toBe(200);
});

test('nothing of all this left a file outside the places that are its own', () => {
  const places = readdirSync(server.folder).sort();
  const known =
    /^(live|cold|archive|cache|staging|spill|expanded|orphans|snapshots|blueprints|bundles|registry\.sqlite.*|registry\.(?:head|database)|auth\.secret|secrets\.key|signing\.key|users\.key|host\.key|load|logs|lock\.sqlite.*)$/;
  expect(places.filter((place) => !known.test(place))).toEqual([]);
});
