import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { FakeClock } from '../../base/clock.ts';
import type { Event, Instance, LineCompletion, SandboxRun, SandboxTerminal } from '../../contract/schema.ts';
import { SHELL_COMMANDS } from '../../guest/guest.ts';
import { getCommandNames } from '../../guest/shell/bash.ts';
import { startServer, TEST_KEY, type TestServer } from '../../testing/server.ts';

let server: TestServer & { clock: FakeClock };
beforeAll(async () => {
  server = await startServer({
    settings: { WB_TERMINAL_SCROLLBACK: '8192', WB_TERMINALS_PER_SANDBOX: '3', WB_TERMINALS_PER_TENANT: '20' },
  });
});
afterAll(() => server.stop());

interface Shown {
  id: number;
  event: string;
  data: Record<string, unknown>;
}

/** A browser that shows a terminal. */
async function show(sandbox: string, terminal: string, after = 0) {
  const leave = new AbortController();
  const response = await fetch(`${server.url}/api/instances/${sandbox}/terminals/${terminal}/stream`, {
    headers: { authorization: `Bearer ${TEST_KEY}`, 'last-event-id': String(after) },
    signal: leave.signal,
  });
  const events: Shown[] = [];
  const read = async () => {
    let text = '';
    for await (const piece of response.body ?? []) {
      text += Buffer.from(piece).toString();
      const blocks = text.split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks.filter((one) => one.includes('data: ')))
        events.push({
          id: Number(/^id: (.*)$/m.exec(block)?.[1]),
          event: /^event: (.*)$/m.exec(block)?.[1] ?? '',
          data: JSON.parse(/^data: (.*)$/m.exec(block)?.[1] ?? 'null'),
        });
    }
  };
  const over = read().catch(() => undefined);
  const seen = (event: string, some: object = {}) =>
    vi.waitFor(
      () => expect(events).toContainEqual(expect.objectContaining({ event, data: expect.objectContaining(some) })),
      60_000,
    );
  const leaveNow = async () => {
    leave.abort();
    await over;
  };
  return { events, seen, over, leave: leaveNow, status: response.status };
}

const make = (id: string, more: object = {}) => server.call('POST', '/api/instances', { id, tenant: 'acme', ...more });
const open = async (id: string) => {
  const answer = await server.call<SandboxTerminal>('POST', `/api/instances/${id}/terminals`, {});
  expect([answer.status, answer.text.slice(0, 200)]).toEqual([201, expect.any(String)]);
  return answer.json;
};
const type = (id: string, terminal: string, text: string, language = 'shell') =>
  server.call<SandboxRun>('POST', `/api/instances/${id}/terminals/${terminal}/lines`, { text, language });
const list = async (id: string) => (await server.call<SandboxTerminal[]>('GET', `/api/instances/${id}/terminals`)).json;
const attached = async (id: string) => (await server.call<Instance>('GET', `/api/instances/${id}`)).json.attached;
const shownBy = (id: string, count: number) =>
  vi.waitFor(async () => expect((await list(id)).map(({ shown }) => shown)).toEqual([count]), { timeout: 240_000 });

test('a terminal whose folder is gone says so once, and goes on where a new one begins', async () => {
  await make('gone');
  const { id } = await open('gone');
  const shown = await show('gone', id);
  await type('gone', id, 'mkdir d; cd d');
  await shown.seen('exit', { cwd: '/workspace/d', exit_code: 0 });
  expect((await server.call('POST', '/api/instances/gone/exec', { command: 'rmdir d' })).json).toMatchObject({
    exit_code: 0,
  });
  await type('gone', id, 'ls');
  await shown.seen('exit', { state: 'failed', cwd: '/workspace' });
  await type('gone', id, 'cd /memory');
  await shown.seen('exit', { exit_code: 0, cwd: '/memory' });
  await shown.leave();
});

test('scrollback, directory and a running line stay when a browser leaves, and another one shows the same', async () => {
  await make('stays');
  const { id } = await open('stays');
  const first = await show('stays', id);
  expect((await type('stays', id, 'cd /memory; echo one')).status).toBe(202);
  await first.seen('exit', { cwd: '/memory', exit_code: 0 });
  const begun = await type('stays', id, 'echo begun; sleep 0.6; echo later');
  await first.seen('stdout', { text: 'begun\n' });
  await first.leave();
  expect((await list('stays'))[0]?.run).toBe(begun.json.id);
  expect((await type('stays', id, 'true')).json).toMatchObject({ code: 'conflict' });
  const second = await show('stays', id);
  const third = await show('stays', id, first.events.at(-1)?.id ?? 0);
  await second.seen('stdout', { text: 'later\n' });
  await second.seen('exit', { run: begun.json.id, cwd: '/memory' });
  await third.seen('exit', { run: begun.json.id });
  expect(second.events.map(({ event }) => event)).toEqual([
    'line',
    'woke',
    'stdout',
    'exit',
    'line',
    'woke',
    'stdout',
    'stdout',
    'exit',
  ]);
  expect([...first.events, ...third.events]).toEqual(second.events);
  expect((await server.call<SandboxRun[]>('GET', '/api/instances/stays/runs')).json[0]).toMatchObject({ terminal: id });
  expect((await type('stays', id, '[6 * 7]', 'js')).status).toBe(202);
  await second.seen('exit', { language: 'js', value: '[42]' });
  await Promise.all([second.leave(), third.leave()]);
});

