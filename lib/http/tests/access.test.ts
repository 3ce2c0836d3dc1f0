import { afterAll, beforeAll, expect, test } from 'vitest';
import { cookieOf, firstAdmin, tokenOf, visitor } from '../../testing/people.ts';
import { startServer, type TestServer } from '../../testing/server.ts';
import { ROUTES } from '../routes.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ settings: { WB_RATE_WRONG_KEYS: '0' } });
});
afterAll(() => server.stop());

const OPEN = ['/healthz', '/readyz', '/openapi.json'];

function address(path: string, root: boolean): string {
  const filled = path.replace(':id', 'some').replace(':volume', 'tmp').replace('*', 'file');
  return root ? filled : `/api${filled}`;
}

let ada: Promise<string> | null = null;
/** The cookie of the first admin, who signs in by a link after the first time. */
async function session(): Promise<string> {
  const { auth } = server.host;
  if (ada === null) {
    ada = firstAdmin(auth);
    return ada;
  }
  await ada;
  return cookieOf(await auth.signIns.signIn({ token: tokenOf(await auth.signInLink()) }, visitor()));
}

test.each(ROUTES.map((route) => [route.method, address(route.path, route.root), route.root] as const))(
  '%s %s is open only if the contract says so',
  async (method, path) => {
    for (const key of [null, 'not-the-key']) {
      const answer = await server.call(method, path, undefined, { key });
      if (OPEN.includes(path)) expect(answer.status).toBe(200);
      else expect([answer.status, answer.json.code]).toEqual([401, 'unauthorized']);
    }
  },
);

test('metrics are open when the settings say so', async () => {
  const open = await startServer({ settings: { WB_METRICS: 'open' } });
  try {
    expect((await open.call('GET', '/metrics', undefined, { key: null })).status).toBe(200);
    expect((await open.call('GET', '/api/instances', undefined, { key: null })).status).toBe(401);
  } finally {
    await open.stop();
  }
});

test('a session does what a key does, from the same origin, and its actor is in the ledger', async () => {
  const cookie = await session();
  const create = (headers: Record<string, string>) =>
    server.call(
      'POST',
      '/api/instances',
      { id: 'by-session', tenant: 'acme' },
      { key: null, headers: { cookie, ...headers } },
    );
  expect((await server.call('GET', '/api/instances', undefined, { key: null, headers: { cookie } })).status).toBe(200);
  const refused = await create({ origin: 'https://evil.example' });
  expect([refused.status, refused.json.code]).toEqual([403, 'forbidden']);
  expect((await create({})).status).toBe(403);
  expect((await create({ origin: server.url })).status).toBe(201);
  const events = await server.call<{ actor: string }[]>('GET', '/api/instances/by-session/events');
  expect(events.json[0]?.actor).toMatch(/^user:/);
});

test('the auth library answers below /api/auth, to the same origin only, and a sign-out ends the session', async () => {
  const cookie = await session();
  const ask = (method: string, path: string, headers: Record<string, string>) =>
    server.call(method, `/api/auth${path}`, method === 'GET' ? undefined : {}, {
      key: null,
      headers: { cookie, ...headers },
    });
  expect((await ask('GET', '/get-session', {})).json).toMatchObject({ user: { role: 'admin' } });
  expect((await ask('POST', '/sign-out', { origin: 'https://evil.example' })).status).toBe(403);
  expect((await ask('POST', '/sign-out', {})).status).toBe(403);
  const left = await ask('POST', '/sign-out', { origin: server.url });
  expect([left.status, left.headers['set-cookie']]).toEqual([200, expect.stringContaining('Max-Age=0')]);
  expect((await server.call('GET', '/api/instances', undefined, { key: null, headers: { cookie } })).status).toBe(401);
  expect((await ask('GET', '/nothing-here', {})).status).toBe(404);
  const large = await server.call('POST', '/api/auth/sign-out', 'x'.repeat(70_000), {
    key: null,
    headers: { origin: server.url },
  });
  expect(large.status).toBe(413);
});
