import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startServer, TEST_KEY, type TestServer } from '../testing/server.ts';
import { type CommandLine, commandLine } from './testing/winterdock.ts';

let server: TestServer;
let cli: CommandLine;

beforeEach(async () => {
  server = await startServer({ settings: { WB_POOL: '0' } });
  cli = commandLine({ WINTERDOCK_URL: server.url, WINTERDOCK_KEY: TEST_KEY });
});
afterEach(async () => {
  cli.remove();
  await server.stop();
});

/** Makes the sandbox `a`, without the command line. */
const makeA = async () => {
  expect((await server.call('POST', '/api/instances', { id: 'a', tenant: 'acme' })).status).toBe(201);
};

/** Runs a command line that must succeed. */
const ok = async (...args: string[]) => {
  const ended = await cli.run(args);
  expect(ended.exit, ended.stderr).toBe(0);
  return ended;
};

test('login tries the key, keeps it for its owner only, and sends it to no other address', async () => {
  const own = commandLine();
  const file = join(own.home, 'winterdock', 'logins.json');
  try {
    expect((await own.run(['list'])).exit).toBe(3);
    expect((await own.run(['login', server.url, '--key-file', '-'], { input: 'a-wrong-key\n' })).exit).toBe(3);
    expect(existsSync(file)).toBe(false);
    writeFileSync(join(own.home, 'key'), `${TEST_KEY}\n`);
    const login = await own.run(['login', `${server.url}/`, '--key-file', 'key']);
    expect(login).toMatchObject({ exit: 0, stdout: `Logged in to ${server.url}.\n` });
    expect(login.stdout + login.stderr).not.toContain(TEST_KEY);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(join(own.home, 'winterdock')).mode & 0o777).toBe(0o700);
    expect((await own.run(['list', '--json'])).json).toEqual([]);

    const elsewhere = await own.run(['list', '--url', server.url.replace('127.0.0.1', 'localhost')]);
    expect(elsewhere.exit).toBe(3);
    expect(elsewhere.stderr).toContain('There is no key for');
    chmodSync(file, 0o644);
    const open = await own.run(['list', '--url', server.url]);
    expect(open).toMatchObject({ exit: 2, stderr: expect.stringContaining('Others can read') });
    chmodSync(file, 0o600);
    expect((await own.run(['logout'])).exit).toBe(0);
    expect(readFileSync(file, 'utf8')).not.toContain(TEST_KEY);
    expect((await own.run(['list', '--url', server.url])).exit).toBe(3);
  } finally {
    own.remove();
  }
});

test('a sandbox is created, listed, shown and changed', async () => {
  const made = await ok('create', 'a', '--tenant', 'acme', '--label', 'team=red', '--name', 'first', '--json');
  expect(made.json).toMatchObject({ id: 'a', state: 'created', labels: { team: 'red' } });
  expect((await ok('create', '--tenant', 'globex', '--policy', 'minimal', '--ephemeral')).stdout).toMatch(/is created/);
  const listed = await ok('list', '--json');
  expect(listed.json).toHaveLength(2);
  expect((await ok('list', '--label', 'team=red', '--json')).json).toMatchObject([{ id: 'a' }]);
  expect((await ok('list', '--tenant', 'nobody')).stdout).toBe('');
  const rows = (await ok('list', '--tenant', 'acme', '--sort', 'name')).stdout.split('\n');
  expect(rows[0]).toMatch(/^ID +TENANT +STATE/);
  expect(rows[1]).toMatch(/^a +acme +created .*first$/);
  const cut = await ok('list', '--limit', '1');
  expect(cut.stderr).toContain('1 of 2: --all shows every one');
  expect((await ok('list', '--limit', '1', '--json')).json).toHaveLength(1);
  expect((await ok('list', '--all', '--json')).json).toHaveLength(2);
  expect((await ok('set', 'a', '--keep-hot', '--idle-to-suspend', '15m', '--json')).json).toMatchObject({
    keep_hot: true,
    idle_to_suspend_s: 900,
  });
  expect((await ok('set', 'a', '--no-keep-hot', '--json')).json).toMatchObject({ keep_hot: false });
  expect((await cli.run(['set', 'a'])).exit).toBe(2);
  const shown = (await ok('show', 'a')).stdout;
  expect(shown).toMatch(/^id +a$/m);
  expect(shown).toMatch(/^labels +team=red$/m);
  expect((await ok('show', 'a', '--json')).json).toMatchObject({ id: 'a', tenant: 'acme' });
});

