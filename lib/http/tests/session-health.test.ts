/** The session API beside its life: health, logs, quotas and wrong methods, as a client of Ash meets them. */
import { expect, test } from 'vitest';
import { TEST_KEY } from '../../testing/server.ts';
import { useSessionServer } from '../../testing/session-server.ts';

interface Health {
  activeSessions: number;
  activeSandboxes: number;
  pool: Record<string, number> &
    Record<'total' | 'cold' | 'warming' | 'warm' | 'waiting' | 'running', number> &
    Record<'resumeColdFreshHits' | 'resumeColdLocalHits' | 'resumeWarmHits', number>;
}

const { keys, ask, session, running } = useSessionServer();

test('the health has numbers that follow the sessions, no names, and is open', async () => {
  const health = async () => (await ask('GET', '/health', undefined, TEST_KEY)).json as unknown as Health;
  const before = await health();
  const { id } = await session('POST', '/api/sessions', { agent: 'writer' });
  const after = await health();
  expect(after).toMatchObject({ status: 'ok', activeSessions: before.activeSessions + 1, uptime: expect.any(Number) });
  expect(after.activeSandboxes).toBe(before.activeSandboxes + 1);
  expect(after.pool.resumeColdFreshHits).toBe(before.pool.resumeColdFreshHits + 1);
  const { total, cold, warming, warm, waiting, running: busy } = after.pool;
  expect(total).toBe(cold + warming + warm + waiting + busy);
  await session('POST', `/api/sessions/${id}/pause`);
  await session('POST', `/api/sessions/${id}/resume`);
  expect((await health()).pool.resumeWarmHits).toBe(after.pool.resumeWarmHits + 1);
  await running().call('POST', `/api/instances/${id}/suspend`);
  await session('POST', `/api/sessions/${id}/resume`);
  expect((await health()).pool.resumeColdLocalHits).toBe(after.pool.resumeColdLocalHits + 1);
  expect(JSON.stringify(after)).not.toMatch(/acme|globex|writer/);
  for (const key of [keys.acme, 'wrong']) {
    expect(await ask('GET', '/health', undefined, key)).toMatchObject({ status: 200, json: { status: 'ok' } });
  }
  expect((await fetch(`${running().url}/health`)).status).toBe(200);
  expect((await fetch(`${running().url}/metrics`)).status).toBe(401);
});

test('a quota that is used up between two files leaves an answer that says which were written', async () => {
  const { id } = await session('POST', '/api/sessions', { agent: 'writer' });
  const at = `/api/sessions/${id}`;
  const file = (path: string, bytes: number) => ({ path, content: Buffer.alloc(bytes, path).toString('base64') });
  const limit = (bytes: number | null) => running().call('PATCH', '/api/tenants/acme', { max_bytes: bytes });
  const { quotas } = (await running().call<{ quotas: { max_bytes: { used: number } } }>('GET', '/api/tenants/acme'))
    .json;
  expect((await limit(quotas.max_bytes.used + 300_000)).status).toBe(200);
  try {
    const none = await ask('POST', `${at}/files`, { files: [file('big', 600_000)] });
    expect(none.json).toEqual({ error: expect.any(String), statusCode: 429 });
    const some = await ask('POST', `${at}/files`, { files: [file('one', 9), file('big', 600_000)] });
    expect(some.json.files).toEqual([
      { path: 'one', written: true, size: 9 },
      { path: 'big', written: false, error: expect.any(String) },
    ]);
  } finally {
    await limit(null);
  }
  const { files } = (await ask('GET', `${at}/files`)).json as { files: { path: string }[] };
  expect(files.map(({ path }) => path)).toEqual(['agent.md', 'one']);
});

test('the logs are the lines of the ledger, and go on after the last one read', async () => {
  const { id } = await session('POST', '/api/sessions', { agent: 'writer' });
  await session('POST', `/api/sessions/${id}/pause`);
  const { logs, source } = (await ask('GET', `/api/sessions/${id}/logs`)).json as {
    logs: { index: number; level: string; text: string; ts: string }[];
    source: string;
  };
  expect(source).toBe('ledger');
  expect(logs.at(-1)).toMatchObject({ level: 'system', text: expect.stringContaining('paused on request') });
  const rest = (await ask('GET', `/api/sessions/${id}/logs?after=${logs.at(-2)?.index}`)).json.logs;
  expect(rest).toEqual(logs.slice(-1));
  expect((await ask('GET', `/api/sessions/${id}/logs`, undefined, keys.globex)).json).toMatchObject({
    statusCode: 404,
  });
  expect((await ask('GET', `/api/sessions/${id}/logs?after=x`)).json).toMatchObject({ statusCode: 400 });
});

test('a method that an address has not is 405, with those that it has', async () => {
  for (const [method, path, allow] of [
    ['PATCH', '/api/sessions', 'GET, POST, HEAD'],
    ['PUT', '/api/sessions/a', 'GET, DELETE, HEAD'],
    ['GET', '/api/sessions/a/exec', 'POST'],
    ['PUT', '/api/sessions/a/messages', 'POST, GET, HEAD'],
    ['DELETE', '/api/sessions/a/workspace', 'GET, POST, HEAD'],
    ['PUT', '/api/sessions/a/files/b/c', 'GET, DELETE, HEAD'],
    ['PUT', '/api/agents/a', 'GET, DELETE, PATCH, HEAD'],
  ] as const) {
    const response = await fetch(running().url + path, { method, headers: { authorization: `Bearer ${keys.acme}` } });
    expect([path, response.status, response.headers.get('allow')]).toEqual([path, 405, allow]);
    expect(await response.json()).toEqual({ error: expect.any(String), statusCode: 405 });
  }
});
