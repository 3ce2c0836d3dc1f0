/** The session API, called as a client of Ash calls it: every answer is parsed as JSON, errors are read as `error`. */
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { roleRefusal } from '../../contract/access.ts';
import { startServer, TEST_KEY } from '../../testing/server.ts';
import { useSessionServer } from '../../testing/session-server.ts';
import { SESSION_ROUTES } from '../session-api/routes.ts';

const { keys, ask, session, running } = useSessionServer();

test('a session begins, pauses, resumes, forks, stops, resumes and ends, and is gone then', async () => {
  const made = await session('POST', '/api/sessions', { agent: 'writer' });
  expect(made).toMatchObject({ code: 201, status: 'active', agentName: 'writer', tenantId: 'acme' });
  const at = `/api/sessions/${made.id}`;
  const ran = await ask('POST', `${at}/exec`, { command: 'cat agent.md; echo kept > kept; echo lost > /tmp/lost' });
  expect(ran).toEqual({ status: 200, json: { exitCode: 0, stdout: 'be brief', stderr: '' } });
  expect(await session('POST', `${at}/pause`)).toMatchObject({ code: 200, status: 'paused' });
  const again = await ask('POST', `${at}/pause`);
  expect(again).toEqual({
    status: 400,
    json: { error: 'Only an active session is paused: this one is paused.', statusCode: 400 },
  });
  expect(await session('POST', `${at}/resume`)).toMatchObject({ code: 200, status: 'active' });
  const after = await ask('POST', `${at}/exec`, { command: 'cat kept; ls /tmp' });
  // It was only paused in memory: what it had in /tmp is there.
  expect(after.json.stdout).toBe('kept\nlost\n');
  const child = await session('POST', `${at}/fork`);
  expect(child).toMatchObject({ code: 201, status: 'starting', agentName: 'writer', parentSessionId: made.id });
  const forked = await ask('POST', `/api/sessions/${child.id}/exec`, { command: 'cat kept' });
  expect(forked.json.stdout).toBe('kept\n');
  expect(await session('POST', `${at}/stop`)).toMatchObject({ code: 200, status: 'stopped' });
  expect(await session('POST', `${at}/resume`)).toMatchObject({ code: 200, status: 'active' });
  expect(await session('DELETE', at)).toMatchObject({ code: 200, status: 'ended' });
  const late = await ask('POST', `${at}/resume`);
  expect([late.status, late.json.statusCode]).toEqual([410, 410]);
  const listed = await ask('GET', '/api/sessions?agent=writer&includeTotal=true');
  expect(listed.json).toMatchObject({ total: 1, sessions: [{ id: child.id, status: 'active' }] });
});

test('a resume of an active session answers it as it is, and is counted as none', async () => {
  const resumes = async () => {
    const response = await fetch(`${running().url}/metrics`, { headers: { authorization: `Bearer ${TEST_KEY}` } });
    return (await response.text()).split('\n').filter((line) => /^(?:winterdock|ash)_resume\w*_total\b/.test(line));
  };
  const { id } = await session('POST', '/api/sessions', { agent: 'writer' });
  const before = await resumes();
  expect(await session('POST', `/api/sessions/${id}/resume`)).toMatchObject({ code: 200, id, status: 'active' });
  expect(await resumes()).toEqual(before);
  const cycle = async () => {
    await session('POST', `/api/sessions/${id}/pause`);
    await session('POST', `/api/sessions/${id}/resume`);
  };
  await cycle();
  const warm = await resumes();
  await session('POST', `/api/sessions/${id}/pause`);
  await running().call('POST', `/api/instances/${id}/suspend`);
  await session('POST', `/api/sessions/${id}/resume`);
  const cold = await resumes();
  const of = (lines: string[], name: string) =>
    Number(
      lines
        .find((line) => line.startsWith(name))
        ?.split(' ')
        .at(-1) ?? 0,
    );
  for (const name of ['winterdock_resume_cold_total{source="local"}', 'ash_resume_cold_total{source="local"}']) {
    expect([name, of(warm, name) - of(before, name), of(cold, name) - of(warm, name)]).toEqual([name, 0, 1]);
  }
  const name = 'ash_resume_warm_total';
  expect([of(warm, name) - of(before, name), of(cold, name) - of(warm, name)]).toEqual([1, 0]);
});

test('a fork leaves no snapshot behind, and has what its parent held', async () => {
  const parent = await session('POST', '/api/sessions', { agent: 'writer' });
  await ask('POST', `/api/sessions/${parent.id}/exec`, { command: 'echo mine > mine' });
  const child = await session('POST', `/api/sessions/${parent.id}/fork`);
  const snapshots = (await running().call<{ source: string }[]>('GET', '/api/snapshots')).json;
  expect(snapshots.filter(({ source }) => source === parent.id)).toEqual([]);
  await session('DELETE', `/api/sessions/${parent.id}`);
  expect((await ask('POST', `/api/sessions/${child.id}/exec`, { command: 'cat mine' })).json.stdout).toBe('mine\n');
});

