import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Event, ExecAnswer, Secret, Variable } from '../../contract/schema.ts';
import { registryHolds } from '../../registry/testing/sql-of-tests.ts';
import { startServer, type TestServer } from '../../testing/server.ts';

const CANARY = 'canary-51c2e8-never-again';
const URL = 'https://api.example.com/v1/';
let folder: string;
let server: TestServer;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-guests-'));
  server = await startServer({ folder });
  await server.call('POST', '/api/instances', { id: 'one', tenant: 'acme' });
});
afterEach(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

const patchEnv = (path: string, env: Record<string, string | null>, key?: string) =>
  server.call<Variable[]>('PATCH', `/api/${path}/env`, { env }, key === undefined ? {} : { key });
const env = async (path: string, key?: string) =>
  (await server.call<Variable[]>('GET', `/api/${path}/env`, undefined, key === undefined ? {} : { key })).json;
const values = (variables: Variable[]) => variables.map(({ name, value, from }) => `${name}=${value} ${from}`);
const exec = async (command: string, more: object = {}, id = 'one') =>
  (await server.call<ExecAnswer>('POST', `/api/instances/${id}/exec`, { command, ...more })).json;
const evaluate = async (language: string, code: string) =>
  (await server.call<{ value?: unknown; stdout: string }>('POST', '/api/instances/one/eval', { language, code })).json;
const makeKey = async (role: string, tenant?: string) =>
  (await server.call<{ key: string }>('POST', '/api/keys', { name: role, role, ...(tenant && { tenant }) })).json.key;

test('variables reach the shell, Python and JavaScript, and a change holds at the next call without a wake', async () => {
  await patchEnv('tenants/acme', { GREETING: 'from acme', ONLY: 'acme', odd: '$HOME `x` "y"\n$' });
  const changed = await patchEnv('instances/one', { GREETING: 'own' });
  expect(values(changed.json)).toEqual(['GREETING=own sandbox', 'ONLY=acme tenant', 'odd=$HOME `x` "y"\n$ tenant']);
  expect(await exec('echo "$GREETING $ONLY"; env | grep -c ^ONLY=')).toMatchObject({
    stdout: 'own acme\n1\n',
    woke: 'cold',
  });
  expect((await exec('printf %s "$odd"')).stdout).toBe('$HOME `x` "y"\n$');
  expect((await exec('echo $GREETING', { env: { GREETING: 'of the call' } })).stdout).toBe('of the call\n');
  expect((await exec(`python3 -c 'import os; print(os.environ["GREETING"])'`)).stdout).toBe('own\n');
  expect((await exec(`js -e 'console.log(env.GREETING, env.ONLY)'`)).stdout).toBe('own acme\n');
  expect((await evaluate('python', 'import os\nprint(os.environ["ONLY"])')).stdout).toBe('acme\n');
  expect((await evaluate('js', 'env.GREETING + typeof env.NONE')).value).toBe('ownundefined');
  await patchEnv('instances/one', { GREETING: null });
  await patchEnv('tenants/acme', { ONLY: 'changed' });
  expect(await exec('echo "$GREETING $ONLY"')).toMatchObject({ stdout: 'from acme changed\n', woke: 'hot' });
});

test('a job of a script has the variables of that script, and not again those that it unset', async () => {
  await patchEnv('instances/one', { KEPT: 'kept', GONE: 'gone' });
  const { stdout } = await exec('unset GONE; KEPT=changed; export KEPT; echo "$KEPT$GONE." & wait $!');
  expect(stdout).toContain('changed.');
});

test('a clone has the variables of its blueprint, under its own', async () => {
  await exec('echo hello > a');
  expect((await server.call('POST', '/api/blueprints', { name: 'base', from_instance: 'one' })).status).toBe(201);
  await patchEnv('blueprints/base', { STAGE: 'base', DEPTH: 'base' });
  await patchEnv('tenants/globex', { STAGE: 'globex', SITE: 'globex' });
  const [clone] = (
    await server.call<{ id: string }[]>('POST', '/api/blueprints/base/clone', { tenant: 'globex', count: 1 })
  ).json;
  const id = clone?.id ?? '';
  await patchEnv(`instances/${id}`, { DEPTH: 'own' });
  expect(values(await env(`instances/${id}`))).toEqual([
    'DEPTH=own sandbox',
    'SITE=globex tenant',
    'STAGE=base blueprint',
  ]);
  expect((await exec('echo $STAGE $DEPTH $SITE', {}, id)).stdout).toBe('base own globex\n');
});

test('names that the sandbox sets itself, wrong names and too much are refused with a sentence', async () => {
  for (const [name, message] of [
    ['PATH', 'is set by the sandbox itself'],
    ['BASH_ENV', 'is set by the sandbox itself'],
    ['1A', 'must be letters'],
    ['A-B', 'must be letters'],
    ['x'.repeat(129), ''],
  ] as const) {
    const answer = await patchEnv('instances/one', { [name]: 'x' });
    expect([name, answer.status]).toEqual([name, 422]);
    expect(answer.text).toContain(message);
  }
  expect((await patchEnv('instances/one', { A: 'x\0' })).status).toBe(422);
  const raw = await server.call('PATCH', '/api/instances/one/env', '{"env":{"__proto__":"x"}}');
  expect([raw.status, raw.json]).toEqual([200, []]);
  const many = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`V${n}`, 'x']));
  expect((await patchEnv('instances/one', many)).status).toBe(200);
  const more = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`W${n}`, 'x']));
  const answer = await patchEnv('instances/one', more);
  expect([answer.status, answer.text]).toEqual([422, expect.stringContaining('120 variables, of at most 100')]);
  expect(await env('instances/one')).toHaveLength(60);
});

