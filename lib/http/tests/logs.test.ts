import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { observeEffects } from '../../base/effects.ts';
import { type Event, type PrintedLine, printedLineSchema } from '../../contract/schema.ts';
import { connectAgent } from '../../testing/mcp.ts';
import { startServer, type TestServer } from '../../testing/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ settings: { WB_DRAIN_MS: '200' } });
  for (const id of ['one', 'two', 'gone']) await server.call('POST', '/api/instances', { id, tenant: 'acme' });
  await server.call('POST', '/api/instances', { id: 'theirs', tenant: 'globex' });
});
afterAll(() => server.stop());

const WAIT_MS = 240_000;
const exec = (command: string, id = 'one') => server.call('POST', `/api/instances/${id}/exec`, { command });
const keyOf = async (role: string, tenant?: string) =>
  (await server.call<{ key: string }>('POST', '/api/keys', { name: role, role, ...(tenant ? { tenant } : {}) })).json
    .key;
async function logsOf(query = '', id = 'one'): Promise<PrintedLine[]> {
  const { status, json } = await server.call<PrintedLine[]>('GET', `/api/instances/${id}/logs${query}`);
  expect(status).toBe(200);
  return json.map((line) => printedLineSchema.strict().parse(line)).reverse();
}
const textsOf = async (query = '', id = 'one') => (await logsOf(query, id)).map(({ text }) => text);
const bytesOnDisk = (folder = server.folder) =>
  readdirSync(join(folder, 'logs'))
    .map((name) => readFileSync(join(folder, 'logs', name), 'utf8'))
    .join('');

test('what a call printed is in its log, with the id of its request', async () => {
  const { headers } = await exec('echo out; echo err >&2; printf "no newline"');
  const lines = await logsOf();
  const mine = lines.filter(({ request_id }) => request_id === headers['x-request-id']);
  // What has no newline is a line once the call has ended.
  expect(mine.map(({ stream, level, text }) => [stream, level, text])).toEqual([
    ['stdout', 'info', 'out'],
    ['stderr', 'warn', 'err'],
    ['stdout', 'info', 'no newline'],
  ]);
  expect(await textsOf(`?request_id=${headers['x-request-id']}`)).toEqual(['out', 'err', 'no newline']);
  expect(mine.every(({ source, instance }) => source === 'exec' && instance === 'one')).toBe(true);
});

test('runs, terminals, schedules, components and code of languages print into the same log', async () => {
  await server.call('POST', '/api/instances/one/eval', { language: 'js', code: 'console.log("of eval"); null.x' });
  await server.call('POST', '/api/instances/one/runs', { command: 'echo of run' });
  const terminal = await server.call<{ id: string }>('POST', '/api/instances/one/terminals', {});
  await server.call('POST', `/api/instances/one/terminals/${terminal.json.id}/lines`, { text: 'echo of terminal' });
  const schedule = { cron: '0 0 1 1 *', command: 'echo of schedule' };
  const { json } = await server.call<{ id: string }>('POST', '/api/instances/one/schedules', schedule);
  await server.call('POST', `/api/instances/one/schedules/${json.id}/run`, {});
  const source = `#+TITLE: Logging
* main :workflow:
** speak :component:
#+begin_src js
export default () => { console.log('of component'); return {}; };
#+end_src
`;
  const type = { headers: { 'content-type': 'text/org' } };
  expect((await server.call('PUT', '/api/workbooks/logging?tenant=acme', Buffer.from(source), type)).status).toBe(201);
  await server.call('POST', '/api/instances', { id: 'docked', tenant: 'acme', workbook: 'logging' });
  expect((await server.call('POST', '/api/instances/docked/call/speak', {})).status).toBe(200);
  expect((await logsOf('', 'docked')).map((line) => [line.source, line.text])).toEqual([['component', 'of component']]);
  await vi.waitFor(async () => {
    const found = (await logsOf()).map((line) => [line.source, line.text]);
    for (const [from, text] of [
      ['eval', 'of eval'],
      ['run', 'of run'],
      ['terminal', 'of terminal'],
      ['schedule', 'of schedule'],
    ])
      expect(found).toContainEqual([from, text]);
    expect(found.some(([from, text]) => from === 'eval' && /null/.test(text ?? ''))).toBe(true);
  }, WAIT_MS);
});