test('exec streams what a command says, takes input, and ends with its exit code', async () => {
  await makeA();
  expect(await cli.run(['exec', 'a', 'echo out; echo err >&2; exit 7'])).toMatchObject({
    exit: 7,
    stdout: 'out\n',
    stderr: 'err\n',
  });
  expect((await ok('exec', 'a', 'printf', '%s|', `it's`, 'a b', '$HOME', '-n')).stdout).toBe(`it's|a b|$HOME|-n|`);
  expect((await ok('exec', 'a', '--', 'printf', '%s', '--')).stdout).toBe('--');
  expect((await cli.run(['exec', '--stdin', 'a', 'cat; cat -'], { input: 'given' })).stdout).toContain('given');
  expect((await ok('exec', '--cwd', '/memory', '--env', 'A=b c', 'a', 'pwd; echo "$A"')).stdout).toBe('/memory\nb c\n');
  writeFileSync(join(cli.home, 'job.sh'), 'echo from a file\n');
  expect((await ok('exec', '--script', 'job.sh', 'a')).stdout).toBe('from a file\n');
  const whole = await cli.run(['exec', '--json', 'a', 'exit 3']);
  expect(whole).toMatchObject({ exit: 3, json: { exit_code: 3, stdout: '', woke: 'hot' } });
  expect((await ok('exec', '--verbose', 'a', 'true')).stderr).toContain('a was awake');
  const late = await cli.run(['exec', '--timeout', '1s', 'a', 'sleep 30']);
  expect(late.exit).toBe(124);
  expect((await cli.run(['exec', 'a'])).exit).toBe(2);
});

test('exec shows output while the command still runs', async () => {
  await makeA();
  const running = cli.start(['exec', 'a', 'echo early; while [ ! -f go ]; do sleep 0.05; done; echo late']);
  await expect.poll(running.stdout).toBe('early\n');
  await server.call('PUT', '/api/instances/a/volumes/workspace/go', 'now');
  expect(await running.ended).toMatchObject({ exit: 0, stdout: 'early\nlate\n' });
});

test('eval prints what is written and the value', async () => {
  await makeA();
  expect((await ok('eval', 'a', 'console.log("hi"); 6 * 7')).stdout).toBe('hi\n42\n');
  expect((await ok('eval', '--language', 'python', 'a', 'print(1 + 1)', '--json')).json).toMatchObject({
    ok: true,
    stdout: '2\n',
  });
  const thrown = await cli.run(['eval', 'a', 'throw new Error("no")']);
  expect(thrown).toMatchObject({ exit: 1, stderr: expect.stringContaining('no') });
});

test('files go in and out, from files and pipes, and are found', async () => {
  await makeA();
  const bytes = Uint8Array.from({ length: 200_000 }, (_, index) => index % 251);
  writeFileSync(join(cli.home, 'data.bin'), bytes);
  expect((await ok('files', 'put', 'a', 'data.bin', '--json')).json).toMatchObject({
    path: '/workspace/data.bin',
    created: true,
  });
  const piped = await cli.run(['files', 'put', 'a', '-', '/memory/note'], { input: 'piped in\n' });
  expect(piped).toMatchObject({ exit: 0, stdout: '/memory/note is written.\n' });
  expect((await ok('files', 'get', 'a', '/memory/note')).stdout).toBe('piped in\n');
  const got = await ok('files', 'get', 'a', 'data.bin', 'back.bin', '--progress');
  expect(readFileSync(join(cli.home, 'back.bin')).equals(bytes)).toBe(true);
  expect(got.stderr).toMatch(/data\.bin: 200 kB of 200 kB, 100 %/);
  expect((await cli.run(['files', 'get', 'a', 'data.bin', 'back.bin'])).exit).toBe(2);
  expect((await cli.run(['files', 'put', 'a', 'data.bin', '--new'])).exit).toBe(5);
  expect((await ok('files', 'ls', 'a', '--json')).json).toMatchObject([
    { volume: 'workspace', files: 1 },
    { volume: 'memory', files: 1 },
    { volume: 'tmp', files: 0 },
  ]);
  expect((await ok('files', 'ls', 'a', '/workspace', '--json')).json).toMatchObject([
    { path: '/data.bin', size: 200_000 },
  ]);
  expect((await ok('files', 'ls', 'a', '/memory')).stdout).toMatch(/^ +9 B .*\/memory\/note$/m);
  expect((await ok('files', 'search', 'a', 'piped', '--content', '--json')).json).toMatchObject([
    { volume: 'memory', path: '/note', line: 1 },
  ]);
  expect((await ok('files', 'mv', 'a', 'data.bin', 'old/data.bin')).stdout).toBe('Moved to /workspace/old/data.bin.\n');
  expect((await ok('files', 'rm', 'a', 'old/data.bin', '/memory/note')).stdout).toContain('/memory/note is deleted');
  expect((await cli.run(['files', 'get', 'a', 'old/data.bin'])).exit).toBe(4);
  expect((await cli.run(['files', 'get', 'a', '/nowhere/x'])).exit).toBe(4);
});

test('what a file is called cannot take over the terminal', async () => {
  await makeA();
  await server.call('PUT', '/api/instances/a/volumes/workspace/evil%1b%5d0;x%07', 'x');
  expect((await ok('files', 'ls', 'a', '/workspace')).stdout).toContain('/workspace/evil\\x1b]0;x\\x07');
});