test('the ledger has the names of variables and not their values, and support and viewers see names alone', async () => {
  await patchEnv('instances/one', { TOKEN_LIKE: CANARY, OTHER: 'x' });
  await patchEnv('instances/one', { OTHER: null });
  const lines = (await server.call<Event[]>('GET', '/api/events?type=env.changed')).json;
  expect(lines.map(({ reason, instance, tenant }) => [reason, instance, tenant])).toEqual([
    ['removed OTHER', 'one', 'acme'],
    ['set TOKEN_LIKE, OTHER', 'one', 'acme'],
  ]);
  expect(JSON.stringify(lines)).not.toContain(CANARY);
  for (const role of ['support', 'viewer']) {
    const key = await makeKey(role);
    expect(await env('instances/one', key)).toEqual([
      { name: 'TOKEN_LIKE', value: null, is_set: true, from: 'sandbox' },
    ]);
    expect((await patchEnv('instances/one', { A: 'x' }, key)).status).toBe(403);
  }
  const own = await makeKey('tenant', 'acme');
  expect((await patchEnv('tenants/acme', { A: 'x' }, own)).status).toBe(200);
  expect((await patchEnv('tenants/globex', { A: 'x' }, own)).status).toBe(404);
  expect((await env('instances/one', own)).map(({ value }) => value)).toEqual(['x', CANARY]);
});

const put = (path: string, over: object = {}, key?: string) =>
  server.call<Secret>('PUT', `/api/${path}`, { value: CANARY, url: URL, ...over }, key === undefined ? {} : { key });
const secrets = async (path: string, key?: string) =>
  (await server.call<Secret[]>('GET', `/api/${path}/secrets`, undefined, key === undefined ? {} : { key })).json;

