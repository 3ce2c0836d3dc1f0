/** The MCP endpoint under attack: roles, tenants, other people's sessions, pages of other origins, and odd messages. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { roleRefusal } from '../../contract/access.ts';
import type { Event, Instance } from '../../contract/schema.ts';
import type { Got } from '../../testing/call.ts';
import { type Agent, connectAgent } from '../../testing/mcp.ts';
import { startServer, TEST_KEY, type TestServer } from '../../testing/server.ts';
import { MCP_TOOLS } from '../mcp/tools.ts';

const CALLERS = [
  { name: 'admin', role: 'admin', tenants: null },
  { name: 'operator', role: 'operator', tenants: null },
  { name: 'operator of acme', role: 'operator', tenants: ['acme'] },
  { name: 'support', role: 'support', tenants: null },
  { name: 'viewer', role: 'viewer', tenants: null },
  { name: 'viewer of acme', role: 'viewer', tenants: ['acme'] },
  { name: 'tenant of acme', role: 'tenant', tenants: ['acme'] },
] as const;

let server: TestServer;
const keys = new Map<string, string>();
const snapshots: Record<string, string> = {};
const runs: Record<string, string> = {};
beforeAll(async () => {
  server = await startServer({ settings: { WB_RATE_WRONG_KEYS: '0', WB_RATE_KEY: '0', WB_RATE_ADDRESS: '0' } });
  for (const { name, role, tenants } of CALLERS) {
    const input = { name, role, ...(tenants === null ? {} : { tenant: tenants[0] }) };
    keys.set(name, (await server.call<{ key: string }>('POST', '/api/keys', input)).json.key);
  }
  for (const [id, tenant] of [
    ['mine', 'acme'],
    ['yours', 'globex'],
  ] as const) {
    await server.call('POST', '/api/instances', { id, tenant });
    await server.call('PUT', `/api/instances/${id}/volumes/workspace/note`, `the note of ${tenant}`);
    snapshots[id] = (await server.call<{ id: string }>('POST', `/api/instances/${id}/snapshots`, {})).json.id;
    const begun = await server.call<{ id: string }>('POST', `/api/instances/${id}/runs`, { command: 'true' });
    runs[id] = begun.json.id;
  }
});
afterAll(() => server.stop());

const ACCEPT = 'application/json, text/event-stream';
const post = (body: unknown, headers: Record<string, string> = {}, key: string | null = TEST_KEY) =>
  server.call('POST', '/api/mcp', body, { key, headers: { accept: ACCEPT, ...headers } });
const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'odd', version: '1' } },
};
const toolCall = (id: unknown, name: string, input: unknown) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: input },
});

/** What each tool is called with, about one sandbox and its things. */
function inputOf(tool: string, id: 'mine' | 'yours' | 'never'): Record<string, unknown> {
  const snapshot = snapshots[id] ?? (snapshots.mine ?? '').replace(/.$/, (last) => (last === '0' ? '1' : '0'));
  const run = runs[id] ?? 'run-0000000000';
  const inputs: Record<string, Record<string, unknown>> = {
    create_sandbox: { tenant: id === 'mine' ? 'acme' : 'globex' },
    list_sandboxes: {},
    get_sandbox: { id },
    suspend_sandbox: { id },
    snapshot_sandbox: { id },
    list_snapshots: {},
    restore_snapshot: { snapshot },
    call_component: { id, component: 'none' },
    exec: { id, command: 'cat note' },
    start_run: { id, command: 'true' },
    run_output: { id, run },
    stop_run: { id, run },
    read_file: { id, path: 'note' },
    write_file: { id, path: 'made', content: 'x' },
    edit_file: { id, path: 'note', old_text: 'the', new_text: 'the' },
    list_files: { id },
    search_files: { id, q: 'note' },
    query_files: { id, sql: 'SELECT content FROM vfs' },
  };
  return inputs[tool] ?? expect.fail(`there is no input for ${tool}`);
}

