import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { build } from 'rolldown';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startServer, TEST_KEY, type TestServer } from '../../lib/testing/server.ts';
import { ROOT } from '../build.ts';
import { buildClient, IMPORT } from './build.ts';

const folder = mkdtempSync(join(tmpdir(), 'winterdock-package-'));
const project = join(folder, 'project');
const installed = join(project, 'node_modules', 'winterdock');
let server: TestServer;
/** What a browser loads, minified and compressed by gzip: all of the client, and what the sandbox object adds. */
const CLIENT_BYTES = 8000;
const SANDBOX_BYTES = 3500;

/**
 * Runs a program in the other project. What it needs of the environment is its address and key, and nothing of ours.
 */
const run = (program: string, ...args: string[]) =>
  promisify(execFile)(program, args, {
    cwd: project,
    env: {
      ...process.env,
      HOME: folder,
      XDG_CONFIG_HOME: folder,
      WINTERDOCK_URL: server.url,
      WINTERDOCK_KEY: TEST_KEY,
    },
  });

beforeAll(async () => {
  server = await startServer();
  mkdirSync(project);
  buildClient(join(folder, 'built'));
  const pack = ['pack', '--silent', '--pack-destination', folder, join(folder, 'built')];
  const file = (await run('npm', ...pack)).stdout.trim().split('\n').at(-1) ?? '';
  writeFileSync(join(project, 'package.json'), JSON.stringify({ name: 'other', private: true, type: 'module' }));
  const commander = join(ROOT, 'node_modules', 'commander');
  await run('npm', 'install', '--offline', '--engine-strict', '--no-audit', '--no-fund', join(folder, file), commander);
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

test('it installs on the Node that it names: nothing that it needs names a newer one', () => {
  const majorOf = (path: string): number => {
    const { engines } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8')) as { engines?: { node?: string } };
    return Number(/^>=\s*(\d+)(?:\.0){0,2}$/.exec(engines?.node ?? '>=0')?.[1]);
  };
  const { dependencies } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as {
    dependencies: object;
  };
  expect(Object.keys(dependencies)).toEqual(['commander']);
  expect(majorOf(installed)).toBe(20);
  expect(majorOf(join(project, 'node_modules', 'commander'))).toBeLessThanOrEqual(20);
});

test('no file of it, types included, imports anything but what it brings, the command line’s commander and Node', () => {
  const foreign = new Set<string>();
  for (const name of readdirSync(installed, { recursive: true, encoding: 'utf8' })) {
    if (!/\.(?:js|d\.ts)$/.test(name)) continue;
    for (const [, from, bare, called] of readFileSync(join(installed, name), 'utf8').matchAll(IMPORT)) {
      const target = from ?? bare ?? called ?? '';
      if (target.startsWith('.')) {
        const path = join(installed, dirname(name), target);
        expect(existsSync(name.endsWith('.d.ts') ? path.replace(/\.js$/, '.d.ts') : path), `${name}: ${target}`).toBe(
          true,
        );
      } else if (!target.startsWith('node:')) foreign.add(target);
    }
  }
  expect([...foreign]).toEqual(['commander']);
});

test('another project installs the package and uses the client from plain JavaScript', async () => {
  writeFileSync(
    join(project, 'use.js'),
    `import { ApiError, createClient } from 'winterdock/client';
import { ApiError as SameError, Sandbox } from 'winterdock/sandbox';
import { sandboxSession } from 'winterdock/ai-sdk';
const dock = createClient();
await dock.createInstance({ id: 'a', tenant: 'acme' });
for await (const event of dock.execStream('a', { command: 'echo hello' })) if (event.event === 'stdout') process.stdout.write(event.bytes);
console.log((await dock.execBytes('a', { command: 'cat', stdin: new Uint8Array([255, 0]) })).stdout.toString());
await (await Sandbox.connect('a')).commands.run('echo in hand', { onStdout: (text) => process.stdout.write(text) });
process.stdout.write((await sandboxSession(await Sandbox.connect('a')).run({ command: 'echo adapted' })).stdout);
await dock.suspendInstance('a');
for await (const { id, state } of dock.listInstances()) console.log(id, state);
try {
  await dock.getInstance('nobody');
} catch (error) {
  console.log(error instanceof ApiError && ApiError === SameError, error.code, error.status);
}
`,
  );
  const { stdout, stderr } = await run(process.execPath, 'use.js');
  expect(stdout).toBe('hello\n255,0\nin hand\nadapted\na suspended\ntrue not_found 404\n');
  expect(stderr).toBe('');
});

test('its command line runs from there', async () => {
  await server.call('POST', '/api/instances', { id: 'b', tenant: 'acme' });
  const cli = join(project, 'node_modules', '.bin', 'winterdock');
  expect((await run(cli, '--version')).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  expect((await run(cli, 'exec', 'b', 'echo from elsewhere')).stdout).toBe('from elsewhere\n');
});

const ENTRIES = ['client.js', 'sandbox.js'];
const ADAPTERS = ['ai-sdk', 'computesdk', 'deepagents', 'openai-agents'].map((name) => `adapters/${name}.js`);

test.each([...ENTRIES, ...ADAPTERS])(
  'at run time %s imports nothing but files of its own, so a browser can load it',
  (entry) => {
    const seen = new Set<string>();
    const foreign: string[] = [];
    const walk = (path: string) => {
      if (seen.has(path)) return;
      seen.add(path);
      for (const [, from, bare, called] of readFileSync(path, 'utf8').matchAll(IMPORT)) {
        const target = from ?? bare ?? called ?? '';
        if (target.startsWith('.')) walk(join(dirname(path), target));
        else foreign.push(target);
      }
    };
    walk(join(installed, 'client', entry));
    expect(seen.size).toBeGreaterThan(8);
    expect(foreign).toEqual([]);
    for (const path of seen) expect(readFileSync(path, 'utf8')).not.toMatch(/\b(process|Buffer|require)\b[.(]/);
  },
);

test('in a browser the client is small, and the sandbox object costs only those who take it', async () => {
  const sizes: number[] = [];
  for (const entry of ENTRIES) {
    const { output } = await build({ input: join(installed, 'client', entry), write: false, output: { minify: true } });
    expect(output).toHaveLength(1);
    sizes.push(gzipSync(output[0].code).length);
  }
  const [client = 0, sandbox = 0] = sizes;
  expect(client).toBeLessThan(CLIENT_BYTES);
  expect(sandbox - client).toBeLessThan(SANDBOX_BYTES);
});

test('its types hold in a project without ours: right use compiles, wrong use does not', async () => {
  expect(existsSync(join(project, 'node_modules', 'zod'))).toBe(false);
  writeFileSync(
    join(project, 'consumer.ts'),
    `import { ApiError, createClient, type DryRun, type Event, type ExecAnswer, type Instance, type Page, type Volume } from 'winterdock/client';
import { type BackgroundRun, type CommandResult, Sandbox } from 'winterdock/sandbox';
import type { AgentsSandboxClient } from 'winterdock/openai-agents';
import { type DeepSandboxBackend, sandboxBackend } from 'winterdock/deepagents';
import { type AiSandboxProvider, type AiSandboxSession, sandboxProvider, sandboxSession } from 'winterdock/ai-sdk';
import { type ComputeProvider, winterdock } from 'winterdock/computesdk';

const dock = createClient({ url: 'http://localhost:3000', key: 'k' });
createClient({ url: '', key: null });
const made: Instance = await dock.createInstance({ tenant: 'acme', labels: { team: 'red' } });
const page: Page<Instance> = await dock.listInstances({ state: 'frozen', limit: 10 });
const answer: ExecAnswer = await dock.execInInstance(made.id, { command: 'true' });
const code: number = answer.exit_code;
const said: Uint8Array = (await dock.execBytes(made.id, { command: 'cat', stdin: new Uint8Array([1]) })).stdout;
console.log(said);
const volume: Volume = 'memory';
const dry: DryRun = await dock.startJob({ verb: 'freeze', filter: { tenant: 'acme' }, dry_run: true });
const job: string = (await dock.startJob({ verb: 'freeze', ids: ['a'] })).id;
console.log(dry.will, job, volume);
// @ts-expect-error a dry run starts no job
console.log(dry.id);
const bytes: Uint8Array = await (await dock.getFile(made.id, 'workspace', '/note')).bytes();
for await (const event of dock.streamEvents({ tenant: 'acme' })) {
  const line: Event = event;
  console.log(line.seq, page.next, code, bytes);
}
for await (const event of dock.execStream('a', { command: 'true' }, { signal: AbortSignal.timeout(1000) })) {
  if (event.event === 'exit') console.log(event.exit_code);
  // @ts-expect-error only the exit has a code
  else console.log(event.exit_code);
}
try {
  await dock.archiveInstance('a', { reason: 'done' });
} catch (error) {
  if (error instanceof ApiError && error.code === 'conflict') console.log(error.hint, error.request_id);
}
const box: Sandbox = await Sandbox.create({ labels: { team: 'red' }, signal: AbortSignal.timeout(1000) });
const ended: CommandResult = await box.commands.run('true', { onStdout: (text) => console.log(text.length) });
const run: BackgroundRun = await box.commands.run('true', { background: true });
const note: string = await box.files.read('note');
const raw: Uint8Array = await box.files.read('note', { format: 'bytes' });
for await (const change of await box.files.watch()) console.log(change.type, ended.exitCode, run.id, note, raw);
const session: AiSandboxSession = sandboxSession(box);
const provider: AiSandboxProvider = sandboxProvider({ tenant: 'acme' });
const backend: DeepSandboxBackend = sandboxBackend(box);
console.log(session.description, provider.providerId, backend.id);
export type Id = AgentsSandboxClient<object>['backendId'];
// @ts-expect-error a script in the background has no one to tell
await box.commands.run('true', { background: true, onStdout: () => undefined });
// @ts-expect-error a run has no exit code yet
console.log(run.exitCode);
// @ts-expect-error a sandbox is made by create or connect
new Sandbox();
// @ts-expect-error a sandbox has a tenant
await dock.createInstance({ id: 'a' });
// @ts-expect-error there is no such state
await dock.listInstances({ state: 'paused' });
// @ts-expect-error there are three volumes
await dock.getFile('a', 'home', '/note');
// @ts-expect-error there is no such operation
await dock.explode('a');
// @ts-expect-error a number is no command
await dock.execInInstance('a', { command: 1 });
`,
  );
  const compilerOptions = {
    target: 'ES2022',
    lib: ['ES2022', 'DOM', 'DOM.Iterable', 'DOM.AsyncIterable'],
    module: 'nodenext',
    moduleResolution: 'nodenext',
    strict: true,
    noEmit: true,
    types: [],
  };
  // As most programs for Node are checked: no types of a browser beside those of Node.
  const nodeAlone = {
    ...compilerOptions,
    lib: ['ES2022'],
    typeRoots: [join(ROOT, 'node_modules', '@types')],
    types: ['node'],
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
  };
  for (const options of [compilerOptions, nodeAlone]) {
    const config = { compilerOptions: options, files: ['consumer.ts'] };
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify(config));
    const checked = await run(join(ROOT, 'node_modules', '.bin', 'tsc'), '-p', '.').catch((error) => error);
    expect(checked.stdout).toBe('');
  }
});