test('a secret is listed without its value, replaced, and removed, and a sandbox’s own takes its tenant’s place', async () => {
  const made = await put('tenants/acme/secrets/API_KEY');
  expect([made.status, made.json]).toMatchObject([
    200,
    {
      name: 'API_KEY',
      of: 'tenant',
      url: URL,
      header: 'authorization',
      format: 'Bearer {}',
      last_used: null,
      opens: true,
    },
  ]);
  await put('tenants/acme/secrets/other', { header: 'X-Key', format: '{}' });
  await put('instances/one/secrets/API_KEY', { url: 'https://api.example.com' });
  const listed = await secrets('instances/one');
  expect(listed.map(({ name, of, url, header }) => `${name} ${of} ${url} ${header}`)).toEqual([
    'API_KEY sandbox https://api.example.com/ authorization',
    'other tenant https://api.example.com/v1/ x-key',
  ]);
  expect((await secrets('tenants/acme')).map(({ name }) => name)).toEqual(['API_KEY', 'other']);
  expect((await server.call('DELETE', '/api/instances/one/secrets/other')).status).toBe(404);
  expect((await server.call('DELETE', '/api/instances/one/secrets/API_KEY')).status).toBe(204);
  expect((await server.call('DELETE', '/api/instances/one/secrets/API_KEY')).status).toBe(404);
  expect((await secrets('instances/one')).map(({ of }) => of)).toEqual(['tenant', 'tenant']);
  const lines = (await server.call<Event[]>('GET', '/api/events?tenant=acme')).json;
  const about = lines.filter(({ type }) => type.startsWith('secret.'));
  expect(about.map(({ type, reason, instance }) => [type, reason, instance])).toEqual([
    ['secret.removed', 'API_KEY: api.example.com', 'one'],
    ['secret.set', 'API_KEY: api.example.com', 'one'],
    ['secret.set', 'other: api.example.com', null],
    ['secret.set', 'API_KEY: api.example.com', null],
  ]);
});

test('what no request may carry is refused, and the refusal does not say it again', async () => {
  for (const wrong of [
    { value: `${CANARY}\r\nX-Evil: 1` },
    { value: `${CANARY}é` },
    { value: '' },
    { value: CANARY.repeat(400) },
    { format: 'Bearer' },
    { format: '{} {}' },
    { format: 'a\r\n{}' },
    ...['host', 'Content-Length', 'connection', 'Transfer-Encoding', 'te', 'upgrade', 'expect', 'accept-encoding'].map(
      (header) => ({ header }),
    ),
    ...['Proxy-Authorization', 'content-type', 'X-HTTP-Method-Override', 'range', 'a b'].map((header) => ({ header })),
    { url: 'http://api.example.com/' },
    { url: 'https://api.example.com/a%2fb/' },
    { url: '*' },
    { url: 'https://user:pass@api.example.com/' },
    { url: 'https://api.example.com/?key=1' },
    { url: CANARY },
    { extra: CANARY },
  ]) {
    const answer = await put('tenants/acme/secrets/ONE', wrong);
    expect([wrong, answer.status]).toEqual([wrong, 422]);
    expect(answer.text).not.toContain(CANARY);
  }
  expect((await put(`tenants/acme/secrets/${encodeURIComponent('a/b')}`)).status).toBe(422);
  expect(await secrets('tenants/acme')).toEqual([]);
});

test('an address without TLS is for a host alone that the tenant’s list has as private', async () => {
  const plain = { url: 'http://lan.example:8080/v1/' };
  expect((await put('tenants/acme/secrets/ONE', plain)).status).toBe(422);
  const rules = [{ url: 'http://lan.example:8080/', private: true }];
  expect((await server.call('PUT', '/api/tenants/acme/network', { rules })).status).toBe(200);
  expect((await put('tenants/acme/secrets/ONE', plain)).status).toBe(200);
  expect((await put('tenants/acme/secrets/ONE', { url: 'http://lan.example/v1/' })).status).toBe(422);
});

