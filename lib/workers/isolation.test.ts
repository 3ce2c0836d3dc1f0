import { type ChildProcess, fork, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { getPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import type { VfsPath } from '../vfs/paths.ts';
import { endLeftoverWorkers } from './leftover-workers.ts';
import { isRunning, stage } from './testing/stage.ts';

const at = stage();

test('JavaScript reaches nothing of the host', async () => {
  const a = at.open('wall-js');
  const outcome = await a.eval({
    language: 'js',
    code: `const names = ['process', 'require', 'module', 'global', 'std', 'os', 'Deno', 'WebAssembly', 'setTimeout'];
      const made = console.log.constructor('return typeof process')();
      [names.filter((name) => name in globalThis), made, Object.keys(vfs)]`,
  });
  expect(outcome.value).toEqual([[], 'undefined', ['get', 'getBytes', 'put', 'list', 'delete', 'query']]);
  expect(await a.eval({ language: 'js', code: 'import("node:fs")' })).toMatchObject({ ok: false });
  for (const code of [
    'vfs.get("/../../etc/passwd")',
    'vfs.get("/etc/passwd", "../live")',
    `vfs.query("ATTACH '${at.file('wall-js')}' AS other")`,
    `vfs.query("SELECT readfile('/etc/passwd')")`,
  ]) {
    expect(await a.eval({ language: 'js', code }), code).toMatchObject({ ok: false });
  }
});

test('the shell reaches nothing of the host, and nothing of another sandbox', async () => {
  await at.open('wall-other').exec({ command: 'echo secret > s' });
  const a = at.open('wall-sh');
  const { stdout } = await a.exec({
    command: `cat /etc/passwd /proc/self/environ /proc/1/cmdline ${at.file('wall-other')} ../../../../etc/hostname; ls ${at.folder}; env; curl http://127.0.0.1; js-exec -c 1; node -e 1; source /etc/profile`,
  });
  expect(stdout).not.toMatch(/root:|secret|WINTERDOCK|NODE_|MALLOC|SQLite/);
  expect(stdout).toContain('HOME=/workspace');
});

test('Python reaches nothing of the host', async () => {
  const a = at.open('wall-py');
  const outcome = await a.eval({
    language: 'python',
    code: `import os, sys
def attempt(work):
    try: return repr(work())
    except BaseException as error: return type(error).__name__
print(attempt(lambda: open('/etc/passwd').read()))
print(attempt(lambda: open('/proc/self/environ').read()))
print(attempt(lambda: open(${JSON.stringify(at.file('wall-py'))}, 'rb').read()))
print(attempt(lambda: os.system('id')))
print(attempt(lambda: __import__('subprocess').run(['id'])))
print(attempt(lambda: __import__('socket').create_connection(('127.0.0.1', 1), 1)))
print(attempt(lambda: __import__('js')))
print(sorted(name for name in os.environ if name.startswith(('NODE', 'WINTERDOCK', 'MALLOC'))))`,
  });
  expect(outcome.ok).toBe(true);
  expect(outcome.stdout).not.toMatch(/root:|uid=|SQLite format/);
  expect(outcome.stdout.trim().split('\n').at(-1)).toBe('[]');
});

test('guest SQL that sorts more than fits leaves the machine’s temporary folder alone', async () => {
  const a = at.open('wall-sort');
  await a.opened;
  const spilled = new Set<string>();
  const look = setInterval(() => {
    for (const descriptor of readdirSync(`/proc/${a.pid}/fd`)) {
      try {
        const path = readlinkSync(`/proc/${a.pid}/fd/${descriptor}`);
        if (path.includes('etilqs')) spilled.add(path);
      } catch {
        // Closed meanwhile.
      }
    }
  }, 5);
  const rows =
    'WITH RECURSIVE c(x) AS (VALUES (1) UNION ALL SELECT x + 1 FROM c WHERE x < 60000) SELECT hex(randomblob(250)) AS h FROM c ORDER BY h';
  const sorted = await a.eval({
    language: 'js',
    code: `vfs.query(${JSON.stringify(`SELECT count(h) FROM (${rows} LIMIT -1 OFFSET 1)`)}).rows[0][0]`,
  });
  clearInterval(look);
  expect(sorted.value).toBe(59_999);
  expect([...spilled]).toEqual([]);
});

test('behind the interpreters, code in a worker’s process may read its code and the live drawer, write the compile cache alone and start nothing', async () => {
  const a = at.open('wall-behind');
  await a.opened;
  const ofWorker = (name: string) => readFileSync(`/proc/${a.pid}/${name}`, 'utf8').split('\0').filter(Boolean);
  const environment = ofWorker('environ').map((pair) => pair.split('=')[0]);
  expect(environment.filter((name) => !/^(NODE_|MALLOC_|SQLITE_|WINTERDOCK_)/.test(name ?? ''))).toEqual([]);
  // Other code with the permissions of that process.
  const walls = ofWorker('cmdline').filter((argument) => argument.startsWith('--'));
  const cache = walls.find((flag) => flag.startsWith('--allow-fs-write='))?.split('=')[1] ?? '';
  const secret = join(at.folder, 'registry.sqlite');
  writeFileSync(secret, 'secret');
  const said = (attempt: string) =>
    `(() => { try { ${attempt}; return 'done'; } catch ({ code }) { return code; } })()`;
  const attempts = [
    'fs.readFileSync("/etc/passwd")',
    `fs.readFileSync(${JSON.stringify(secret)})`,
    `fs.writeFileSync(${JSON.stringify(join(at.folder, 'live', 'left'))}, "")`,
    'fs.writeFileSync("/tmp/winterdock-left", "")',
    'child.spawnSync("true")',
    'process.dlopen({ exports: {} }, "/nowhere.node")',
    `fs.readFileSync(${JSON.stringify(at.file('wall-behind'))})`,
    `fs.writeFileSync(${JSON.stringify(cache)} + '/by-a-worker', '')`,
  ];
  const probe = `const fs = require('node:fs'); const child = require('node:child_process');
    console.log(JSON.stringify([${attempts.map(said).join(', ')}]))`;
  const { stdout, stderr } = spawnSync(process.execPath, [...walls, '-e', probe], {
    encoding: 'utf8',
    env: { NODE_ENV: 'test' },
  });
  rmSync(join(cache, 'by-a-worker'));
  expect(walls.filter((flag) => flag.startsWith('--allow-fs-write='))).toHaveLength(1);
  const refused = [...Array(5).fill('ERR_ACCESS_DENIED'), 'ERR_DLOPEN_DISABLED'];
  expect(JSON.parse(stdout || '[]'), stderr).toEqual([...refused, 'done', 'done']);
});

test('a worker runs at a lower priority than its server', async () => {
  const a = at.open('wall-nice');
  await a.opened;
  expect(getPriority(a.pid)).toBeGreaterThan(getPriority());
});

test('what Node’s permissions alone do not hold: SQLite opens other files, sockets connect, signals are sent', async () => {
  const a = at.open('wall-beyond');
  await a.opened;
  const walls = readFileSync(`/proc/${a.pid}/cmdline`, 'utf8')
    .split('\0')
    .filter((argument) => argument.startsWith('--'));
  const other = join(at.folder, 'other.sqlite');
  const made = new DatabaseSync(other);
  made.exec("CREATE TABLE t AS SELECT 'of another' AS who");
  made.close();
  const listening = createServer((socket) => socket.end());
  await once(listening.listen(0, '127.0.0.1'), 'listening');
  const victim = spawn('sleep', ['600'], { stdio: 'ignore' });
  const ended = once(victim, 'exit');
  const probe = `const { DatabaseSync } = require('node:sqlite'); const { connect } = require('node:net');
    const { who } = new DatabaseSync(${JSON.stringify(other)}, { readOnly: true }).prepare('SELECT who FROM t').get();
    process.kill(${victim.pid}, 'SIGTERM');
    connect(${(listening.address() as AddressInfo).port}, '127.0.0.1')
      .on('connect', function () { console.log(who, 'connected'); this.destroy(); })
      .on('error', ({ code }) => console.log(who, code));`;
  const outside = spawn(process.execPath, [...walls, '-e', probe], { env: { NODE_ENV: 'test' } });
  const [said, mourned] = await Promise.all([text(outside.stdout), text(outside.stderr)]);
  expect(said.trim(), mourned).toBe('of another connected');
  expect((await ended)[1]).toBe('SIGTERM');
  listening.close();
});

test('whatever JSON can hold crosses the channel: every character, and bytes as bytes', async () => {
  const a = at.open('crossing');
  const odd = '\u0000\u001b\ud800 \u2028 ä 𝄞';
  const said = await a.eval({ language: 'js', code: `console.log(${JSON.stringify(odd)}); ${JSON.stringify(odd)}` });
  expect(said.value).toBe(odd);
  const content = Buffer.from(Uint8Array.from({ length: 3_000_000 }, (_, at) => at % 251));
  await a.write({ op: 'put', volume: 'workspace', path: '/b' as VfsPath, content });
  const got = await a.read({ op: 'get', volume: 'workspace', path: '/b' as VfsPath });
  expect(got.op === 'get' && content.equals(got.content ?? new Uint8Array())).toBe(true);
  const { stdout } = await a.exec({ command: 'head -c 1000000 b | wc -c; yes ab | head -c 4000000' });
  expect(stdout.slice(0, 8)).toBe('1000000\n');
  expect(stdout.length).toBe(4_000_008);
  const zeros = await a.exec({ command: 'head -c 4194304 /dev/zero; head -c 4194304 /dev/zero >&2' });
  expect([zeros.stdout, zeros.stderr].map((text) => text === '\0'.repeat(4_194_304))).toEqual([true, true]);
  const wide = await a.eval({ language: 'js', code: "console.log('a' + '𝄞'.repeat(1000000)); '\"'.repeat(1000000)" });
  expect([wide.stdout === `a${'𝄞'.repeat(1_000_000)}\n`, wide.value === '"'.repeat(1_000_000)]).toEqual([true, true]);
});

function answer(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve) => child.once('message', resolve));
}

