import type { HarnessV1SandboxProvider } from '@ai-sdk/harness';
import { type Experimental_SandboxSession, generateText, isStepCount, jsonSchema, tool } from 'ai';
import { expect, expectTypeOf, test, vi } from 'vitest';
import { type AiSandboxSession, sandboxProvider, sandboxSession } from '../../../lib/client/adapters/ai-sdk.ts';
import { Sandbox } from '../../../lib/client/sandbox.ts';
import { type Step, scripted } from './ai-sdk-model.ts';
import { runExample } from './example.ts';
import { ENDLESS, PROGRAM, startTestServer, TOO_MUCH } from './test-server.ts';

const input = <T>(...names: (keyof T & string)[]) =>
  jsonSchema<T>({
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, { type: 'string' as const }])),
    required: names,
    additionalProperties: false,
  });

/** The tools of an agent for any sandbox of the AI SDK: they know it by `experimental_sandbox` alone. */
function sandboxOf(given: Experimental_SandboxSession | undefined): Experimental_SandboxSession {
  if (given === undefined) throw new Error('The tool was given no sandbox.');
  return given;
}

const tools = {
  bash: tool({
    inputSchema: input<{ command: string }>('command'),
    execute: ({ command }, { experimental_sandbox, abortSignal }) =>
      sandboxOf(experimental_sandbox).run({ command, abortSignal }),
  }),
  write: tool({
    inputSchema: input<{ path: string; content: string }>('path', 'content'),
    execute: async (file, { experimental_sandbox }) => {
      await sandboxOf(experimental_sandbox).writeTextFile(file);
      return 'written';
    },
  }),
  read: tool({
    inputSchema: input<{ path: string }>('path'),
    execute: async ({ path }, { experimental_sandbox }) =>
      (await sandboxOf(experimental_sandbox).readTextFile({ path })) ?? 'no such file',
  }),
};

test('an agent writes, runs, searches, fixes and reads back; its session is stopped, resumed by id, and goes on', async () => {
  const dock = await startTestServer();
  const provider = sandboxProvider(dock.connection);
  const session = await provider.createSession({ sessionId: 'Fix the Sum' });
  const work = (experimental_sandbox: Experimental_SandboxSession, prompt: string, steps: Step[]) =>
    generateText({
      model: scripted(steps),
      tools,
      instructions: experimental_sandbox.description,
      experimental_sandbox,
      prompt,
      stopWhen: isStepCount(20),
    });
  const first = await work(session.restricted(), 'Sum the numbers.', [
    () => ({ tool: 'write', input: { path: 'task/numbers.txt', content: '1\n2\n3\n' } }),
    () => ({ tool: 'write', input: { path: '/workspace/task/sum.py', content: PROGRAM } }),
    () => ({ tool: 'bash', input: { command: 'cd task && python3 sum.py' } }),
    (failed) => {
      expect(failed).toMatch(/"exitCode":1.*NameError/);
      return { tool: 'bash', input: { command: 'grep -n totl task/*' } };
    },
    (found) => {
      const [, file, line] = /(task\/sum\.py):(\d+):/.exec(found) ?? [];
      return { tool: 'bash', input: { command: `sed -i '${line}s/totl/total/' ${file}` } };
    },
    () => ({ tool: 'read', input: { path: 'task/sum.py' } }),
    (text) => {
      expect(text).toContain("print('total', total)");
      return { tool: 'bash', input: { command: 'cd task && python3 sum.py | tee result.txt' } };
    },
    (result) => (result.includes('total 6') ? 'It is 6.' : 'It did not work.'),
  ]);
  expect(first.text).toBe('It is 6.');
  expect(await (await dock.client.getFile(session.id, 'workspace', '/task/result.txt')).text()).toBe('total 6\n');
  expect(await dock.client.getInstance(session.id)).toMatchObject({ state: 'active', tenant: 'acme' });

  await session.stop();
  await session.stop();
  expect((await dock.client.getInstance(session.id)).state).toBe('suspended');
  const resumed = await sandboxProvider(dock.connection).resumeSession({ sessionId: 'Fix the Sum' });
  expect(resumed.id).toBe(session.id);
  expect(await resumed.readTextFile({ path: 'task/result.txt' })).toBe('total 6\n');
  expect((await dock.client.getInstance(session.id)).state).toBe('suspended');
  const second = await work(resumed, 'Go on.', [
    () => ({ tool: 'bash', input: { command: 'echo 4 >> task/numbers.txt; cd task; python3 sum.py' } }),
    (result) => (result.includes('total 10') ? 'It is 10.' : 'It did not work.'),
  ]);
  expect(second.text).toBe('It is 10.');
  expect((await dock.client.getInstance(session.id)).state).toBe('active');
  await resumed.destroy();
  await resumed.destroy();
  await expect(dock.client.getInstance(session.id)).rejects.toMatchObject({ code: 'gone' });
});

