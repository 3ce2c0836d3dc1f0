import { generateText, isStepCount, jsonSchema, tool } from 'ai';
import { compute } from 'computesdk';
import { expect, expectTypeOf, test, vi } from 'vitest';
import { type ComputeProvider, winterdock } from '../../../lib/client/adapters/computesdk.ts';
import { type Step, scripted } from './ai-sdk-model.ts';
import { runExample } from './example.ts';
import { ENDLESS, PROGRAM, startTestServer, TOO_MUCH } from './test-server.ts';

type Manager = ReturnType<typeof compute>;
type Box = Awaited<ReturnType<Manager['sandbox']['create']>>;

/** ComputeSDK has no loop of its own: tools of another framework over its sandbox. */
function work(box: Box, steps: Step[]) {
  const input = <T>(...names: (keyof T & string)[]) =>
    jsonSchema<T>({
      type: 'object',
      properties: Object.fromEntries(names.map((name) => [name, { type: 'string' as const }])),
      required: names,
    });
  const tools = {
    run: tool({
      inputSchema: input<{ command: string }>('command'),
      execute: ({ command }) => box.runCommand(command),
    }),
    write: tool({
      inputSchema: input<{ path: string; content: string }>('path', 'content'),
      execute: ({ path, content }) => box.filesystem.writeFile(path, content).then(() => 'written'),
    }),
    read: tool({
      inputSchema: input<{ path: string }>('path'),
      execute: ({ path }) => box.filesystem.readFile(path),
    }),
  };
  return generateText({ model: scripted(steps), tools, prompt: 'Sum the numbers.', stopWhen: isStepCount(20) });
}

async function begin(): Promise<{ dock: Awaited<ReturnType<typeof startTestServer>>; manager: Manager }> {
  const dock = await startTestServer();
  return { dock, manager: compute({ provider: winterdock(dock.connection) }) };
}

test('an agent writes, runs, searches, fixes and reads back; the sandbox is suspended, found by its id, and goes on', async () => {
  const { dock, manager } = await begin();
  const box = await manager.sandbox.create({ name: 'sum', metadata: { team: 'red', attempt: 1 } });
  const first = await work(box, [
    () => ({ tool: 'write', input: { path: 'task/numbers.txt', content: '1\n2\n3\n' } }),
    () => ({ tool: 'write', input: { path: '/workspace/task/sum.py', content: PROGRAM } }),
    () => ({ tool: 'run', input: { command: 'cd task && python3 sum.py' } }),
    (failed) => {
      expect(failed).toMatch(/"exitCode":1/);
      expect(failed).toContain('NameError');
      return { tool: 'run', input: { command: 'grep -n totl task/*' } };
    },
    (found) => {
      const [, file, line] = /(task\/sum\.py):(\d+):/.exec(found) ?? [];
      return { tool: 'run', input: { command: `sed -i '${line}s/totl/total/' ${file}` } };
    },
    () => ({ tool: 'read', input: { path: 'task/sum.py' } }),
    (text) => {
      expect(text).toContain("print('total', total)");
      return { tool: 'run', input: { command: 'cd task && python3 sum.py | tee result.txt' } };
    },
    (result) => (result.includes('total 6') ? 'It is 6.' : 'It did not work.'),
  ]);
  expect(first.text).toBe('It is 6.');
  const id = box.sandboxId;
  expect(await (await dock.client.getFile(id, 'workspace', '/task/result.txt')).text()).toBe('total 6\n');
  expect(await box.getInfo()).toMatchObject({
    status: 'running',
    metadata: { team: 'red', attempt: '1', name: 'sum', tenant: 'acme' },
  });

  await dock.client.suspendInstance(id);
  expect((await box.getInfo()).status).toBe('stopped');
  const again = await compute({ provider: winterdock(dock.connection) }).sandbox.getById(id);
  if (again === null) throw new Error('It is gone.');
  expect(await again.filesystem.readFile('task/result.txt')).toBe('total 6\n');
  expect((await dock.client.getInstance(id)).state).toBe('suspended');
  const second = await work(again, [
    () => ({ tool: 'run', input: { command: 'echo 4 >> task/numbers.txt; cd task; python3 sum.py' } }),
    (result) => (result.includes('total 10') ? 'It is 10.' : 'It did not work.'),
  ]);
  expect(second.text).toBe('It is 10.');
  expect((await dock.client.getInstance(id)).state).toBe('active');
  await again.destroy();
  await again.destroy();
  expect(await manager.sandbox.getById(id)).toBeNull();
  await expect(dock.client.getInstance(id)).rejects.toMatchObject({ code: 'gone' });
});

test('our types are those of the framework', () => {
  type Provider = NonNullable<Parameters<typeof compute>[0]['provider']>;
  expectTypeOf<Provider>().not.toBeAny();
  expectTypeOf<ComputeProvider>().toExtend<Provider>();
});

