/** The MCP endpoint over HTTP, with the official clients and a real server. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Event, Instance } from '../../contract/schema.ts';
import { DAY, partOf } from '../../testing/draw.ts';
import { type Agent, connectAgent, REVISIONS } from '../../testing/mcp.ts';
import { startServer, type TestServer } from '../../testing/server.ts';
import { SHOWN_TEXT } from '../mcp/tool.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

const COMPONENTS = `#+TITLE: Sums
* main :workflow:
** double :component:
#+begin_src js :in n:integer :out twice:integer
export default ({ n }) => { console.log('doubling', n); return { twice: 2 * n }; };
#+end_src
`;

const show = async (id: unknown) => (await server.call<Instance>('GET', `/api/instances/${id}`)).json;

// Each day another one.
describe.each(partOf(REVISIONS, REVISIONS.length, DAY))('with a client of %s', (revision) => {
  let agent: Agent;
  beforeAll(async () => {
    agent = await connectAgent(server.url, { revision });
  });
  afterAll(() => agent.close());

  const create = async () => (await agent.call('create_sandbox', { tenant: 'acme' })).facts.id as string;

  test('an agent writes, runs, searches, mends, reads back, sleeps, wakes and goes back to a snapshot', async () => {
    const made = await agent.call('create_sandbox', {
      tenant: 'acme',
      name: `of ${revision}`,
      labels: { made_by: 'mcp' },
    });
    const { id } = made.facts;
    expect(made.facts).toMatchObject({ tenant: 'acme', state: 'created', policy: 'posix' });

    const script = 'import sys\nprint(sum(int(n) for n in sys.argv[1:]) - 1)\n';
    const written = await agent.call('write_file', { id, path: 'tools/sum.py', content: script });
    expect(written.facts).toEqual({ path: '/workspace/tools/sum.py', bytes: script.length, created: true });
    const wrong = await agent.call('exec', { id, command: 'python3 tools/sum.py 2 3; echo done >&2' });
    expect(wrong).toMatchObject({ facts: { exit_code: 0, cwd: '/workspace' }, texts: ['4\n', 'done\n'] });

    const found = await agent.call('search_files', { id, q: '- 1', in: 'content' });
    expect(found.facts).toEqual({
      in: 'content',
      hits: [{ path: '/workspace/tools/sum.py', line: 2, text: script.split('\n')[1] }],
      more: false,
    });
    // Nothing was found in the names: it says that it looked there alone.
    expect((await agent.call('search_files', { id, q: '- 1' })).facts).toEqual({ in: 'name', hits: [], more: false });
    const shot = await agent.call('snapshot_sandbox', { id, tag: 'before the mend' });
    const mended = await agent.call('edit_file', {
      id,
      path: '/workspace/tools/sum.py',
      old_text: ' - 1',
      new_text: '',
    });
    expect(mended.facts).toMatchObject({ replaced: 1, path: '/workspace/tools/sum.py' });
    const right = await agent.call('exec', { id, command: 'python3 tools/sum.py 2 3' });
    expect(right.texts[0]).toBe('5\n');

    const back = await agent.call('read_file', { id, path: 'tools/sum.py', from_line: 2, lines: 1 });
    expect(back).toMatchObject({
      facts: { lines: 2, from_line: 2, to_line: 2, next_line: null },
      texts: ['print(sum(int(n) for n in sys.argv[1:]))'],
    });
    const listed = await agent.call('list_files', { id });
    expect(listed.facts).toMatchObject({ folder: '/workspace', items: [{ name: 'tools', kind: 'dir' }], next: null });
    const all = await agent.call('list_files', { id, recursive: true });
    expect(all.facts.files).toEqual([expect.objectContaining({ path: '/workspace/tools/sum.py' })]);
    const counted = await agent.call('query_files', {
      id,
      sql: 'SELECT count(*) AS n FROM vfs WHERE volume = ?',
      params: ['workspace'],
    });
    expect(counted.facts).toMatchObject({ columns: ['n'], truncated: false });

    const asleep = await agent.call('suspend_sandbox', { id, reason: 'a pause' });
    expect(asleep.facts).toMatchObject({ id, state: 'suspended' });
    expect(await show(id)).toMatchObject({ state: 'suspended', thermal: 'cold' });
    expect((await agent.call('exec', { id, command: 'cat tools/sum.py | wc -l' })).texts[0]?.trim()).toBe('2');
    expect((await agent.call('get_sandbox', { id })).facts).toMatchObject({ id, state: 'active' });

    const kept = await agent.call('list_snapshots', { source: id });
    expect(kept.facts.snapshots).toEqual([expect.objectContaining({ id: shot.facts.id, tag: 'before the mend' })]);
    const again = await agent.call('restore_snapshot', { snapshot: shot.facts.id, name: `again of ${revision}` });
    const old = await agent.call('exec', { id: again.facts.id, command: 'python3 tools/sum.py 2 3' });
    expect(old.texts[0]).toBe('4\n');
    const { attention } = (await agent.call('list_attention', {})).facts;
    expect(attention).toContainEqual(expect.objectContaining({ id: 'backup:none', acknowledged: null }));
    const mine = await agent.call('list_sandboxes', { q: `of ${revision}` });
    expect((mine.facts.sandboxes as { id: string }[]).map((one) => one.id).toSorted()).toEqual(
      [id, again.facts.id].toSorted(),
    );

    const lines = (await server.call<Event[]>('GET', `/api/instances/${id}/events`)).json;
    expect(new Set(lines.map(({ via, actor }) => `${via} ${actor}`))).toEqual(new Set(['mcp key:admin']));
    expect(lines.map(({ type }) => type)).toEqual(
      expect.arrayContaining(['instance.created', 'transition', 'snapshot.taken']),
    );
  });

  test('a background run is started, followed to its end, and stopped', async () => {
    const id = await create();
    const started = await agent.call('start_run', { id, command: 'echo one; sleep 0.3; echo two' });
    const run = started.facts.run as string;
    let [offset, text, state] = [0, '', ''];
    while (state !== 'done') {
      const { facts, texts } = await agent.call('run_output', { id, run, offset, wait_seconds: 30 });
      offset = facts.next as number;
      state = facts.state as string;
      text += texts[0];
    }
    expect(text).toBe('one\ntwo\n');
    const endless = (await agent.call('start_run', { id, command: 'echo begun; sleep 600' })).facts.run as string;
    const first = await agent.call('run_output', { id, run: endless, wait_seconds: 50 });
    expect([first.texts[0], first.facts.state]).toEqual(['begun\n', 'running']);
    const stopped = await agent.call('stop_run', { id, run: endless });
    expect(stopped.facts.state).toBe('stopped');
    await expect.poll(async () => (await show(id)).calls).toBe(0);
  });

  test('a cancelled call stops its script on the server, and the others go on', async () => {
    const [id, other] = [await create(), await create()];
    const cancel = new AbortController();
    const call = agent.call(
      'exec',
      { id, command: 'echo begun > begun; sleep 600; echo > survived' },
      { signal: cancel.signal },
    );
    const ended = expect(call).rejects.toThrow();
    const beside = agent.call('exec', { id: other, command: 'sleep 2; echo whole' });
    await expect.poll(async () => (await show(id)).calls).toBe(1);
    cancel.abort(new Error('enough'));
    await ended;
    await expect.poll(async () => (await show(id)).calls).toBe(0);
    expect((await agent.call('exec', { id, command: 'ls' })).texts[0]).not.toContain('survived');
    expect((await beside).texts[0]).toBe('whole\n');
  });

  test('a client that goes away stops what it had begun', async () => {
    const leaving = await connectAgent(server.url, { revision });
    const id = await create();
    const call = leaving.call('exec', { id, command: 'sleep 600' }).catch(() => 'gone');
    await expect.poll(async () => (await show(id)).calls).toBe(1);
    await leaving.close();
    expect(await call).toBe('gone');
    await expect.poll(async () => (await show(id)).calls).toBe(0);
  });

  test('a call that asks for progress is told more and more of it', async () => {
    const id = await create();
    const told: { progress: number; message?: string | undefined }[] = [];
    const { texts } = await agent.call(
      'exec',
      { id, command: 'echo building; sleep 1.5; echo linking; sleep 1.5' },
      { onprogress: (progress) => told.push(progress) },
    );
    expect(texts[0]).toBe('building\nlinking\n');
    const numbers = told.map(({ progress }) => progress);
    expect(numbers.length).toBeGreaterThan(1);
    expect(numbers).toEqual([...new Set(numbers)].toSorted((a, b) => a - b));
    expect(told.map(({ message }) => message)).toContain('building');
  });

  test('an error says what to do, in words and as a problem', async () => {
    const none = await agent.call('exec', { id: 'nobody', command: 'true' });
    expect(none).toMatchObject({ isError: true, problem: { code: 'not_found', status: 404 } });
    expect(none.texts[0]).toContain('[not_found]');
    const id = await create();
    const wrong = await agent.call('exec', { id, command: 1, colour: 'red' });
    expect(wrong.problem).toMatchObject({ code: 'validation', errors: [{ path: 'command' }, { path: 'colour' }] });
    await agent.call('write_file', { id, path: 'a', content: 'x x' });
    const twice = await agent.call('edit_file', { id, path: 'a', old_text: 'x', new_text: 'y' });
    expect(twice).toMatchObject({
      isError: true,
      problem: { code: 'conflict', found: 2, hint: expect.stringContaining('all: true') },
    });
    const strange = await agent.call('read_file', { id, path: '/etc/passwd' });
    expect(strange).toMatchObject({
      isError: true,
      problem: { code: 'validation', hint: expect.stringContaining('/workspace/') },
    });
    await expect(agent.call('format_disk', {})).rejects.toThrow(/no tool/);
  });
});

test('names that models know from other tools are understood, and a folder or a link in the way is told with what to do', async () => {
  const agent = await connectAgent(server.url);
  const { id } = (await agent.call('create_sandbox', { tenant: 'acme' })).facts;
  await agent.call('exec', { id, command: 'mkdir notes; echo one two > notes/a; ln -s notes/a link; ln -s notes dir' });
  const edited = await agent.call('edit_file', { id, path: 'notes/a', old_string: 'one', new_string: 'three' });
  expect(edited.facts).toMatchObject({ replaced: 1 });
  const all = await agent.call('edit_file', {
    id,
    path: 'notes/a',
    old_string: 't',
    new_string: 'T',
    replace_all: true,
  });
  expect(all.facts).toMatchObject({ replaced: 2 });
  expect((await agent.call('search_files', { id, query: 'notes' })).facts.hits).not.toEqual([]);
  // Under both names at once nobody knows which is meant.
  const both = await agent.call('search_files', { id, q: 'a', query: 'b' });
  expect(both.problem).toMatchObject({ code: 'validation', errors: [{ path: 'query' }] });

  const hintOf = async (tool: string, more: object) => {
    const { problem } = await agent.call(tool, { id, ...more });
    return [problem.code, problem.hint];
  };
  const folder = expect.stringContaining('/workspace/notes is a folder: winterdock_list_files');
  expect(await hintOf('read_file', { path: 'notes' })).toEqual(['not_found', folder]);
  expect(await hintOf('write_file', { path: 'notes', content: 'x' })).toEqual(['conflict', folder]);
  const link = expect.stringContaining('readlink -f /workspace/link');
  for (const [tool, more] of [
    ['edit_file', { old_text: 'w', new_text: 'b' }],
    ['write_file', { content: 'x' }],
    ['list_files', {}],
  ] as const) {
    expect((await hintOf(tool, { path: 'link', ...more }))[1]).toEqual(link);
  }
  // What reads follows links within a volume.
  expect((await agent.call('read_file', { id, path: 'link' })).texts).toEqual(['Three Two\n']);
  expect((await hintOf('write_file', { path: 'dir/a', content: 'x' }))[1]).toEqual(
    expect.stringContaining('readlink -f /workspace/dir'),
  );
  expect((await hintOf('read_file', { path: 'nothing' }))[1]).toBeUndefined();
  await agent.close();
});

test('a component of the docked workbook is called, alone and as a workflow', async () => {
  const agent = await connectAgent(server.url);
  await server.call('PUT', '/api/workbooks/sums?tenant=acme', COMPONENTS, { headers: { 'content-type': 'text/org' } });
  const { id } = (await agent.call('create_sandbox', { tenant: 'acme', workbook: 'sums' })).facts;
  const one = await agent.call('call_component', { id, component: 'double', input: { n: 21 } });
  expect(JSON.parse(one.texts[0] ?? '')).toMatchObject({ output: { twice: 42 } });
  expect(one.facts.logs).toEqual([expect.objectContaining({ text: expect.stringContaining('doubling') })]);
  const whole = await agent.call('call_component', { id, input: { n: 4 } });
  expect(JSON.parse(whole.texts[0] ?? '')).toMatchObject({ components: [{ state: expect.any(String) }] });
  await agent.close();
});

test('an answer has a bound, keeps its beginning and its end, and says what was cut', async () => {
  const agent = await connectAgent(server.url);
  const { id } = (await agent.call('create_sandbox', { tenant: 'acme' })).facts;
  const { facts, texts } = await agent.call('exec', { id, command: 'echo FIRST; seq 1 400000; echo LAST' });
  expect(texts[0]?.length).toBeLessThan(SHOWN_TEXT + 100);
  expect(texts[0]).toMatch(/^FIRST\n1\n[\s\S]*characters are cut here[\s\S]*400000\nLAST\n$/);
  expect(facts.stdout_characters_cut).toBeGreaterThan(2_000_000);

  await agent.call('exec', {
    id,
    command: "seq 1 30000 > many; python3 -c \"print('é' * 100000, end='')\" > wide; head -c 5000000 /dev/zero > large",
  });
  const seen: string[] = [];
  for (let from: number | null = 1; from !== null; ) {
    const page = await agent.call('read_file', { id, path: 'many', from_line: from, lines: 10_000 });
    seen.push(page.texts[0] ?? '');
    from = page.facts.next_line as number | null;
  }
  expect(seen.length).toBeGreaterThan(3);
  const numbers = Array.from({ length: 30_000 }, (_, n) => `${n + 1}\n`);
  expect(seen.join('\n')).toBe(numbers.join(''));
  const wide = await agent.call('read_file', { id, path: 'wide' });
  expect([wide.facts.characters_cut, wide.texts[0]?.isWellFormed()]).toEqual([100_000 - SHOWN_TEXT, true]);
  const large = await agent.call('read_file', { id, path: 'large' });
  expect(large.problem).toMatchObject({ code: 'too_large', size: 5_000_000, hint: expect.stringContaining('sed') });

  await agent.call('exec', { id, command: 'mkdir x; for n in $(seq 1 600); do echo $n > x/$n; done' });
  const rows = await agent.call('query_files', {
    id,
    sql: "SELECT path, hex(zeroblob(4000)) FROM vfs WHERE volume = 'workspace'",
  });
  expect(JSON.stringify(rows.facts).length).toBeLessThan(SHOWN_TEXT + 1000);
  expect(rows.facts).toMatchObject({ truncated: true, rows_cut: expect.any(Number) });
  await agent.close();
});

test('bytes that are no text come and go whole', async () => {
  const agent = await connectAgent(server.url);
  const { id } = (await agent.call('create_sandbox', { tenant: 'acme' })).facts;
  const bytes = Buffer.from([0, 255, 128, 10, 0]);
  await agent.call('write_file', { id, path: '/memory/raw', content: bytes.toString('base64'), encoding: 'base64' });
  expect((await server.call('GET', `/api/instances/${id}/volumes/memory/raw`)).bytes).toEqual(bytes);
  const read = await agent.call('exec', { id, command: 'cat /memory/raw' });
  expect([read.facts.stdout_encoding, read.texts[0]]).toEqual(['base64', bytes.toString('base64')]);
  expect((await agent.call('read_file', { id, path: '/memory/raw' })).problem.code).toBe('validation');
  const empty = await agent.call('write_file', { id, path: 'nothing', content: '' });
  expect(empty.facts.bytes).toBe(0);
  expect((await agent.call('read_file', { id, path: 'nothing' })).texts).toEqual(['']);
  await agent.close();
});

test('edits of one file by many at the same time lose nothing', async () => {
  const agent = await connectAgent(server.url);
  const { id } = (await agent.call('create_sandbox', { tenant: 'acme' })).facts;
  const names = ['a', 'b', 'c'];
  await agent.call('write_file', { id, path: 'list', content: names.map((name) => `${name}: open\n`).join('') });
  const edits = await Promise.all(
    names.map((name) =>
      agent.call('edit_file', { id, path: 'list', old_text: `${name}: open`, new_text: `${name}: done` }),
    ),
  );
  expect(edits.map(({ isError }) => isError)).toEqual([false, false, false]);
  expect((await agent.call('read_file', { id, path: 'list' })).texts[0]).toBe('a: done\nb: done\nc: done\n');
  await agent.close();
});
