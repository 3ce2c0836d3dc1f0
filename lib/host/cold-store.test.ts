import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { copyFolderOfTests } from '../registry/testing/registry-of-tests.ts';
import { startServer, type TestServer } from '../testing/server.ts';

let folder: string;
let server: TestServer | null = null;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-host-store-'));
});
afterEach(async () => {
  await stop();
  rmSync(folder, { recursive: true, force: true });
});

const bucket = () => join(folder, 'bucket');
const data = (name = 'data') => join(folder, name);
async function stop(): Promise<void> {
  await server?.stop();
  server = null;
}
async function start(name = 'data', settings: Record<string, string> = {}, ownReaders = false) {
  await stop();
  const WB_COLD_URL = pathToFileURL(bucket()).href;
  const started = await startServer({
    folder: data(name),
    settings: { WB_COLD_URL, WB_LOG: 'silent', ...settings },
    ownReaders,
  });
  server = started;
  return started;
}
/** A start without a store. */
const startBare = () => start('data', { WB_COLD_URL: '' });

async function freeze(id: string): Promise<{ status: number; code?: string }> {
  const { call } = server ?? (await start());
  expect((await call('POST', '/api/instances', { id, tenant: 'acme' })).status).toBe(201);
  const answer = await call('POST', `/api/instances/${id}/exec`, { command: `echo of ${id} > kept` });
  expect(answer.status).toBe(200);
  await call('POST', `/api/instances/${id}/suspend`);
  const { status, json } = await call('POST', `/api/instances/${id}/freeze`);
  return { status, code: (json as { code?: string }).code };
}

test('a server with a store wakes what only that has, after its folder is gone', async () => {
  await start();
  expect(await freeze('a')).toMatchObject({ status: 200 });
  expect(JSON.parse(readFileSync(join(bucket(), 'winterdock.json'), 'utf8'))).toMatchObject({ term: 1 });
  await stop();
  rmSync(join(data(), 'cold'), { recursive: true });
  const { call, host } = await start();
  expect(host.store?.health()).toMatchObject({ away: null });
  const ran = await call('POST', '/api/instances/a/exec', { command: 'cat kept' });
  expect(ran.json).toMatchObject({ stdout: 'of a\n' });
});

test('a start whose rows name a store that is not set is refused, with their number and both ways out', async () => {
  await start();
  await freeze('a');
  await freeze('b');
  await stop();
  await expect(startBare()).rejects.toMatchObject({
    code: 'conflict',
    extra: { start_refused: 'store_not_set' },
    message: expect.stringMatching(
      /2 sandboxes are in an object store[\s\S]*set WB_COLD_URL[\s\S]*store:move -- --to disk/,
    ),
  });
  await start();
  expect((await server?.call('POST', '/api/instances/a/exec', { command: 'cat kept' }))?.json).toMatchObject({
    stdout: 'of a\n',
  });
});

test('the place of another installation is refused and left alone', async () => {
  await start();
  await freeze('a');
  const marker = readFileSync(join(bucket(), 'winterdock.json'), 'utf8');
  await stop();
  await expect(start('another')).rejects.toMatchObject({ extra: { start_refused: 'store_claimed' } });
  expect(readFileSync(join(bucket(), 'winterdock.json'), 'utf8')).toBe(marker);
});

