import { randomUUID } from 'node:crypto';
import { type ApplyPatchOperation, applyDiff, Runner, RunState, setTracingDisabled, tool } from '@openai/agents-core';
import {
  filesystem,
  Manifest,
  SandboxAgent,
  type SandboxClient,
  type SandboxRunConfig,
  type SandboxSession,
  shell,
} from '@openai/agents-core/sandbox';
import { assistantMessage, functionCall, modelResponder, ScriptedModel } from '@openai/agents-core/testing';
import { expect, expectTypeOf, test, vi } from 'vitest';
import { z } from 'zod';
import {
  type AgentsSandboxClient,
  type AgentsSandboxSession,
  sandboxClient,
} from '../../../lib/client/adapters/openai-agents.ts';
import { runExample } from './example.ts';
import { ENDLESS, PROGRAM, startTestServer, type TestServer, TOO_MUCH } from './test-server.ts';

setTracingDisabled(true);

/** A step of the model: a tool with its input, made from what the last tool answered; or its last words. */
type Step = (last: string) => { tool: string; input: Record<string, unknown> } | string;

function scripted(steps: Step[]): ScriptedModel {
  return new ScriptedModel(
    steps.map((step) =>
      modelResponder(({ request }) => {
        const last = Array.isArray(request.input) ? request.input.at(-1) : undefined;
        const next = step(last?.type?.includes('call') ? JSON.stringify(last) : '');
        if (typeof next === 'string') return [assistantMessage(next)];
        if (next.tool === 'apply_patch') {
          const operation = next.input as ApplyPatchOperation;
          return [{ type: 'apply_patch_call', callId: `call-${randomUUID()}`, status: 'completed', operation }];
        }
        return [functionCall(next.tool, next.input, { callId: `call-${randomUUID()}` })];
      }),
    ),
  );
}

const agentOf = (steps: Step[], capabilities = [shell(), filesystem()]) =>
  new SandboxAgent({ name: 'worker', model: scripted(steps), capabilities });

const exec = (cmd: string) => ({ tool: 'exec_command', input: { cmd } });
const patch = (operation: Record<string, unknown>) => ({ tool: 'apply_patch', input: operation });

test('an agent writes, runs, searches, fixes and reads back; the end suspends it, and its state resumes it by id', async () => {
  const { client, connection } = await startTestServer();
  const sandboxes = sandboxClient({ Manifest, applyDiff, ...connection });
  const manifest = new Manifest({
    entries: { task: { type: 'dir', children: { 'numbers.txt': { type: 'file', content: '1\n2\n3\n' } } } },
    environment: { WHO: 'agent' },
  });
  const created = (text: string) =>
    text
      .split('\n')
      .map((line) => `+${line}`)
      .join('\n');
  const agent = agentOf([
    () => patch({ type: 'create_file', path: 'task/sum.py', diff: created(PROGRAM.trimEnd()) }),
    () => exec('cd task && python3 sum.py'),
    (failed) => {
      expect(failed).toMatch(/exited with code 1[\s\S]*NameError/);
      return exec('grep -n totl task/*');
    },
    (found) => {
      const [path = ''] = /task\/sum\.py/.exec(found) ?? [];
      return patch({ type: 'update_file', path, diff: "@@\n-print('total', totl)\n+print('total', total)" });
    },
    () => exec('cat task/sum.py'),
    (text) => {
      expect(text).toContain("print('total', total)");
      return exec('cd task && python3 sum.py | tee result.txt && echo by $WHO');
    },
    (result) => (/total 6[\s\S]*by agent/.test(result) ? 'It is 6.' : `It did not work: ${result}`),
  ]);
  const first = await new Runner().run(agent, 'Sum the numbers.', { sandbox: { client: sandboxes, manifest } });
  expect(first.finalOutput).toBe('It is 6.');
  const [instance] = (await client.listInstances()).items;
  const id = instance?.id ?? '';
  expect(instance).toMatchObject({ state: 'suspended', tenant: 'acme' });
  expect(await (await client.getFile(id, 'workspace', '/task/result.txt')).text()).toBe('total 6\n');

  // As another process has it: the id, and the framework's manifest.
  const resuming = sandboxClient({ Manifest, applyDiff, ...connection });
  const sessionState = await resuming.deserializeSessionState({ sandboxId: id, manifest });
  const again = agentOf([
    () => exec('echo 4 >> task/numbers.txt; cd task; python3 sum.py; echo by $WHO'),
    (result) => (/total 10[\s\S]*by agent/.test(result) ? 'It is 10.' : `It did not work: ${result}`),
  ]);
  const second = await new Runner().run(again, 'Go on.', { sandbox: { client: resuming, sessionState, manifest } });
  expect(second.finalOutput).toBe('It is 10.');
  expect((await client.listInstances()).items.map((one) => [one.id, one.state])).toEqual([[id, 'suspended']]);
  await resuming.delete(sessionState);
  await resuming.delete(sessionState);
  await expect(client.getInstance(id)).rejects.toMatchObject({ code: 'gone' });
});