describe.each(CALLERS)('$name', ({ name, role, tenants }) => {
  let agent: Agent;
  beforeAll(async () => {
    agent = await connectAgent(server.url, { key: keys.get(name) ?? '' });
  });
  afterAll(() => agent.close());

  test('is offered what the role may do, and nothing else', async () => {
    const offered = MCP_TOOLS.filter(({ operation }) => roleRefusal({ role, tenants }, operation) === null);
    expect(await agent.tools()).toEqual(offered.map((tool) => tool.name));
    expect(await agent.tools()).toContain('winterdock_list_sandboxes');
  });

  test('does with every tool what the same key does at the API, and learns nothing of another tenant', async () => {
    for (const { name: full, operation } of MCP_TOOLS) {
      const tool = full.replace('winterdock_', '');
      const told: Record<string, string> = {};
      for (const id of ['mine', 'yours', 'never'] as const) {
        const input = inputOf(tool, id);
        const { isError, texts, facts, problem } = await agent.call(tool, input);
        const where = `${tool} of ${id}: ${JSON.stringify([facts, texts, problem])}`;
        expect(problem.status ?? 200, where).toBeLessThan(500);
        if (roleRefusal({ role, tenants }, operation) !== null) {
          expect([where, problem.code]).toEqual([where, 'forbidden']);
          continue;
        }
        const isForeign = id === 'yours' && tenants !== null;
        if (isForeign) expect(JSON.stringify([facts, texts]), where).not.toMatch(/the note of globex/);
        const isList = tool.startsWith('list_sa') || tool.startsWith('list_sn');
        if (isList && tenants !== null) expect(JSON.stringify(facts), where).not.toMatch(/globex|yours/);
        if (isList) continue;
        if (tool === 'create_sandbox') {
          expect([where, problem.code]).toEqual([where, id !== 'mine' && tenants !== null ? 'forbidden' : undefined]);
          continue;
        }
        if (isForeign || id === 'never') expect([where, problem.code]).toEqual([where, 'not_found']);
        else if (tool !== 'call_component') expect([where, isError]).toEqual([where, false]);
        const names = new RegExp(`${id}|${snapshots[id] ?? inputOf('restore_snapshot', id).snapshot}`, 'g');
        told[id] = texts.join('\n').replaceAll(names, 'ID');
      }
      if (tenants !== null && told.yours !== undefined) expect(told.yours).toBe(told.never);
    }
  });
});

test('a refusal is a line of the ledger, as everywhere else', async () => {
  const agent = await connectAgent(server.url, { key: keys.get('viewer of acme') ?? '' });
  await agent.call('exec', { id: 'mine', command: 'true' });
  await agent.close();
  const lines = (await server.call<Event[]>('GET', '/api/events?type=access.refused&tenant=acme')).json;
  expect(lines.filter(({ via, reason }) => via === 'mcp' && reason?.startsWith('exec: ')).length).toBeGreaterThan(0);
});

test('without a key, and with a wrong one, every request is refused', async () => {
  for (const key of [null, 'wrong']) {
    const answer = await post(initialize, {}, key);
    expect([answer.status, answer.json.code, answer.headers['www-authenticate']]).toEqual([
      401,
      'unauthorized',
      'Bearer',
    ]);
  }
});

test('another key cannot cancel a call by its session and its id, nor its own key without the session', async () => {
  await server.call('POST', '/api/instances', { id: 'busy', tenant: 'acme' });
  const session = (await post(initialize)).headers['mcp-session-id'] ?? expect.fail('no session');
  const calls = async () => (await server.call<Instance>('GET', '/api/instances/busy')).json.calls;
  const call = post(toolCall(7, 'winterdock_exec', { id: 'busy', command: 'sleep 600' }), {
    'mcp-session-id': session,
  });
  const ended = call.catch(() => 'cut');
  await expect.poll(calls).toBe(1);
  const cancelled = (requestId: unknown) => ({
    jsonrpc: '2.0',
    method: 'notifications/cancelled',
    params: { requestId },
  });
  const own = keys.get('tenant of acme') ?? '';
  for (const [message, headers, key] of [
    [cancelled(7), { 'mcp-session-id': session }, own],
    [cancelled(7), {}, TEST_KEY],
    [cancelled(7), { 'mcp-session-id': 'guessed' }, TEST_KEY],
    [cancelled('7'), { 'mcp-session-id': session }, TEST_KEY],
    [cancelled({ 7: 7 }), { 'mcp-session-id': session }, TEST_KEY],
  ] as const) {
    expect((await post(message, headers, key)).status).toBe(202);
    expect(await calls()).toBe(1);
  }
  expect((await post(cancelled(7), { 'mcp-session-id': session })).status).toBe(202);
  await expect.poll(calls).toBe(0);
  await ended;
});

