/** What the tools of the MCP endpoint answer to hostile inputs: within the sandbox, and within bounds. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectAgent } from '../../testing/mcp.ts';
import { startServer, type TestServer } from '../../testing/server.ts';
import { SHOWN_TEXT } from '../mcp/tool.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
  await server.call('POST', '/api/instances', { id: 'mine', tenant: 'acme' });
  await server.call('PUT', '/api/instances/mine/volumes/workspace/note', 'the note of acme');
});
afterAll(() => server.stop());

test('hostile inputs of tools stay within the sandbox and within bounds', async () => {
  const agent = await connectAgent(server.url);
  const id = 'mine';
  for (const path of [
    '../memory/x',
    '/workspace/../memory/x',
    '/workspace/../../etc/passwd',
    '/etc/passwd',
    '//',
    '/',
    'a\u0000b',
    `${'d/'.repeat(800)}x`,
    '/workspace',
    '\ud800',
  ]) {
    for (const [tool, input] of [
      ['read_file', {}],
      ['write_file', { content: 'evil' }],
      ['edit_file', { old_text: 'a', new_text: 'b' }],
    ] as const) {
      const { isError, problem } = await agent.call(tool, { id, path, ...input });
      const where = `${tool} ${JSON.stringify(path).slice(0, 60)} ${JSON.stringify(problem).slice(0, 300)}`;
      expect([where, isError]).toEqual([where, true]);
      expect(Number(problem.status), where).toBeLessThan(500);
    }
  }
  for (const sql of [
    'ATTACH "/etc/passwd" AS x',
    'SELECT * FROM sqlite_master',
    'DELETE FROM vfs',
    'PRAGMA user_version',
    'SELECT load_extension("x")',
    'SELECT 1; SELECT 2',
    "'",
  ]) {
    const { isError, problem } = await agent.call('query_files', { id, sql });
    expect([sql, isError, Number(problem.status) < 500]).toEqual([sql, true, true]);
  }
  const flood = await agent.call('exec', { id, command: 'head -c 9000000 /dev/zero | tr "\\0" x' });
  expect(JSON.stringify(flood).length).toBeLessThan(100_000);
  expect((await server.call('GET', `/api/instances/${id}/volumes/workspace/note`)).text).toBe('the note of acme');
  await agent.close();
});

test('lists of long names and labels, and edits that multiply a file, keep to the bounds', async () => {
  const agent = await connectAgent(server.url);
  const labels = Object.fromEntries(Array.from({ length: 32 }, (_, n) => [`k${n}`, 'v'.repeat(256)]));
  const ids = new Set<string>();
  for (let n = 0; n < 12; n += 1) {
    const { facts } = await agent.call('create_sandbox', { tenant: 'wide', labels });
    ids.add(facts.id as string);
  }
  const [first = ''] = ids;
  await agent.call('exec', {
    id: first,
    command: "mkdir -p long; python3 -c \"\nfor n in range(400): open(f'long/{n:03}' + 'x' * 200, 'w').close()\"",
    timeout_ms: 240_000,
  });
  const pages = async (tool: string, input: Record<string, unknown>, member: string) => {
    const all: Record<string, unknown>[] = [];
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const { facts } = await agent.call(tool, { ...input, ...(cursor === undefined ? {} : { cursor }) });
      expect(JSON.stringify(facts).length).toBeLessThan(SHOWN_TEXT + 1000);
      all.push(...(facts[member] as Record<string, unknown>[]));
      cursor = facts.next as string | null;
    }
    return all;
  };
  const listed = await pages('list_sandboxes', { tenant: 'wide', limit: 100 }, 'sandboxes');
  expect(new Set(listed.map(({ id }) => id))).toEqual(ids);
  for (const recursive of [false, true]) {
    const input = { id: first, path: 'long', recursive, limit: 500 };
    const names = await pages('list_files', input, recursive ? 'files' : 'items');
    expect(new Set(names.map(({ name, path }) => name ?? path)).size).toBe(400);
  }
  await agent.call('exec', { id: first, command: 'head -c 4000000 /dev/zero | tr "\\0" x > flat' });
  const bomb = { id: first, path: 'flat', old_text: 'x', new_text: 'y'.repeat(1_000_000), all: true };
  expect((await agent.call('edit_file', bomb)).problem).toMatchObject({ code: 'too_large', limit: 4 * 1024 * 1024 });
  expect((await agent.call('edit_file', { ...bomb, new_text: '$&' })).problem.code).toBe('too_large');
  const pattern = { id: first, path: 'small', old_text: 'a', new_text: '$&$1' };
  await agent.call('write_file', { id: first, path: 'small', content: 'a' });
  expect((await agent.call('edit_file', pattern)).isError).toBe(false);
  expect((await agent.call('read_file', { id: first, path: 'small' })).texts[0]).toBe('$&$1');
  await agent.close();
});