test('a run that waits for people is written down, its sandbox falls asleep, and it goes on in it elsewhere', async () => {
  const { client, connection } = await startTestServer();
  const ship = tool({
    name: 'ship',
    description: 'Ships it.',
    parameters: z.object({}),
    needsApproval: true,
    execute: () => 'shipped',
  });
  const agentWith = (steps: Step[]) =>
    new SandboxAgent({ name: 'worker', model: scripted(steps), capabilities: [shell()], tools: [ship] });
  const sandbox = () => ({
    client: sandboxClient({ Manifest, applyDiff, ...connection }),
    manifest: new Manifest({ environment: { WHO: 'agent' } }),
  });
  const first = await new Runner().run(
    agentWith([() => exec('echo made > thing'), () => ({ tool: 'ship', input: {} })]),
    'Make it and ship it.',
    { sandbox: sandbox() },
  );
  expect(first.interruptions).toHaveLength(1);
  const [instance] = (await client.listInstances()).items;
  // The framework keeps it for the answer; the idle ladder does this meanwhile.
  await client.suspendInstance(instance?.id ?? '');
  const written = JSON.stringify(first.state);
  expect(written).toContain(`"sandboxId":"${instance?.id}"`);
  expect(written).not.toContain(connection.key);

  const again = agentWith([
    (shipped) => exec(shipped.includes('shipped') ? 'cat thing; echo by $WHO' : 'echo nothing was shipped'),
    (result) => (/made[\s\S]*by agent/.test(result) ? 'It is shipped.' : `It did not work: ${result}`),
  ]);
  const state = await RunState.fromString(again, written);
  for (const interruption of state.getInterruptions()) state.approve(interruption);
  const second = await new Runner().run(again, state, { sandbox: sandbox() });
  expect(second.finalOutput).toBe('It is shipped.');
  expect((await client.listInstances()).items.map((one) => [one.id, one.state])).toEqual([[instance?.id, 'suspended']]);
});

test('our types are those of the framework', () => {
  expectTypeOf<SandboxClient>().not.toBeAny();
  expectTypeOf<AgentsSandboxSession<Manifest>>().toExtend<SandboxSession>();
  expectTypeOf<AgentsSandboxClient<Manifest>>().toExtend<NonNullable<SandboxRunConfig['client']>>();
});

async function newSession(): Promise<{
  dock: TestServer;
  sandboxes: AgentsSandboxClient<Manifest>;
  session: AgentsSandboxSession<Manifest>;
}> {
  const dock = await startTestServer();
  const sandboxes = sandboxClient({ Manifest, applyDiff, ...dock.connection });
  return { dock, sandboxes, session: await sandboxes.create() };
}