test('an agent reads a log with a tool, page by page', async () => {
  await server.call('POST', '/api/instances', { id: 'read', tenant: 'acme' });
  await exec('for n in 1 2 3; do echo "WARN of $n"; done; echo quiet', 'read');
  const agent = await connectAgent(server.url);
  try {
    const { facts, texts } = await agent.call('read_log', { id: 'read', level: 'warn', limit: 2 });
    expect(facts).toMatchObject({ lines: 2, missing: 0, next: expect.any(Number) });
    expect(texts[0]).toMatch(/^\S+Z exec warn \S+ {2}WARN of 2\n\S+Z exec warn \S+ {2}WARN of 3$/);
    const rest = await agent.call('read_log', { id: 'read', level: 'warn', before: facts.next });
    expect(rest).toMatchObject({ facts: { lines: 1, next: null }, texts: [expect.stringContaining('WARN of 1')] });
  } finally {
    await agent.close();
  }
});

test('a log is searched, by level, source and time, and paged', async () => {
  await exec('for n in $(seq 1 250); do echo "INFO counted $n"; done; echo "ERROR it Broke"', 'two');
  expect(await textsOf('?q=BROKE', 'two')).toEqual(['ERROR it Broke']);
  expect(await textsOf('?level=error', 'two')).toEqual(['ERROR it Broke']);
  expect(await textsOf('?source=run', 'two')).toEqual([]);
  expect(await textsOf('?until=1', 'two')).toEqual([]);
  const now = server.host.clock.now() / 1000;
  expect(await textsOf(`?since=${now - 60}&q=counted%20250`, 'two')).toEqual(['INFO counted 250']);
  expect(await textsOf(`?since=${now + 60}`, 'two')).toEqual([]);
  const all: string[] = [];
  for (let path = '/api/instances/two/logs?limit=40'; path !== ''; ) {
    const page = await server.call<PrintedLine[]>('GET', path);
    all.unshift(...page.json.map(({ text }) => text).reverse());
    path = /<([^>]*)>/.exec(page.headers.link ?? '')?.[1] ?? '';
  }
  expect(all).toEqual([...Array.from({ length: 250 }, (_, n) => `INFO counted ${n + 1}`), 'ERROR it Broke']);
});

test('a tenant has the lines of its sandboxes together, and no other’s', async () => {
  await exec('echo of theirs', 'theirs');
  await exec('echo last of one');
  const acme = await server.call<PrintedLine[]>('GET', '/api/tenants/acme/logs?limit=1000');
  expect(acme.json[0]).toMatchObject({ text: 'last of one', instance: 'one' });
  expect(new Set(acme.json.map(({ instance }) => instance))).toEqual(new Set(['one', 'two', 'read', 'docked']));
  const globex = await server.call<PrintedLine[]>('GET', '/api/tenants/globex/logs');
  expect(globex.json.map(({ text }) => text)).toEqual(['of theirs']);
  expect((await server.call('GET', '/api/tenants/nobody/logs')).status).toBe(404);
});

