/** Agents of the session API, and workspaces as archives, as a client of Ash meets them. */
import { expect, test } from 'vitest';
import { roleRefusal } from '../../contract/access.ts';
import { TEST_KEY } from '../../testing/server.ts';
import { useSessionServer } from '../../testing/session-server.ts';
import { SHAPES } from '../../testing/session-shapes.ts';
import { SESSION_ROUTES } from '../session-api/routes.ts';

const { keys, ask, session, running } = useSessionServer();

const base64 = (text: string) => Buffer.from(text).toString('base64');
const file = (path: string, text: string) => ({ path, content: base64(text) });
const deploy = (body: object, key = keys.acme) => ask('POST', '/api/agents', body, key);
const agent = (answer: { json: unknown }) => SHAPES.agent.parse(answer.json).agent;
const contents = async (name: string, path: string, key = keys.acme) =>
  SHAPES.agentFile.parse((await ask('GET', `/api/agents/${name}/files/${path}?format=json`, undefined, key)).json)
    .content;
const listed = async (name: string, key = keys.acme) =>
  SHAPES.agentFiles
    .parse((await ask('GET', `/api/agents/${name}/files`, undefined, key)).json)
    .files.map(({ path }) => path);

test('a tenant’s own key deploys an agent of files and a prompt, and its sessions have all that it was given', async () => {
  const sessionsBefore = (await ask('GET', '/api/sessions')).json;
  const endedBefore = (await ask('GET', '/api/sessions?status=ended')).json;
  const made = await deploy({
    name: 'Speaker_1',
    description: 'speaks',
    model: 'm/0',
    env: { WHO: 'all', TONE: 'low' },
    systemPrompt: 'be brief ☃',
    files: [file('.agent.sh', 'while read line; do echo "$line, $WHO, $TONE, $ASH_MODEL"; done'), file('a/b c.md', '')],
  });
  expect([made.status, agent(made)]).toMatchObject([
    201,
    { name: 'Speaker_1', tenantId: 'acme', version: 1, description: 'speaks', model: 'm/0' },
  ]);
  // Names of variables, and no value.
  expect(agent(made).env).toEqual({ WHO: '***', TONE: '***' });
  expect(await ask('GET', '/api/agents/Speaker_1')).toEqual({ status: 200, json: made.json });
  expect(await listed('Speaker_1')).toEqual(['.agent.sh', 'CLAUDE.md', 'a/b c.md']);
  expect(await contents('Speaker_1', 'CLAUDE.md')).toBe('be brief ☃');
  // What its files were put into is no session, not even one that has ended.
  expect((await ask('GET', '/api/sessions')).json).toEqual(sessionsBefore);
  expect((await ask('GET', '/api/sessions?status=ended')).json).toEqual(endedBefore);
  const begun = await session('POST', '/api/sessions', { agent: 'Speaker_1', extraEnv: { WHO: 'you' } });
  expect(begun).toMatchObject({ code: 201, agentName: 'Speaker_1', model: 'm/0', parentSessionId: null });
  const say = async (body: object) => {
    const answer = await fetch(`${running().url}/api/sessions/${begun.id}/messages`, {
      method: 'POST',
      headers: { authorization: `Bearer ${keys.acme}` },
      body: JSON.stringify(body),
    });
    return answer.text();
  };
  expect(await say({ content: 'hello' })).toContain('"delta":"hello, you, low, m/0\\n"');
  expect(await say({ content: 'hello', model: 'm/2' })).toContain('"delta":"hello, you, low, m/2\\n"');
  const configured = await ask('PATCH', `/api/sessions/${begun.id}/config`, { model: 'm/3' });
  expect(configured).toMatchObject({ status: 200, json: { session: { model: 'm/3', agentName: 'Speaker_1' } } });
  const fork = await ask('POST', `/api/sessions/${begun.id}/fork`);
  expect(fork.json).toMatchObject({
    session: { model: 'm/3', agentName: 'Speaker_1', parentSessionId: begun.id },
  });
  const both = SHAPES.sessions.parse((await ask('GET', '/api/sessions?agent=Speaker_1')).json).sessions;
  expect(both.length).toBe(2);
  const none = await ask('PATCH', `/api/sessions/${begun.id}/config`, { model: null });
  expect(none.json).toMatchObject({ session: { model: null } });
  const odd = await ask('PATCH', `/api/sessions/${begun.id}/config`, { permissionMode: 'plan' });
  expect(odd.json).toEqual({ error: expect.any(String), statusCode: 501 });
});

