import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Instance } from '../lib/contract/schema.ts';
import { STATES } from '../lib/lifecycle/state-map.ts';
import { type ServerProcess, spawnServer } from '../lib/testing/process.ts';
import { BLUEPRINT, SCENE } from './demo/scene.ts';

let folder: string;
let server: ServerProcess;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-demo-'));
  // Without a key of the test's own: the one that the first start writes is what a newcomer has.
  server = await spawnServer({ folder, settings: { WB_ADMIN_KEY: '' } });
});
afterAll(async () => {
  await server.end();
  rmSync(folder, { recursive: true, force: true });
});

const demo = (env: Record<string, string> = {}) =>
  spawnSync(process.execPath, [fileURLToPath(new URL('demo.ts', import.meta.url)), '--url', server.url], {
    encoding: 'utf8',
    env: { ...process.env, WB_DATA: folder, ...env },
  });

const get = (path: string) => {
  const key = readFileSync(join(folder, 'admin.key'), 'utf8').trim();
  return fetch(`${server.url}/api/instances${path}`, { headers: { authorization: `Bearer ${key}` } });
};
const list = async () => {
  const of = async (query: string) => (await (await get(`?limit=200${query}`)).json()) as Instance[];
  // What is deleted is listed only when it is asked for.
  return [...(await of('')), ...(await of('&state=deleted'))];
};

test('a demo shows every state and does its work, beside what is there, and once', async () => {
  const own = { id: 'sess-841', tenant: 'acme', labels: { mine: 'yes' } };
  const key = readFileSync(join(folder, 'admin.key'), 'utf8').trim();
  const headers = { authorization: `Bearer ${key}` };
  await fetch(`${server.url}/api/instances`, { method: 'POST', headers, body: JSON.stringify(own) });
  expect(demo()).toMatchObject({ status: 0, stderr: '' });
  const all = await list();
  expect(all.find(({ id }) => id === own.id)).toMatchObject({ ...own, state: 'created' });
  const made = all.filter(({ id }) => id !== own.id);
  expect(made).toHaveLength(SCENE.length + 1 + BLUEPRINT.clones);
  expect(new Set(made.map(({ state }) => state))).toEqual(new Set(STATES));
  for (const { id, to } of SCENE) expect(made.find((instance) => instance.id === id)).toMatchObject({ state: to });
  const work = async (id: string, path: string) => (await get(`/${id}/volumes/workspace/${path}`)).text();
  expect(await work('support-triage', 'summary.txt')).toBe('2 of 3 are urgent\n');
  expect(await work('quarterly-report', 'report.md')).toContain('| March | 44250 |');
  expect(await work('release-notes', 'release-notes.md')).toContain('- wake in milliseconds');
  const again = demo();
  expect(again.status).toBe(1);
  expect(again.stderr).toMatch(/has, or had, old-experiment, .*: a demo is made once\. WB_DATA=demo npm start/);
  expect(await list()).toHaveLength(all.length);
});

test('a demo without a server or a key says so in one sentence', () => {
  const nowhere = mkdtempSync(join(tmpdir(), 'winterdock-demo-none-'));
  const { status, stderr } = demo({ WB_DATA: nowhere });
  expect(status).toBe(1);
  expect(stderr).toMatch(/^There is no key at .*: start the server first, or set WINTERDOCK_KEY\.\n$/);
  rmSync(nowhere, { recursive: true });
});
