/** Agents of the session API, and workspaces as archives, as a client of Ash meets them. */
import { expect, test } from 'vitest';
import { roleRefusal } from '../../contract/access.ts';
import { TEST_KEY } from '../../testing/server.ts';
import { useSessionServer } from '../../testing/session-server.ts';
import { SESSION_ROUTES } from '../session-api/routes.ts';

const { keys, ask, session, running } = useSessionServer();

test('an agent is made of files and a prompt, leaves no sandbox behind, and its sessions have them', async () => {
  const before = (await ask('GET', '/api/sessions', undefined, keys.maker)).json.sessions;
  const made = await ask(
    'POST',
    '/api/agents',
    {
      name: 'speaker',
      systemPrompt: 'be brief ☃',
      files: [
        { path: '.agent.sh', content: 'while read line; do echo "$line, $WHO, $ASH_MODEL"; done' },
        { path: 'a/b c.md', content: '' },
      ],
    },
    keys.maker,
  );
  expect(made).toMatchObject({ status: 201, json: { agent: { name: 'speaker', version: 1 } } });
  expect((await ask('GET', '/api/sessions', undefined, keys.maker)).json.sessions).toEqual(before);
  // What made it is deleted, and would have been by itself if the server had died.
  const { source } = (await running().call<{ source: string }>('GET', '/api/blueprints/speaker')).json;
  const deleted = await running().call<{ id: string; ephemeral: boolean }[]>('GET', '/api/instances?state=deleted');
  expect(deleted.json.find(({ id }) => id === source)).toMatchObject({ ephemeral: true });
  const { files } = (await ask('GET', '/api/agents/speaker/files')).json as { files: { path: string; size: number }[] };
  expect(files.map(({ path, size }) => [path, size])).toEqual([
    ['.agent.sh', 56],
    ['CLAUDE.md', 12],
    ['a/b c.md', 0],
  ]);
  expect((await ask('GET', '/api/agents/speaker/files/CLAUDE.md?format=json')).json).toEqual({
    path: 'CLAUDE.md',
    content: 'be brief ☃',
    size: 12,
  });
  expect((await ask('GET', '/api/agents/speaker/files/a/b%20c.md')).json).toMatchObject({ size: 0 });
  const begun = await ask(
    'POST',
    '/api/sessions',
    { agent: 'speaker', extraEnv: { WHO: 'you' }, model: 'm/1' },
    keys.maker,
  );
  const { session: at } = begun.json as { session: { id: string; model: string } };
  expect(at.model).toBe('m/1');
  const say = async (body: object) =>
    (
      await fetch(`${running().url}/api/sessions/${at.id}/messages`, {
        method: 'POST',
        headers: { authorization: `Bearer ${keys.maker}` },
        body: JSON.stringify(body),
      })
    ).text();
  expect(await say({ content: 'hello' })).toContain('"delta":"hello, you, m/1\\n"');
  expect(await say({ content: 'hello', model: 'm/2' })).toContain('"delta":"hello, you, m/2\\n"');
  const configured = await ask('PATCH', `/api/sessions/${at.id}/config`, { model: 'm/3' }, keys.maker);
  expect(configured).toMatchObject({
    status: 200,
    json: { session: { id: at.id, model: 'm/3', agentName: 'speaker' } },
  });
  const fork = await ask('POST', `/api/sessions/${at.id}/fork`, undefined, keys.maker);
  expect(fork.json).toMatchObject({ session: { model: 'm/3', agentName: 'speaker', parentSessionId: at.id } });
  const none = await ask('PATCH', `/api/sessions/${at.id}/config`, { model: null }, keys.maker);
  expect(none.json).toMatchObject({ session: { model: null } });
  const odd = await ask('PATCH', `/api/sessions/${at.id}/config`, { permissionMode: 'plan' }, keys.maker);
  expect(odd.json).toEqual({ error: expect.any(String), statusCode: 501 });
});

