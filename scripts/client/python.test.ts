import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { createClient } from '../../lib/client/client.ts';
import { SandboxCommands } from '../../lib/client/sandbox/commands.ts';
import { SandboxFiles } from '../../lib/client/sandbox/files.ts';
import { BackgroundRun, SandboxRuns } from '../../lib/client/sandbox/runs.ts';
import { Sandbox } from '../../lib/client/sandbox.ts';
import { ROUTES } from '../../lib/http/routes.ts';
import { startServer, TEST_KEY, type TestServer } from '../../lib/testing/server.ts';
import { ROOT } from '../build.ts';
import { argumentsOf } from './print-calls.ts';
import { methodNames, printedPython } from './print-python.ts';
import { TypeBook } from './print-types.ts';
import { snakeCase } from './python-type.ts';

const FOLDER = join(ROOT, 'clients', 'python');
const MAX_FILE = 1024 * 1024;

/** The methods that the Python clients are to have, with their arguments. */
const OPERATIONS = Object.fromEntries(
  ROUTES.map((route) => [
    snakeCase(route.name),
    argumentsOf(route, new TypeBook())
      .slice(0, -1)
      .map((argument) => /^\w+/.exec(argument)?.[0]),
  ]),
);

/** The members that a class declares, in snake case. */
const membersOf = (type: { prototype: object }) =>
  Object.getOwnPropertyNames(type.prototype)
    .filter((name) => name !== 'constructor')
    .map(snakeCase);
const STATIC = Object.getOwnPropertyNames(Sandbox).filter((name) => !['length', 'name', 'prototype'].includes(name));

/** What the handle of TypeScript has, by the parts of that of Python. */
const HANDLE = {
  sandbox: [...membersOf(Sandbox), ...STATIC.map(snakeCase)],
  commands: membersOf(SandboxCommands),
  files: membersOf(SandboxFiles),
  runs: membersOf(SandboxRuns),
  run: membersOf(BackgroundRun),
};

let server: TestServer;
let key: string;

beforeAll(async () => {
  const version = spawnSync('python3', ['-c', 'import sys; print(sys.version_info >= (3, 9))'], { encoding: 'utf8' });
  if (version.stdout?.trim() !== 'True') {
    throw new Error('The tests of clients/python need a python3 of 3.9 or later in the PATH; there is none.');
  }
  server = await startServer({ settings: { WB_MAX_FILE: String(MAX_FILE) } });
  const dock = createClient({ url: server.url, key: TEST_KEY });
  key = (await dock.createKey({ name: 'agents', role: 'tenant', tenant: 'acme' })).key;
});
afterAll(() => server?.stop());

test('what is printed of the Python client is what the routes, the schemas and its async half say', () => {
  const files = printedPython();
  for (const { path, text } of files) expect(readFileSync(path, 'utf8'), 'run `npm run client:calls`').toBe(text);
  const printed = new Set(files.map(({ path }) => path));
  const own = ['__init__.py', 'pages.py', 'wire.py'];
  const sync = join(FOLDER, 'winterdock', '_sync');
  expect(readdirSync(sync).filter((name) => name.endsWith('.py') && !printed.has(join(sync, name)))).toEqual(own);
});

test('its version is that of the server', () => {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
  expect(readFileSync(join(FOLDER, 'winterdock', '_version.py'), 'utf8')).toContain(`"${version}"`);
});