test('our types are those of the framework', () => {
  expectTypeOf<Experimental_SandboxSession>().not.toBeAny();
  expectTypeOf<HarnessV1SandboxProvider>().not.toBeAny();
  expectTypeOf<AiSandboxSession>().toExtend<Experimental_SandboxSession>();
  expectTypeOf(sandboxProvider).returns.toExtend<HarnessV1SandboxProvider>();
});

async function newSession(): Promise<{ box: Sandbox; session: Experimental_SandboxSession }> {
  const { connection } = await startTestServer();
  const box = await Sandbox.create(connection);
  return { box, session: sandboxSession(box) };
}

const bytesOf = async (stream: ReadableStream<Uint8Array> | null | undefined) =>
  new Uint8Array(await new Response(stream).arrayBuffer());

test('bytes come back as they are, text by lines and in other encodings, and what is not there is null', async () => {
  const { box, session } = await newSession();
  for (const path of ['no', 'no/way', '/tmp/no']) {
    expect(await session.readFile({ path })).toBeNull();
    expect(await session.readTextFile({ path })).toBeNull();
    expect(await session.stat({ path })).toBeNull();
    expect(await session.listDirectory({ path })).toBeNull();
  }
  expect((await box.info()).state).toBe('created');
  expect(await session.deleteFile({ path: 'no' })).toBe(false);
  const bytes = Uint8Array.from({ length: 300_000 }, (_, at) => at % 256);
  await session.writeBinaryFile({ path: 'deep/down/raw', content: bytes });
  expect(await session.readBinaryFile({ path: 'deep/down/raw' })).toEqual(bytes);
  await session.writeFile({ path: 'copy', content: new Blob([bytes]).stream() });
  expect(await bytesOf(await session.readFile({ path: '/workspace/copy' }))).toEqual(bytes);
  expect((await session.run({ command: 'cmp copy deep/down/raw && wc -c < copy' })).stdout.trim()).toBe('300000');
  await session.writeTextFile({ path: 'lines', content: 'a\nü\nc\n' });
  expect(await session.readTextFile({ path: 'lines', startLine: 2, endLine: 2 })).toBe('ü');
  expect(await session.readTextFile({ path: 'lines', startLine: 3, endLine: 99 })).toBe('c\n');
  await session.writeBinaryFile({ path: 'old', content: new Uint8Array([0xfc]) });
  expect(await session.readTextFile({ path: 'old', encoding: 'latin1' })).toBe('ü');
  await expect(session.writeTextFile({ path: 'old', content: 'ü', encoding: 'latin1' })).rejects.toThrow(/UTF-8/);
  expect(await session.stat({ path: 'copy' })).toEqual({ type: 'file', size: 300_000 });
  await session.writeTextFile({ path: 'empty', content: '' });
  expect(await session.stat({ path: 'empty' })).toEqual({ type: 'file', size: 0 });
  expect(await session.readTextFile({ path: 'empty' })).toBe('');
  expect(await session.stat({ path: 'deep' })).toMatchObject({ type: 'directory' });
  expect(await session.listDirectory({ path: 'deep' })).toEqual([{ name: 'down', type: 'directory' }]);
  expect(await session.deleteFile({ path: 'copy' })).toBe(true);
  expect(await session.readFile({ path: 'copy' })).toBeNull();
  for (const wrong of [
    () => session.readFile({ path: 'deep' }),
    () => session.writeTextFile({ path: 'deep', content: '' }),
    () => session.deleteFile({ path: 'deep' }),
    () => session.listDirectory({ path: 'lines' }),
    () => session.readFile({ path: '/etc/passwd' }),
  ]) {
    await expect(wrong()).rejects.toMatchObject({ name: 'ApiError' });
  }
  await box.delete();
  await expect(session.readFile({ path: 'lines' })).rejects.toMatchObject({ code: 'gone' });
});