test('who may not read a run’s output reads no log; support says why, and the ledger keeps it', async () => {
  const [viewer, support, foreign] = [await keyOf('viewer'), await keyOf('support'), await keyOf('tenant', 'globex')];
  const ask = (key: string, path: string) => server.call('GET', path, undefined, { key });
  expect((await ask(viewer, '/api/instances/one/logs')).status).toBe(403);
  expect((await ask(viewer, '/api/tenants/acme/logs')).status).toBe(403);
  const unknown = await ask(foreign, '/api/instances/never-was/logs');
  const others = await ask(foreign, '/api/instances/one/logs');
  expect([others.status, unknown.status]).toEqual([404, 404]);
  expect((await ask(foreign, '/api/tenants/acme/logs')).status).toBe(404);
  expect((await ask(foreign, '/api/instances/theirs/logs')).status).toBe(200);
  expect((await ask(support, '/api/instances/one/logs')).status).toBe(422);
  expect((await ask(support, '/api/instances/one/logs?follow=1')).status).toBe(422);
  expect((await ask(support, '/api/instances/one/logs?reason=ticket%2012')).status).toBe(200);
  const events = await server.call<Event[]>('GET', '/api/instances/one/events?type=logs.read');
  expect(events.json.map(({ reason, tenant }) => [reason, tenant])).toEqual([['ticket 12', 'acme']]);
});

test('the value of a secret is masked before it is written', async () => {
  const value = 'tok-3f9a/"quoted"&more';
  const secret = { value, url: 'https://api.example.com/', header: 'authorization', format: 'Bearer {}' };
  expect((await server.call('PUT', '/api/instances/one/secrets/api', secret)).status).toBe(200);
  await exec(`printf 'a %s b\\n' '${value}'; printf '%s' 'tok-3f'; sleep 0.4; echo '9a/"quoted"&more'`);
  await server.call('POST', '/api/instances/one/runs', {
    command: `printf '%s' 'R tok-3f'; sleep 0.5; echo '9a/"quoted"&more R'`,
  });
  const stars = '*'.repeat(value.length);
  await vi.waitFor(async () => expect(await textsOf('?q=R%20')).toContain(`R ${stars} R`), WAIT_MS);
  expect(await textsOf('?q=a%20*')).toContain(`a ${stars} b`);
  expect(bytesOnDisk()).not.toContain('tok-3f9a');
});

interface Sent {
  event: string;
  id: string;
  data: PrintedLine & { dropped?: number };
}

/** Follows until it was told `wanted`. */
async function follow(path: string, wanted: (events: Sent[]) => boolean, headers = {}): Promise<Sent[]> {
  const leaving = new AbortController();
  const given = { authorization: `Bearer ${server.host.config.adminKey}`, accept: 'text/event-stream', ...headers };
  const answer = await fetch(`${server.url}${path}`, { headers: given, signal: leaving.signal });
  expect(answer.status).toBe(200);
  const events: Sent[] = [];
  let text = '';
  const decoder = new TextDecoder();
  for await (const piece of answer.body ?? []) {
    text += decoder.decode(piece as Uint8Array, { stream: true });
    const blocks = text.split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks.filter((one) => one.includes('data: ')))
      events.push({
        event: /^event: (.*)$/m.exec(block)?.[1] ?? '',
        id: /^id: (.*)$/m.exec(block)?.[1] ?? '',
        data: JSON.parse(/^data: (.*)$/m.exec(block)?.[1] ?? 'null'),
      });
    if (wanted(events)) break;
  }
  leaving.abort();
  return events;
}
const hasText = (text: string) => (events: Sent[]) => events.some(({ data }) => data.text === text);

test('two follow the same log from its newest lines on, and one goes on where it was', async () => {
  await exec('echo before');
  const followers = [1, 2].map(() => follow('/api/instances/one/logs?limit=1', hasText('three')));
  const ofTenant = follow('/api/tenants/acme/logs?q=th', hasText('three'));
  await new Promise((resolve) => setTimeout(resolve, 300));
  await server.call('POST', '/api/instances/one/runs', {
    command: 'for w in one two three; do echo $w; sleep 0.2; done',
  });
  const [first, second] = await Promise.all(followers);
  const texts = first?.map(({ data }) => data.text);
  expect(texts?.slice(-3)).toEqual(['one', 'two', 'three']);
  expect(second?.map(({ id }) => id)).toEqual(first?.map(({ id }) => id));
  expect((await ofTenant).at(-1)?.data).toMatchObject({ text: 'three', instance: 'one' });
  const from = first?.find(({ data }) => data.text === 'one')?.id ?? '';
  const rest = await follow('/api/instances/one/logs', hasText('three'), { 'last-event-id': from });
  expect(rest.map(({ data }) => data.text)).toEqual(['two', 'three']);
});

