import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { run } from '../backup/testing/server-content.ts';
import { systemClock } from '../base/clock.ts';
import { exitCodeFor } from '../front/start-problems.ts';
import { startServer, type TestServer } from '../testing/server.ts';

let root: string;
let settings: Record<string, string>;
let server: TestServer | null = null;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'winterdock-epochs-'));
  settings = { WB_COLD_URL: pathToFileURL(join(root, 'bucket')).href, WB_LOG: 'silent' };
});
afterEach(async () => {
  await stop();
  rmSync(root, { recursive: true, force: true });
});

const at = (name: string) => join(root, name);
const marker = () => JSON.parse(readFileSync(join(root, 'bucket', 'winterdock.json'), 'utf8'));
async function stop(): Promise<void> {
  await server?.stop();
  server = null;
}
async function start(name: string): Promise<TestServer> {
  await stop();
  server = await startServer({ folder: at(name), clock: systemClock, settings });
  return server;
}
async function file(id: string): Promise<void> {
  const post = async (path: string, body: unknown) => {
    const answer = await server?.call('POST', `/api/instances${path}`, body);
    expect(answer?.status, answer?.text).toBeLessThan(300);
  };
  await post('', { id, tenant: 'acme' });
  for (const [verb, body] of Object.entries({ exec: { command: `echo ${id} > kept` }, suspend: {}, freeze: {} }))
    await post(`/${id}/${verb}`, body);
}
const text = async (id: string) => (await server?.call('GET', `/api/instances/${id}/volumes/workspace/kept`))?.text;
const done = ({ status, stderr }: ReturnType<typeof run>) => expect([status, stderr]).toEqual([0, '']);
const restore = (name: string) => done(run('restore', at(name), ['--all', '--from', at('backup')], settings));
const refused = { code: 'conflict', extra: { start_refused: 'store_of_later_epoch' } };

test('the server of before a restore does not get the store back, and every later restore is later for the store', async () => {
  await start('old');
  await file('a');
  expect(marker()).toMatchObject({ epoch: 1 });
  await stop();
  done(run('backup', at('old'), [at('backup')], settings));
  restore('new');
  await start('new');
  await file('b');
  const claimed = marker();
  expect(claimed).toMatchObject({ epoch: 2 });
  await stop();

  const error = await start('old').catch((failure: unknown) => failure);
  expect(error).toMatchObject({
    ...refused,
    message: expect.stringMatching(/epoch 2, and the one here of epoch 1[\s\S]*doctor -- --accept/),
  });
  expect(exitCodeFor(error)).toBe(3);
  expect(marker()).toEqual(claimed);
  await start('new');
  expect([await text('a'), await text('b')]).toEqual(['a\n', 'b\n']);

  // The same backup again, elsewhere: its epoch is beyond the one that the store knows.
  restore('third');
  await start('third');
  expect(marker()).toMatchObject({ epoch: 3 });
  await expect(start('new')).rejects.toMatchObject(refused);

  // A person can go on from the first one all the same.
  done(run('doctor', at('old'), ['--accept', 'the restored ones are given up'], settings));
  await start('old');
  expect(marker()).toMatchObject({ epoch: 4 });
  expect(await text('a')).toBe('a\n');
  await expect(start('third')).rejects.toMatchObject(refused);
});

test('a server that runs while a restored one starts, or that starts while the store is away, leaves it alone', async () => {
  const running = await start('old');
  await file('a');
  done(run('backup', at('old'), [at('backup')], settings));
  restore('new');
  server = null;
  try {
    const restored = await start('new');
    expect(await running.host.store?.check()).toMatchObject({ away: 'taken_over' });
    expect(await restored.host.store?.check()).toMatchObject({ away: null });
  } finally {
    await running.stop();
  }
  await stop();
  const claimed = marker();
  renameSync(at('bucket'), at('unplugged'));
  const late = await start('old');
  expect(await late.host.store?.check()).toMatchObject({ away: expect.stringMatching(/no_marker|unreachable/) });
  if (existsSync(at('bucket'))) rmSync(at('bucket'), { recursive: true });
  renameSync(at('unplugged'), at('bucket'));
  await expect.poll(async () => (await late.host.store?.check())?.away, { timeout: 240_000 }).toBe('taken_over');
  expect(marker()).toEqual(claimed);
});