test('files are written, listed, read and deleted, awake and asleep, and nowhere else than in the workspace', async () => {
  const { id } = await session('POST', '/api/sessions', { agent: 'writer' });
  const at = `/api/sessions/${id}`;
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  const sent = await ask('POST', `${at}/files`, {
    files: [
      { path: 'a.txt', content: base64('one') },
      { path: '/.hidden', content: base64('two') },
      { path: '../../etc/passwd', content: base64('no') },
    ],
    targetPath: 'deep/er',
  });
  expect(sent.json.files).toEqual([
    { path: 'a.txt', written: true, size: 3 },
    { path: '/.hidden', written: true, size: 3 },
    { path: '../../etc/passwd', written: false, error: expect.any(String) },
  ]);
  const names = async (query = '') => {
    const { json } = await ask('GET', `${at}/files${query}`);
    return [json.source, ...(json.files as { path: string }[]).map(({ path }) => path)];
  };
  expect(await names('?includeHidden=false')).toEqual(['sandbox', 'agent.md', 'deep/er/a.txt']);
  await running().call('POST', `/api/instances/${id}/suspend`);
  expect(await names()).toEqual(['snapshot', 'agent.md', 'deep/er/.hidden', 'deep/er/a.txt']);
  const read = await ask('GET', `${at}/files/deep/er/a.txt?format=json`);
  expect(read.json).toEqual({ path: 'deep/er/a.txt', content: 'one', size: 3, source: 'snapshot' });
  const raw = await fetch(`${running().url}${at}/files/deep/er/a.txt`, {
    headers: { authorization: `Bearer ${keys.acme}` },
  });
  expect([raw.headers.get('x-ash-source'), await raw.text()]).toEqual(['snapshot', 'one']);
  expect((await session('GET', at)).status).toBe('paused');
  const gone = await ask('DELETE', `${at}/files/deep/er/a.txt`);
  expect(gone).toEqual({ status: 200, json: { path: 'deep/er/a.txt', deleted: true } });
  expect((await ask('GET', `${at}/files/deep/er/a.txt`)).json).toMatchObject({ statusCode: 404 });
  for (const path of ['..%2fx', 'a//b', 'a%00b']) {
    expect((await ask('GET', `${at}/files/${path}`)).json).toEqual({ error: expect.any(String), statusCode: 400 });
  }
  await session('DELETE', at);
  expect((await ask('GET', `${at}/files`)).json).toMatchObject({ statusCode: 404 });
});

test('agents are the blueprints, which a tenant sees and does not delete', async () => {
  await running().call('POST', '/api/blueprints', { name: 'reader', from_instance: 'mould' });
  const { agents } = (await ask('GET', '/api/agents')).json as { agents: { name: string }[] };
  expect(agents.map(({ name }) => name).sort()).toEqual(['reader', 'writer']);
  expect((await ask('GET', '/api/agents/reader')).json).toMatchObject({ agent: { name: 'reader', version: 1 } });
  expect((await ask('DELETE', '/api/agents/reader')).json).toMatchObject({ statusCode: 403 });
  expect((await ask('DELETE', '/api/agents/reader', undefined, TEST_KEY)).json).toMatchObject({
    agent: { name: 'reader' },
  });
  expect((await ask('GET', '/api/agents/reader')).json).toMatchObject({ statusCode: 404 });
});

test('what is not done is 501 and what there is not is 404, both in the form of their clients', async () => {
  for (const [method, path, status] of [
    ['GET', '/api/sessions/a/nothing', 404],
    ['PUT', '/api/sessions/a/b/c/d?x=1', 404],
    ['GET', '/api/agents/a/b/c', 404],
    ['POST', '/api/agents', 400],
    ['GET', '/api/usage/stats', 501],
    ['GET', '/api/credentials', 501],
    ['GET', '/api/files', 501],
    ['GET', '/api/files/a/url', 501],
    ['GET', '/api/analytics', 501],
    ['GET', '/api/sessions/a/attachments', 501],
    ['GET', '/api/agents/a/versions', 501],
    ['POST', '/api/agents/a/eval-runs', 501],
    ['POST', '/api/queue', 501],
    ['DELETE', '/api/credentials/a', 501],
  ] as const) {
    const got = await ask(method, path);
    expect([method, path, got.status, got.json]).toEqual([
      method,
      path,
      status,
      { error: expect.any(String), statusCode: status },
    ]);
    expect((await ask(method, path, undefined, 'wrong')).json).toMatchObject({ statusCode: 401 });
  }
});

