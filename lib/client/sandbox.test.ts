import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { startServer, TEST_KEY, type TestServer } from '../testing/server.ts';
import { createClient } from './client.ts';
import { Sandbox, type WatchedChange } from './sandbox.ts';
import { badNetwork } from './testing/bad-network.ts';

let server: TestServer;

beforeEach(async () => {
  server = await startServer();
  const dock = createClient({ url: server.url, key: TEST_KEY });
  vi.stubEnv('WINTERDOCK_URL', server.url);
  vi.stubEnv('WINTERDOCK_KEY', (await dock.createKey({ name: 'agents', role: 'tenant', tenant: 'acme' })).key);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await server.stop();
});

test('a sandbox is made by the key of the environment, lives, sleeps, wakes, and is deleted from any state', async () => {
  const box = await Sandbox.create();
  expect(await box.info()).toMatchObject({ id: box.id, tenant: 'acme', state: 'created' });
  expect(await box.commands.run('echo hello > note; cat note; echo no >&2; exit 3')).toMatchObject({
    exitCode: 3,
    stdout: 'hello\n',
    stderr: 'no\n',
    cwd: '/workspace',
    timedOut: false,
    truncated: false,
    woke: 'cold',
  });
  expect((await box.suspend({ reason: 'lunch' })).state).toBe('suspended');
  expect(await box.files.read('note')).toBe('hello\n');
  expect((await box.info()).state).toBe('suspended');
  expect(await box.resume()).toMatchObject({ path: 'cold', instance: { state: 'active' } });
  const kept = await box.snapshot({ tag: 'v1' });
  const second = await Sandbox.fromSnapshot(kept.id, { name: 'second' });
  expect(await second.files.read('/workspace/note')).toBe('hello\n');
  expect((await Sandbox.connect(second.id)).id).toBe(second.id);
  const ids: string[] = [];
  for await (const { id } of Sandbox.list({ limit: 1 })) ids.push(id);
  expect(ids.sort()).toEqual([box.id, second.id].sort());
  await box.delete();
  await box.delete();
  await expect(Sandbox.connect(box.id)).rejects.toMatchObject({ code: 'gone' });
  await expect(Sandbox.connect('nobody')).rejects.toMatchObject({ code: 'not_found' });
});

test('a blueprint makes a sandbox of the tenant of the key', async () => {
  const first = await Sandbox.create();
  await first.files.write('tool', 'made');
  const dock = createClient({ key: TEST_KEY });
  await dock.createBlueprint({ name: 'base', from_instance: first.id });
  const box = await Sandbox.fromBlueprint('base');
  expect([(await box.info()).tenant, await box.files.read('tool')]).toEqual(['acme', 'made']);
});

test('a key of no one tenant is told to say whose sandbox it is to be', async () => {
  await expect(Sandbox.create({ key: TEST_KEY })).rejects.toMatchObject({ code: 'validation', hint: /tenant: 'acme'/ });
  expect((await (await Sandbox.create({ key: TEST_KEY, tenant: 'blue' })).info()).tenant).toBe('blue');
});

test('making a sandbox of an id twice makes one, and never takes another for it', async () => {
  const one = await Sandbox.create({ id: 'task-1', policy: 'minimal', labels: { a: 'b' } });
  await one.files.write('note', 'kept');
  const again = await Sandbox.create({ id: 'task-1', policy: 'minimal', labels: { a: 'c' } });
  expect(await again.files.read('note')).toBe('kept');
  await expect(Sandbox.create({ id: 'task-1', policy: 'posix' })).rejects.toMatchObject({
    code: 'conflict',
    message: /policy is minimal/,
  });
  await expect(Sandbox.create({ id: 'task-1', tenant: 'blue', key: TEST_KEY })).rejects.toMatchObject({
    code: 'conflict',
    message: /tenant is acme/,
  });
  await Sandbox.create({ id: 'theirs', tenant: 'blue', key: TEST_KEY });
  await expect(Sandbox.create({ id: 'theirs' })).rejects.toMatchObject({ code: 'conflict', message: /theirs/ });
  await one.delete();
  await expect(Sandbox.create({ id: 'task-1', policy: 'minimal' })).rejects.toMatchObject({ code: 'conflict' });
});

