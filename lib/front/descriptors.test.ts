import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type ServerProcess, spawnServer } from '../testing/process.ts';

let folder: string;
let server: ServerProcess | null = null;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-descriptors-'));
});

afterEach(async () => {
  await server?.end();
  server = null;
  rmSync(folder, { recursive: true, force: true });
});

/** More sandboxes than there are descriptors for. */
const IDS = Array.from({ length: 14 }, (_, at) => `box-${at}`);
/** What a server opens beyond what it has when it is ready: connections, files, and pipes of some sandboxes. */
const SPARE = 20;

interface Said {
  stdout?: string;
  code?: string;
}

test.runIf(process.platform === 'linux')('a server without descriptors left refuses wakes and goes on', async () => {
  server = await spawnServer({ folder });
  const limit = readdirSync(`/proc/${server.child.pid}/fd`).length + SPARE;
  await server.end();
  server = await spawnServer({ folder, within: ['/bin/sh', '-c', `ulimit -n ${limit}; exec "$0" "$@"`] });
  const { call } = server;
  const say = async (id: string, command: string) => {
    const { status, json } = await call<Said>('POST', `/api/instances/${id}/exec`, { command });
    return status === 200 ? json.stdout : json.code;
  };
  for (const id of IDS) await call('POST', '/api/instances', { id, tenant: 'acme' });
  const said: (string | undefined)[] = [];
  for (const id of IDS) said.push(await say(id, 'echo kept > file; cat file'));
  expect(new Set(said)).toEqual(new Set(['kept\n', 'capacity']));
  for (const id of IDS) await call('POST', `/api/instances/${id}/suspend`);
  for (const [at, id] of IDS.entries()) {
    // The kernel gives back what an ended process had in its own time; until then a wake is refused.
    await expect.poll(() => say(id, 'cat file'), { timeout: 240_000 }).toBe(said[at] === 'capacity' ? '' : 'kept\n');
    await call('POST', `/api/instances/${id}/suspend`);
  }
  expect(server.output()).not.toMatch(/nobody caught/);
});

test.runIf(process.platform === 'linux')(
  'at 64 descriptors nothing is cut and nothing is a fault of the server or of a sandbox',
  async () => {
    server = await spawnServer({ folder, within: ['/bin/sh', '-c', 'ulimit -n 64; exec "$0" "$@"'] });
    const { call } = server;
    for (const id of IDS) await call('POST', '/api/instances', { id, tenant: 'acme' });
    const exec = (id: string) => call<Said>('POST', `/api/instances/${id}/exec`, { command: 'echo kept > file' });
    const read = (id: string) => call<Said>('GET', `/api/instances/${id}/volumes/workspace/file`);
    // Far more at a time than there are descriptors.
    const many = Array.from({ length: 6 }, () => IDS).flat();
    const answers = await Promise.all([...IDS.map(exec), ...many.map(read)]);
    const said = new Set(answers.map(({ status, json }) => (status === 200 ? 'done' : `${status} ${json.code}`)));
    for (const answer of said) expect(['done', '404 not_found', '503 capacity']).toContain(answer);
    expect(said).toContain('503 capacity');
    const listed = await call<{ fault: string | null }[]>('GET', '/api/instances?limit=50');
    expect(listed.status, listed.text).toBe(200);
    expect(listed.json.map(({ fault }) => fault)).toEqual(IDS.map(() => null));
    // There is room again: what was refused goes.
    for (const id of IDS) await call('POST', `/api/instances/${id}/suspend`);
    for (const id of IDS) {
      await expect.poll(async () => (await exec(id)).status, { timeout: 240_000 }).toBe(200);
      await call('POST', `/api/instances/${id}/suspend`);
    }
    expect(server.output()).not.toMatch(/nobody caught/);
  },
);
