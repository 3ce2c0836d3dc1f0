/** `winterdock mcp` as a process, with the official clients on its stdin and stdout. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Client, EarlierClient, EarlierStdioTransport, StdioClientTransport } from '#peers/mcp.ts';
import type { Event, Instance } from '../contract/schema.ts';
import { type Agent, agentOf } from '../testing/mcp.ts';
import { startServer, TEST_KEY, type TestServer } from '../testing/server.ts';
import { type CommandLine, commandLine, PROGRAM } from './testing/winterdock.ts';

let server: TestServer;
let cli: CommandLine;
beforeAll(async () => {
  server = await startServer();
  cli = commandLine({ WINTERDOCK_URL: server.url, WINTERDOCK_KEY: TEST_KEY });
});
afterAll(async () => {
  cli.remove();
  await server.stop();
});

const show = async (id: unknown) => (await server.call<Instance>('GET', `/api/instances/${id}`)).json;

/** Starts the program with a client of a revision. */
async function connect(revision: string, env: Record<string, string> = {}): Promise<Agent> {
  const about = { name: 'a test', version: '1' };
  const command = {
    command: process.execPath,
    args: [PROGRAM, 'mcp'],
    env: { ...cli.env, ...env },
    stderr: 'ignore' as const,
  };
  if (revision === 'the client before') {
    const client = new EarlierClient(about);
    // Its types and ours disagree about members that may be undefined.
    await client.connect(new EarlierStdioTransport(command) as never);
    return agentOf(client as never, true);
  }
  const client = new Client(about, {
    versionNegotiation: { mode: revision === '2025-11-25' ? 'legacy' : { pin: revision } },
  });
  await client.connect(new StdioClientTransport(command));
  return agentOf(client as never, false);
}

describe.each(['2026-07-28', '2025-11-25', 'the client before'])('with a client of %s', (revision) => {
  test('an agent has the same tools, works with them, and the ledger shows that it came by MCP', async () => {
    const agent = await connect(revision);
    expect(await agent.tools()).toContain('winterdock_exec');
    const { id } = (await agent.call('create_sandbox', { tenant: 'acme' })).facts;
    const script = 'print("größer")\n';
    await agent.call('write_file', { id, path: 'a.py', content: script });
    expect((await agent.call('exec', { id, command: 'python3 a.py' })).texts[0]).toBe('größer\n');
    expect((await agent.call('read_file', { id, path: 'a.py' })).texts[0]).toBe(script);
    const told: number[] = [];
    await agent.call(
      'exec',
      { id, command: 'echo x; sleep 1.5' },
      { onprogress: ({ progress }) => told.push(progress) },
    );
    expect(told.length).toBeGreaterThan(0);
    const failed = await agent.call('read_file', { id, path: 'none' });
    expect(failed).toMatchObject({ isError: true, problem: { code: 'not_found' } });
    const lines = (await server.call<Event[]>('GET', `/api/instances/${id}/events`)).json;
    expect(new Set(lines.map(({ via }) => via))).toEqual(new Set(['mcp']));
    await agent.close();
  });

  test('a cancelled call stops its script on the server, and so does the end of the program', async () => {
    const agent = await connect(revision);
    const { id } = (await agent.call('create_sandbox', { tenant: 'acme' })).facts;
    const cancel = new AbortController();
    const call = agent.call('exec', { id, command: 'sleep 600' }, { signal: cancel.signal });
    const ended = expect(call).rejects.toThrow();
    await expect.poll(async () => (await show(id)).calls).toBe(1);
    cancel.abort(new Error('enough'));
    await ended;
    await expect.poll(async () => (await show(id)).calls).toBe(0);
    expect((await agent.call('exec', { id, command: 'echo goes on' })).texts[0]).toBe('goes on\n');

    const last = agent.call('exec', { id, command: 'sleep 600' }).catch(() => 'gone');
    await expect.poll(async () => (await show(id)).calls).toBe(1);
    await agent.close();
    expect(await last).toBe('gone');
    await expect.poll(async () => (await show(id)).calls).toBe(0);
  });
});

// A client that insists on the present revision tells only that it was not offered.
test.each(['2025-11-25', 'the client before'])(
  'a server that refuses, or is not there, is an error that says what to do, with a client of %s',
  async (revision) => {
    await expect(connect(revision, { WINTERDOCK_KEY: 'wrong' })).rejects.toThrow(/winterdock login/);
    await expect(connect(revision, { WINTERDOCK_URL: 'http://127.0.0.1:9' })).rejects.toThrow(
      /See whether the server runs/,
    );
  },
);

test('lines that are no messages are answered or passed over, and the program goes on', async () => {
  const running = cli.start(['mcp']);
  const lines = () =>
    running
      .stdout()
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as { id: unknown; error?: { code: number }; result?: object });
  for (const line of [
    'nonsense',
    '',
    '7',
    'null',
    '[]',
    '{"jsonrpc":"2.0","id":4}',
    '{"jsonrpc":"1.0","id":5,"method":"ping"}',
    '{"jsonrpc":"2.0","id":6,"method":"ping"}',
  ])
    running.child.stdin?.write(`${line}\n`);
  await expect.poll(() => lines().some(({ id }) => id === 6)).toBe(true);
  await expect.poll(() => lines().some(({ id }) => id === 5)).toBe(true);
  expect(lines().find(({ id }) => id === null)?.error?.code).toBe(-32_700);
  expect(lines().find(({ id }) => id === 5)?.error?.code).toBe(-32_000);
  expect(lines().find(({ id }) => id === 6)?.result).toEqual({});
  running.child.stdin?.end();
  expect((await running.ended).exit).toBe(0);
});

test('without a key it says how to log in, and nothing on stdout', async () => {
  const { exit, stdout, stderr } = await cli.run(['mcp'], { env: { WINTERDOCK_KEY: '' } });
  expect([exit === 0, stdout]).toEqual([false, '']);
  expect(stderr).toContain('winterdock login');
});