test('a follower that takes nothing holds nobody up, and is told what it missed', async () => {
  const leaving = new AbortController();
  const headers = { authorization: `Bearer ${server.host.config.adminKey}`, accept: 'text/event-stream' };
  // What sandboxes may print at once, until it is more than the system holds for a connection.
  const ids = Array.from({ length: 6 }, (_, n) => `loud-${n}`);
  await server.call('POST', '/api/instances', { id: 'quiet', tenant: 'loud' });
  const idle = await fetch(`${server.url}/api/tenants/loud/logs`, { headers, signal: leaving.signal });
  const line = 'z'.repeat(1000);
  for (const id of ids) {
    await server.call('POST', '/api/instances', { id, tenant: 'loud' });
    for (const round of [1, 2]) {
      const { status } = await exec(`for n in $(seq 1 1000); do echo "${round} ${line}"; done`, id);
      expect(status).toBe(200);
    }
    await server.call('GET', '/api/tenants/loud/logs?limit=1');
    await server.call('POST', `/api/instances/${id}/suspend`, {});
  }
  let text = '';
  const decoder = new TextDecoder();
  for await (const piece of idle.body ?? []) {
    text += decoder.decode(piece as Uint8Array, { stream: true });
    if (text.includes('event: gap')) break;
  }
  leaving.abort();
  expect(JSON.parse(/event: gap\ndata: (.*)/.exec(text)?.[1] ?? '{}').dropped).toBeGreaterThan(0);
});

test('a line of ten megabytes, bytes that are no text and a guest that prints for ever leave a bounded log', async () => {
  await exec(`js -e 'console.log("a".repeat(10000000))'; printf 'x\\377\\0\\033[2J\\n'`);
  const { json } = await server.call<{ id: string }>('POST', '/api/instances/one/runs', { command: 'yes forever' });
  await vi.waitFor(async () => expect(await textsOf('?q=forever&limit=1')).toEqual(['forever']), WAIT_MS);
  await new Promise((resolve) => setTimeout(resolve, 2000));
  expect((await exec('echo still', 'two')).status).toBe(200);
  await server.call('POST', `/api/instances/one/runs/${json.id}/stop`, {});
  const lines = await logsOf('?limit=1000');
  expect(Math.max(...lines.map(({ text }) => text.length))).toBeLessThanOrEqual(8192);
  const own = readdirSync(join(server.folder, 'logs')).filter((name) => name.startsWith('one.'));
  const bytes = own.reduce((sum, name) => sum + readFileSync(join(server.folder, 'logs', name)).byteLength, 0);
  expect(bytes).toBeLessThanOrEqual(4 * 1024 * 1024);
});

test('a full disk drops lines and counts them, calls go on, and the log says what it lacks', async () => {
  const full = Object.assign(new Error('full'), { code: 'ENOSPC' });
  observeEffects({
    before({ path }) {
      if (path.includes('/logs/')) throw full;
    },
  });
  try {
    for (const n of [1, 2, 3]) expect((await exec(`echo lost ${n}`, 'two')).status).toBe(200);
    const { headers } = await server.call('GET', '/api/instances/two/logs');
    expect(Number(headers['x-log-dropped'])).toBeGreaterThanOrEqual(3);
    const { text } = await server.call('GET', '/metrics');
    expect(Number(/^winterdock_log_dropped_total (\d+)/m.exec(text)?.[1])).toBeGreaterThanOrEqual(3);
  } finally {
    observeEffects(null);
  }
  await exec('echo kept', 'two');
  const texts = await textsOf('?limit=2', 'two');
  expect(texts[1]).toBe('kept');
  expect(texts[0]).toMatch(/^\d+ lines are missing/);
  expect(await textsOf('?q=lost%20', 'two')).toEqual([]);
});

