import { createDeepAgent, isSandboxBackend, type SandboxBackendProtocolV2 } from 'deepagents';
import { expect, expectTypeOf, test, vi } from 'vitest';
import { type DeepSandboxBackend, sandboxBackend } from '../../../lib/client/adapters/deepagents.ts';
import { Sandbox } from '../../../lib/client/sandbox.ts';
import { ScriptedChatModel, type Step } from './deepagents-model.ts';
import { runExample } from './example.ts';
import { ENDLESS, PROGRAM, startTestServer, TOO_MUCH } from './test-server.ts';

/** Lets an agent of the framework work, and gives its last words. */
async function work(backend: DeepSandboxBackend, prompt: string, steps: Step[]): Promise<string> {
  const model = new ScriptedChatModel(steps);
  const agent = createDeepAgent({ model, backend });
  const { messages } = await agent.invoke({ messages: [{ role: 'user', content: prompt }] });
  expect(model.offered).toEqual(
    expect.arrayContaining(['ls', 'read_file', 'write_file', 'edit_file', 'glob', 'grep', 'execute', 'delete']),
  );
  return messages.at(-1)?.text ?? '';
}

test('an agent writes, runs, searches, fixes and reads back; its sandbox sleeps, and it goes on by the id', async () => {
  const { client, connection } = await startTestServer();
  const box = await Sandbox.create(connection);
  const backend = sandboxBackend(box);
  const first = await work(backend, 'Sum the numbers.', [
    () => ({ tool: 'write_file', input: { file_path: '/workspace/task/numbers.txt', content: '1\n2\n3\n' } }),
    () => ({ tool: 'write_file', input: { file_path: '/workspace/task/sum.py', content: PROGRAM } }),
    () => ({ tool: 'execute', input: { command: 'cd task && python3 sum.py' } }),
    (failed) => {
      expect(failed).toMatch(/NameError[\s\S]*failed with exit code 1/);
      return { tool: 'grep', input: { pattern: 'totl)', path: '/', glob: '*.py' } };
    },
    (found) => {
      expect(found).toMatch(/3/);
      const [path = ''] = /\/workspace\/\S+\.py/.exec(found) ?? [];
      return { tool: 'edit_file', input: { file_path: path, old_string: 'totl)', new_string: 'total)' } };
    },
    () => ({ tool: 'read_file', input: { file_path: '/workspace/task/sum.py' } }),
    (text) => {
      expect(text).toContain("print('total', total)");
      return { tool: 'execute', input: { command: 'cd task && python3 sum.py | tee result.txt' } };
    },
    (result) => (result.includes('total 6') ? 'It is 6.' : 'It did not work.'),
  ]);
  expect(first).toBe('It is 6.');
  expect(await (await client.getFile(box.id, 'workspace', '/task/result.txt')).text()).toBe('total 6\n');
  expect(await client.getInstance(box.id)).toMatchObject({ state: 'active', tenant: 'acme' });

  await box.suspend();
  const again = sandboxBackend(await Sandbox.connect(backend.id, connection));
  expect(await again.read('/workspace/task/result.txt')).toMatchObject({ content: 'total 6' });
  expect((await client.getInstance(box.id)).state).toBe('suspended');
  const second = await work(again, 'Go on.', [
    () => ({ tool: 'glob', input: { pattern: '**/numbers.*', path: '/' } }),
    (found) => ({ tool: 'execute', input: { command: `echo 4 >> ${found.trim()}; cd task; python3 sum.py` } }),
    (result) => (result.includes('total 10') ? 'It is 10.' : 'It did not work.'),
  ]);
  expect(second).toBe('It is 10.');
  expect((await client.getInstance(box.id)).state).toBe('active');
});

test('our types are those of the framework, and it knows the backend as a sandbox', async () => {
  expectTypeOf<SandboxBackendProtocolV2>().not.toBeAny();
  expectTypeOf<DeepSandboxBackend>().toExtend<SandboxBackendProtocolV2>();
  const { connection } = await startTestServer();
  expect(isSandboxBackend(sandboxBackend(await Sandbox.create(connection)))).toBe(true);
});

