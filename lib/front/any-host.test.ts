/** Two servers of one registry: whichever is asked, the one that has the sandbox answers. */
import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Instance, SandboxRun, SandboxTerminal } from '../contract/schema.ts';
import { administer, newDatabase } from '../registry/testing/postgres-driver.ts';
import { HAS_POSTGRES } from '../registry/testing/postgres-server.ts';
import { BreakableLink } from '../testing/breakable-link.ts';
import { caller } from '../testing/call.ts';
import { TEST_KEY } from '../testing/key.ts';
import { connectAgent } from '../testing/mcp.ts';
import { type ServerProcess, spawnServer } from '../testing/process.ts';

const DATABASE = 'any_host';
const WAIT = { timeout: 120_000, interval: 100 };
const MIB = 1024 * 1024;

describe.skipIf(!HAS_POSTGRES)('any host answers any request', () => {
  let root: string;
  const servers: Record<string, ServerProcess> = {};
  const doors: Record<string, BreakableLink> = {};
  let one: ServerProcess;
  let two: ServerProcess;

  beforeAll(async () => {
    root = mkdtempSync(join(tmpdir(), 'winterdock-any-'));
    mkdirSync(join(root, 'keys'), { mode: 0o700 });
    const address = await newDatabase(DATABASE);
    for (const name of ['one', 'two']) {
      const door = new BreakableLink();
      doors[name] = door;
      const settings = {
        WB_REGISTRY: `postgres://${address.user}@127.0.0.1:${address.hosts[0]?.port}/${DATABASE}`,
        WB_KEYS: join(root, 'keys'),
        WB_HOST_NAME: name,
        WB_HOST_URL: `http://127.0.0.1:${await door.open()}`,
        // Nobody dies here, on a busy machine neither.
        WB_HOST_LEASE_MS: '60000',
        WB_COLD_URL: pathToFileURL(join(root, 'store')).href,
        WB_SESSION_API: 'on',
        WB_DRAIN_MS: '500',
      };
      const server = await spawnServer({ folder: join(root, name), settings });
      servers[name] = server;
      door.leadTo(server.url);
    }
    one = servers.one as ServerProcess;
    two = servers.two as ServerProcess;
    // Each has seen the other.
    await make('first', two);
    await vi.waitFor(async () => expect((await exec(one, 'first', 'echo seen')).status).toBe(200), WAIT);
  });
  afterAll(async () => {
    for (const server of Object.values(servers)) await server.end('SIGKILL');
    for (const door of Object.values(doors)) door.close();
    await administer(`drop database if exists ${DATABASE} with (force)`);
    rmSync(root, { recursive: true, force: true });
  });

  const exec = (server: ServerProcess, id: string, command: string, more: object = {}) =>
    server.call<{ stdout: string; code: string }>('POST', `/api/instances/${id}/exec`, { command, ...more });

  /** Makes a sandbox and wakes it on a host. */
  async function make(id: string, on: ServerProcess): Promise<string> {
    expect((await on.call('POST', '/api/instances', { id, tenant: 'acme' })).status).toBe(201);
    expect((await exec(on, id, 'true')).status).toBe(200);
    return id;
  }

  const ofAnswer = (headers: Record<string, string>) => {
    const { date: _date, 'server-timing': _timing, ...others } = headers;
    return others;
  };

  /** What both hosts answer to the same request. */
  async function both(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
    const options = { headers: { 'x-request-id': 'the-same', host: 'dock.internal', ...headers } };
    const [direct, passed] = [await two.call(method, path, body, options), await one.call(method, path, body, options)];
    expect([passed.status, ofAnswer(passed.headers)]).toEqual([direct.status, ofAnswer(direct.headers)]);
    expect(passed.bytes.equals(direct.bytes)).toBe(true);
    return passed;
  }

  test('files: written by one, read by the other, whole and in parts, with their conditions', async () => {
    const id = await make('files', two);
    const bytes = randomBytes(3 * MIB);
    const path = `/api/instances/${id}/volumes/workspace/a%20folder/large.bin`;
    expect((await one.call('PUT', path, bytes)).status).toBe(201);
    const read = await both('GET', path);
    expect(read.bytes.equals(bytes)).toBe(true);
    const { etag = '' } = read.headers;
    expect((await both('GET', path, undefined, { range: 'bytes=1000000-1000009' })).bytes).toEqual(
      bytes.subarray(1_000_000, 1_000_010),
    );
    expect((await both('GET', path, undefined, { range: 'bytes=99999999-' })).status).toBe(416);
    expect((await both('GET', path, undefined, { 'if-none-match': etag })).status).toBe(304);
    expect((await both('HEAD', path)).headers['content-length']).toBe(String(bytes.length));
    expect((await one.call('PUT', path, 'other', { headers: { 'if-match': '"none"' } })).status).toBe(412);
    expect((await one.call('PUT', path, '', { headers: { 'if-match': etag } })).status).toBe(204);
    await both('GET', path);
    for (const view of [
      'volumes',
      'volumes/workspace',
      'folders/workspace',
      'search?q=large',
      'events',
      'env',
      'raw',
    ]) {
      await both('GET', `/api/instances/${id}/${view}`);
    }
    await both('GET', `/api/instances/${id}/volumes/workspace/absent`);
    await both('GET', `/api/instances/${id}/volumes/absent/x`);
    await both('POST', `/api/instances/${id}/query`, { sql: 'select path from vfs order by path' });
    await both('PATCH', `/api/instances/${id}`, { labels: 'wrong' });
    expect((await one.call('DELETE', path)).status).toBe(204);
    expect((await both('GET', path)).status).toBe(404);
  });

  test('calls: with their answer, with a stream of output, with a key of the request', async () => {
    const id = await make('calls', two);
    const { json } = await exec(one, id, 'echo out; echo err >&2; exit 3');
    expect(json).toMatchObject({ stdout: 'out\n', stderr: 'err\n', exit_code: 3, woke: 'hot' });
    const stdin = 'x'.repeat(1_000_000);
    expect((await exec(one, id, 'wc -c', { stdin })).json.stdout.trim()).toBe('1000000');
    const { text, headers } = await one.call(
      'POST',
      `/api/instances/${id}/exec`,
      { command: 'echo first; sleep 1; echo second' },
      { headers: { accept: 'text/event-stream' } },
    );
    expect(headers['content-type']).toMatch(/^text\/event-stream/);
    expect(text).toMatch(
      /event: stdout\ndata: .*first.*\n\n(?:.|\n)*event: stdout\ndata: .*second(?:.|\n)*event: exit/,
    );
    // The host that has the sandbox keeps the key, so it counts whichever is asked.
    const kept = { headers: { 'idempotency-key': 'once-and-no-more' } };
    const command = { command: 'echo x >> times; wc -l < times' };
    const first = await one.call('POST', `/api/instances/${id}/exec`, command, kept);
    const again = await two.call('POST', `/api/instances/${id}/exec`, command, kept);
    expect(again.text).toBe(first.text);
    expect(again.headers['idempotent-replayed']).toBe('true');
    expect((await one.call('POST', `/api/instances/${id}/eval`, { language: 'js', code: '1 + 1' })).json).toMatchObject(
      {
        ok: true,
        value: 2,
      },
    );
  });

  test('a client that leaves stops what it ran', async () => {
    const id = await make('leaving', two);
    const leave = new AbortController();
    const answer = fetch(`${one.url}/api/instances/${id}/exec`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ command: 'sleep 600', timeout_ms: 590_000 }),
      signal: leave.signal,
    }).catch(() => null);
    const busy = async () => (await one.call<Instance & { running: number }>('GET', `/api/instances/${id}`)).json;
    await expect.poll(async () => (await busy()).thermal, WAIT).toBe('hot');
    leave.abort();
    await answer;
    // The next call begins, which would wait for ten minutes.
    expect((await exec(two, id, 'echo free')).json.stdout).toBe('free\n');
  });

  test('uploads and downloads of a whole sandbox', async () => {
    const id = await make('whole', two);
    await exec(one, id, 'head -c 6000000 /dev/urandom > kept');
    const sum = (await exec(one, id, 'sha256sum < kept')).json.stdout;
    const { bytes, status } = await one.call('POST', `/api/instances/${id}/ship`, {});
    expect(status).toBe(200);
    const imported = await one.call<Instance>('POST', '/api/instances/import?tenant=acme', bytes, {
      headers: { 'content-type': 'application/zip' },
    });
    expect(imported.status).toBe(201);
    // It is on the disk of the host that took it, and the other one finds it there.
    expect((await exec(two, imported.json.id, 'sha256sum < kept')).json.stdout).toBe(sum);
    const checkout = await one.call('GET', `/api/instances/${id}/checkout?format=tar.gz`);
    expect([checkout.status, checkout.bytes.length > 6_000_000]).toEqual([200, true]);
  });

  test('runs and terminals, with what they print as it comes', async () => {
    const id = await make('terminal', two);
    const run = await one.call<SandboxRun>('POST', `/api/instances/${id}/runs`, { command: 'echo a; sleep 1; echo b' });
    expect(run.status).toBe(202);
    const output = `/api/instances/${id}/runs/${run.json.id}/output`;
    const followed = await one.call('GET', output, undefined, { headers: { accept: 'text/event-stream' } });
    expect(followed.text).toMatch(/data: .*a\\n(?:.|\n)*data: .*b\\n/);
    await both('GET', output);
    await both('GET', `/api/instances/${id}/runs`);

    const opened = await one.call<SandboxTerminal>('POST', `/api/instances/${id}/terminals`, {});
    expect(opened.status).toBe(201);
    const terminal = `/api/instances/${id}/terminals/${opened.json.id}`;
    const leave = new AbortController();
    const stream = await fetch(`${one.url}${terminal}/stream`, {
      headers: { authorization: `Bearer ${TEST_KEY}` },
      signal: leave.signal,
    });
    let shown = '';
    const reading = (async () => {
      for await (const piece of stream.body ?? []) shown += Buffer.from(piece).toString();
    })().catch(() => undefined);
    expect((await one.call('POST', `${terminal}/lines`, { text: 'echo typed', language: 'shell' })).status).toBe(202);
    await expect.poll(() => shown, WAIT).toMatch(/event: stdout\ndata: .*typed/);
    const attached = async () => (await two.call<SandboxTerminal[]>('GET', `/api/instances/${id}/terminals`)).json;
    expect((await attached()).map((it) => it.shown)).toEqual([1]);
    leave.abort();
    await reading;
    await vi.waitFor(async () => expect((await attached()).map((it) => it.shown)).toEqual([0]), WAIT);
    expect((await one.call('DELETE', terminal)).status).toBe(204);
  });

  test('moves: it is suspended, filed and woken by whichever is asked', async () => {
    const id = await make('moved', two);
    await exec(one, id, 'echo mine > kept');
    for (const verb of ['suspend', 'resume', 'suspend', 'freeze']) {
      expect([verb, (await one.call('POST', `/api/instances/${id}/${verb}`, {})).status]).toEqual([verb, 200]);
    }
    expect((await exec(two, id, 'cat kept')).json.stdout).toBe('mine\n');
  });

  test('tools of an agent, with progress, and a call that it cancels', async () => {
    const id = await make('agent', two);
    const agent = await connectAgent(one.url);
    const { facts, texts } = await agent.call('exec', { id, command: 'echo from an agent' });
    expect([facts.exit_code, texts.join('')]).toEqual([0, expect.stringContaining('from an agent')]);
    const told: string[] = [];
    await agent.call(
      'exec',
      { id, command: 'echo begun; sleep 3' },
      { onprogress: ({ message = '' }) => void told.push(message) },
    );
    expect(told.length).toBeGreaterThan(0);
    const cancelled = new AbortController();
    const call = agent.call('exec', { id, command: 'sleep 600', timeout_ms: 590_000 }, { signal: cancelled.signal });
    setTimeout(() => cancelled.abort(), 1000);
    await expect(call).rejects.toThrow();
    expect((await exec(two, id, 'echo free')).json.stdout).toBe('free\n');
    await agent.close();
  });

  test('the session API', async () => {
    const id = await make('5f0c1f7e-2f5b-4a8e-9a51-7c0d4e3b2a19', two);
    const { status, json } = await one.call('POST', `/api/sessions/${id}/exec`, { command: 'echo from a session' });
    expect([status, JSON.stringify(json)]).toEqual([200, expect.stringContaining('from a session')]);
    await both('GET', `/api/sessions/${id}`);
    await both('GET', `/api/sessions/${id}/files`);
  });

  test('who asks has the rights of the registry at the host that answers, and none when its key has ended', async () => {
    const id = await make('rights', two);
    const made = await one.call<{ id: string; key: string }>('POST', '/api/keys', {
      ...{ name: 'one', role: 'viewer', tenant: 'acme' },
    });
    const { key } = made.json;
    const limited = { key };
    expect((await one.call('GET', `/api/instances/${id}/events`, undefined, limited)).status).toBe(200);
    const refused = await one.call('POST', `/api/instances/${id}/exec`, { command: 'true' }, limited);
    expect([refused.status, refused.json.code]).toEqual([403, 'forbidden']);
    const theirs = await one.call<{ key: string }>('POST', '/api/keys', {
      ...{ name: 'two', role: 'tenant', tenant: 'globex' },
    });
    const foreign = { key: theirs.json.key };
    expect((await one.call('GET', `/api/instances/${id}`, undefined, foreign)).status).toBe(404);
    expect((await exec(one, id, 'true')).status).toBe(200);
    await one.call('DELETE', `/api/keys/${made.json.id}`);
    expect((await one.call('GET', `/api/instances/${id}/events`, undefined, limited)).status).toBe(401);
    // The ledger says who it was, wherever it was asked.
    const calls = await two.call<{ actor: string }[]>('GET', `/api/instances/${id}/events?type=file.written`);
    expect(calls.status).toBe(200);
  });

  test('connections between hosts are kept', async () => {
    const id = await make('kept', two);
    const door = doors.two as BreakableLink;
    await exec(one, id, 'true');
    const before = door.count;
    for (let n = 0; n < 10; n += 1) expect((await exec(one, id, `echo ${n}`)).json.stdout).toBe(`${n}\n`);
    expect(door.count).toBe(before);
  });

  test('nothing that a stranger or a client sends is taken for a host’s', async () => {
    const id = await make('stranger', two);
    const forged = { headers: { 'x-winterdock-hop': 'e30.AAAA' } };
    expect((await two.call('GET', `/api/instances/${id}`, undefined, forged)).status).toBe(421);
    const byNobody = caller(two.url, 'no key of this server');
    expect((await byNobody('GET', `/api/instances/${id}`, undefined, forged)).status).toBe(421);
    expect((await byNobody('GET', `/api/instances/${id}`)).status).toBe(401);
  });

  test('a connection that is cut in the middle of a call: it may have been done', async () => {
    const id = await make('cut', two);
    const call = exec(one, id, 'echo x >> times; sleep 600', { timeout_ms: 590_000 });
    const lines = async () => (await exec(two, id, 'cat times')).json.stdout;
    const { call: look } = two;
    await expect
      .poll(async () => (await look('GET', `/api/instances/${id}/volumes/workspace/times`)).text, WAIT)
      .toBe('x\n');
    doors.two?.cut();
    const { status, headers, json } = await call;
    expect([status, headers['retry-after']]).toEqual([503, '1']);
    expect(json).toMatchObject({ host: 'two', started: true });
    // The host that ran it noticed, too.
    expect(await lines()).toBe('x\n');
  });

  test('large output crosses whole', async () => {
    const id = await make('large', two);
    await exec(two, id, 'head -c 40000000 /dev/urandom > large');
    const sum = (await exec(two, id, 'sha256sum < large')).json.stdout.slice(0, 64);
    const { bytes } = await one.call('GET', `/api/instances/${id}/volumes/workspace/large`);
    expect(createHash('sha256').update(bytes).digest('hex')).toBe(sum);
  });
});