test('a path leads over links, and a link itself is listed and deleted', async () => {
  const { box, session } = await newSession();
  await session.run({ command: 'mkdir d; echo hi > d/f; ln -s d folder; ln -s d/f file; ln -s nowhere lost' });
  expect(await session.readTextFile({ path: 'file' })).toBe('hi\n');
  expect(await session.readTextFile({ path: 'folder/f' })).toBe('hi\n');
  expect(await session.stat({ path: 'file' })).toEqual({ type: 'file', size: 3 });
  expect(await session.stat({ path: 'folder' })).toMatchObject({ type: 'directory' });
  expect(await session.listDirectory({ path: 'folder' })).toEqual([{ name: 'f', type: 'file' }]);
  expect(await session.readFile({ path: 'lost' })).toBeNull();
  await expect(session.readFile({ path: 'folder' })).rejects.toMatchObject({ code: 'not_found' });
  expect(await session.listDirectory({ path: '.' })).toContainEqual({ name: 'lost', type: 'symlink' });
  await session.writeTextFile({ path: 'file', content: 'over' });
  expect(await box.files.read('d/f')).toBe('over');
  await session.writeBinaryFile({ path: 'folder/new', content: new Uint8Array([104, 111]) });
  expect(await box.files.read('d/new')).toBe('ho');
  await session.writeTextFile({ path: 'lost', content: 'found' });
  expect(await box.files.read('nowhere')).toBe('found');
  await expect(session.writeTextFile({ path: 'folder', content: '' })).rejects.toMatchObject({ code: 'conflict' });
  await session.run({ command: 'ln -s /usr/bin/new outside' });
  await expect(session.writeTextFile({ path: 'outside', content: '' })).rejects.toMatchObject({ code: 'validation' });
  expect(await session.deleteFile({ path: 'file' })).toBe(true);
  expect(await box.files.read('d/f')).toBe('over');
});

test('a command has its folder and environment, an exit code is a result, and a cut output says so', async () => {
  const { session } = await newSession();
  await session.writeTextFile({ path: 'sub/x', content: '' });
  const command = 'pwd; echo $WHO; echo bad >&2; exit 7';
  expect(await session.run({ command, workingDirectory: 'sub', env: { WHO: 'me' } })).toEqual({
    exitCode: 7,
    stdout: '/workspace/sub\nme\n',
    stderr: 'bad\n',
  });
  const { stdout, stderr } = await session.run({ command: TOO_MUCH });
  expect(stdout.length).toBeLessThan(5_000_000);
  expect(stderr).toContain('[winterdock: the output is cut');
});

test('aborting an agent stops its script on the server', async () => {
  const { box, session } = await newSession();
  const stop = new AbortController();
  const working = generateText({
    model: scripted([() => ({ tool: 'bash', input: { command: ENDLESS } })]),
    tools,
    experimental_sandbox: session,
    prompt: 'Go.',
    stopWhen: isStepCount(5),
    abortSignal: stop.signal,
  });
  await vi.waitFor(async () => expect(await box.files.exists('begun')).toBe(true), { timeout: 240_000 });
  stop.abort(new Error('enough'));
  await expect(working).rejects.toThrow();
  // Calls take turns: this one runs only when the endless one is over.
  expect((await session.run({ command: 'ls' })).stdout).toBe('begun\n');
});

test('a spawned process streams beside other commands, ends with its code, and is killed or aborted on the server', async () => {
  const { box, session } = await newSession();
  const ended = await session.spawn({ command: 'echo out; printf "\\377" >&2; exit 3', workingDirectory: '/tmp' });
  expect(await bytesOf(ended.stdout)).toEqual(new TextEncoder().encode('out\n'));
  expect(await bytesOf(ended.stderr)).toEqual(new Uint8Array([255]));
  expect(await ended.wait()).toEqual({ exitCode: 3 });
  const killed = await session.spawn({ command: ENDLESS });
  await vi.waitFor(async () => expect(await box.files.exists('begun')).toBe(true), { timeout: 240_000 });
  expect((await session.run({ command: 'echo beside' })).stdout).toBe('beside\n');
  await killed.kill();
  await killed.kill();
  expect(await killed.wait()).toEqual({ exitCode: 130 });
  expect(await bytesOf(killed.stdout)).toEqual(new Uint8Array());
  const stop = new AbortController();
  const aborted = await session.spawn({ command: ENDLESS, abortSignal: stop.signal });
  stop.abort(new Error('enough'));
  await expect(aborted.wait()).rejects.toThrow('enough');
  await expect(bytesOf(aborted.stdout)).rejects.toThrow('enough');
  await expect(session.spawn({ command: 'true', abortSignal: stop.signal })).rejects.toThrow('enough');
  await expect(session.spawn({ command: 'touch with-stdin', stdin: true })).rejects.toThrow(/no open stdin/);
  for (const { state } of (await box.runs.list()).items) expect(['done', 'stopped']).toContain(state);
  expect(await box.files.exists('never')).toBe(false);
  expect(await box.files.exists('with-stdin')).toBe(false);
});