test('a line is stopped from any browser, and a refusal stands in the scrollback', async () => {
  await make('stopped');
  const { id } = await open('stopped');
  const shown = await show('stopped', id);
  await type('stopped', id, 'echo begun; sleep 50');
  await shown.seen('stdout', { text: 'begun\n' });
  await server.call('POST', `/api/instances/stopped/terminals/${id}/interrupt`, {});
  await shown.seen('exit', { state: 'stopped' });
  await server.call('POST', '/api/instances/stopped/archive', {});
  await shown.seen('note', { text: 'The sandbox is archived.' });
  expect((await type('stopped', id, 'true')).json).toMatchObject({ code: 'archived' });
  await shown.seen('refused');
  await shown.leave();
});

test('a line that waits says behind which call, and a stop ends the wait and not the other call', async () => {
  await make('waits');
  const [one, two] = [await open('waits'), await open('waits')];
  const [first, second] = [await show('waits', one.id), await show('waits', two.id)];
  await type('waits', one.id, 'echo begun; sleep 60');
  await first.seen('stdout', { text: 'begun\n' });
  await type('waits', two.id, 'echo mine');
  await second.seen('waits', { kind: 'shell', code: 'echo begun; sleep 60', others: 0, for_ms: expect.any(Number) });
  await server.call('POST', `/api/instances/waits/terminals/${two.id}/interrupt`, {});
  await second.seen('exit', { state: 'stopped', reason: 'Somebody stopped it.' });
  // A call of another kind does not wait, and says nothing.
  await type('waits', two.id, '6 * 7', 'js');
  await second.seen('exit', { value: '42' });
  expect(second.events.filter(({ event }) => event === 'waits')).toHaveLength(1);
  expect(first.events.map(({ event }) => event)).not.toContain('exit');
  await type('waits', two.id, 'echo mine');
  await vi.waitFor(() => expect(second.events.filter(({ event }) => event === 'waits')).toHaveLength(2), 240_000);
  await server.call('POST', `/api/instances/waits/terminals/${one.id}/interrupt`, {});
  await second.seen('stdout', { text: 'mine\n' });
  await Promise.all([first.leave(), second.leave()]);
});

test('one that is shown holds its sandbox awake, one that none shows for a minute does not and goes when it is filed', async () => {
  await make('held');
  const { id } = await open('held');
  const shown = await show('held', id);
  await shownBy('held', 1);
  expect(await attached('held')).toBe(0);
  await type('held', id, 'echo kept');
  await shown.seen('exit');
  await vi.waitFor(async () => expect(await attached('held')).toBe(1), 240_000);
  expect((await server.call('POST', '/api/instances/held/suspend', {})).status).toBe(200);
  await shown.seen('note', { text: 'The sandbox is suspended.' });
  expect(await attached('held')).toBe(0);
  await type('held', id, 'true');
  await vi.waitFor(async () => expect(await attached('held')).toBe(1), 240_000);
  await shown.leave();
  await shownBy('held', 0);
  server.clock.advance(59);
  await server.host.terminals.look();
  expect(await attached('held')).toBe(1);
  server.clock.advance(2);
  await server.host.terminals.look();
  expect(await attached('held')).toBe(0);
  await server.call('POST', '/api/instances/held/suspend', {});
  const [gone] = await list('held');
  expect(gone).toMatchObject({ id, gone: 'Its sandbox was suspended.', ended: expect.any(Number) });
  const again = await server.call('GET', `/api/instances/held/terminals/${id}/stream`);
  expect([again.status, again.json.code]).toEqual([410, 'gone']);
  expect(again.json.detail).toContain('Its sandbox was suspended.');
});