test('files are read as bytes, listed, looked for over links, and what is missing says so', async () => {
  const { session } = await newSession();
  const bytes = Uint8Array.from({ length: 70_000 }, (_, at) => at % 256);
  await session.materializeEntry({ path: 'deep/raw', entry: { type: 'file', content: bytes } });
  expect(await session.readFile({ path: 'deep/raw' })).toEqual(bytes);
  expect(await session.readFile({ path: '/workspace/deep/raw', maxBytes: 3 })).toEqual(new Uint8Array([0, 1, 2]));
  await session.exec({ cmd: 'ln -s deep link; ln -s nowhere lost; printf "\\211PNG" > dot.png' });
  expect(await session.readFile({ path: 'link/raw', maxBytes: 1 })).toEqual(new Uint8Array([0]));
  expect(await session.listDir({ path: 'link' })).toEqual([{ name: 'raw', path: 'link/raw', type: 'file' }]);
  expect(await session.listDir({ path: '.' })).toContainEqual({ name: 'lost', path: 'lost', type: 'other' });
  const looks = ['deep', 'deep/raw', 'link', 'link/raw', 'lost', 'no', 'no/way'];
  const found = await Promise.all(looks.map((path) => session.pathExists(path)));
  expect(looks.filter((_, at) => found[at])).toEqual(['deep', 'deep/raw', 'link', 'link/raw']);
  const folders = await Promise.all(looks.map((path) => session.directoryExists(path)));
  expect(looks.filter((_, at) => folders[at])).toEqual(['deep', 'link']);
  expect(await session.viewImage({ path: 'dot.png' })).toEqual({
    type: 'image',
    image: { data: new Uint8Array([137, 80, 78, 71]), mediaType: 'image/png' },
  });
  for (const wrong of [
    () => session.readFile({ path: 'no' }),
    () => session.readFile({ path: 'deep' }),
    () => session.listDir({ path: 'no' }),
    () => session.viewImage({ path: 'deep/raw' }),
    () => session.readFile({ path: '../etc/passwd' }),
    () => session.exec({ cmd: 'id', runAs: 'root' }),
    () => session.materializeEntry({ path: 'repo', entry: { type: 'git_repo' } }),
  ]) {
    await expect(wrong()).rejects.toMatchObject({ name: 'ApiError' });
  }
});

test('patches create, change, move and delete, tell why they cannot, and write over nobody', async () => {
  const { dock, session } = await newSession();
  const editor = session.createEditor();
  expect(await editor.createFile({ path: 'a.txt', diff: '+one\n+two' })).toEqual({ status: 'completed' });
  const text = async (path: string) => new TextDecoder().decode(await session.readFile({ path }));
  expect(await text('a.txt')).toBe('one\ntwo');
  expect(await editor.updateFile({ path: 'a.txt', diff: '@@\n-two\n+2', moveTo: 'b.txt' })).toEqual({
    status: 'completed',
  });
  expect([await session.pathExists('a.txt'), await text('b.txt')]).toEqual([false, 'one\n2']);
  expect(await editor.updateFile({ path: 'b.txt', diff: '@@\n-nine\n+9' })).toMatchObject({ status: 'failed' });
  expect(await editor.updateFile({ path: 'no', diff: '@@\n-a\n+b' })).toMatchObject({
    status: 'failed',
    output: /not there/,
  });
  expect(await editor.deleteFile({ path: 'no' })).toMatchObject({ status: 'failed' });
  expect(await editor.createFile({ path: '/etc/x', diff: '+a' })).toMatchObject({ status: 'failed' });
  const id = session.state.sandboxId;
  await dock.client.putFile(id, 'workspace', '/b.txt', 'somebody else was here');
  expect(await editor.updateFile({ path: 'b.txt', diff: '@@\n-2\n+3' })).toMatchObject({ status: 'failed' });
  expect(await text('b.txt')).toBe('somebody else was here');
  expect(await editor.deleteFile({ path: 'b.txt' })).toEqual({ status: 'completed' });
  expect(await session.pathExists('b.txt')).toBe(false);
});