async function newBackend(): Promise<{ box: Sandbox; backend: DeepSandboxBackend }> {
  const { connection } = await startTestServer();
  const box = await Sandbox.create(connection);
  return { box, backend: sandboxBackend(box) };
}

test('what is missing or refused is an answer and never thrown, and waking for it is not needed', async () => {
  const { box, backend } = await newBackend();
  const no = '/workspace/no';
  expect(await backend.read(no)).toEqual({ error: `File '${no}' not found` });
  expect(await backend.readRaw(no)).toEqual({ error: `File '${no}' not found` });
  expect(await backend.edit(no, 'a', 'b')).toEqual({ error: `File '${no}' not found` });
  expect(await backend.ls(no)).toEqual({ error: `Directory '${no}' not found` });
  expect(await backend.downloadFiles([no])).toEqual([{ path: no, content: null, error: 'file_not_found' }]);
  expect((await box.info()).state).toBe('created');
  expect((await backend.delete(no)).error).toMatch(/no/);
  expect((await backend.glob('*', no)).error).toMatch(/No such file/);
  expect((await backend.grep('a', no)).error).toMatch(/No such file/);
  for (const outside of ['/app.py', '/workspace/../etc/x']) {
    const noVolume = { error: expect.stringMatching(/none of \/workspace, \/memory and \/tmp/) };
    expect(await backend.write(outside, 'x')).toEqual(noVolume);
    expect(await backend.grep('x', outside)).toEqual(noVolume);
    expect(await backend.glob('*', outside)).toEqual(noVolume);
    for (const answer of [
      backend.ls(outside),
      backend.read(outside),
      backend.edit(outside, 'a', 'b'),
      backend.delete(outside),
    ])
      expect(await answer).toEqual(noVolume);
  }
  await box.files.makeDir('folder');
  expect((await backend.write('/workspace/folder', 'x')).error).toMatch(/directory/);
  expect((await backend.read('/workspace/folder')).error).toBeTruthy();
  expect(await backend.downloadFiles(['/workspace/folder', '/etc/passwd'])).toEqual([
    { path: '/workspace/folder', content: null, error: 'is_directory' },
    { path: '/etc/passwd', content: null, error: 'invalid_path' },
  ]);
  const bytes = new Uint8Array([1]);
  expect(
    await backend.uploadFiles([
      ['/workspace/folder', bytes],
      ['/workspace/ok', bytes],
      ['/etc/passwd', bytes],
    ]),
  ).toEqual([
    { path: '/workspace/folder', error: 'is_directory' },
    { path: '/workspace/ok', error: null },
    { path: '/etc/passwd', error: 'invalid_path' },
  ]);
  await box.delete();
  expect((await backend.read('/workspace/ok')).error).toMatch(/deleted/);
  await expect(backend.execute('true')).rejects.toMatchObject({ code: 'gone' });
});

test('bytes are what they are, text is read in pages, and pictures are known by their names', async () => {
  const { box, backend } = await newBackend();
  const bytes = Uint8Array.from({ length: 70_000 }, (_, at) => at % 256);
  await backend.uploadFiles([['/workspace/deep/raw', bytes]]);
  expect((await backend.downloadFiles(['/workspace/deep/raw']))[0]?.content).toEqual(bytes);
  expect(await backend.read('/workspace/deep/raw')).toEqual({ content: bytes, mimeType: 'application/octet-stream' });
  expect((await backend.readRaw('/workspace/deep/raw')).data?.content).toEqual(bytes);
  expect(await backend.write('/workspace/dot.png', 'iVBORw0KGgo=')).toMatchObject({ path: '/workspace/dot.png' });
  expect(await backend.read('/workspace/dot.png')).toEqual({
    content: new Uint8Array([137, 80, 78, 71, 13, 10, 26, 10]),
    mimeType: 'image/png',
  });
  expect((await backend.write('/workspace/dot.png', 'no base64!')).error).toMatch(/base64/);
  await backend.write('/workspace/lines', 'a\nü\nc\nd\n');
  expect(await backend.read('/workspace/lines')).toMatchObject({ content: 'a\nü\nc\nd', totalLines: 4, endLine: 4 });
  expect(await backend.read('/workspace/lines', 1, 2)).toEqual({
    content: 'ü\nc',
    mimeType: 'text/plain',
    totalLines: 4,
    startLine: 2,
    endLine: 3,
    nextOffset: 3,
  });
  expect((await backend.read('/workspace/lines', 9)).error).toMatch(/4 lines/);
  expect((await backend.readRaw('/workspace/lines')).data?.content).toBe('a\nü\nc\nd\n');
  await box.files.write('empty', '');
  expect(await backend.read('/workspace/empty')).toMatchObject({ content: '', totalLines: 0 });
  expect((await backend.ls('/')).files?.map(({ path }) => path)).toEqual(['/workspace/', '/memory/', '/tmp/']);
  expect((await backend.ls('/workspace')).files).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ path: '/workspace/deep/', is_dir: true }),
      expect.objectContaining({ path: '/workspace/lines', is_dir: false, size: 9 }),
    ]),
  );
});