test('a link in the place of a log leads nowhere', async () => {
  await exec('echo mine');
  await textsOf();
  const folder = join(server.folder, 'logs');
  const target = join(server.folder, 'a-target');
  writeFileSync(target, 'theirs');
  const names = readdirSync(folder).filter((name) => name.startsWith('one.'));
  for (const name of names) {
    rmSync(join(folder, name));
    symlinkSync(target, join(folder, name));
  }
  await exec('echo after');
  expect(await textsOf()).toEqual(['after']);
  expect(readFileSync(target, 'utf8')).toBe('theirs');
});

test('a log is forgotten with its sandbox, and is in no bundle', async () => {
  await exec('echo UNIQUE-WORD', 'gone');
  expect(await textsOf('', 'gone')).toEqual(['UNIQUE-WORD']);
  const ship = await fetch(`${server.url}/api/instances/gone/ship`, {
    method: 'POST',
    headers: { authorization: `Bearer ${server.host.config.adminKey}`, 'content-type': 'application/json' },
    body: '{}',
  });
  expect(Buffer.from(await ship.arrayBuffer()).includes('UNIQUE-WORD')).toBe(false);
  expect((await server.call('POST', '/api/instances/gone/archive', { reason: 'done' })).status).toBe(200);
  expect((await server.call('DELETE', '/api/instances/gone')).status).toBe(204);
  await vi.waitFor(
    () => expect(readdirSync(join(server.folder, 'logs')).filter((name) => name.startsWith('gone.'))).toEqual([]),
    WAIT_MS,
  );
  expect((await server.call('GET', '/api/instances/gone/logs')).status).toBe(410);
});

test('a log outlives the server and its kill, and is forgotten where the sandbox went meanwhile', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'winterdock-logs-'));
  try {
    const first = await startServer({ folder });
    await first.call('POST', '/api/instances', { id: 'kept', tenant: 'acme' });
    await first.call('POST', '/api/instances/kept/exec', { command: 'echo first' });
    await first.stop();
    // What a kill amid a write leaves, and the log of a sandbox that there is not.
    const [name = ''] = readdirSync(join(folder, 'logs'));
    writeFileSync(join(folder, 'logs', name), `${readFileSync(join(folder, 'logs', name), 'utf8')}[1234,"half`);
    writeFileSync(join(folder, 'logs', 'nobody.17.log'), '');
    const again = await startServer({ folder });
    await again.call('POST', '/api/instances/kept/exec', { command: 'echo second' });
    const { json } = await again.call<PrintedLine[]>('GET', '/api/instances/kept/logs');
    expect(json.map(({ text }) => text)).toEqual(['second', 'first']);
    expect(json[0]?.seq).toBeGreaterThan(json[1]?.seq ?? 0);
    expect(existsSync(join(folder, 'logs', 'nobody.17.log'))).toBe(false);
    const mode = spawnSync('stat', ['-c', '%a', join(folder, 'logs'), join(folder, 'logs', name)], {
      encoding: 'utf8',
    });
    expect(mode.stdout.split('\n').slice(0, 2)).toEqual(['700', '600']);
    await again.stop();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('a server that keeps no logs writes none, and says so', async () => {
  const off = await startServer({ settings: { WB_LOGS: 'off' } });
  try {
    await off.call('POST', '/api/instances', { id: 'one', tenant: 'acme' });
    await off.call('POST', '/api/instances/one/exec', { command: 'echo x' });
    const { status, json } = await off.call<{ hint: string }>('GET', '/api/instances/one/logs');
    expect([status, json.hint]).toEqual([409, 'WB_LOGS=on keeps them.']);
    expect(existsSync(join(off.folder, 'logs'))).toBe(false);
  } finally {
    await off.stop();
  }
});
