import { randomBytes } from 'node:crypto';
import { type IncomingMessage, request } from 'node:http';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { type Clock, systemClock } from '../../base/clock.ts';
import { createdKeySchema, keySchema } from '../../contract/schema/access.ts';
import type { SandboxRun } from '../../contract/schema.ts';
import { registryHolds } from '../../registry/testing/sql-of-tests.ts';
import { startServer, type TestServer } from '../../testing/server.ts';

let server: TestServer & { clock: Clock };
beforeAll(async () => {
  server = await startServer({ clock: systemClock });
  await server.call('POST', '/api/instances', { id: 'mine', tenant: 'acme' });
});
afterAll(() => server.stop());
const others: TestServer[] = [];
afterEach(() => Promise.all(others.splice(0).map((other) => other.stop())));

interface Made {
  id: string;
  key: string;
}

const make = async (input: Record<string, unknown>, at: TestServer = server): Promise<Made> => {
  const made = await at.call<Made>('POST', '/api/keys', {
    name: 'a program',
    role: 'tenant',
    tenant: 'acme',
    ...input,
  });
  expect(made.status).toBe(201);
  return made.json;
};
const ask = (key: string, path = '/api/me') => server.call('GET', path, undefined, { key });
const soon = (seconds: number) => Math.floor(Date.now() / 1000) + seconds;

/** What a stream says until it ends, and whether it ended by itself. */
function listen(key: string, path = '/api/events/stream'): { text: () => string; ended: Promise<number> } {
  let text = '';
  const ended = new Promise<number>((resolve, reject) => {
    const req = request(
      `${server.url}${path}`,
      { headers: { authorization: `Bearer ${key}` }, agent: false },
      (res) => {
        res.on('data', (chunk: Buffer) => {
          text += chunk.toString();
        });
        res.on('end', () => resolve(performance.now()));
        res.on('error', reject);
      },
    );
    req.on('error', reject);
    req.end();
  });
  return { text: () => text, ended };
}

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 10));
}

