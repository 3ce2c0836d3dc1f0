/** A secret that requests carry is looked for wherever a guest, a caller or a reader of files could find it. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { run } from '../backup/testing/server-content.ts';
import { registryHolds } from '../registry/testing/sql-of-tests.ts';
import { TEST_KEY } from '../testing/server.ts';
import { type NetworkServer, startNetworkServer, TENANT } from './testing/network-server.ts';
import { descendantsOf, hasInMemory } from './testing/process-memory.ts';

const VALUE = ['canary', '9d27c4', 'of-a-secret'].join('-');
let net: NetworkServer;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-canary-'));
  net = await startNetworkServer();
  await net.allow([{ url: `${net.api}/` }]);
  const secret = { value: VALUE, url: `${net.api}/v1/` };
  for (const path of [`tenants/${TENANT}/secrets/TOKEN`, 'instances/box/secrets/OWN'])
    expect((await net.server.call('PUT', `/api/${path}`, secret)).status).toBe(200);
});
afterAll(async () => {
  await net.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Names of the files below a folder that have the bytes. */
function filesWith(text: string, root: string): string[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && readFileSync(join(entry.parentPath, entry.name)).includes(text))
    .map(({ name }) => name);
}

const PYTHON = `
import gc, os, sys, urllib.request
answer = urllib.request.urlopen("URL")
print(answer.read(), answer.headers, answer.__dict__, dict(os.environ), sys.argv)
print([one for one in gc.get_objects() if isinstance(one, (dict, list))][:5000])
try: print(open("/proc/self/environ", "rb").read(), open("/proc/self/mem", "rb"))
except OSError as error: print(error)
`;

test('requests carry it, and no guest, answer, stream, metric, line, file, bundle, backup or worker has it', async () => {
  const said: string[] = [];
  const stream = await fetch(`${net.server.url}/api/events/stream`, {
    headers: { authorization: `Bearer ${TEST_KEY}` },
  });
  const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
  const url = `${net.api}/v1/echo`;
  net.tls.answer = (request, response) => {
    response.setHeader('x-seen', String(request.headers.authorization));
    response.end(`you sent ${request.headers.authorization}`);
  };
  const shown = await net.js(`
    const answer = await fetch('${url}');
    const request = new Request('${url}');
    JSON.stringify([await answer.text(), [...answer.headers], [...request.headers], Object.getOwnPropertyNames(globalThis), env])
  `);
  said.push(JSON.stringify(shown));
  for (const command of [
    `curl -sv -D - ${url}; curl -s -w '%{json}' ${url}; wget -S -O - ${url}`,
    'env; set; export -p; cat /proc/self/environ /proc/self/cmdline /proc/*/environ; ls -la /proc /proc/self; ps',
    `python3 -c '${PYTHON.replace('URL', url)}'`,
    `curl -s ${net.api}/v2/`,
  ])
    said.push(JSON.stringify(await net.sh(command)));
  expect(said[0]).toContain('*'.repeat(20));
  const carried = net.tls.received.map(({ headers }) => headers.authorization ?? 'none');
  expect(carried).toEqual([...Array(carried.length - 1).fill(`Bearer ${VALUE}`), 'none']);
  expect(carried.length).toBeGreaterThan(5);

  const { server } = net;
  const call = async (method: string, path: string, body?: unknown) => {
    const answer = await server.call(method, path, body);
    said.push(`${method} ${path} ${JSON.stringify(answer.headers)} ${answer.text}`);
    return answer;
  };
  const wrong = { value: VALUE, url: 'ftp://x', header: 'host', more: VALUE };
  expect((await call('PUT', '/api/instances/box/secrets/OWN', wrong)).status).toBe(422);
  expect((await call('PUT', '/api/instances/box/secrets/OWN', `{"value":"${VALUE}"`)).status).toBe(400);
  for (const path of ['/api/events?limit=500', '/metrics', '/api/instances/box/secrets', '/api/instances/box/network'])
    expect((await call('GET', path)).status).toBe(200);
  for (const path of ['/api/instances/box', '/api/instances/box/env', `/api/tenants/${TENANT}`, '/openapi.json'])
    expect((await call('GET', path)).status).toBe(200);
  for (const [path, body] of [
    ['ship', { include_private: true }],
    ['ship', { include_private: true, format: 'html' }],
    ['snapshots', {}],
  ] as const)
    expect((await call('POST', `/api/instances/box/${path}`, body)).status).toBeLessThan(300);

  // The memory of its processes: what the guest was answered is there, the secret is not.
  const workers = descendantsOf(process.pid);
  expect(workers.some((pid) => hasInMemory(pid, Buffer.from('you sent ***')))).toBe(true);
  expect(workers.filter((pid) => hasInMemory(pid, Buffer.from(VALUE)))).toEqual([]);

  let told = '';
  while (!told.includes('snapshot.taken')) told += (await reader?.read())?.value ?? '';
  await reader?.cancel();
  said.push(told);
  expect(told).toContain('"type":"snapshot.taken"');
  expect(said.filter((text) => text.includes(VALUE)).map((text) => text.slice(0, 200))).toEqual([]);

  await server.host.registry.storage.checkpoint();
  expect(await registryHolds(server.folder, 'authorization')).toBe(true);
  expect(await registryHolds(server.folder, VALUE)).toBe(false);
  expect(filesWith(VALUE, server.folder)).toEqual([]);
  expect(run('backup', server.folder, [join(folder, 'store')])).toMatchObject({ status: 0 });
  expect(run('restore', join(folder, 'back'), ['--from', join(folder, 'store')])).toMatchObject({ status: 0 });
  expect(filesWith('authorization', join(folder, 'back'))).toContain('registry.sqlite');
  expect([...filesWith(VALUE, join(folder, 'store')), ...filesWith(VALUE, join(folder, 'back'))]).toEqual([]);
});