test('a message is the stdin of the agent, whose output comes as events, and an end of the session ends that', async () => {
  const { id } = await session('POST', '/api/sessions', { agent: 'writer' });
  const say = (body: unknown) =>
    fetch(`${running().url}/api/sessions/${id}/messages`, {
      method: 'POST',
      headers: { authorization: `Bearer ${keys.acme}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const mute = await say({ content: 'hello' });
  expect([mute.status, await mute.json()]).toEqual([501, { error: expect.any(String), statusCode: 501 }]);
  const script =
    'read line; echo "heard: $line"; echo "$line" > heard; [ "$line" != fail ] || { echo bad >&2; exit 3; }';
  await ask('POST', `/api/sessions/${id}/files`, {
    files: [{ path: '.agent.sh', content: Buffer.from(script).toString('base64') }],
  });
  const answer = await say({ content: 'hello; echo $HOME' });
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
  const eventsIn = (text: string) =>
    [...text.matchAll(/event: (\w+)\ndata: (.+)\n/g)].map(([, name, data]) => [name, JSON.parse(data ?? '')]);
  expect(eventsIn(await answer.text())).toEqual([
    ['session_start', { sessionId: id, version: expect.stringMatching(/^\d/) }],
    ['text_delta', { type: 'text_delta', delta: 'heard: hello; echo $HOME\n' }],
    [
      'message',
      {
        type: 'assistant',
        message: { role: 'assistant', content: [{ type: 'text', text: 'heard: hello; echo $HOME\n' }] },
      },
    ],
    ['done', { sessionId: id }],
  ]);
  const failed = eventsIn(await (await say({ content: 'fail' })).text());
  expect(failed.filter(([name]) => name === 'error')).toEqual([['error', { error: 'The agent ended with 3: bad\n' }]]);
  expect((await ask('POST', `/api/sessions/${id}/exec`, { command: 'cat heard' })).json.stdout).toBe('fail\n');
  expect((await say({ content: 'x', attachments: [] })).status).toBe(501);
  const kept = await ask('GET', `/api/sessions/${id}/messages`);
  expect(kept).toEqual({ status: 501, json: { error: expect.any(String), statusCode: 501 } });
  await session('DELETE', `/api/sessions/${id}`);
  expect((await say({ content: 'late' })).status).toBe(400);
});

test('the workspace comes as tar.gz, and what happened as events, oldest first', async () => {
  const { id } = await session('POST', '/api/sessions', { agent: 'writer' });
  const at = `/api/sessions/${id}`;
  const packed = await fetch(`${running().url}${at}/workspace`, { headers: { authorization: `Bearer ${keys.acme}` } });
  expect(packed.headers.get('content-type')).toBe('application/gzip');
  expect(gunzipSync(Buffer.from(await packed.arrayBuffer())).toString('latin1')).toContain('be brief');
  await session('POST', `${at}/pause`);
  const { events } = (await ask('GET', `${at}/events`)).json as {
    events: { sequence: number; sessionId: string; data: string }[];
  };
  const sequences = events.map(({ sequence }) => sequence);
  expect(sequences).toEqual([...sequences].sort((a, b) => a - b));
  expect(JSON.parse(events.at(-1)?.data ?? '')).toMatchObject({ action: 'paused' });
  const rest = (await ask('GET', `${at}/events?after=${sequences.at(-2)}`)).json.events;
  expect(rest).toEqual(events.slice(-1));
  expect((await ask('GET', `${at}/events`, undefined, keys.globex)).json).toMatchObject({ statusCode: 404 });
});

test('sessions are kept apart by tenant and role, and errors have the form of their clients', async () => {
  const made = await session('POST', '/api/sessions', { agent: 'writer' });
  for (const [method, rest, body] of [
    ['GET', ''],
    ['DELETE', ''],
    ['POST', '/pause'],
    ['POST', '/resume'],
    ['POST', '/stop'],
    ['POST', '/fork'],
    ['POST', '/exec', { command: 'true' }],
    ['GET', '/files/agent.md?format=json'],
    ['POST', '/files', { files: [{ path: 'x', content: '' }] }],
    ['DELETE', '/files/agent.md'],
    ['POST', '/messages', { content: 'hello' }],
    ['GET', '/workspace'],
    ['POST', '/workspace'],
    ['GET', '/messages'],
    ['PATCH', '/config'],
  ] as const) {
    const foreign = await ask(method, `/api/sessions/${made.id}${rest}`, body, keys.globex);
    const unknown = await ask(method, `/api/sessions/never${rest}`, body, keys.globex);
    expect([method, rest, foreign.status, unknown.status]).toEqual([method, rest, 404, 404]);
    const text = JSON.stringify(foreign.json).replaceAll(made.id, 'never');
    expect(text).toBe(JSON.stringify(unknown.json));
    if (method === 'GET' && rest === '') continue;
    const looking = await ask(method, `/api/sessions/${made.id}${rest}`, body, keys.looking);
    expect([method, rest, looking.status, looking.json.statusCode]).toEqual([method, rest, 403, 403]);
  }
  expect((await session('GET', `/api/sessions/${made.id}`)).status).toBe('active');
  expect((await ask('GET', '/api/sessions', undefined, keys.globex)).json).toEqual({ sessions: [] });
  for (const [path, body, status] of [
    ['/api/sessions', { agent: 'nobody' }, 404],
    ['/api/sessions', { agent: '../x' }, 400],
    ['/api/sessions', [], 400],
    ['/api/sessions', { agent: 'writer', runnerId: 'one' }, 501],
    ['/api/sessions', { agent: 'writer', extraEnv: { 'no name': '1' } }, 400],
    ['/api/sessions', { agent: 'writer', extraEnv: { PATH: 1 } }, 400],
    [`/api/sessions/${made.id}/exec`, { command: 7 }, 400],
  ] as const) {
    const got = await ask('POST', path, body);
    expect([got.status, got.json]).toEqual([status, { error: expect.any(String), statusCode: status }]);
  }
  expect((await ask('GET', '/api/sessions', undefined, 'wrong')).json).toMatchObject({ statusCode: 401 });
  expect((await ask('POST', '/api/sessions', { agent: 'writer' }, TEST_KEY)).status).toBe(400);
});

test('every route refuses the roles that its operation refuses, and shows nobody the session of another tenant', async () => {
  const foreign = await running().call<{ id: string }[]>('POST', '/api/blueprints/writer/clone', { tenant: 'globex' });
  const id = foreign.json[0]?.id ?? expect.fail('no clone');
  const guarded = SESSION_ROUTES.flatMap(({ method, path, operation }) =>
    operation === null || !path.includes('/:id') ? [] : [{ method, path, operation }],
  );
  expect(guarded.length).toBeGreaterThan(12);
  for (const role of ['tenant', 'viewer', 'support', 'operator'] as const) {
    const made = await running().call<{ key: string }>('POST', '/api/keys', { name: role, role, tenant: 'acme' });
    for (const { method, path, operation } of guarded) {
      const at = `/api${path.replace(':id', id).replace('*', 'agent.md')}`;
      const body = { command: 'true', content: 'x', files: [{ path: 'x', content: '' }] };
      const sent = /exec|messages|files$/.test(path) && method === 'POST' ? body : undefined;
      const { status, json } = await ask(method, at, sent, made.json.key);
      const expected = roleRefusal({ role, tenants: ['acme'] }, operation) === null ? 404 : 403;
      expect([role, method, path, status, json.statusCode]).toEqual([role, method, path, expected, expected]);
    }
  }
  expect((await running().call<{ state: string }>('GET', `/api/instances/${id}`)).json.state).toBe('created');
});

test('odd bodies and addresses are refused in the form of their clients, and never as a fault of the server', async () => {
  const { id } = await session('POST', '/api/sessions', { agent: 'writer' });
  const deep = JSON.parse('['.repeat(500) + ']'.repeat(500));
  const odd = [
    ...[null, 7, 'text', [], {}, { agent: [[]], command: {}, content: 7, files: {} }].map((body) => ({
      body,
      status: 400,
    })),
    { body: deep, status: 400 },
    { body: { agent: deep, command: deep, content: deep, files: deep }, status: 413 },
  ];
  for (const path of ['', `/${id}/exec`, `/${id}/messages`, `/${id}/files`]) {
    for (const { body, status } of odd) {
      const got = await ask('POST', `/api/sessions${path}`, body);
      const refusal = { error: expect.any(String), statusCode: status };
      expect([path, got.status, got.json]).toEqual([path, status, refusal]);
    }
  }
  for (const path of ['/%00', '/..%2f..', '/A', `/${'a'.repeat(64)}`, '?limit=0', '?offset=-1', '?status=x', '?x=1']) {
    const got = await ask('GET', `/api/sessions${path}`);
    expect([path, got.status, got.json]).toEqual([path, 400, { error: expect.any(String), statusCode: 400 }]);
  }
  for (const query of ['limit=0', 'after=-1', 'after=x', 'limit=1&limit=2']) {
    expect((await ask('GET', `/api/sessions/${id}/events?${query}`)).json).toMatchObject({ statusCode: 400 });
  }
  expect((await session('GET', `/api/sessions/${id}`)).status).toBe('active');
});

test('without its setting there is no session API', async () => {
  const plain = await startServer();
  try {
    expect((await plain.call('GET', '/api/sessions')).status).toBe(404);
    expect((await plain.call('POST', '/api/sessions', { agent: 'x' })).status).toBe(404);
  } finally {
    await plain.stop();
  }
});