/** Runs Python in the client's folder; the output of both kinds and the exit code. */
async function python(...args: string[]): Promise<{ code: number | null; output: string }> {
  const child = spawn('python3', args, {
    cwd: FOLDER,
    env: {
      ...process.env,
      PYTHONDONTWRITEBYTECODE: '1',
      PYTHONASYNCIODEBUG: '',
      WINTERDOCK_URL: server.url,
      WINTERDOCK_KEY: key,
      WINTERDOCK_ADMIN_KEY: TEST_KEY,
      WINTERDOCK_MAX_FILE: String(MAX_FILE),
      WINTERDOCK_OPERATIONS: JSON.stringify(OPERATIONS),
      WINTERDOCK_METHODS: JSON.stringify(methodNames().map(([, name]) => name)),
      WINTERDOCK_HANDLE: JSON.stringify(HANDLE),
    },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let output = '';
  child.stdout.on('data', (chunk) => (output += chunk));
  child.stderr.on('data', (chunk) => (output += chunk));
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  return { code, output };
}

/** The programs of a document, each with what it prints. */
function examplesOf(path: string): [string, string][] {
  const text = readFileSync(join(ROOT, path), 'utf8');
  const found = [...text.matchAll(/```python\n([\s\S]*?)```\n\n```text\n([\s\S]*?)```/g)];
  return found.map(([, program = '', printed = '']) => [program, printed]);
}

test.each(examplesOf('docs/python.md'))(
  'an example of docs/python.md prints what it says: %#',
  async (program, printed) => {
    const { code, output } = await python('-c', program);
    expect(output).toBe(printed);
    expect(code).toBe(0);
  },
);

test('docs/python.md has three examples, and the README of the package one that runs', async () => {
  expect(examplesOf('docs/python.md')).toHaveLength(3);
  const readme = readFileSync(join(FOLDER, 'README.md'), 'utf8');
  expect(await python('-c', /```python\n([\s\S]*?)```/.exec(readme)?.[1] ?? '')).toEqual({ code: 0, output: '42\n\n' });
});

/** The modules of its tests, each a test here. */
const MODULES = readdirSync(join(FOLDER, 'tests'))
  .filter((name) => /^test_.*\.py$/.test(name))
  .map((name) => name.replace('.py', ''));

test.each(MODULES)('its own tests pass against a real server: %s', async (name) => {
  const { code, output } = await python('-W', 'error', '-m', 'unittest', '-v', `tests.${name}`);
  expect(code, output).toBe(0);
  expect(Number(/Ran (\d+) tests?/.exec(output)?.[1]), output).toBeGreaterThan(0);
  // What is not closed is told only so.
  expect(output).not.toMatch(/ResourceWarning|Exception ignored|never awaited/);
});

test('every type of it holds, under the strictest rules', async ({ skip }) => {
  if ((await python('-c', 'import mypy')).code !== 0)
    skip('Checking the types of clients/python needs mypy; this python3 has none.');
  const folder = mkdtempSync(join(tmpdir(), 'winterdock-mypy-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const { code, output } = await python('-m', 'mypy', '--cache-dir', folder, 'winterdock', 'tests');
  expect(code, output).toBe(0);
});

test('what is built of it holds every file of it, its mark of types too, and imports from elsewhere', async ({
  skip,
}) => {
  const has = spawnSync('python3', ['-c', 'import setuptools; assert int(setuptools.__version__.split(".")[0]) >= 61']);
  if (has.status !== 0) skip('Building clients/python needs setuptools 61 or later; this python3 has none.');
  const folder = mkdtempSync(join(tmpdir(), 'winterdock-python-'));
  try {
    const built = join(folder, 'lib');
    const setup = ['-W', 'ignore', '-c', 'from setuptools import setup; setup()', '-q'];
    const made = await python(
      ...setup,
      'egg_info',
      '-e',
      folder,
      'build',
      '-b',
      join(folder, 'base'),
      '--build-lib',
      built,
    );
    expect(made.code, made.output).toBe(0);
    const files = (root: string) =>
      readdirSync(join(root, 'winterdock'), { recursive: true, encoding: 'utf8' })
        .filter((name) => !name.includes('__pycache__'))
        .toSorted();
    expect(files(built)).toEqual(files(FOLDER));
    const run = spawnSync('python3', ['-c', 'import winterdock; print(winterdock.__file__)'], {
      cwd: folder,
      env: { ...process.env, PYTHONPATH: built, PYTHONDONTWRITEBYTECODE: '1' },
      encoding: 'utf8',
    });
    expect(run.stdout).toBe(`${join(built, 'winterdock', '__init__.py')}\n`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('the package says that it is typed, and its folder holds nothing else', () => {
  expect(existsSync(join(FOLDER, 'winterdock', 'py.typed'))).toBe(true);
  const kinds = readdirSync(join(FOLDER, 'winterdock'), { recursive: true, encoding: 'utf8' }).filter(
    (name) => !/\.py$|^_a?sync$|py\.typed$|__pycache__/.test(name),
  );
  expect(kinds).toEqual([]);
});
