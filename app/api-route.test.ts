import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import { ANSWER_HEADERS } from '#lib/front/headers.ts';
import { type Host, setHost } from '#lib/host/host.ts';
import { RequestContext, runInRequest } from '#lib/host/request-context.ts';
import { ROUTES } from '#lib/http/routes.ts';
import { SESSION_ROUTES } from '#lib/http/session-api/routes.ts';
import type { Wire } from '#lib/http/web-adapter.ts';
import { answer } from './api-route.ts';

const APP = fileURLToPath(new URL('.', import.meta.url));

afterEach(() => setHost(null));

/** A host whose dispatcher reports what it received. */
function listening(): unknown[] {
  const reached: unknown[] = [];
  const dispatcher = {
    owns: () => true,
    async answer({ target, peer }: { target: string; peer: string | null }) {
      reached.push([target, peer]);
      return { answer: { status: 200, body: { json: {} } }, requestId: 'r' };
    },
  };
  setHost({ dispatcher } as unknown as Host);
  return reached;
}

test('every root of the route table has a route file, and the file has every method', async () => {
  const roots = new Set([...ROUTES, ...SESSION_ROUTES].map(({ path, root }) => (root ? path.split('/')[1] : 'api')));
  roots.add('instances');
  const there = readdirSync(APP).filter((name) => existsSync(join(APP, name, '[[...path]]', 'route.ts')));
  expect(there.sort()).toEqual([...roots].sort());
  for (const root of there) {
    const file = await import(`./${root}/[[...path]]/route.ts`);
    expect(Object.keys(file).sort()).toEqual(['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT']);
  }
});

test('a request that did not come through the front server reaches nothing', async () => {
  const reached = listening();
  const refused = await answer(new Request('http://dock.example/api/instances/box/volumes/memory/x'));
  expect([refused.status, refused.headers.get('retry-after'), reached]).toEqual([503, '1', []]);
  expect(await refused.json()).toMatchObject({ code: 'storage_unavailable', detail: 'The server is starting.' });
  expect(refused.headers.get('content-security-policy')).toBe(ANSWER_HEADERS['content-security-policy']);
});

test('the dispatcher gets the original address and peer, whatever Next made of them', async () => {
  const reached = listening();
  const wire: Wire = {
    target: '/api/instances/box/volumes/workspace/%2e%2e/memory/x?a=%2F',
    peer: '203.0.113.7',
    goOn: () => undefined,
    answers: () => undefined,
  };
  const request = new Request('http://dock.example/api/instances/box/volumes/memory/x', {
    headers: { 'x-winterdock-peer': '127.0.0.1' },
  });
  await runInRequest(new RequestContext('r', false, wire), () => answer(request));
  expect(reached).toEqual([[wire.target, wire.peer]]);
});