test('wakes and filings are one call each where the map has the hop', async () => {
  await makeA();
  expect((await ok('resume', 'a')).stdout).toMatch(/^a is active, from fresh, in [\d.]+ m?s\.\n$/);
  expect((await ok('resume', 'a')).stdout).toBe('a was active already.\n');
  expect((await ok('suspend', 'a', '--reason', 'lunch', '--json')).json).toMatchObject({ state: 'suspended' });
  expect((await ok('freeze', 'a')).stdout).toBe('a is frozen.\n');
  expect((await ok('archive', 'a')).stdout).toBe('a is archived.\n');
  expect((await ok('revive', 'a', '--reason', 'ticket 512')).stdout).toBe('a is active.\n');
  const moves = await ok('events', '--instance', 'a', '--type', 'transition', '--json');
  expect(moves.json).toMatchObject([
    { to: 'active', reason: 'ticket 512' },
    { to: 'archived' },
    { to: 'frozen' },
    { to: 'suspended', reason: 'lunch' },
    { to: 'active' },
  ]);
});

test('a move of several hops is a plan: shown, refused without a yes, run with one', async () => {
  await makeA();
  await ok('resume', 'a');
  const result = await cli.run(['freeze', 'a']);
  expect(result.exit).toBe(2);
  expect(result.stderr).toContain('a: active → suspended → frozen');
  expect(result.stderr).toContain('--yes');
  expect((await ok('show', 'a', '--json')).json.state).toBe('active');
  const moved = await ok('freeze', 'a', '--yes');
  expect(moved.stderr).toContain('active → suspended\nsuspended → frozen\n');
  expect(moved.stdout).toBe('a is frozen.\n');
  await ok('resume', 'a');
  expect((await cli.run(['delete', 'a'])).exit).toBe(2);
  const deleted = await ok('delete', 'a', '--yes', '--json');
  expect(deleted.json).toEqual({ id: 'a', state: 'deleted' });
  expect((await cli.run(['show', 'a'])).exit).toBe(4);
  expect((await cli.run(['revive', 'a'])).exit).toBe(4);
});

test('the ledger is shown, and followed as JSON lines until Ctrl-C', async () => {
  await ok('create', 'before', '--tenant', 'acme');
  const shown = await ok('events');
  expect(shown.stdout).toMatch(/SEQ +TIME +SANDBOX/);
  expect(shown.stdout).toContain('before');
  const running = cli.start(['events', '--follow', '--json']);
  await expect.poll(() => server.host.events.listeners).toBe(1);
  await ok('create', 'after', '--tenant', 'acme');
  await expect.poll(running.stdout).toContain('"after"');
  running.child.kill('SIGINT');
  const ended = await running.ended;
  expect(ended.exit).toBe(130);
  expect(ended.lines.map((event) => event.instance)).toEqual(['after']);
  expect(JSON.parse(ended.stderr)).toMatchObject({ error: { code: 'interrupted' } });
});

test('the ledger is verified and exported', async () => {
  await makeA();
  expect((await ok('ledger', 'verify')).stdout).toMatch(/^verdict +whole$/m);
  expect((await ok('ledger', 'verify', '--json')).json).toMatchObject({ ok: true, flaw: null });
  expect((await ok('ledger', 'head', '--json')).json).toMatchObject({ signature: expect.any(String) });
  expect((await ok('ledger', 'segments', '--json')).json).toEqual([]);
  expect((await cli.run(['ledger', 'segment', '2020-01'])).exit).toBe(4);
  const exported = await ok('ledger', 'export', '--instance', 'a');
  expect(exported.lines).toMatchObject([{ instance: 'a', tenant: 'acme', type: 'instance.created' }]);
  await ok('ledger', 'export', 'ledger.csv', '--format', 'csv');
  expect(readFileSync(join(cli.home, 'ledger.csv'), 'utf8')).toMatch(/^seq,[\s\S]*acme/);
  expect((await cli.run(['ledger', 'export', 'ledger.csv'])).exit).toBe(2);
});

test('the ledger says that it was the command line', async () => {
  await ok('create', 'a', '--tenant', 'acme');
  expect((await server.call('GET', '/api/events?instance=a')).json).toMatchObject([{ via: 'cli' }]);
});

test('a database in a file is printed as its tables and rows, page by page', async () => {
  await makeA();
  const sql =
    "CREATE TABLE t (n INT, s TEXT); INSERT INTO t VALUES (1, 'one'), (2, NULL); CREATE VIEW v AS SELECT n FROM t";
  await ok('exec', 'a', '--', 'sqlite3', 'app.db', sql);
  const listed = await ok('files', 'tables', 'a', 'app.db');
  expect(listed.stdout).toMatch(/^NAME +KIND +ROWS +COLUMNS\nt +table +2 +n, s\nv +view +–/);
  const first = await ok('files', 'tables', 'a', '/workspace/app.db', 't', '--limit', '1');
  expect(first.stdout).toBe('n  s\n1  one\nThere is more: --cursor 1:1\n');
  const second = await ok('files', 'tables', 'a', 'app.db', 't', '--cursor', '1:1', '--json');
  expect(second.json).toMatchObject({ rows: [[2, null]], offset: 1, next: null });
});