test('a lost request and a lost answer of its making make one sandbox', async () => {
  const bad = await badNetwork(server.url);
  try {
    bad.next.push('lose', 'mute');
    const box = await Sandbox.create({ url: bad.url, tenant: 'acme' });
    expect(bad.seen.filter((line) => line.startsWith('POST'))).toHaveLength(3);
    expect((await Sandbox.list()).items.map(({ id }) => id)).toEqual([box.id]);
    bad.next.push('lose', 'lose', 'lose');
    await expect(Sandbox.create({ url: bad.url, tenant: 'acme' })).rejects.toMatchObject({ code: 'network' });
  } finally {
    await bad.close();
  }
});

test('output is told as it comes, with no character cut, and is whole at the end', async () => {
  const box = await Sandbox.create();
  const texts: string[] = [];
  const bytes: number[] = [];
  const result = await box.commands.run('echo "$WHO in $PWD"; cat; printf "\\377" >&2', {
    cwd: '/tmp',
    env: { WHO: 'ü' },
    stdin: new TextEncoder().encode('given\n'),
    onStdout: (text) => void texts.push(text),
    onStderr: async (_, piece) => void bytes.push(...piece),
  });
  expect(texts.join('')).toBe('ü in /tmp\ngiven\n');
  expect(bytes).toEqual([255]);
  expect(result).toMatchObject({ exitCode: 0, stdout: texts.join(''), stderr: '\ufffd', cwd: '/tmp' });
  // Without callbacks too: bytes that are no text are replaced, not given in base64.
  expect((await box.commands.run('printf "a\\377"')).stdout).toBe('a\ufffd');
});

const ENDLESS = 'echo begun; while true; do sleep 0.05; done; echo never > ended';

test.each(['with callbacks', 'without'])('an aborted signal stops the script on the server, %s', async (way) => {
  const box = await Sandbox.create();
  await box.resume();
  const stop = new AbortController();
  const began = way === 'without' ? undefined : () => stop.abort(new Error('enough'));
  const running = box.commands.run(ENDLESS, { signal: stop.signal, onStdout: began });
  if (way === 'without') {
    await vi.waitFor(async () => expect((await box.info()).calls).toBe(1), { timeout: 240_000 });
    stop.abort(new Error('enough'));
  }
  await expect(running).rejects.toThrow('enough');
  // Calls run one at a time: this one runs only when the endless one is over.
  expect((await box.commands.run('ls')).stdout).not.toContain('ended');
});

test('a callback that throws stops the script, and a time limit ends it', async () => {
  const box = await Sandbox.create();
  const onStdout = () => {
    throw new Error('full');
  };
  await expect(box.commands.run(ENDLESS, { onStdout })).rejects.toThrow('full');
  expect(await box.commands.run('sleep 30', { timeoutMs: 200 })).toMatchObject({ timedOut: true });
});

test('a background script goes on by itself, is followed and stopped, and its end has all its output', async () => {
  const box = await Sandbox.create();
  const run = await box.commands.run('echo one; echo two >&2; exit 4', { background: true, cwd: '/tmp' });
  const told: string[] = [];
  expect(await run.wait({ onStdout: (text) => void told.push(text) })).toMatchObject({
    exitCode: 4,
    stdout: 'one\n',
    stderr: 'two\n',
    state: 'done',
    timedOut: false,
    dropped: 0,
  });
  expect(told.join('')).toBe('one\n');
  expect(await (await Sandbox.connect(box.id)).runs.get(run.id).info()).toMatchObject({ state: 'done', cwd: '/tmp' });
  const endless = await box.runs.start(ENDLESS);
  for await (const { event } of endless.follow()) if (event === 'stdout') break;
  const ended = endless.wait();
  expect((await endless.info()).state).toBe('running');
  expect((await endless.stop()).state).toBe('stopped');
  expect(await ended).toMatchObject({ exitCode: 130, stdout: 'begun\n', state: 'stopped' });
  expect((await box.runs.list()).items.map(({ id }) => id)).toEqual([endless.id, run.id]);
});