/** A request of a key that is under way: what it sent is open, and what it got is told at its end. */
function begin(key: string, method: string, path: string, headers: Record<string, string> = {}) {
  const req = request(`${server.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, ...headers },
    agent: false,
  });
  req.on('error', () => undefined);
  const answer = new Promise<IncomingMessage>((resolve) => req.once('response', resolve));
  return { req, answer };
}

test('what a key has under way ends with it: what it sends, what it runs, what it takes', async () => {
  const slow = await make({});
  await server.call('PUT', '/api/instances/mine/volumes/workspace/large', randomBytes(24_000_000));
  const upload = begin(slow.key, 'PUT', '/api/instances/mine/volumes/workspace/sneaked', { 'content-length': '1000' });
  upload.req.write('x');
  const bundle = begin(slow.key, 'POST', '/api/instances/import?tenant=acme&id=sneaked', { 'content-length': '1000' });
  bundle.req.write('PK');
  const taken = await (() => {
    const checkout = begin(slow.key, 'GET', '/api/instances/mine/checkout');
    checkout.req.end();
    return checkout.answer;
  })();
  // It may be cut before it is read.
  const cut = new Promise<boolean>((resolve) => taken.once('close', () => resolve(!taken.complete)));
  taken.on('error', () => undefined);
  const run = begin(slow.key, 'POST', '/api/instances/mine/exec');
  run.req.end(JSON.stringify({ command: 'echo begun > begun; sleep 50; echo late > late' }));
  await until(async () => (await server.call('GET', '/api/instances/mine/volumes/workspace/begun')).status === 200);
  expect(taken.statusCode).toBe(200);

  expect((await server.call('DELETE', `/api/keys/${slow.id}`)).status).toBe(204);
  await run.answer;
  for (const one of [upload, bundle]) one.req.end('x'.repeat(999).slice(one === bundle ? 1 : 0));
  expect([(await upload.answer).statusCode, (await bundle.answer).statusCode]).toEqual([401, 401]);
  taken.resume();
  expect(await cut).toBe(true);
  const statusOf = async (path: string) => (await server.call('GET', path)).status;
  expect(await statusOf('/api/instances/sneaked')).toBe(404);
  for (const name of ['sneaked', 'late'])
    expect(await statusOf(`/api/instances/mine/volumes/workspace/${name}`)).toBe(404);
});

test('a key is shown once, listed by what it begins with, and kept as a digest', async () => {
  const made = await server.call<Made>('POST', '/api/keys', { name: 'Nightly build', role: 'operator' });
  const whole = createdKeySchema.strict().parse(made.json);
  expect(whole.key).toMatch(/^wd_[0-9a-z]{12}_[\w-]{43}$/);
  expect(whole.key.startsWith(`${whole.prefix}_`)).toBe(true);
  expect(whole).toMatchObject({ created_by: 'key:admin', tenant: null, expires: null, last_used: null });
  const listed = await server.call('GET', '/api/keys');
  expect(listed.text).not.toContain(whole.key);
  const row = keySchema.array().parse(listed.json)[0];
  expect(row).toMatchObject({ id: whole.id, name: 'Nightly build', role: 'operator' });
  const secret = whole.key.split('_').slice(2).join('_');
  expect(await registryHolds(server.folder, whole.id)).toBe(true);
  expect(await registryHolds(server.folder, secret)).toBe(false);
});

test('a key acts as itself, with its role, for its tenant, and the ledger says so', async () => {
  const { id, key } = await make({});
  expect((await ask(key)).json).toMatchObject({
    actor: `key:${id}`,
    role: 'tenant',
    tenants: ['acme'],
    person: null,
    key: { id, name: 'a program', expires: null },
    reads: ['workspace', 'memory', 'tmp'],
  });
  await server.call('PATCH', '/api/instances/mine', { labels: { by: 'key' } }, { key });
  const [line] = (await server.call<{ actor: string }[]>('GET', '/api/instances/mine/events')).json;
  expect(line?.actor).toBe(`key:${id}`);
  const created = (await server.call<{ tenant: string; reason: string }[]>('GET', '/api/events?type=key.created')).json;
  expect(created[0]).toMatchObject({ tenant: 'acme', reason: `wd_${id}: tenant of acme` });
});

test.each([
  ['a role that there is not', { role: 'root' }],
  ['the role of a tenant without one', { role: 'tenant', tenant: undefined }],
  ['an admin of one tenant', { role: 'admin', tenant: 'acme' }],
  ['an end in the past', { expires: 1000 }],
  ['no name', { name: ' ' }],
])('a key with %s is not made', async (_what, input) => {
  const answer = await server.call('POST', '/api/keys', { name: 'x', role: 'tenant', tenant: 'acme', ...input });
  expect([answer.status, answer.json.code]).toEqual([422, 'validation']);
});

test('what only looks like a key opens nothing', async () => {
  const { key } = await make({});
  const [wd, id, secret] = [key.slice(0, 2), key.slice(3, 15), key.slice(16)];
  const wrong = [
    `${wd}_${id}_${secret.replace(/^./, (first) => (first === 'A' ? 'B' : 'A'))}`,
    `${wd}_${id.replace(/^./, (first) => (first === '0' ? '1' : '0'))}_${secret}`,
    `${wd}_${id}_`,
    `${wd}_${id}`,
    key.slice(0, -1),
    `${key}x`,
    key.toUpperCase(),
  ];
  for (const one of wrong) expect([one, (await ask(one)).status]).toEqual([one, 401]);
  expect((await ask(key)).status).toBe(200);
});

test('a revoked key ends at once, in the middle of its stream too, and leaves the list', async () => {
  const { id, key } = await make({});
  const stream = listen(key);
  const bystander = listen((await make({})).key);
  await until(() => stream.text() !== '' && bystander.text() !== '');
  expect((await ask(key)).status).toBe(200);
  expect((await server.call('DELETE', `/api/keys/${id}`)).status).toBe(204);
  await stream.ended;
  expect(stream.text()).toContain('event: error');
  expect(stream.text()).toContain('"code":"unauthorized"');
  expect((await ask(key)).status).toBe(401);
  const listed = (await server.call<{ id: string }[]>('GET', '/api/keys')).json;
  expect(listed.some((one) => one.id === id)).toBe(false);
  expect((await server.call('DELETE', `/api/keys/${id}`)).status).toBe(404);
  await server.call('PATCH', '/api/instances/mine', { labels: { after: 'revocation' } });
  await until(() => bystander.text().includes('instance.changed'));
  const lines = (await server.call<{ reason: string }[]>('GET', '/api/events?type=key.revoked')).json;
  expect(lines[0]?.reason).toBe(`wd_${id}`);
});

test('a stream of a command stops the command when its key is revoked', async () => {
  const { id, key } = await make({});
  let output = '';
  const over = new Promise<void>((resolve, reject) => {
    const req = request(
      `${server.url}/api/instances/mine/exec`,
      {
        method: 'POST',
        agent: false,
        headers: { authorization: `Bearer ${key}`, accept: 'text/event-stream', 'content-type': 'application/json' },
      },
      (res) => {
        res.on('data', (chunk: Buffer) => {
          output += chunk.toString();
        });
        res.on('close', resolve);
      },
    );
    req.on('error', reject);
    req.end(JSON.stringify({ command: 'echo begun\nsleep 30\necho never | tee never', timeout_ms: 40_000 }));
  });
  await until(() => output.includes('begun'));
  await server.call('DELETE', `/api/keys/${id}`);
  await over;
  expect(output).not.toContain('never');
  expect((await server.call('POST', '/api/instances/mine/exec', { command: 'echo next' })).json.stdout).toBe('next\n');
  // Had the call gone on, it would have written this by the time that none runs any more.
  await vi.waitFor(async () => expect((await server.call('GET', '/api/instances/mine')).json.calls).toBe(0), 240_000);
  expect((await server.call('GET', '/api/instances/mine/volumes/workspace/never')).status).toBe(404);
});

test('a run is its sandbox’s: it goes on when its key is revoked, which it names, and others stop it', async () => {
  const { id, key } = await make({});
  const at = '/api/instances/mine/runs';
  const begun = await server.call<SandboxRun>('POST', at, { command: 'echo on; sleep 50' }, { key });
  const look = async () => (await server.call<SandboxRun>('GET', `${at}/${begun.json.id}`)).json;
  await until(async () => (await look()).output_bytes === 3);
  expect((await server.call('DELETE', `/api/keys/${id}`)).status).toBe(204);
  expect((await server.call('POST', `${at}/${begun.json.id}/stop`, {}, { key })).status).toBe(401);
  expect(await look()).toMatchObject({ state: 'running', actor: `key:${id}` });
  expect((await server.call<SandboxRun>('POST', `${at}/${begun.json.id}/stop`, {})).json.state).toBe('stopped');
});

test('a key ends when it expires, and its stream with it', async () => {
  const { key } = await make({ expires: soon(2) });
  const stream = listen(key);
  await until(() => stream.text() !== '');
  await stream.ended;
  expect(stream.text()).toContain('"code":"unauthorized"');
  expect((await ask(key)).status).toBe(401);
});

test('when a key was last used is known at once and written down with the stop', async () => {
  const { id, key } = await make({});
  const lastUsed = async () =>
    (await server.call<{ id: string; last_used: number | null }[]>('GET', '/api/keys')).json.find(
      (one) => one.id === id,
    )?.last_used;
  expect(await lastUsed()).toBeNull();
  await ask(key);
  expect(await lastUsed()).toBeGreaterThan(soon(-60));
  const written = () => server.host.registry.keys.get(id);
  expect((await written())?.lastUsed).toBeNull();
  await server.host.auth.close();
  expect((await written())?.lastUsed).toBe(await lastUsed());
});

test('a key with too many requests gets a retry time, and no other key does', async () => {
  const small = await startServer({ settings: { WB_RATE_KEY: '5' } });
  others.push(small);
  const [one, other] = [await make({}, small), await make({}, small)];
  const me = (key: string) => small.call('GET', '/api/me', undefined, { key });
  for (let n = 0; n < 5; n += 1) expect((await me(one.key)).status).toBe(200);
  const refused = await me(one.key);
  expect([refused.status, refused.json.code]).toEqual([429, 'rate_limited']);
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
  expect(Number(refused.headers['retry-after'])).toBeLessThanOrEqual(60);
  expect((await me(other.key)).status).toBe(200);
  for (let n = 0; n < 10; n += 1) expect((await small.call('GET', '/api/me')).status).toBe(200);
});

test('an address that asks too often is refused whatever its keys, but for the admin key', async () => {
  const small = await startServer({ settings: { WB_RATE_ADDRESS: '6', WB_TRUST_PROXY: '1' } });
  others.push(small);
  const keys = [await make({}, small), await make({}, small)];
  const from = (address: string, key: string | null, path = '/api/me') =>
    small.call('GET', path, undefined, { key, headers: { 'x-forwarded-for': address } });
  for (let n = 0; n < 6; n += 1) expect((await from('192.0.2.1', keys[n % 2]?.key ?? '')).status).toBe(200);
  expect((await from('192.0.2.1', keys[0]?.key ?? '')).status).toBe(429);
  expect((await from('192.0.2.1', null, '/healthz')).status).toBe(429);
  expect((await from('192.0.2.2', keys[0]?.key ?? '')).status).toBe(200);
  const admin = await small.call('GET', '/api/me', undefined, { headers: { 'x-forwarded-for': '192.0.2.1' } });
  expect(admin.status).toBe(200);
});

test('wrong keys from one address are slowed down, and do not shut out whose key is right', async () => {
  const small = await startServer({ settings: { WB_RATE_WRONG_KEYS: '4', WB_TRUST_PROXY: '1' } });
  others.push(small);
  const { key } = await make({}, small);
  const from = (address: string, sent?: string) =>
    small.call('GET', '/api/me', undefined, {
      headers: { 'x-forwarded-for': address },
      ...(sent === undefined ? {} : { key: sent }),
    });
  // The admin has been here; a stranger at the same address guesses.
  expect((await from('192.0.2.1')).status).toBe(200);
  const guesses = [];
  for (let n = 0; n < 6; n += 1) guesses.push((await from('192.0.2.1', `guess-number-${n}`)).status);
  expect(guesses).toEqual([401, 401, 401, 401, 429, 429]);
  expect((await from('192.0.2.1')).status).toBe(200);
  expect((await from('192.0.2.1', key)).status).toBe(200);
  expect((await from('192.0.2.2', 'guess-elsewhere')).status).toBe(401);
  // Where nobody was right before, a right guess is not believed either until the wait is over.
  for (let n = 0; n < 5; n += 1) await from('192.0.2.3', `guess-number-${n}`);
  expect((await from('192.0.2.3')).status).toBe(429);
});