test('an agent that cannot be made leaves nothing, and says why in the form of its clients', async () => {
  const before = (await ask('GET', '/api/sessions', undefined, keys.maker)).json.sessions;
  const file = { path: 'a', content: 'x' };
  for (const [body, status] of [
    [{ name: 'writer', files: [file] }, 409],
    [{ name: 'none', files: [] }, 400],
    [{ name: 'up', files: [{ ...file, path: '../../etc/passwd' }] }, 400],
    [{ name: 'both', files: [file, { ...file, path: 'a/b' }] }, 409],
    [{ name: 'Upper', files: [file] }, 400],
    [{ name: 'folder', path: '/etc' }, 501],
    [{ name: 'keyed', files: [file], env: { A: '1' } }, 501],
  ] as const) {
    const got = await ask('POST', '/api/agents', body, keys.maker);
    expect([body.name, got.status, got.json]).toEqual([
      body.name,
      status,
      { error: expect.any(String), statusCode: status },
    ]);
  }
  expect((await ask('POST', '/api/agents', { name: 'many', files: [file] }, TEST_KEY)).status).toBe(400);
  expect((await ask('POST', '/api/agents', { name: 'mine', files: [file] })).status).toBe(403);
  for (const name of ['none', 'up', 'both', 'folder', 'keyed', 'many', 'mine']) {
    expect((await ask('GET', `/api/agents/${name}`)).status).toBe(404);
  }
  expect((await ask('GET', '/api/sessions', undefined, keys.maker)).json.sessions).toEqual(before);
});

test('an agent never changes, and only who reads contents reads its files', async () => {
  for (const [method, path] of [
    ['PATCH', '/api/agents/writer'],
    ['POST', '/api/agents/writer/files'],
    ['DELETE', '/api/agents/writer/files/agent.md'],
  ] as const) {
    expect((await ask(method, path, {}, keys.maker)).json).toEqual({ error: expect.any(String), statusCode: 501 });
    expect((await ask(method, path, {})).json).toEqual({ error: expect.any(String), statusCode: 403 });
  }
  for (const path of ['/api/agents/writer/files', '/api/agents/writer/files/agent.md']) {
    expect((await ask('GET', path, undefined, keys.globex)).status).toBe(200);
    expect((await ask('GET', path, undefined, keys.looking)).json).toMatchObject({ statusCode: 403 });
    expect((await ask('GET', path.replace('writer', 'never'))).json).toMatchObject({ statusCode: 404 });
  }
  expect((await ask('GET', '/api/agents/writer/files/never.md')).json).toMatchObject({ statusCode: 404 });
  expect((await ask('GET', '/api/agents/writer/files/..%2fx')).json).toMatchObject({ statusCode: 400 });
});

test('a workspace goes from one session to another as tar.gz, and an archive reaches nothing else', async () => {
  const [one, two] = [
    await session('POST', '/api/sessions', { agent: 'writer' }),
    await session('POST', '/api/sessions', { agent: 'writer' }),
  ];
  const run = async (id: string, command: string) => (await ask('POST', `/api/sessions/${id}/exec`, { command })).json;
  const headers = { authorization: `Bearer ${keys.acme}` };
  await run(one.id, 'mkdir "a b"; echo moved > "a b/ü"; echo changed > agent.md');
  const packed = await (await fetch(`${running().url}/api/sessions/${one.id}/workspace`, { headers })).arrayBuffer();
  const put = async (body: BodyInit) => {
    const response = await fetch(`${running().url}/api/sessions/${two.id}/workspace`, {
      method: 'POST',
      headers,
      body,
    });
    return { status: response.status, json: (await response.json()) as Record<string, unknown> };
  };
  await session('POST', `/api/sessions/${two.id}/pause`);
  expect(await put(packed)).toMatchObject({ status: 200, json: { session: { id: two.id, status: 'active' } } });
  expect(await run(two.id, 'cat "a b/ü" agent.md; ls /tmp')).toEqual({
    exitCode: 0,
    stdout: 'moved\nchanged\n',
    stderr: '',
  });
  for (const body of ['not an archive', '']) {
    expect(await put(body)).toEqual({ status: 400, json: { error: expect.any(String), statusCode: 400 } });
  }
  await run(one.id, 'echo out > /memory/out; mkdir x; cd x; tar czPf ../up.tgz ../agent.md /memory/out');
  const up = await (await fetch(`${running().url}/api/sessions/${one.id}/files/up.tgz`, { headers })).arrayBuffer();
  await put(up);
  expect((await run(two.id, 'ls /tmp; cat /memory/out')).stdout).toBe('');
  await session('DELETE', `/api/sessions/${two.id}`);
  expect(await put(packed)).toMatchObject({ status: 404, json: { statusCode: 404 } });
});