test('files are those of the shell, by its paths', async () => {
  const box = await Sandbox.create();
  expect(await box.files.write('a/ü.txt', 'text')).toMatchObject({ created: true, etag: expect.any(String) });
  await box.files.write('/memory/m', new Uint8Array([255, 0]));
  await box.files.makeDir('/workspace/empty');
  await box.commands.run('ln -s a link');
  expect((await box.commands.run('cat a/ü.txt; ls /memory')).stdout).toBe('textm\n');
  expect([...(await box.files.read('/memory/m', { format: 'bytes' }))]).toEqual([255, 0]);
  const stream = await box.files.read('../workspace/./a/ü.txt', { format: 'stream', range: { start: 2 } });
  expect(await new Response(stream).text()).toBe('xt');
  expect(await box.files.list()).toMatchObject([
    { name: 'a', kind: 'dir', path: '/workspace/a' },
    { name: 'empty', kind: 'dir', path: '/workspace/empty' },
    { name: 'link', kind: 'link', path: '/workspace/link' },
  ]);
  expect(await box.files.list('a')).toMatchObject([{ kind: 'file', size: 4, path: '/workspace/a/ü.txt' }]);
  const there = ['a', 'a/ü.txt', 'empty', 'link', '/memory/m', '/tmp', 'b', 'a/b', 'a/ü.txt/b', '/tmp/x'];
  expect(await Promise.all(there.map((path) => box.files.exists(path)))).toEqual([
    ...Array(6).fill(true),
    ...Array(4).fill(false),
  ]);
  await box.files.rename('a/ü.txt', '/workspace/b');
  expect(await box.files.read('b')).toBe('text');
  await expect(box.files.rename('b', '/tmp/b')).rejects.toMatchObject({ code: 'validation', hint: /mv/ });
  await box.files.remove('b');
  await box.files.remove('a');
  await box.files.remove('link');
  await box.files.write('full/x', '');
  await expect(box.files.remove('full')).rejects.toMatchObject({ code: 'conflict' });
  await box.files.remove('full', { recursive: true });
  expect((await box.files.list()).map(({ name }) => name)).toEqual(['empty']);
  await expect(box.files.remove('gone')).rejects.toMatchObject({ code: 'not_found' });
  await expect(box.files.read('gone')).rejects.toMatchObject({ code: 'not_found' });
  await expect(box.files.read('/etc/passwd')).rejects.toMatchObject({ code: 'validation', status: 0 });
  await expect(box.files.read('../..')).rejects.toMatchObject({ code: 'validation' });
  await expect(box.files.write('b', '', { ifNoneMatch: '*' })).resolves.toMatchObject({ created: true });
  await expect(box.files.write('b', '', { ifNoneMatch: '*' })).rejects.toMatchObject({ code: 'precondition_failed' });
  await box.delete();
  await expect(box.files.exists('b')).rejects.toMatchObject({ code: 'gone' });
});

/** The next change within a watch. */
async function nextOf(changes: AsyncGenerator<WatchedChange, void, void>): Promise<WatchedChange> {
  const { done, value } = await changes.next();
  if (done === true) throw new Error('The watch ended.');
  return value;
}

test('a watch tells every change after it began, also within one second, and wakes nothing', async () => {
  const box = await Sandbox.create();
  await box.files.write('src/a', 'one');
  await box.files.write('srcs', 'beside');
  const stop = new AbortController();
  const changes = await box.files.watch('src', { signal: stop.signal, intervalMs: 20 });
  // The clock stands still: time and size stay the same.
  await box.files.write('src/a', 'two');
  expect(await nextOf(changes)).toEqual({ type: 'changed', path: '/workspace/src/a', size: 3 });
  await box.files.write('srcs', 'not told');
  await box.commands.run('echo x > src/deep; rm src/a');
  expect([await nextOf(changes), await nextOf(changes)]).toEqual([
    { type: 'removed', path: '/workspace/src/a', size: null },
    { type: 'created', path: '/workspace/src/deep', size: 2 },
  ]);
  await box.suspend();
  const waiting = nextOf(changes);
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect((await box.info()).state).toBe('suspended');
  stop.abort(new Error('enough'));
  await expect(waiting).rejects.toThrow('enough');
  const one = await box.files.watch('src/deep', { intervalMs: 20 });
  await box.files.remove('src/deep');
  expect(await nextOf(one)).toMatchObject({ type: 'removed', path: '/workspace/src/deep' });
  await expect(box.files.watch('/memory')).rejects.toMatchObject({ code: 'validation' });
});
