/** The keys of the object store: who has them, and where they may never be. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type S3Server, startS3Server, TEST_KEYS } from '../lib/storage/object-store/testing/s3-server.ts';
import { type ServerProcess, spawnServer } from '../lib/testing/process.ts';
import { treeOf } from '../lib/testing/process-tree.ts';
import { TEST_KEY } from '../lib/testing/server.ts';

let folder: string;
let store: S3Server;
let server: ServerProcess;
/** Every answer that was given. */
const answers: string[] = [];
/** The names of the AWS variables of each process that was seen, by what it runs. */
const seen = new Map<string, Set<string>>();

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-store-secrets-'));
  store = await startS3Server();
  server = await spawnServer({
    folder,
    settings: {
      WB_COLD_URL: 's3://bucket/secrets',
      WB_STORE_ENDPOINT: store.endpoint,
      WB_LOG: 'trace',
      AWS_ACCESS_KEY_ID: TEST_KEYS.accessKey,
      AWS_SECRET_ACCESS_KEY: TEST_KEYS.secretKey,
    },
  });
});
afterAll(async () => {
  await server?.end('SIGTERM');
  await store?.stop();
  rmSync(folder, { recursive: true, force: true });
});

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // It has ended, or is another user's.
    return '';
  }
}

function look(): void {
  for (const pid of treeOf(server.child.pid ?? 0)) {
    const command = read(`/proc/${pid}/cmdline`).replaceAll('\0', ' ');
    const kind =
      pid === server.child.pid ? 'server' : (/(?:[\w-]+\.(?:ts|cjs)|^\S+)(?=\s[^/]*$|$)/.exec(command)?.[0] ?? command);
    const names = read(`/proc/${pid}/environ`)
      .split('\0')
      .filter((entry) => /^AWS_|winter\+test/.test(entry));
    const known = seen.get(kind) ?? new Set();
    for (const entry of names) known.add(entry.split('=')[0] ?? '');
    seen.set(kind, known);
  }
}

async function ask(method: string, path: string, body?: unknown): Promise<{ status: number; text: string }> {
  const looking = setInterval(look, 5);
  const answer = await fetch(`${server.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  clearInterval(looking);
  look();
  answers.push(text, JSON.stringify([...answer.headers]));
  return { status: answer.status, text };
}

test('only the server and the process that transfers files have them; nothing tells them', async () => {
  for (const id of ['one', 'two'])
    expect((await ask('POST', '/api/instances', { id, tenant: 'acme' })).status).toBe(201);
  const command = 'git init -q . && echo 1 > a && head -c 9000000 /dev/urandom > large && env && js-exec -c "1"';
  await ask('POST', '/api/instances/one/exec', { command });
  await ask('POST', '/api/instances/two/exec', { command: 'env > kept' });
  for (const id of ['one', 'two']) {
    await ask('POST', `/api/instances/${id}/suspend`);
    expect((await ask('POST', `/api/instances/${id}/freeze`)).status).toBeLessThan(300);
  }
  await ask('GET', '/api/instances/two/volumes/workspace/kept');
  await ask('GET', '/api/instances/one/volumes/workspace');
  await ask('GET', '/api/instances/one/bundle');
  await ask('POST', '/api/instances/two/exec', { command: 'cat kept' });
  await ask('GET', '/api/instances');
  await ask('GET', '/api/events?limit=200');
  await ask('GET', '/readyz');
  await ask('GET', '/metrics');
  // What the store refuses is told in words of our own.
  await store.stop();
  await ask('POST', '/api/instances/two/suspend');
  await ask('POST', '/api/instances/two/freeze');
  await ask('GET', '/readyz');

  const withKeys = [...seen].filter(([, names]) => names.size > 0).map(([kind]) => kind);
  expect(withKeys.toSorted()).toEqual(['server', 'transfer-worker.ts']);
  expect(seen.size).toBeGreaterThan(3);
  const { accessKey, secretKey } = TEST_KEYS;
  const told = [server.output(), ...answers].filter((text) => text.includes(secretKey) || text.includes(accessKey));
  expect(told).toEqual([]);
  // The registry with its ledger too.
  const files = readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => readFileSync(path).includes(secretKey));
  expect(files).toEqual([]);
});

test('a URL with credentials ends the start without repeating them', async () => {
  const other = mkdtempSync(join(tmpdir(), 'winterdock-store-secrets-'));
  const starting = spawnServer({ folder: other, settings: { WB_COLD_URL: 's3://key:hunter22@bucket/prefix' } });
  const error = await starting.then(
    () => '',
    (one: unknown) => String(one),
  );
  expect(error).toContain('credentials do not belong into it');
  expect(error).not.toContain('hunter22');
  rmSync(other, { recursive: true });
});