test('one that nobody uses for half an hour holds nothing, though it is shown, and says so once', async () => {
  await make('forgotten');
  const { id } = await open('forgotten');
  const shown = await show('forgotten', id);
  await type('forgotten', id, 'true');
  await shown.seen('exit');
  await vi.waitFor(async () => expect(await attached('forgotten')).toBe(1), 240_000);
  server.clock.advance(31 * 60);
  await server.host.terminals.look();
  expect(await attached('forgotten')).toBe(0);
  await server.host.terminals.look();
  await type('forgotten', id, 'true');
  await server.host.terminals.look();
  expect(await attached('forgotten')).toBe(1);
  await vi.waitFor(() => expect(shown.events.filter(({ event }) => event === 'exit')).toHaveLength(2), 240_000);
  const notes = shown.events.filter(({ event }) => event === 'note').map(({ data }) => data.text);
  expect(notes).toEqual(['Unused for 30 minutes: it no longer keeps the sandbox awake. The next line does again.']);
  await shown.leave();
});

test('what is cleared is gone for everybody and without a gap, and a line that runs stays', async () => {
  await make('cleared');
  const { id } = await open('cleared');
  const clear = () => server.call('POST', `/api/instances/cleared/terminals/${id}/clear`, {});
  const first = await show('cleared', id);
  await type('cleared', id, 'echo hidden');
  await first.seen('exit');
  expect((await clear()).status).toBe(200);
  await first.seen('clear', { actor: 'key:admin', actor_name: null });
  const second = await show('cleared', id);
  await second.seen('clear');
  expect(second.events.map(({ event }) => event)).toEqual(['clear']);
  await type('cleared', id, 'echo begun; sleep 0.5; echo later');
  await first.seen('stdout', { text: 'begun\n' });
  await clear();
  await first.seen('exit', { exit_code: 0, took_ms: expect.any(Number) });
  await first.seen('stdout', { text: 'later\n' });
  const third = await show('cleared', id);
  await third.seen('exit');
  expect(third.events.map(({ event }) => event)).toEqual(['clear', 'line', 'stdout', 'exit']);
  expect(third.events[1]?.data).toMatchObject({ text: 'echo begun; sleep 0.5; echo later', cwd: '/workspace' });
  await Promise.all([first.leave(), second.leave(), third.leave()]);
});

test('the lines of a terminal share one shell, which outlives the rest of its sandbox and is no other’s', async () => {
  await make('shared');
  const [{ id }, { id: second }] = [await open('shared'), await open('shared')];
  const [shown, other] = [await show('shared', id), await show('shared', second)];
  await type('shared', id, 'export MOOD=glad; greet() { echo "$MOOD to see $1"; }; cd /memory');
  await shown.seen('exit', { exit_code: 0 });
  expect((await server.call('POST', '/api/instances/shared/suspend', {})).status).toBe(200);
  await type('shared', id, '6 * 7', 'js');
  await shown.seen('exit', { value: '42' });
  await type('shared', id, 'greet you; env | grep MOOD; pwd');
  for (const text of ['glad to see you\n', 'MOOD=glad\n', '/memory\n']) await shown.seen('stdout', { text });
  await type('shared', second, 'echo "[$MOOD]"; history');
  for (const text of ['[]\n', '    1  echo "[$MOOD]"; history\n']) await other.seen('stdout', { text });
  await Promise.all([shown.leave(), other.leave()]);
});

test('a line that clears its terminal does so for everybody, with what it printed before', async () => {
  await make('wiped');
  const { id } = await open('wiped');
  const first = await show('wiped', id);
  await type('wiped', id, 'echo hidden');
  await first.seen('exit');
  await type('wiped', id, 'echo before; clear; echo after');
  await first.seen('stdout', { text: 'after\n' });
  await first.seen('exit', { exit_code: 0, cwd: '/workspace' });
  const second = await show('wiped', id);
  await second.seen('exit');
  expect(second.events.map(({ event }) => event)).toEqual(['clear', 'line', 'stdout', 'exit']);
  expect(JSON.stringify(second.events)).not.toContain('hidden');
  await Promise.all([first.leave(), second.leave()]);
});

test('opening, clearing and closing one is in the ledger, and what was typed is not', async () => {
  await make('told');
  const { id } = await open('told');
  await type('told', id, 'echo between us');
  await server.call('POST', `/api/instances/told/terminals/${id}/clear`, {});
  await server.call('DELETE', `/api/instances/told/terminals/${id}`);
  const lines = await server.call<Event[]>('GET', '/api/instances/told/events');
  const own = lines.json.filter(({ type: kind }) => kind.startsWith('terminal.'));
  expect(own.map(({ type: kind, reason, actor }) => [kind, reason, actor])).toEqual([
    ['terminal.closed', 'Terminal 1', 'key:admin'],
    ['terminal.cleared', 'Terminal 1', 'key:admin'],
    ['terminal.opened', 'Terminal 1', 'key:admin'],
  ]);
  expect(lines.text).not.toContain('between us');
});

