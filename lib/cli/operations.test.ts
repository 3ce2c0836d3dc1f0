/** Every operation of the API has a command: the two lists are compared, and the commands are run. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CallName } from '../client/call-text.ts';
import { commandNameOf } from '../client/command-lines.ts';
import { startServer, TEST_KEY, type TestServer } from '../testing/server.ts';
import { createProgram } from './program.ts';
import { type CommandLine, commandLine } from './testing/winterdock.ts';

/** Operations whose command says more, or says it otherwise, than one call: the command that makes it. */
const BY_OTHER_WORDS: Record<string, string> = {
  attachToInstance: 'attach',
  detachFromInstance: 'attach',
  getRun: 'wait',
  completeLine: 'completion',
  listFiles: 'files ls',
  listFolder: 'files ls',
  makeFolder: 'files mkdir',
  deleteFolder: 'files rmdir',
  putFile: 'files put',
  moveFile: 'files mv',
  takeBack: 'take-back',
  searchFiles: 'files search',
  listTables: 'files tables',
  listRows: 'files tables',
  inspectBundle: 'inspect',
  importBundle: 'import',
  planSource: 'workbook plan',
  putWorkbook: 'workbook put',
  startJob: 'jobs start',
  patchSchedule: 'schedule pause',
  patchInstanceEnv: 'env set',
  patchTenantEnv: 'env set',
  patchBlueprintEnv: 'env set',
  patchWebhook: 'webhook change',
  putInstanceNetwork: 'network allow',
  putTenantNetwork: 'network allow',
  putBackupSettings: 'backups set',
  restoreBackup: 'backups restore',
  patchHost: 'hosts label',
  exportInstanceLoad: 'load',
  exportTenantLoad: 'load',
  exportServerLoad: 'load',
  health: 'health',
  openapi: 'version',
};
/** Operations without a command, each with the reason. */
const WITHOUT: Record<string, string> = {
  changePassword: 'the command line signs in by keys, and a key has no password',
  sendMcpMessage: '`mcp` passes whole messages on, over a connection of its own',
};

let server: TestServer;
let cli: CommandLine;
beforeAll(async () => {
  server = await startServer();
  cli = commandLine({ WINTERDOCK_URL: server.url, WINTERDOCK_KEY: TEST_KEY });
  await server.call('POST', '/api/instances', { id: 'a', tenant: 'acme' });
  await server.call('POST', '/api/instances/a/exec', { command: 'echo hello > note' });
});
afterAll(async () => {
  cli.remove();
  await server.stop();
});

const ok = async (...args: string[]) => {
  const ended = await cli.run(args);
  expect(ended, ended.stderr).toMatchObject({ exit: 0 });
  return ended;
};

interface Document {
  paths: Record<string, Record<string, { operationId?: string }>>;
}

test('every operation of the contract has a command, or a reason why it has none', async () => {
  const { json } = await server.call<Document>('GET', '/openapi.json');
  const operations = Object.values(json.paths)
    .flatMap((path) => Object.values(path))
    .flatMap(({ operationId }) => (operationId === undefined ? [] : [operationId]));
  expect(operations.length).toBeGreaterThan(150);
  const commandOf = (name: string) => commandNameOf(name as CallName) ?? BY_OTHER_WORDS[name] ?? null;
  expect(operations.filter((name) => commandOf(name) === null)).toEqual(Object.keys(WITHOUT));
  // No line is of an operation that is gone, and none names a command that is none.
  for (const name of [...Object.keys(BY_OTHER_WORDS), ...Object.keys(WITHOUT)]) expect(operations).toContain(name);
  for (const name of operations) {
    const words = commandOf(name)?.split(' ') ?? [];
    let command = createProgram('0');
    for (const word of words) {
      const below = command.commands.find((one) => one.name() === word);
      if (below === undefined) expect.unreachable(`${name}: there is no command "${words.join(' ')}"`);
      command = below;
    }
  }
});

test('a command that is said to make a call in other words makes it', () => {
  const folder = fileURLToPath(new URL('.', import.meta.url));
  const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (path) => path.endsWith('.ts') && !path.endsWith('.test.ts'),
  );
  const text = sources.map((path) => readFileSync(join(folder, path), 'utf8')).join('\n');
  for (const name of Object.keys(BY_OTHER_WORDS)) expect(text, name).toMatch(new RegExp(`\\.${name}\\b`));
});