test('an output that is no text, too long or out of time says so, and comes as text all the same', async () => {
  const { id } = await session('POST', '/api/sessions', { agent: 'writer' });
  const run = (command: string, timeout?: number) => ask('POST', `/api/sessions/${id}/exec`, { command, timeout });
  expect((await run("printf 'a\\377b'")).json).toEqual({ exitCode: 0, stdout: 'a\ufffdb', stderr: '' });
  // No longer than at the API.
  expect((await run('true', 600_001)).status).toBe(400);
  const late = (await run('echo begun; sleep 9', 300)).json as { exitCode: number; stdout: string; stderr: string };
  expect([late.exitCode, late.stdout]).toEqual([124, 'begun\n']);
  expect(late.stderr).toContain('[winterdock: the command was stopped: its time ran out]');
  const long = (await run('head -c 5000000 /dev/zero | tr "\\0" x')).json as { stdout: string; stderr: string };
  expect([long.stdout.length, long.stderr]).toEqual([4 * 1024 ** 2, expect.stringContaining('the output is cut')]);
});

test('a client that leaves in the middle of a message stops the agent', async () => {
  const { id } = await session('POST', '/api/sessions', { agent: 'writer' });
  const script = Buffer.from('echo begun; sleep 60; echo late > late').toString('base64');
  await ask('POST', `/api/sessions/${id}/files`, { files: [{ path: '.agent.sh', content: script }] });
  const left = new AbortController();
  const answer = await fetch(`${running().url}/api/sessions/${id}/messages`, {
    method: 'POST',
    headers: { authorization: `Bearer ${keys.acme}` },
    body: JSON.stringify({ content: 'go' }),
    signal: left.signal,
  });
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader() ?? expect.fail('no stream');
  for (let text = ''; !text.includes('begun'); ) {
    const { value, done } = await reader.read();
    expect(done).toBe(false);
    text += value ?? '';
  }
  left.abort();
  // Its turn comes when the agent has ended, long before the minute is over.
  const { json } = await ask('POST', `/api/sessions/${id}/exec`, { command: 'ls' });
  expect(json).toEqual({ exitCode: 0, stdout: 'agent.md\n', stderr: '' });
});

test('every route of an agent refuses the roles that its operation refuses, and odd bodies', async () => {
  const guarded = SESSION_ROUTES.flatMap(({ method, path, operation }) =>
    operation === null || !path.includes('/:name') ? [] : [{ method, path, operation }],
  );
  expect(guarded.length).toBeGreaterThan(5);
  for (const role of ['tenant', 'viewer', 'support', 'operator'] as const) {
    const made = await running().call<{ key: string }>('POST', '/api/keys', { name: role, role, tenant: 'acme' });
    for (const { method, path, operation } of guarded) {
      const at = `/api${path.replace(':name', 'never').replace('*', 'agent.md')}`;
      const { status, json } = await ask(method, at, undefined, made.json.key);
      const isRefused = roleRefusal({ role, tenants: ['acme'] }, operation) !== null;
      const expected = isRefused ? 403 : operation === 'createBlueprint' ? 501 : 404;
      expect([role, method, path, status, json.statusCode]).toEqual([role, method, path, expected, expected]);
    }
  }
  const deep = JSON.parse('['.repeat(500) + ']'.repeat(500));
  for (const body of [
    null,
    7,
    'text',
    [],
    {},
    deep,
    { name: [[]], files: {} },
    { name: 'odd', files: [{ path: 7 }] },
    { name: 'half', systemPrompt: '\ud800' },
  ]) {
    const got = await ask('POST', '/api/agents', body, keys.maker);
    expect(got).toEqual({ status: 400, json: { error: expect.any(String), statusCode: 400 } });
  }
});