test('an agent is deployed again over what it has, keeps its id, and sessions keep what they began with', async () => {
  const first = agent(
    await deploy({ name: 'again', files: [file('a', 'one'), file('b', 'two')], model: 'm', env: { A: '1' } }),
  );
  const session1 = await session('POST', '/api/sessions', { agent: 'again' });
  const second = agent(await deploy({ name: 'again', files: [file('b', 'three')], description: 'second' }));
  expect(second).toMatchObject({ id: first.id, version: 2, description: 'second', model: 'm', env: { A: '***' } });
  expect([await contents('again', 'a'), await contents('again', 'b')]).toEqual(['one', 'three']);
  const session2 = await session('POST', '/api/sessions', { agent: 'again' });
  const held = async (id: string) =>
    (await ask('POST', `/api/sessions/${id}/exec`, { command: 'cat b; echo $A' })).json.stdout;
  expect([await held(session1.id), await held(session2.id)]).toEqual(['two1\n', 'three1\n']);
  // Two at once follow each other, whole.
  const [one, two] = await Promise.all(
    ['x', 'y'].map((text) => deploy({ name: 'again', files: [file('a', text), file('b', text)] })),
  );
  expect([one?.status, two?.status]).toEqual([201, 201]);
  expect(agent(await ask('GET', '/api/agents/again')).version).toBe(4);
  expect(await contents('again', 'a')).toBe(await contents('again', 'b'));
  // Only the newest version’s snapshot is kept, and what was filled is gone.
  const snapshots = (await running().call<{ tag: string | null }[]>('GET', '/api/snapshots?tenant=acme')).json;
  expect(snapshots.filter(({ tag }) => tag === 'agent again').length).toBe(1);
  const instances = (await running().call<{ labels: Record<string, string> }[]>('GET', '/api/instances?tenant=acme'))
    .json;
  expect(instances.filter(({ labels }) => 'ash-making' in labels)).toEqual([]);
  expect((await ask('POST', '/api/agents/again/files', { files: [file('c', 'new')] })).json).toEqual({ written: 1 });
  expect((await ask('DELETE', '/api/agents/again/files/a')).json).toEqual({ deleted: true });
  expect((await ask('DELETE', '/api/agents/again/files/never')).json).toMatchObject({ statusCode: 404 });
  expect(await listed('again')).toEqual(['b', 'c']);
  const changed = agent(await ask('PATCH', '/api/agents/again', { model: null, env: {} }));
  expect(changed).toMatchObject({ id: first.id, version: 6, model: null, env: {}, description: 'second' });
  expect((await ask('DELETE', '/api/agents/again')).json).toMatchObject({ ok: true, agent: { id: first.id } });
  for (const method of ['GET', 'DELETE', 'PATCH']) {
    expect((await ask(method, '/api/agents/again', method === 'PATCH' ? {} : undefined)).json).toMatchObject({
      statusCode: 404,
    });
  }
  expect(await held(session2.id)).toBe('three1\n');
  expect(agent(await deploy({ name: 'again' }))).toMatchObject({ version: 1 });
  expect(await contents('again', 'CLAUDE.md')).toBe('# again\n');
});

test('agents are their tenant’s own: the same name is another one elsewhere, and goes before a blueprint', async () => {
  await deploy({ name: 'own', files: [file('whose', 'acme')] });
  await deploy({ name: 'own', files: [file('whose', 'globex')] }, keys.globex);
  expect([await contents('own', 'whose'), await contents('own', 'whose', keys.globex)]).toEqual(['acme', 'globex']);
  await deploy({ name: 'secret', files: [file('a', 'b')] });
  for (const [method, rest, body] of [
    ['GET', ''],
    ['DELETE', ''],
    ['PATCH', '', { model: 'x' }],
    ['GET', '/files'],
    ['GET', '/files/a'],
    ['POST', '/files', { files: [file('a', 'x')] }],
    ['DELETE', '/files/a'],
  ] as const) {
    const theirs = await ask(method, `/api/agents/secret${rest}`, body, keys.globex);
    const never = await ask(method, `/api/agents/never1${rest}`, body, keys.globex);
    expect([method, rest, theirs.status, JSON.stringify(theirs.json)]).toEqual([
      method,
      rest,
      404,
      JSON.stringify(never.json).replace('never1', 'secret'),
    ]);
  }
  expect((await ask('POST', '/api/sessions', { agent: 'secret' }, keys.globex)).json).toMatchObject({
    statusCode: 404,
  });
  const names = async (key?: string) =>
    SHAPES.agents.parse((await ask('GET', '/api/agents', undefined, key)).json).agents.map(({ name }) => name);
  expect(await names(keys.globex)).toEqual(expect.arrayContaining(['own', 'writer']));
  expect(await names(keys.globex)).not.toContain('secret');
  // A blueprint is every tenant’s, and is changed by nobody; a tenant’s own agent of its name hides it from that one.
  await deploy({ name: 'writer', files: [file('agent.md', 'be long')] }, keys.globex);
  expect([await contents('writer', 'agent.md'), await contents('writer', 'agent.md', keys.globex)]).toEqual([
    'be brief',
    'be long',
  ]);
  expect((await names(keys.globex)).filter((name) => name === 'writer').length).toBe(1);
  await ask('DELETE', '/api/agents/writer', undefined, keys.globex);
  expect(await contents('writer', 'agent.md', keys.globex)).toBe('be brief');
});