test('workers end with a server that is killed, blocked or not, and leftover workers are ended', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'winterdock-server-'));
  const script = join(folder, 'server.mjs');
  writeFileSync(
    script,
    `import { mkdirSync } from 'node:fs';
     import { createPool } from ${JSON.stringify(join(import.meta.dirname, 'pool.ts'))};
     const pool = createPool({ size: 1, maxActive: 5, dataFolder: ${JSON.stringify(folder)} });
     mkdirSync(${JSON.stringify(join(folder, 'live', 'a'))}, { recursive: true });
     const a = pool.open({ id: 'a', file: ${JSON.stringify(join(folder, 'live', 'a', 'vfs.sqlite'))}, policy: 'posix', maxBytes: 1e8, maxFileBytes: 1e7, mustExist: false });
     await a.opened;
     void a.exec({ command: 'echo on; printf %060dz 0 | grep -E "^(0+)+$"' }, { onOutput: () => process.send({ pid: a.pid }) });`,
  );
  const server = fork(script, [], { execArgv: ['--no-warnings'], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const { pid } = (await answer(server)) as { pid: number };
  expect(await endLeftoverWorkers(folder)).toBe(0);
  expect(isRunning(pid)).toBe(true);
  server.kill('SIGKILL');
  await new Promise((resolve) => server.once('exit', resolve));
  await endLeftoverWorkers(folder);
  await expect.poll(() => isRunning(pid)).toBe(false);
  rmSync(folder, { recursive: true, force: true });
});
