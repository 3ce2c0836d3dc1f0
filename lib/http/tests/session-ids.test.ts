/** Ids and ends of sessions, as clients of Ash rely on them: UUIDs everywhere, and an end that can be said twice. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startServer, type TestServer } from '../../testing/server.ts';
import { useSessionServer } from '../../testing/session-server.ts';
import { SHAPES } from '../../testing/session-shapes.ts';
import { parseSessionId, sessionIdOf } from '../session-api/session-id.ts';

const { keys, ask, session, running } = useSessionServer();
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const LONG = `old-${'x'.repeat(40)}`;

test('every id is shown as a UUID that leads back to it, and no other id is shown so', () => {
  const ids = ['a', '0', 'sb-0123456789', 'mould', 'z'.repeat(23), `9${'-'.repeat(22)}`, 'a_b', '0a', '00', 'a-'];
  ids.push(crypto.randomUUID(), LONG, sessionIdOf('mould'), sessionIdOf(LONG));
  const shown = ids.map((id) => sessionIdOf(id));
  expect(new Set(shown).size).toBe(ids.length);
  for (const [at, id] of ids.entries()) {
    const uuid = shown[at] ?? '';
    expect(uuid).toMatch(UUID);
    expect(sessionIdOf(id)).toBe(uuid);
    const isShort = id.length < 24 || uuid === id;
    expect([id, parseSessionId(uuid)]).toEqual([id, { id: isShort ? id : uuid, isHashed: !isShort }]);
    expect(parseSessionId(uuid.toUpperCase())).toEqual(parseSessionId(uuid));
  }
  // Who calls a sandbox as the session of another one is shown has not taken that one's place.
  expect(parseSessionId(sessionIdOf('mould'))?.id).toBe('mould');
  for (const odd of ['', 'A', '../x', 'a'.repeat(64), 'é', `${crypto.randomUUID()} `])
    expect(parseSessionId(odd)).toBe(null);
});

test('sandboxes of any id are sessions under a UUID, reachable by it and by their own id, also when they have ended', async () => {
  for (const id of ['old-one', LONG, 'f'.repeat(32)]) {
    await running().call('POST', '/api/instances', { id, tenant: 'acme' });
    const listed = SHAPES.sessions.parse((await ask('GET', '/api/sessions')).json).sessions;
    const one = listed.find(({ sandboxId }) => sandboxId === id) ?? expect.fail(`${id} is not listed`);
    for (const at of [one.id, one.id.toUpperCase(), id]) {
      expect(await session('GET', `/api/sessions/${at}`)).toMatchObject({ code: 200, id: one.id, status: 'starting' });
    }
    const ran = await ask('POST', `/api/sessions/${one.id}/exec`, { command: 'echo here > here; ls' });
    expect(ran.json).toMatchObject({ stdout: 'here\n' });
    expect((await ask('GET', `/api/sessions/${one.id}`, undefined, keys.globex)).status).toBe(404);
    const fork = await session('POST', `/api/sessions/${one.id}/fork`);
    expect(fork).toMatchObject({ code: 201, parentSessionId: one.id });
    expect(await session('DELETE', `/api/sessions/${one.id}`)).toMatchObject({
      code: 200,
      id: one.id,
      status: 'ended',
    });
    expect(await session('GET', `/api/sessions/${one.id}`)).toMatchObject({ code: 200, id: one.id, status: 'ended' });
  }
  expect((await ask('GET', `/api/sessions/${sessionIdOf('a'.repeat(40))}`)).status).toBe(404);
});

test('a new session has a UUID of its own, which is the sandbox’s too, and lists are newest first', async () => {
  const made: string[] = [];
  for (let n = 0; n < 3; n += 1) {
    const { id } = await session('POST', '/api/sessions', { agent: 'writer' });
    expect((await running().call('GET', `/api/instances/${id}`)).json).toMatchObject({ id, tenant: 'acme' });
    made.unshift(id);
    running().clock.advance(1);
  }
  const { sessions } = SHAPES.sessions.parse((await ask('GET', '/api/sessions?agent=writer')).json);
  expect(sessions.slice(0, 3).map(({ id }) => id)).toEqual(made);
  const page = SHAPES.page.parse((await ask('GET', '/api/sessions?limit=1&offset=1&includeTotal=true')).json);
  expect([page.sessions.map(({ id }) => id), page.total]).toEqual([[made[1]], expect.any(Number)]);
});

test('an end is answered twice and shown afterwards, and 410 is said by resume alone', async () => {
  const { id } = await session('POST', '/api/sessions', { agent: 'writer' });
  const at = `/api/sessions/${id}`;
  const both = await Promise.all([session('DELETE', at), session('DELETE', at)]);
  expect(both.map(({ code, status }) => [code, status])).toEqual([
    [200, 'ended'],
    [200, 'ended'],
  ]);
  expect(await session('DELETE', at)).toMatchObject({ code: 200, id, status: 'ended' });
  expect(await session('GET', at)).toMatchObject({ code: 200, id, status: 'ended', agentName: 'writer' });
  const file = { path: 'a', content: 'YQ==' };
  for (const [method, rest, body, expected] of [
    ['POST', '/resume', undefined, 410],
    ['POST', '/pause', undefined, 400],
    ['POST', '/stop', undefined, 400],
    ['POST', '/fork', undefined, 400],
    ['POST', '/exec', { command: 'true' }, 400],
    ['POST', '/messages', { content: 'x' }, 400],
    ['GET', '/messages', undefined, 400],
    ['PATCH', '/config', { model: 'm' }, 400],
    ['GET', '/files', undefined, 404],
    ['GET', '/files/agent.md', undefined, 404],
    ['POST', '/files', { files: [file] }, 404],
    ['DELETE', '/files/agent.md', undefined, 404],
    ['GET', '/workspace', undefined, 404],
    ['POST', '/workspace', { bundle: 'YQ==' }, 404],
  ] as const) {
    const { status, json } = await ask(method, at + rest, body);
    expect([method, rest, status, SHAPES.error.parse(json).statusCode]).toEqual([method, rest, expected, expected]);
  }
  const { events } = SHAPES.events.parse((await ask('GET', `${at}/events?limit=1000`)).json);
  expect(events.map(({ data }) => JSON.parse(data ?? '').action)).toContain('ended');
  expect(SHAPES.logs.parse((await ask('GET', `${at}/logs?after=-1`)).json).logs.length).toBe(events.length);
  const ended = SHAPES.sessions.parse((await ask('GET', '/api/sessions?status=ended')).json).sessions;
  expect(ended.map((one) => one.id)).toContain(id);
});

test('a session ends while its agent talks, and the stream says so', async () => {
  const { id } = await session('POST', '/api/sessions', { agent: 'writer' });
  const content = Buffer.from('echo begun; sleep 120; echo late').toString('base64');
  await ask('POST', `/api/sessions/${id}/files`, { files: [{ path: '.agent.sh', content }] });
  const talk = await fetch(`${running().url}/api/sessions/${id}/messages`, {
    method: 'POST',
    headers: { authorization: `Bearer ${keys.acme}`, 'content-type': 'application/json' },
    body: JSON.stringify({ content: 'go' }),
  });
  const heard = talk.text();
  await expect
    .poll(async () => (await running().call<{ calls: number }>('GET', `/api/instances/${id}`)).json.calls, {
      timeout: 240_000,
    })
    .toBe(1);
  expect(await session('DELETE', `/api/sessions/${id}`)).toMatchObject({ code: 200, status: 'ended' });
  const text = await heard;
  expect(text.indexOf('event: session_start\n')).toBe(0);
  expect(text).toMatch(/event: error\ndata: \{"error":"[^\n]+\n\nevent: done\n/);
  expect(text).not.toContain('late');
});

test('a paused session keeps its process, is paused for its clients alone, and wakes warm; cold after the ladder', async () => {
  const { id } = await session('POST', '/api/sessions', { agent: 'writer' });
  const at = `/api/sessions/${id}`;
  const sandbox = async () =>
    (await running().call<{ state: string; thermal: string; labels: object }>('GET', `/api/instances/${id}`)).json;
  await ask('POST', `${at}/exec`, { command: 'echo kept > /tmp/kept' });
  expect(await session('POST', `${at}/pause`)).toMatchObject({ code: 200, status: 'paused' });
  expect(await sandbox()).toMatchObject({ state: 'active', thermal: 'warm' });
  expect(await session('GET', at)).toMatchObject({ status: 'paused' });
  const paused = SHAPES.sessions.parse((await ask('GET', '/api/sessions?status=paused')).json).sessions;
  expect(paused.map((one) => one.id)).toContain(id);
  const active = SHAPES.sessions.parse((await ask('GET', '/api/sessions?status=active')).json).sessions;
  expect(active.map((one) => one.id)).not.toContain(id);
  // Reads leave it as it is, and what runs in it resumes it.
  expect((await ask('GET', `${at}/files/agent.md?format=json`)).json).toMatchObject({ content: 'be brief' });
  expect(await session('GET', at)).toMatchObject({ status: 'paused' });
  expect(await session('POST', `${at}/resume`)).toMatchObject({ code: 200, status: 'active' });
  expect((await ask('POST', `${at}/exec`, { command: 'cat /tmp/kept' })).json.stdout).toBe('kept\n');
  await session('POST', `${at}/pause`);
  expect((await ask('POST', `${at}/exec`, { command: 'cat /tmp/kept' })).json.stdout).toBe('kept\n');
  expect(await session('GET', at)).toMatchObject({ status: 'active' });
  await session('POST', `${at}/pause`);
  await running().call('POST', `/api/instances/${id}/suspend`);
  expect(await session('GET', at)).toMatchObject({ status: 'paused' });
  expect(await session('POST', `${at}/resume`)).toMatchObject({ code: 200, status: 'active' });
  expect((await ask('POST', `${at}/exec`, { command: 'cat /tmp/kept; cat agent.md' })).json.stdout).toBe('be brief');
  expect((await sandbox()).labels).toEqual({});
});

test('a pause does not wait for a call that runs, which ends as if nothing were', async () => {
  const { id } = await session('POST', '/api/sessions', { agent: 'writer' });
  const at = `/api/sessions/${id}`;
  const server = running();
  const sandbox = async () =>
    (await server.call<{ calls: number; thermal: string; state: string }>('GET', `/api/instances/${id}`)).json;
  const call = ask('POST', `${at}/exec`, { command: 'while [ ! -e go ]; do sleep 0.05; done; echo went on' });
  await expect.poll(async () => (await sandbox()).calls, { timeout: 240_000 }).toBe(1);
  expect(await session('POST', `${at}/pause`)).toMatchObject({ code: 200, status: 'paused' });
  expect(await sandbox()).toMatchObject({ state: 'active', thermal: 'hot' });
  await server.call('PUT', `/api/instances/${id}/volumes/workspace/go`, 'x');
  expect((await call).json).toMatchObject({ exitCode: 0, stdout: 'went on\n' });
  // Once nothing runs in it, its process is paused too, in the ladder's next round.
  await server.host.sandboxes.tick();
  expect((await sandbox()).thermal).toBe('warm');
  expect(await session('GET', at)).toMatchObject({ status: 'paused' });
});

test('a paused session is suspended by the ladder, stays paused over a restart, and is resumed cold', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'winterdock-sessions-'));
  const start = () => startServer({ folder, settings: { WB_SESSION_API: 'on' } });
  try {
    const first = await start();
    const key = (await first.call<{ key: string }>('POST', '/api/keys', { name: 'k', role: 'tenant', tenant: 'acme' }))
      .json.key;
    const call = async (server: TestServer, method: 'GET' | 'POST', path: string, body?: object) => {
      const { json } = await server.call<{ session: { id: string; status: string } }>(method, path, body, { key });
      return json.session;
    };
    await first.call('POST', '/api/agents', { name: 'one' }, { key });
    const ids: string[] = [];
    for (const _ of ['filed', 'active']) ids.push((await call(first, 'POST', '/api/sessions', { agent: 'one' })).id);
    const [filed = '', active = ''] = ids;
    expect(await call(first, 'POST', `/api/sessions/${filed}/pause`)).toMatchObject({ status: 'paused' });
    first.clock.advance(901);
    await first.host.sandboxes.tick();
    expect((await first.call('GET', `/api/instances/${filed}`)).json).toMatchObject({ state: 'suspended' });
    await call(first, 'POST', `/api/sessions/${active}/resume`);
    expect(await call(first, 'POST', `/api/sessions/${active}/pause`)).toMatchObject({ status: 'paused' });
    await first.stop();
    const second = await start();
    for (const id of ids) {
      expect(await call(second, 'GET', `/api/sessions/${id}`)).toMatchObject({ status: 'paused' });
      expect(await call(second, 'POST', `/api/sessions/${id}/resume`)).toMatchObject({ status: 'active' });
    }
    const { pool } = (await second.call<{ pool: Record<string, number> }>('GET', '/health')).json;
    expect([pool.resumeWarmHits, pool.resumeColdLocalHits]).toEqual([0, 2]);
    await second.stop();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