test('an edit changes one piece or all, says why it did not, and is never over what others wrote meanwhile', async () => {
  const { box, backend } = await newBackend();
  const path = '/workspace/f';
  await box.files.write(path, 'one two one $& end');
  expect((await backend.edit(path, 'one', 'x')).error).toMatch(/2 times/);
  expect((await backend.edit(path, 'nine', 'x')).error).toMatch(/not found in file/);
  expect((await backend.edit(path, '', 'x')).error).toMatch(/empty/);
  expect(await backend.edit(path, 'two', '$&$1')).toEqual({ path, filesUpdate: null, occurrences: 1 });
  expect(await backend.edit(path, 'one', '1', true)).toMatchObject({ occurrences: 2 });
  expect(await box.files.read(path)).toBe('1 $&$1 1 $& end');
  await box.commands.run('ln -s f link; printf "\\377" > bytes');
  expect((await backend.edit('/workspace/bytes', 'a', 'b')).error).toMatch(/no text/);
  expect(await backend.edit('/workspace/link', 'end', 'the end')).toMatchObject({ occurrences: 1 });
  expect(await box.files.read(path)).toBe('1 $&$1 1 $& the end');
  expect(await backend.write('/workspace/link', '1 $&$1 1 $& the end')).toMatchObject({ path: '/workspace/link' });
  expect((await box.files.list()).find(({ name }) => name === 'link')?.kind).toBe('link');
  const getFile = box.client.getFile;
  const between = vi.spyOn(box.client, 'getFile').mockImplementation(async (...args) => {
    const file = await getFile(...args);
    await box.files.write(path, 'somebody else was here');
    return file;
  });
  expect((await backend.edit(path, 'end', 'x')).error).toMatch(/changed meanwhile/);
  between.mockRestore();
  expect(await box.files.read(path)).toBe('somebody else was here');
});

test('a search takes texts and names as they are, in any folder, and says when it is cut', async () => {
  const { box, backend } = await newBackend();
  await box.files.write('a b/$(x) "q".py', 'no\nfoo.bar(1): "it\'s"\nfooxbar\n');
  await box.files.write('a b/.hidden', 'foo.bar\n');
  await box.files.write('top.txt', 'foo.bar at the top\n');
  await box.files.write('/memory/m.txt', 'foo.bar in memory\n');
  await box.files.write('binary', new Uint8Array([0, 0x66, 0x6f, 0x6f, 0x2e, 0x62, 0x61, 0x72, 10]));
  const found = async (...args: Parameters<DeepSandboxBackend['grep']>) =>
    (await backend.grep(...args)).matches?.map(({ path, line, text }) => `${path}:${line}:${text}`).toSorted();
  const inner = '/workspace/a b/$(x) "q".py:2:foo.bar(1): "it\'s"';
  const hidden = '/workspace/a b/.hidden:1:foo.bar';
  expect(await found('foo.bar')).toEqual(
    [inner, hidden, '/workspace/top.txt:1:foo.bar at the top', '/memory/m.txt:1:foo.bar in memory'].toSorted(),
  );
  expect(await found('foo.bar', '/workspace', '*.py')).toEqual([inner]);
  expect(await found('foo.bar', '/workspace', 'a*/**')).toEqual([inner, hidden].toSorted());
  expect(await found('(1): "it\'s"', '/workspace/a b')).toEqual([inner]);
  expect(await found('-rf')).toEqual([]);
  expect(await backend.grep('foo.bar', '/', null, 1)).toMatchObject({ matches: [{}], truncated: true });
  const names = async (pattern: string, path?: string) =>
    (await backend.glob(pattern, path)).files?.map((file) => file.path).toSorted();
  expect(await names('*.txt')).toEqual(['/workspace/top.txt']);
  expect(await names('**/*.{py,txt}', '/')).toEqual(
    ['/memory/m.txt', '/workspace/a b/$(x) "q".py', '/workspace/top.txt'].toSorted(),
  );
  expect(await names('/workspace/**/*.py')).toEqual(['/workspace/a b/$(x) "q".py']);
  expect(await names('[tx]op.???')).toEqual(['/workspace/top.txt']);
  await box.commands.run(
    'for n in $(seq 200); do seq -f "line %g of the long file that has many of them" 1000; done > long',
  );
  expect(await backend.grep('line', '/workspace/long')).toMatchObject({ truncated: true });
});