test('a plan is shown without a step, refused without a yes, and walked with one', async () => {
  const plan = await ok('plan', 'a', 'frozen');
  expect(plan.stdout).toMatch(/suspended/);
  expect((await server.call('GET', '/api/instances/a')).json).toMatchObject({ state: 'active' });
  expect(await cli.run(['plan', 'a', 'frozen', '--run'])).toMatchObject({ exit: 2 });
  expect((await ok('plan', 'a', 'frozen', '--run', '--yes', '--json')).json).toMatchObject({ state: 'frozen' });
});

test('what sleeps is brought near, asked by SQL and told of, and stays asleep', async () => {
  await server.call('POST', '/api/instances', { id: 'b', tenant: 'acme' });
  await server.call('POST', '/api/instances/b/exec', { command: 'echo hello > note' });
  for (const verb of ['suspend', 'freeze']) await server.call('POST', `/api/instances/b/${verb}`, {});
  expect((await ok('prefetch', 'b')).stdout).toBe('The file of b is here, from cold.\n');
  const rows = await ok(
    'query',
    'b',
    'SELECT path, length(content) AS size FROM vfs WHERE volume = ? AND length(content) < ?',
    'workspace',
    '100',
  );
  expect(rows.stdout).toMatch(/path\s+size\n\/note\s+6\n/);
  expect((await ok('life', 'b')).stdout).toMatch(/FROM\s+TO[\s\S]*active\s+suspended/);
  expect((await ok('life', 'b', '--within', '1h', '--json')).json).toMatchObject({ columns: expect.any(Array) });
  expect((await server.call('GET', '/api/instances/b')).json).toMatchObject({ thermal: 'cold' });
});

test('folders are made and deleted', async () => {
  expect((await ok('files', 'mkdir', 'a', 'notes/spring')).stdout).toBe('/workspace/notes/spring is there.\n');
  const full = await cli.run(['files', 'rmdir', 'a', 'notes']);
  expect(full.exit).not.toBe(0);
  expect((await ok('files', 'rmdir', '-r', 'a', 'notes')).stdout).toBe('/workspace/notes is deleted.\n');
  expect((await ok('files', 'ls', 'a', '/workspace')).stdout).not.toContain('notes');
});

test('a terminal is opened, typed into, shown to its end, and closed', async () => {
  const { json: opened } = await ok('terminals', 'open', 'a', '--json');
  const id = String(opened.id);
  expect((await ok('terminals', 'list', 'a')).stdout).toContain(id);
  const shown = cli.start(['terminals', 'show', 'a', id]);
  await ok('terminals', 'type', 'a', id, 'echo typed$((6 * 7))');
  await expect.poll(shown.stdout, { timeout: 240_000 }).toContain('$ echo typed$((6 * 7))\ntyped42\n');
  await ok('terminals', 'interrupt', 'a', id);
  await ok('terminals', 'clear', 'a', id);
  expect((await ok('terminals', 'close', 'a', id)).stdout).toBe(`${id} is closed.\n`);
  expect((await shown.ended).exit).toBe(0);
});

test('an attached sandbox is held until Ctrl-C', async () => {
  const running = cli.start(['attach', 'a']);
  const attached = async () => (await server.call<{ attached: number }>('GET', '/api/instances/a')).json.attached;
  await expect.poll(attached, { timeout: 240_000 }).toBe(1);
  running.child.kill('SIGINT');
  expect((await running.ended).exit).toBe(0);
  expect(await attached()).toBe(0);
});

test('the server tells of itself: thresholds tried out, wakes, the store, its health and metrics', async () => {
  expect((await ok('settings', 'preview', '--idle-to-suspend', '5m')).stdout).toMatch(/more suspended\s+\d/);
  expect((await ok('settings', 'simulate', '--idle-to-suspend', '5m', '--days', '3')).stdout).toMatch(
    /would process hours\s+\d/,
  );
  expect((await ok('wakes')).stdout).toMatch(/PATH|Nothing woke/);
  expect((await ok('storage', 'show')).stdout).toMatch(/disk free\s+[\d.]+ [kMGT]B/);
  const checked = await ok('storage', 'check', 'registry', '--json');
  expect(checked.json).toMatchObject({ registry: { file: expect.anything() } });
  expect((await cli.run(['health'], { env: { WINTERDOCK_KEY: '' } })).stdout).toMatch(/status\s+ok/);
  expect((await ok('metrics')).stdout).toContain('# TYPE');
});