test('a session gives no rights: what it was begun with is not what it may do', async () => {
  const session = (await post(initialize)).headers['mcp-session-id'] ?? '';
  const viewer = keys.get('viewer') ?? '';
  const answer = await post(
    toolCall(1, 'winterdock_exec', { id: 'mine', command: 'true' }),
    { 'mcp-session-id': session },
    viewer,
  );
  expect(answer.text).toContain('"forbidden"');
  expect(
    (await post(toolCall(1, 'winterdock_exec', { id: 'mine', command: 'true' }), { 'mcp-session-id': session }, null))
      .status,
  ).toBe(401);
});

test('of a thousand sessions none is given twice', async () => {
  const names = new Set<string | undefined>();
  for (let n = 0; n < 20; n += 1) {
    const answers = await Promise.all(Array.from({ length: 50 }, () => post(initialize)));
    for (const { status, headers } of answers) {
      expect(status).toBe(200);
      names.add(headers['mcp-session-id']);
    }
  }
  expect(names.size).toBe(1000);
});

test('a page of another origin is refused, also one whose name was made to lead here', async () => {
  const { host } = new URL(server.url);
  const port = new URL(server.url).port;
  const foreign: Record<string, string>[] = [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: 'http://evil.example', host: 'evil.example' },
    { origin: `http://evil.example:${port}`, host: `evil.example:${port}` },
    { origin: `http://127.0.0.1.evil.example:${port}`, host: `127.0.0.1.evil.example:${port}` },
    { origin: `http://localhost.evil.example:${port}`, host: `localhost.evil.example:${port}` },
    { origin: `http://localhost:1`, host },
    { origin: `http://${host}`, host: `evil.example:${port}` },
    { origin: 'file:///etc/passwd' },
  ];
  for (const headers of foreign) {
    const answer = await post(initialize, headers);
    expect([headers, answer.status, answer.json.code]).toEqual([headers, 403, 'forbidden']);
  }
  const trusted: Record<string, string>[] = [
    {},
    { origin: `http://${host}` },
    { origin: `http://localhost:${port}`, host: `localhost:${port}` },
  ];
  for (const headers of trusted) {
    expect([headers, (await post(initialize, headers)).status]).toEqual([headers, 200]);
  }
  const named = await startServer({ settings: { WB_PUBLIC_URL: 'https://dock.example' } });
  try {
    const ask = (origin: string) =>
      named.call('POST', '/api/mcp', initialize, { headers: { accept: ACCEPT, origin, host: 'dock.example' } });
    expect((await ask('https://dock.example')).status).toBe(200);
    expect((await ask('http://dock.example')).status).toBe(403);
  } finally {
    await named.stop();
  }
});