test('a line says who typed it, by name', async () => {
  await make('typist');
  const { id } = await open('typist');
  const shown = await show('typist', id);
  const made = await server.call<{ key: string }>('POST', '/api/keys', { name: 'nightly', role: 'operator' });
  await server.call('POST', `/api/instances/typist/terminals/${id}/lines`, { text: 'true' }, { key: made.json.key });
  await shown.seen('line', { text: 'true', actor: expect.stringMatching(/^key:/), actor_name: 'nightly' });
  await shown.seen('exit');
  await type('typist', id, 'false');
  await shown.seen('line', { text: 'false', actor: 'key:admin', actor_name: null });
  await shown.leave();
});

test('their number and their scrollback are bounded, and a slow reader is told of the gap', async () => {
  await make('many');
  const terminals = [await open('many'), await open('many'), await open('many')];
  expect(terminals.map(({ number }) => number)).toEqual([1, 2, 3]);
  const full = await server.call('POST', '/api/instances/many/terminals', {});
  expect([full.status, full.json]).toMatchObject([429, { code: 'quota_exceeded', quota: 'terminals_per_sandbox' }]);
  const [{ id }] = terminals as [SandboxTerminal];
  await type('many', id, 'seq 1 20000; echo end');
  await vi.waitFor(async () => expect((await list('many'))[0]?.run).toBeNull(), 240_000);
  const late = await show('many', id);
  await late.seen('exit', { exit_code: 0 });
  expect(late.events[0]?.event).toBe('gap');
  expect(JSON.stringify(late.events).length).toBeLessThan(40_000);
  await late.leave();
  expect((await server.call('DELETE', `/api/instances/many/terminals/${id}`)).status).toBe(204);
  expect((await list('many')).map(({ number }) => number)).toEqual([2, 3]);
  expect((await open('many')).number).toBe(1);
});

test('a terminal is its own sandbox’s, and garbage reaches nothing', async () => {
  await make('mine');
  await make('other', { tenant: 'globex' });
  const { id } = await open('mine');
  for (const [method, path, body] of [
    ['GET', `/api/instances/other/terminals/${id}/stream`],
    ['POST', `/api/instances/other/terminals/${id}/lines`, { text: 'id' }],
    ['POST', `/api/instances/other/terminals/${id}/interrupt`, {}],
    ['POST', `/api/instances/other/terminals/${id}/clear`, {}],
    ['DELETE', `/api/instances/other/terminals/${id}`],
    ['GET', '/api/instances/mine/terminals/term-0000000000/stream'],
  ] as const)
    expect([path, (await server.call(method, path, body)).status]).toEqual([path, 404]);
  for (const after of ['x', '-1', '1e99', '1.5']) {
    const headers = { 'last-event-id': after };
    const answer = await server.call('GET', `/api/instances/mine/terminals/${id}/stream`, undefined, { headers });
    expect([after, answer.status]).toEqual([after, 422]);
  }
  for (const text of ['', '\ud800', 'x'.repeat(300_000)]) expect((await type('mine', id, text)).status).toBe(422);
});

test('a line is completed with commands and with paths, at rest too, and wakes nothing', async () => {
  await make('typed');
  await server.call('PUT', '/api/instances/typed/volumes/workspace/src/deep/file%20one.txt', 'x');
  await server.call('POST', '/api/instances/typed/suspend', {});
  await server.call('POST', '/api/instances/typed/freeze', {});
  const complete = async (line: string, cwd = '/workspace') => {
    const answer = await server.call<LineCompletion>('POST', '/api/instances/typed/complete', { line, cwd });
    return answer.json.names;
  };
  expect(await complete('gre')).toEqual(['grep']);
  expect(await complete('cat x | gre')).toEqual(['grep']);
  expect(await complete('ls s')).toEqual(['src/']);
  expect(await complete('ls src/d')).toEqual(['deep/']);
  expect(await complete('cat fi', '/workspace/src/deep')).toEqual(['file one.txt']);
  expect(await complete('cat file\\ o', '/workspace/src/deep')).toEqual(['file one.txt']);
  expect(await complete('cat "file o', '/workspace/src/deep')).toEqual(['file one.txt']);
  expect(await complete('cat ~/src/deep/', '/memory')).toEqual(['file one.txt']);
  expect(await complete('ls /')).toEqual(['workspace/', 'memory/', 'tmp/']);
  expect(await complete('ls ../../etc/')).toEqual([]);
  expect(await complete('ls /workspace/never/')).toEqual([]);
  expect(await complete(`${'"\\'.repeat(4000)}`)).toEqual([]);
  expect((await server.call<Instance>('GET', '/api/instances/typed')).json.state).toBe('frozen');
  for (const name of getCommandNames()) expect(SHELL_COMMANDS).toContain(name);
});