test('a result too large for the model is put aside by the framework, and read from there', async () => {
  const { box, backend } = await newBackend();
  const asked: string[] = [];
  await work(backend, 'Go.', [
    () => ({ tool: 'execute', input: { command: 'seq -f "number %g" 30000' } }),
    (evicted) => {
      const [path = ''] = /\/large_tool_results\/\S+\.txt/.exec(evicted) ?? [];
      return { tool: 'read_file', input: { file_path: path, offset: 29_998, limit: 5 } };
    },
    (read) => {
      asked.push(read);
      return 'done';
    },
  ]);
  expect(asked[0]).toContain('number 30000');
  expect((await box.files.list('/memory/large_tool_results')).length).toBe(1);
});

test('an exit code and both outputs are told, a cut output and a time that ran out too', async () => {
  const { box } = await newBackend();
  const backend = sandboxBackend(box, { timeoutMs: 20_000 });
  expect(await backend.execute('pwd; echo bad >&2; exit 7')).toEqual({
    output: '/workspace\nbad\n',
    exitCode: 7,
    truncated: false,
  });
  const cut = await backend.execute(TOO_MUCH);
  expect(cut.truncated).toBe(true);
  const late = await sandboxBackend(box, { timeoutMs: 200 }).execute('echo begun; sleep 30');
  expect(late.output).toMatch(/begun[\s\S]*\[winterdock: the command was stopped: its time ran out\]/);
  const told: string[] = [];
  await work(backend, 'Go.', [
    () => ({ tool: 'execute', input: { command: TOO_MUCH } }),
    (answer) => {
      told.push(answer);
      return 'done';
    },
  ]);
  expect(told[0]).toMatch(/too large|truncated/);
});

test('aborting an agent stops its script on the server', async () => {
  const { box } = await newBackend();
  const stop = new AbortController();
  const backend = sandboxBackend(box, { signal: stop.signal });
  const agent = createDeepAgent({
    model: new ScriptedChatModel([() => ({ tool: 'execute', input: { command: ENDLESS } })]),
    backend,
  });
  const working = agent.invoke({ messages: [{ role: 'user', content: 'Go.' }] }, { signal: stop.signal });
  const rejected = expect(working).rejects.toThrow();
  await vi.waitFor(async () => expect(await box.files.exists('begun')).toBe(true), { timeout: 240_000 });
  stop.abort(new Error('enough'));
  await rejected;
  // Calls take turns: this one runs only when the endless one is over.
  expect((await box.commands.run('ls')).stdout).toBe('begun\n');
});

test('the example of the docs works as it stands there', async () => {
  const dock = await startTestServer();
  const { client } = dock;
  const steps = [{ tool: 'execute', input: { command: 'echo hello > note; cat note' } }, 'It says hello.'];
  const model = `new (await import('./deepagents-model.ts')).ScriptedChatModel(${JSON.stringify(steps)}.map((step) => () => step))`;
  expect(await runExample('### LangChain deepagents', dock, model)).toBe('It says hello.\n');
  expect(await client.getInstance('task-1')).toMatchObject({ state: 'suspended' });
  expect(await (await client.getFile('task-1', 'workspace', '/note')).text()).toBe('hello\n');
});