test('an exit code is told, an output is shortened in its middle, and a cut one says so', async () => {
  const { session } = await newSession();
  expect(await session.exec({ cmd: 'pwd; echo bad >&2; exit 7' })).toMatchObject({
    output: '/workspace\nbad\n',
    stdout: '/workspace\n',
    stderr: 'bad\n',
    exitCode: 7,
  });
  await session.materializeEntry({ path: 'sub', entry: { type: 'dir' } });
  expect(await session.execCommand({ cmd: 'pwd', workdir: 'sub' })).toMatch(
    /^Wall time: [\d.]+ seconds\nProcess exited with code 0\nOutput:\n\/workspace\/sub\n$/,
  );
  const short = await session.exec({ cmd: 'seq 1000', maxOutputTokens: 10 });
  expect(short.output).toMatch(/^1\n2\n[\s\S]*\[winterdock: \d+ characters are left out here\][\s\S]*\n1000\n$/);
  expect(short.originalTokenCount).toBe(974);
  const cut = await session.exec({ cmd: TOO_MUCH, maxOutputTokens: 100 });
  expect(cut.output).toMatch(/\[winterdock: the output is cut: it was longer than an answer holds\]\n$/);
});

test('aborting a run stops its script on the server and suspends the sandbox', async () => {
  const { client, connection } = await startTestServer();
  const stop = new AbortController();
  const sandboxes = sandboxClient({ Manifest, applyDiff, ...connection, id: 'task-1' });
  const running = new Runner().run(agentOf([() => exec(ENDLESS)]), 'Go.', {
    sandbox: { client: sandboxes, options: { signal: stop.signal } },
    signal: stop.signal,
  });
  const rejected = expect(running).rejects.toThrow();
  const names = async () => (await client.listFiles('task-1', 'workspace')).items.map(({ path }) => path);
  await vi.waitFor(async () => expect(await names()).toEqual(['/begun']), { timeout: 240_000 });
  stop.abort(new Error('enough'));
  await rejected;
  await vi.waitFor(async () => expect((await client.getInstance('task-1')).state).toBe('suspended'), {
    timeout: 240_000,
  });
  expect(await names()).toEqual(['/begun']);
});

test('a workspace is persisted while the sandbox sleeps, and another one is filled with it', async () => {
  const { dock, sandboxes, session } = await newSession();
  await session.exec({ cmd: 'mkdir d; echo kept > d/f; printf "\\377\\0" > raw' });
  const archive = await session.persistWorkspace();
  expect((await dock.client.getInstance(session.state.sandboxId)).state).toBe('suspended');
  expect(await session.running()).toBe(false);
  const other = await sandboxes.create({ options: { name: 'other' } });
  await other.exec({ cmd: 'echo old > old; echo old > .hidden' });
  await other.hydrateWorkspace(archive);
  expect((await other.exec({ cmd: 'cat d/f; od -An -tx1 raw; ls -A' })).stdout).toMatch(
    /^kept\n ff 00\n[\s\S]*d\nraw\n$/,
  );
  expect(await other.pathExists('old')).toBe(false);
  expect(await other.pathExists('.hidden')).toBe(false);
  await expect(other.hydrateWorkspace('no archive')).rejects.toThrow(/could not be unpacked/);
  await other.applyManifest(
    new Manifest({ entries: { late: { type: 'file', content: 'came' } }, environment: { LATE: 'yes' } }),
  );
  expect((await other.exec({ cmd: 'cat late; echo $LATE' })).stdout).toBe('cameyes\n');
  expect(Object.keys(other.state.manifest.entries)).toEqual(['late']);
  await expect(sandboxes.create(new Manifest({ root: '/srv' }))).rejects.toThrow(/none of \/workspace/);
  await expect(sandboxes.deserializeSessionState({})).rejects.toThrow(/no sandboxId/);
});

test('the example of the docs works as it stands there', async () => {
  const dock = await startTestServer();
  const model = `await (async () => {
    const { assistantMessage, functionCall, ScriptedModel } = await import('@openai/agents-core/testing');
    const call = functionCall('exec_command', { cmd: 'echo hello > note; cat note' }, { callId: 'a' });
    return new ScriptedModel([[call], [assistantMessage('It says hello.')]]);
  })()`;
  expect(await runExample('### OpenAI Agents', dock, model)).toBe('It says hello.\n');
  expect(await dock.client.getInstance('task-1')).toMatchObject({ state: 'suspended' });
  expect(await (await dock.client.getFile('task-1', 'workspace', '/note')).text()).toBe('hello\n');
});
