import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Snapshot } from '#lib/contract/schema.ts';
import { startServer, TEST_KEY, type TestServer } from '#lib/testing/server.ts';
import { caller } from '#lib/testing/victim.ts';
import { FIRST_ID, FIRST_TENANT, firstExampleInCurl, makeFirstExample } from './first-example.ts';

let pressed: TestServer;
let pasted: TestServer;
beforeAll(async () => {
  [pressed, pasted] = await Promise.all([startServer(), startServer()]);
});
afterAll(() => Promise.all([pressed.stop(), pasted.stop()]));

/** What somebody finds afterwards. */
async function found({ call }: TestServer) {
  const { json } = await call('GET', `/api/instances/${FIRST_ID}`);
  const { id, tenant, name, labels, state } = json;
  const snapshots = await call<Snapshot[]>('GET', '/api/snapshots');
  const files: Record<string, string> = {};
  for (const path of ['README.md', 'orders.csv', 'totals.sh', 'totals.txt']) {
    files[path] = (await call('GET', `/api/instances/${FIRST_ID}/volumes/workspace/${path}`)).text;
  }
  return { row: { id, tenant, name, labels, state }, tags: snapshots.json.map(({ tag }) => tag), files };
}

test('one press makes what the commands make when they are pasted', async () => {
  await makeFirstExample(pressed.host.operations as never, caller, FIRST_TENANT);
  const made = await found(pressed);
  expect(made.files['totals.txt']).toBe('ada 165\ngrace 80\n');
  expect(made).toMatchObject({ row: { tenant: 'example', state: 'active' }, tags: ['first totals'] });

  const script = firstExampleInCurl(pasted.url, FIRST_TENANT);
  const environment = { ...process.env, WINTERDOCK_KEY: TEST_KEY };
  const { stdout } = await promisify(execFile)('bash', ['-e', '-c', script], { env: environment });
  expect(stdout).toContain('"stdout":"ada 165\\ngrace 80\\n"');
  expect(await found(pasted)).toEqual(made);
});