test('files are written, listed, found over links and removed, and what is not there is told', async () => {
  const { manager } = await begin();
  const { filesystem, runCommand } = await manager.sandbox.create();
  await filesystem.writeFile('deep/down/a', 'hü');
  await filesystem.mkdir('deep/empty');
  await filesystem.mkdir('deep/empty');
  await expect(filesystem.mkdir('deep/down/a')).rejects.toMatchObject({ code: 'conflict' });
  expect(await filesystem.readdir('deep')).toMatchObject([
    { name: 'down', type: 'directory' },
    { name: 'empty', type: 'directory' },
  ]);
  const [file] = await filesystem.readdir('/workspace/deep/down');
  expect(file).toMatchObject({ name: 'a', type: 'file', size: 3 });
  expect(Math.abs(Date.now() - (file?.modified?.getTime() ?? 0))).toBeLessThan(60_000);
  await runCommand('ln -s deep/down/a link; ln -s nowhere lost');
  expect(await filesystem.readFile('link')).toBe('hü');
  expect(
    await Promise.all(['link', 'deep', 'deep/down/a', 'lost', 'no'].map((path) => filesystem.exists(path))),
  ).toEqual([true, true, true, false, false]);
  await expect(filesystem.readFile('no')).rejects.toMatchObject({ code: 'not_found' });
  await expect(filesystem.readdir('no')).rejects.toMatchObject({ code: 'not_found' });
  await filesystem.remove('deep');
  await filesystem.remove('deep');
  expect(await filesystem.exists('deep')).toBe(false);
});

test('a command has its folder, variables, time and streams, an exit code is a result, and a cut output says so', async () => {
  const { manager } = await begin();
  const box = await manager.sandbox.create({ envs: { WHO: 'me' }, directory: 'sub', timeout: 500 });
  await box.filesystem.writeFile('sub/x', '');
  const pieces: string[] = [];
  const said = await box.runCommand('pwd; echo $WHO $HOW; echo bad >&2; exit 7', {
    env: { HOW: 'well' },
    timeout: 10_000,
    onStdout: (text) => pieces.push(text),
  });
  expect(said).toMatchObject({ exitCode: 7, stdout: '/workspace/sub\nme well\n', stderr: 'bad\n' });
  expect(said.durationMs).toBeGreaterThan(0);
  expect(pieces.join('')).toBe(said.stdout);
  const late = await box.runCommand('sleep 30; echo never');
  expect(late.stdout).toBe('');
  expect(late.exitCode).not.toBe(0);
  expect(late.stderr).toContain('[winterdock: the command was stopped: its time ran out]');
  expect((await box.getInfo()).timeout).toBe(500);
  const cut = await box.runCommand(TOO_MUCH, { timeout: 20_000 });
  expect(cut.stderr).toContain('[winterdock: the output is cut');
  const begun = await box.runCommand('sleep 0.2; touch done', { background: true, timeout: 10_000 });
  expect(begun).toMatchObject({ exitCode: 0, stdout: '' });
  await vi.waitFor(async () => expect(await box.filesystem.exists('sub/done')).toBe(true), { timeout: 240_000 });
});

test('snapshots and templates make sandboxes, with labels and variables, and what is refused leaves none behind', async () => {
  const { dock, manager } = await begin();
  const box = await manager.sandbox.create();
  await box.filesystem.writeFile('kept', 'as it was');
  const snapshot = await manager.snapshot.create(box.sandboxId, { name: 'before' });
  expect(snapshot).toMatchObject({ provider: 'winterdock', metadata: { name: 'before', source: box.sandboxId } });
  expect((await manager.snapshot.list()).map(({ id }) => id)).toEqual([snapshot.id]);
  const copy = await manager.sandbox.create({ snapshotId: snapshot.id, metadata: { of: 'it' }, envs: { A: 'b' } });
  expect((await copy.runCommand('cat kept; echo " $A"')).stdout).toBe('as it was b\n');
  expect((await copy.getInfo()).metadata).toMatchObject({ of: 'it' });
  expect((await manager.sandbox.list()).map(({ sandboxId }) => sandboxId).toSorted()).toEqual(
    [box.sandboxId, copy.sandboxId].toSorted(),
  );
  for (const refused of [
    { image: 'ubuntu' },
    { snapshotId: snapshot.id, templateId: 'base' },
    { metadata: { nested: {} } },
    { envs: { '1 wrong': 'x' } },
    { templateId: 'nobody-has-it' },
  ]) {
    await expect(manager.sandbox.create(refused)).rejects.toThrow();
  }
  expect(await manager.sandbox.list()).toHaveLength(2);
  await expect(box.getUrl({ port: 3000 })).rejects.toThrow(/Port 3000/);
  expect(await manager.sandbox.getById('nobody')).toBeNull();
  await expect(manager.sandbox.destroy('nobody')).rejects.toThrow(/nobody/);
  await manager.sandbox.destroy(copy.sandboxId);
  await manager.snapshot.delete(snapshot.id);
  expect(await manager.snapshot.list()).toEqual([]);
  expect((await dock.client.getInstance(box.sandboxId)).state).toBe('active');
});

test('aborting its signal stops a creation, and destroying a sandbox ends its script', async () => {
  const { dock, manager } = await begin();
  await expect(manager.sandbox.create({ signal: AbortSignal.abort() })).rejects.toThrow(/abort/i);
  const box = await manager.sandbox.create();
  const running = box.runCommand(ENDLESS);
  await vi.waitFor(async () => expect(await box.filesystem.exists('begun')).toBe(true), { timeout: 240_000 });
  await box.destroy();
  expect(await running).toMatchObject({ stdout: '', stderr: expect.stringContaining('filed by force') });
  await expect(dock.client.getInstance(box.sandboxId)).rejects.toMatchObject({ code: 'gone' });
});

test('the example of the docs works as it stands there', async () => {
  const dock = await startTestServer();
  expect(await runExample('### ComputeSDK', dock)).toBe('hello, you\n\nhello.sh\n\n');
});