test('names are for every role of the tenant, and setting one for those who may run commands', async () => {
  await put('instances/one/secrets/ONE');
  await server.call('POST', '/api/instances', { id: 'yours', tenant: 'globex' });
  await put('instances/yours/secrets/ONE');
  for (const role of ['support', 'viewer']) {
    const key = await makeKey(role);
    expect((await secrets('instances/one', key)).map(({ name }) => name)).toEqual(['ONE']);
    expect((await put('instances/one/secrets/TWO', {}, key)).status).toBe(403);
    expect((await server.call('DELETE', '/api/instances/one/secrets/ONE', undefined, { key })).status).toBe(403);
  }
  const key = await makeKey('tenant', 'acme');
  expect((await put('instances/one/secrets/TWO', {}, key)).status).toBe(200);
  expect((await put('tenants/acme/secrets/TWO', {}, key)).status).toBe(200);
  for (const path of ['instances/yours', 'tenants/globex']) {
    expect((await put(`${path}/secrets/TWO`, {}, key)).status).toBe(404);
    expect((await server.call('GET', `/api/${path}/secrets`, undefined, { key })).status).toBe(404);
    expect((await server.call('DELETE', `/api/${path}/secrets/ONE`, undefined, { key })).status).toBe(404);
  }
});

test('a copy of a sandbox has none of its secrets, and a deleted one leaves none', async () => {
  await exec('echo hello > a');
  await put('instances/one/secrets/ONE');
  await put('tenants/acme/secrets/TWO');
  const snapshot = await server.call<{ id: string }>('POST', '/api/instances/one/snapshots', {});
  const [copy] = (await server.call<{ id: string }[]>('POST', `/api/snapshots/${snapshot.json.id}/restore`, {})).json;
  expect((await secrets(`instances/${copy?.id}`)).map(({ name }) => name)).toEqual(['TWO']);
  for (const verb of ['archive'])
    expect((await server.call('POST', `/api/instances/one/${verb}`, {})).status).toBe(200);
  expect((await server.call('DELETE', '/api/instances/one')).status).toBe(204);
  expect((await server.call('GET', '/api/instances/one/secrets')).status).toBe(410);
  expect((await put('instances/one/secrets/ONE')).status).toBe(410);
  expect((await server.host.registry.secrets.all()).map(({ name }) => name)).toEqual(['TWO']);
});

test('the value of a secret is in no file of the data folder, no answer, no output of a guest and no line', async () => {
  const seen: string[] = [];
  const call = async (method: string, path: string, body?: unknown) => {
    const answer = await server.call(method, path, body);
    seen.push(`${method} ${path} ${answer.status} ${JSON.stringify(answer.headers)} ${answer.text}`);
    return answer;
  };
  for (const path of ['instances/one/secrets/ONE', 'tenants/acme/secrets/TWO'])
    await call('PUT', `/api/${path}`, { value: CANARY, url: URL });
  await call('PUT', '/api/instances/one/secrets/ONE', { value: CANARY, url: 'not an address' });
  await call('POST', '/api/instances/one/exec', { command: 'env; set; export -p; cat /proc/self/environ; ls -laR / ' });
  await call('POST', '/api/instances/one/eval', {
    language: 'js',
    code: 'JSON.stringify(Object.keys(globalThis)) + JSON.stringify(env)',
  });
  await call('POST', '/api/instances/one/ship', { include_private: true });
  const { json } = await call('POST', '/api/instances/one/snapshots', {});
  await call('POST', `/api/snapshots/${(json as unknown as { id: string }).id}/restore`, {});
  for (const path of [
    'instances/one',
    'instances/one/secrets',
    'tenants/acme/secrets',
    'tenants/acme',
    'instances/one/env',
  ])
    await call('GET', `/api/${path}`);
  await call('GET', '/api/events?limit=500');
  await call('GET', '/openapi.json');
  await server.host.registry.storage.checkpoint();
  expect(seen.filter((text) => text.includes(CANARY))).toEqual([]);
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  expect(await registryHolds(folder, 'TWO')).toBe(true);
  expect(await registryHolds(folder, CANARY)).toBe(false);
  const found = files.filter((entry) => readFileSync(join(entry.parentPath, entry.name)).includes(CANARY));
  expect(found.map(({ name }) => name)).toEqual([]);
  // The check can fail: what is encrypted there is the value.
  const [row] = await server.host.registry.secrets.all();
  expect(row?.sealed).toMatch(/^v1\./);
});