test('a store that is another one than before is away: what is here goes on, and nothing counts as lost', async () => {
  await start();
  await freeze('near');
  await freeze('far');
  await stop();
  rmSync(join(data(), 'cold', 'far.sqlite'));
  renameSync(bucket(), join(folder, 'unplugged'));
  const { call, host } = await start();
  expect(host.store?.health()).toMatchObject({ away: 'no_marker' });
  expect((await call('POST', '/api/instances/near/exec', { command: 'cat kept' })).json).toMatchObject({
    stdout: 'of near\n',
  });
  const refused = await call('POST', '/api/instances/far/exec', { command: 'cat kept' });
  expect(refused.status).toBe(503);
  expect((await call('GET', '/api/instances/far')).json).toMatchObject({ state: 'frozen', fault: null });
  await call('POST', '/api/instances/near/suspend');
  const filed = await call('POST', '/api/instances/near/freeze');
  expect([filed.status, existsSync(join(data(), 'cold', 'near.sqlite'))]).toEqual([503, true]);
  expect(existsSync(join(bucket(), 'winterdock.json'))).toBe(false);
  await stop();
  rmSync(bucket(), { recursive: true });
  renameSync(join(folder, 'unplugged'), bucket());
  await start();
  await vi.waitFor(
    async () => expect((await server?.host.registry.instances.get('near'))?.vfsPath).toMatch(/^cloud:/),
    60_000,
  );
  expect((await server?.call('POST', '/api/instances/far/exec', { command: 'cat kept' }))?.json).toMatchObject({
    stdout: 'of far\n',
  });
});

test('of two servers on copies of one folder the one that started last has the store', async () => {
  const first = await start();
  await freeze('x');
  await stop();
  await copyFolderOfTests(data(), data('copy'));
  rmSync(join(data(), 'cold', 'x.sqlite'));
  const one = await start();
  server = null;
  try {
    const { call, clock, host } = await start('copy');
    expect(await one.host.store?.check()).toMatchObject({ away: 'taken_over' });
    expect(await host.store?.check()).toMatchObject({ away: null });
    // The second one goes on, and removes what it does not need any more.
    expect((await call('POST', '/api/instances/x/exec', { command: 'echo newer > kept' })).status).toBe(200);
    await call('POST', '/api/instances/x/suspend');
    expect((await call('POST', '/api/instances/x/freeze')).status).toBe(200);
    clock.advance(25 * 3_600_000);
    expect(await host.sandboxes.store?.collect()).toBe(1);
    // The first one says that the store is away, writes nothing there, and calls nothing lost.
    const refused = await one.call('GET', '/api/instances/x/volumes/workspace/kept');
    expect([refused.status, refused.text]).toEqual([503, expect.stringContaining('later start of this installation')]);
    expect((await one.call('GET', '/api/instances/x')).json).toMatchObject({ fault: null });
    const before = readFileSync(join(bucket(), 'winterdock.json'), 'utf8');
    await one.stop();
    expect(readFileSync(join(bucket(), 'winterdock.json'), 'utf8')).toBe(before);
  } finally {
    await one.stop();
    await first.stop();
  }
});

test('a stranger’s document in the place of the marker is no free place', async () => {
  await start();
  await stop();
  writeFileSync(join(bucket(), 'winterdock.json'), 'not ours', { mode: 0o600 });
  await expect(start()).rejects.toMatchObject({ extra: { start_refused: 'store_claimed' } });
});

test('what is brought is read, copied and opened behind the walls of helpers and workers', async () => {
  chmodSync(folder, 0o711);
  await start('data', {}, true);
  const sandboxes = ['read', 'woken', 'packed'];
  for (const id of sandboxes) await freeze(id);
  expect((await server?.call('POST', '/api/instances/packed/archive'))?.status).toBe(200);
  for (const drawer of ['cold', 'archive']) {
    for (const name of readdirSync(join(data(), drawer)).filter((file) => /sqlite/.test(file)))
      rmSync(join(data(), drawer, name));
  }
  const text = (id: string) => server?.call('GET', `/api/instances/${id}/volumes/workspace/kept`);
  for (const id of ['read', 'packed']) expect((await text(id))?.text).toBe(`of ${id}\n`);
  for (const id of sandboxes) {
    expect((await server?.call('POST', `/api/instances/${id}/resume`))?.status).toBe(200);
    const ran = await server?.call('POST', `/api/instances/${id}/exec`, { command: 'echo more >> kept; cat kept' });
    expect(ran?.json).toMatchObject({ stdout: `of ${id}\nmore\n` });
  }
});