test('odd messages are refused without a fault of the server and without a word about it', async () => {
  const modern = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'odd', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const deep = `${'{"a":'.repeat(300)}1${'}'.repeat(300)}`;
  const bodies: [unknown, Record<string, string>?][] = [
    ['', {}],
    ['nonsense'],
    ['null'],
    ['[]'],
    [JSON.stringify([initialize, initialize])],
    ['{"jsonrpc":"1.0","id":1,"method":"ping"}'],
    ['{"jsonrpc":"2.0","id":{},"method":"ping"}'],
    ['{"jsonrpc":"2.0","id":1,"method":{}}'],
    ['{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}'],
    ['{"jsonrpc":"2.0","id":1}'],
    ['{"jsonrpc":"2.0","id":1,"result":{}}'],
    ['{"jsonrpc":"2.0","id":1e400,"method":"ping"}'],
    ['{"jsonrpc":"2.0","id":1,"method":"nothing","__proto__":{"admin":true}}'],
    [`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"winterdock_exec","arguments":${deep}}}`],
    [`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"winterdock_exec","arguments":"x"}}`],
    [{ jsonrpc: '2.0', id: 1, method: 'x'.repeat(100_000) }],
    [{ jsonrpc: '2.0', id: 1, method: '__proto__' }],
    [{ jsonrpc: '2.0', id: 1, method: 'resources/read', params: { uri: 'file:///etc/passwd' } }],
    [
      {
        jsonrpc: '2.0',
        id: 1,
        method: 'subscriptions/listen',
        params: { _meta: modern, notifications: { toolsListChanged: true } },
      },
    ],
    [
      {
        jsonrpc: '2.0',
        id: 1,
        method: 'server/discover',
        params: { _meta: { ...modern, 'io.modelcontextprotocol/protocolVersion': 'never' } },
      },
    ],
    [
      {
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { _meta: modern, name: 'winterdock_exec', arguments: {} },
      },
    ],
    [{ ...initialize, params: { ...initialize.params, protocolVersion: 7 } }],
    [{ ...initialize, params: {} }],
    [toolCall(1, '__proto__', {})],
    [toolCall(1, 'constructor', {})],
    [toolCall(1, 'winterdock_exec\n', {})],
    [toolCall('x'.repeat(10_000), 'winterdock_exec', {})],
    [initialize, { accept: 'text/html' }],
    [initialize, { 'content-type': 'text/plain' }],
    [initialize, { 'mcp-session-id': 'x'.repeat(5000) }],
    [initialize, { 'mcp-protocol-version': '../../etc/passwd' }],
    [{ jsonrpc: '2.0', id: 1, method: 'tools/list' }, { 'mcp-protocol-version': 'never' }],
  ];
  for (const [body, headers = {}] of bodies) {
    const answer: Got = await post(body, { 'content-type': 'application/json', ...headers });
    const what = `${JSON.stringify(body).slice(0, 200)} ${JSON.stringify(headers)}: ${answer.status} ${answer.text.slice(0, 300)}`;
    expect(answer.status, what).toBeLessThan(500);
    expect(answer.text, what).not.toMatch(/\.ts\b|\.mjs|node_modules|node:internal|\bat \S+ \(/);
    expect(answer.text, what).not.toContain(server.folder);
    const answered = /"result":\{(?!"content")/.test(answer.text) && !/protocolVersion/.test(answer.text);
    expect(answered, what).toBe(false);
  }
  expect(({} as { admin?: boolean }).admin).toBeUndefined();
  for (const method of ['GET', 'PUT', 'DELETE', 'PATCH']) {
    const answer = await server.call(method, '/api/mcp', undefined, { headers: { accept: 'text/event-stream' } });
    expect([method, answer.status, answer.headers.allow]).toEqual([method, 405, 'POST']);
  }
  expect((await post(initialize)).status).toBe(200);
});

test('a message over the limit is refused before it is read', async () => {
  const small = await startServer({ settings: { WB_MAX_BODY: '65536' } });
  try {
    const message = toolCall(1, 'winterdock_write_file', { id: 'mine', path: 'x', content: 'x'.repeat(70_000) });
    const answer = await small.call('POST', '/api/mcp', message, { headers: { accept: ACCEPT } });
    expect([answer.status, answer.json.code]).toEqual([413, 'too_large']);
  } finally {
    await small.stop();
  }
});

test('a key that is revoked in the middle of a call ends it, and its script', async () => {
  const made = await server.call<{ id: string; key: string }>('POST', '/api/keys', { name: 'short', role: 'operator' });
  await server.call('POST', '/api/instances', { id: 'cut', tenant: 'acme' });
  const calls = async () => (await server.call<Instance>('GET', '/api/instances/cut')).json.calls;
  const agent = await connectAgent(server.url, { key: made.json.key });
  const call = agent.call('exec', { id: 'cut', command: 'sleep 600' }).catch(() => 'ended');
  await expect.poll(calls).toBe(1);
  expect((await server.call('DELETE', `/api/keys/${made.json.id}`)).status).toBe(204);
  await expect.poll(calls).toBe(0);
  expect(await call).toBe('ended');
  await expect(agent.tools()).rejects.toThrow();
  await agent.close();
});