test('a provider prepares a sandbox once, gives the same for the same id, and says that it has no ports', async () => {
  const { connection } = await startTestServer();
  const provider = sandboxProvider({ ...connection, labels: { team: 'red' } });
  const prepare = vi.fn(async (session: Experimental_SandboxSession) => {
    await session.writeTextFile({ path: 'prepared', content: 'yes' });
  });
  const options = { sessionId: 'one', identity: 'recipe-1', onFirstCreate: prepare };
  const session = await provider.createSession(options);
  expect((await provider.createSession(options)).id).toBe(session.id);
  expect(prepare).toHaveBeenCalledTimes(1);
  expect(await session.readTextFile({ path: 'prepared' })).toBe('yes');
  expect((await (await Sandbox.connect(session.id, connection)).info()).labels).toMatchObject({ team: 'red' });
  const other = await provider.createSession();
  expect(other.id).not.toBe(session.id);
  expect(session.ports).toEqual([]);
  await expect(session.getPortEndpoint({ port: 3000 })).rejects.toThrow(/Port 3000/);
  await other.stop();
  await expect(provider.resumeSession({ sessionId: 'nobody' })).rejects.toMatchObject({ code: 'not_found' });
});

test('the example of the docs works as it stands there', async () => {
  const dock = await startTestServer();
  const steps = [{ tool: 'bash', input: { command: 'echo hello > note; cat note' } }, 'It says hello.'];
  const model = `(await import('./ai-sdk-model.ts')).scripted(${JSON.stringify(steps)}.map((step) => () => step))`;
  expect(await runExample('### AI SDK', dock, model)).toBe('It says hello.\n');
  expect(await dock.client.getInstance('task-1')).toMatchObject({ state: 'suspended' });
  expect(await (await dock.client.getFile('task-1', 'workspace', '/note')).text()).toBe('hello\n');
});

test('the description of a session is true for the policy of its sandbox', async () => {
  const dock = await startTestServer();
  for (const policy of ['compute', 'minimal', 'posix', 'network'] as const) {
    const session = sandboxSession(await Sandbox.create({ ...dock.connection, policy }));
    const works = async (command: string) => {
      const ended = await session.run({ command }).catch(() => null);
      return ended !== null && ended.exitCode === 0;
    };
    const says = (words: RegExp) => words.test(session.description);
    expect([policy, says(/a Linux-like shell/)]).toEqual([policy, await works('true')]);
    expect([policy, says(/git for local work, sqlite3/)]).toEqual([
      policy,
      (await works('git init -q g')) && (await works('sqlite3 :memory: "select 1"')),
    ]);
    expect([policy, says(/js for JavaScript/)]).toEqual([policy, await works('js -e "console.log(1)"')]);
    expect([policy, says(/, python3\)/)]).toEqual([policy, await works('python3 -c "print(1)"')]);
    expect([policy, says(/no archives/)]).toEqual([
      policy,
      (await works('true')) && !(await works('echo x > f && tar cf f.tar f')),
    ]);
    expect([policy, says(/There is no network/)]).toEqual([policy, policy !== 'network']);
    expect([policy, says(/pip and npm/)]).toEqual([policy, policy === 'network']);
  }
  const { id } = await Sandbox.create({ ...dock.connection, policy: 'minimal' });
  expect(sandboxSession(await Sandbox.connect(id, dock.connection)).description).toContain('no python3');
  expect(sandboxSession(new Sandbox(dock.client, id)).description).toContain('where its policy allows it');
});