test('an agent that cannot be made leaves nothing, and says why in the form of its clients', async () => {
  const sessionsBefore = (await ask('GET', '/api/sessions')).json;
  const before = (await running().call('GET', '/api/snapshots?tenant=acme')).json;
  const one = file('a', 'x');
  for (const [body, status] of [
    [{ name: 'up', files: [{ ...one, path: '../../etc/passwd' }] }, 400],
    [{ name: 'text', files: [{ path: 'a', content: 'no base64!' }] }, 400],
    [{ name: 'cut', files: [{ path: 'a', content: 'YQ=' }] }, 400],
    [{ name: 'both', files: [one, { ...one, path: 'a/b' }] }, 409],
    [{ name: 'with space', files: [one] }, 400],
    [{ name: '../x', files: [one] }, 400],
    [{ name: 'x'.repeat(256), files: [one] }, 400],
    [{ name: 'folder', path: '/etc' }, 501],
    [{ name: 'keyed', files: [one], env: { 'no name': '1' } }, 400],
    [{ name: 'odd', files: [one], backend: 'openai' }, 501],
  ] as const) {
    const got = await deploy(body);
    expect([body.name, got.status, got.json]).toEqual([
      body.name,
      status,
      { error: expect.any(String), statusCode: status },
    ]);
  }
  expect((await deploy({ name: 'many', files: [one] }, TEST_KEY)).status).toBe(400);
  expect((await deploy({ name: 'mine', files: [one] }, keys.looking)).status).toBe(403);
  for (const name of ['up', 'text', 'cut', 'both', 'folder', 'keyed', 'odd', 'many', 'mine']) {
    expect((await ask('GET', `/api/agents/${name}`)).status).toBe(404);
  }
  expect((await ask('GET', '/api/sessions')).json).toEqual(sessionsBefore);
  expect((await running().call('GET', '/api/snapshots?tenant=acme')).json).toEqual(before);
  // One that fails over an agent that there is leaves that one as it was.
  await deploy({ name: 'stays', files: [one] });
  expect((await deploy({ name: 'stays', files: [file('b', 'y'), file('a/b', 'z')] })).status).toBe(409);
  expect(await listed('stays')).toEqual(['a']);
  expect(agent(await ask('GET', '/api/agents/stays')).version).toBe(1);
});

test('an agent whose snapshot somebody deleted says so, and is whole again when it is deployed', async () => {
  await deploy({ name: 'lost', files: [file('a', 'x')], description: 'kept' });
  const snapshots = (await running().call<{ id: string; tag: string | null }[]>('GET', '/api/snapshots?tenant=acme'))
    .json;
  const { id } = snapshots.find(({ tag }) => tag === 'agent lost') ?? expect.fail('no snapshot');
  await running().call('DELETE', `/api/snapshots/${id}`);
  const refused = await ask('POST', '/api/sessions', { agent: 'lost' });
  expect(refused.json).toEqual({ error: expect.stringContaining('Deploy it again'), statusCode: 409 });
  expect(agent(await deploy({ name: 'lost', files: [file('b', 'y')] }))).toMatchObject({
    version: 2,
    description: 'kept',
  });
  expect(await listed('lost')).toEqual(['b']);
});

test('a blueprint never changes, and only who reads contents reads its files', async () => {
  for (const [method, path, body] of [
    ['PATCH', '/api/agents/writer', {}],
    ['POST', '/api/agents/writer/files', { files: [file('a', 'x')] }],
    ['DELETE', '/api/agents/writer/files/agent.md', undefined],
  ] as const) {
    expect((await ask(method, path, body)).json).toEqual({ error: expect.any(String), statusCode: 501 });
    expect((await ask(method, path, body, keys.looking)).json).toEqual({ error: expect.any(String), statusCode: 403 });
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
      const body = method === 'POST' ? { files: [file('a', 'x')] } : method === 'PATCH' ? {} : undefined;
      const { status, json } = await ask(method, at, body, made.json.key);
      const expected = roleRefusal({ role, tenants: ['acme'] }, operation) === null ? 404 : 403;
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
    const got = await deploy(body as object);
    expect(got).toEqual({ status: 400, json: { error: expect.any(String), statusCode: 400 } });
  }
});
