import { fork, spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { processStat, STAT } from '../../base/process-stat.ts';
import { residentBytes } from '../../base/resident-memory.ts';
import { WALLS } from '../../base/walls.ts';
import { createPool } from '../pool.ts';
import type { InstanceProcess } from '../protocol/instance.ts';
import { startScriptedWorker } from '../testing/scripted-worker.ts';
import { isRunning, pssMib, stage } from '../testing/stage.ts';
import { prepareUser, WORKER_USER } from './user.ts';
import { buildWalls, requireWalls, wallsAtStart } from './walls.ts';

const at = stage();
const isRoot = process.getuid?.() === 0;
const ROOT = join(import.meta.dirname, '..', '..', '..');
const PLAIN_USER = ['--reuid=61000', '--regid=61000', '--clear-groups'];

/** Root as in a container. */
const WITHOUT_SYS_ADMIN = ['--bounding-set=-sys_admin', '--inh-caps=-all'];

type Columns = Record<string, Record<string, boolean> | null>;

/** What a worker that was taken over can do behind the server of this user, which the arguments of setpriv make. */
async function escapes(user: readonly string[]): Promise<Columns> {
  const script = join(import.meta.dirname, 'testing', 'escapes.ts');
  const [file = '', ...args] = [
    ...(user.length > 0 ? ['setpriv', ...user] : []),
    process.execPath,
    '--no-warnings',
    script,
  ];
  const child = spawn(file, args, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { NODE_ENV: 'test', PATH: process.env.PATH },
  });
  return JSON.parse(await text(child.stdout)) as Columns;
}

/** A table of the threat model, by its first cell: what is done, and behind what it is held. */
function documented(first: string): string[][] {
  const text = readFileSync(join(ROOT, 'docs', 'threat-model.md'), 'utf8');
  const table = text.split('\n\n').find((block) => block.startsWith(`| ${first} |`)) ?? '';
  const rows = table
    .trim()
    .split('\n')
    .map((line) => line.split('|').slice(1, -1));
  return rows.map((cells) => cells.map((cell) => cell.trim().replaceAll('`', '')));
}

function givesNamespaces(): boolean {
  return spawnSync('unshare', ['--net', '--mount', 'true']).status === 0;
}

const word = (done: boolean | undefined) => (done === undefined ? '?' : done ? 'done' : 'held');

test.each([true, false])(
  'the escaped worker does what the tables of the threat model say, behind each wall and behind all (root: %s)',
  async (asRoot) => {
    if (asRoot && !isRoot) return;
    const columns = await escapes(isRoot && !asRoot ? PLAIN_USER : []);
    const names = Object.keys(columns.permissions ?? {});
    const walls = WALLS.filter((wall) => asRoot || wall !== 'uid');
    const keys = ['permissions', ...walls, 'all'];
    const head = [
      asRoot ? 'an escaped worker of root’s server' : 'of another user’s server',
      'Node’s permissions',
      ...walls,
      'all',
    ];
    const found = names.map((name) => [name, ...keys.map((key) => word(columns[key]?.[name]))]);
    process.stdout.write(`${[head, ...found].map((row) => `| ${row.join(' | ')} |`).join('\n')}\n`);
    const [documentedHead, , ...rows] = documented(head[0] ?? '');
    expect(documentedHead).toEqual(head);
    // Where this machine does not give a wall, nothing is known of it.
    if (isRoot && givesNamespaces()) expect(found.flat()).not.toContain('?');
    expect(found.map((row, at) => row.map((cell, column) => (cell === '?' ? rows[at]?.[column] : cell)))).toEqual(rows);
  },
);

test.runIf(isRoot && givesNamespaces())(
  'behind the walls of root without CAP_SYS_ADMIN the escaped worker does nothing of the table',
  async () => {
    const { all } = await escapes(WITHOUT_SYS_ADMIN);
    expect(Object.keys(all ?? {}).length).toBeGreaterThan(20);
    expect(Object.entries(all ?? {}).filter(([, isDone]) => isDone)).toEqual([]);
  },
);

test('what workers leave in their folders takes no wall from the next server', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'winterdock-left-'));
  chmodSync(folder, 0o755);
  const options = { dataFolder: folder, cacheFolder: join(folder, 'cache'), maxStartMs: 240_000 };
  // Where earlier servers built their rooms, whatever their process id was.
  const left = Array.from({ length: 10 }, (_, more) => `room-${process.pid + more}`);
  mkdirSync(join(folder, 'spill'));
  for (const name of left) writeFileSync(join(folder, 'spill', name), '');
  const walls = await buildWalls(options);
  expect(walls.states).toEqual(at.walls.states);
  expect(Object.fromEntries(walls.missing)).toEqual(Object.fromEntries(at.walls.missing));
  walls.close();
  // A room leaves nothing on the disk, and the start of the pool clears the rest.
  expect(readdirSync(join(folder, 'spill')).sort()).toEqual(left.toSorted());
  const pool = createPool({ ...options, size: 0, maxActive: 1 });
  await pool.start();
  await pool.stop();
  expect(readdirSync(join(folder, 'spill'))).toEqual([]);
  rmSync(folder, { recursive: true });
});

test('a process that ends is gone for the server, also when one that it has forked holds its channel', async () => {
  const worker = startScriptedWorker(
    `import { spawn } from 'node:child_process';
     const forked = spawn('/bin/sleep', ['60'], { stdio: ['ignore', 'ignore', 'ignore', 3] });
     forked.once('spawn', () => channel.send({ pid: forked.pid }, () => process.kill(process.pid, 'SIGKILL')));
     function message() {}`,
  );
  const forked = await new Promise<{ pid: number }>((resolve) => worker.channel.onMessage((m) => resolve(m as never)));
  expect(await worker.exited).toBe('SIGKILL');
  expect(isRunning(forked.pid)).toBe(true);
  process.kill(forked.pid, 'SIGKILL');
});

test('behind the walls the process is watched, paused and killed by its own pid', async () => {
  const a = at.open('walled');
  await a.opened;
  expect(readFileSync(`/proc/${a.pid}/cmdline`, 'utf8').split('\0')[0]).toBe(process.execPath);
  expect(residentBytes(a.pid)).toBeGreaterThan(10 * 1024 * 1024);
  expect(readFileSync(`/proc/${a.pid}/limits`, 'utf8')).toMatch(/^Max core file size\s+0\s+0\s/m);
  const bomb = a.eval({ language: 'python', code: 'x = []\nwhile True: x.append(bytearray(16 * 1024 * 1024))' });
  await expect(bomb).rejects.toMatchObject({ extra: { cause: 'memory' } });
  const b = at.open('walled-kill');
  await b.opened;
  const parent = Number(processStat(b.pid)?.[STAT.parent]);
  if (at.walls.isWrapped) {
    expect(parent).not.toBe(process.pid);
    expect(Number(processStat(parent)?.[STAT.parent])).toBe(process.pid);
    expect(pssMib(parent)).toBeLessThan(1);
  }
  await b.kill('killed');
  await expect.poll(() => isRunning(b.pid)).toBe(false);
});

/** A field of every thread of a process, as /proc has it. */
const fieldOfThreads = (pid: number, name: string) =>
  readdirSync(`/proc/${pid}/task`).map((thread) => {
    const status = readFileSync(`/proc/${pid}/task/${thread}/status`, 'utf8');
    return new RegExp(`^${name}:\\s+(.+)$`, 'm').exec(status)?.[1]?.split(/\s+/) ?? [];
  });

test.runIf(isRoot)('each sandbox has a user of its own, always the same, in all threads and processes', async () => {
  const [a, b] = [at.open('own-a'), at.open('own-b')];
  await Promise.all([a, b].map((one) => at.say(one, 'echo 1 > f; python3 -c "print(1)"')));
  const [ofA, ofB] = ['own-a', 'own-b'].map((id) => at.walls.ownUser?.(id).uid);
  expect(ofA).not.toBe(ofB);
  for (const [opened, uid] of [
    [a, ofA],
    [b, ofB],
  ] as const) {
    expect(new Set(fieldOfThreads(opened.pid, 'Uid').flat())).toEqual(new Set([String(uid)]));
    expect(new Set(fieldOfThreads(opened.pid, 'Cap(?:Prm|Eff|Amb|Inh)').flat())).toEqual(new Set(['0000000000000000']));
  }
  // A call of the shell beside one of Python takes a second process.
  const long = a.eval({ language: 'python', code: 'import time; time.sleep(3)' });
  expect(await at.say(a, 'cat f')).toBe('1\n');
  expect(a.members.length).toBeGreaterThan(1);
  expect(new Set(a.members.flatMap(({ pid }) => fieldOfThreads(pid, 'Uid').flat()))).toEqual(new Set([String(ofA)]));
  await long;
  const folder = dirname(at.file('own-a'));
  expect([statSync(folder).uid, statSync(folder).mode & 0o777]).toEqual([ofA, 0o700]);
  await a.close({ drainMs: 1000, force: false });
  const before = statSync(at.file('own-a'), { bigint: true });
  expect(Number(before.uid)).toBe(ofA);
  const again = at.open('own-a', { mustExist: true });
  await again.opened;
  expect(statSync(at.file('own-a'), { bigint: true }).ctimeNs).toBe(before.ctimeNs);
  expect(await at.say(again, 'cat f')).toBe('1\n');
});

test.runIf(isRoot)('a worker that changed its user ends with a server that is killed, however busy it is', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'winterdock-guarded-'));
  chmodSync(folder, 0o755);
  const script = join(folder, 'server.mjs');
  const modules = ['walls/walls.ts', 'pool.ts'].map((name) => join(import.meta.dirname, '..', name));
  writeFileSync(
    script,
    `import { mkdirSync } from 'node:fs';
     const [{ buildWalls }, { createPool }] = await Promise.all(${JSON.stringify(modules)}.map((path) => import(path)));
     const options = { dataFolder: ${JSON.stringify(join(folder, 'data'))}, cacheFolder: ${JSON.stringify(process.env.WB_CACHE ?? join(folder, 'cache'))}, maxStartMs: 240_000 };
     const pool = createPool({ ...options, size: 0, maxActive: 5, walls: await buildWalls(options) });
     const open = (id) => {
       const live = options.dataFolder + '/live/' + id;
       mkdirSync(live, { recursive: true });
       return pool.open({ id, file: live + '/vfs.sqlite', policy: 'posix', maxBytes: 1e8, maxFileBytes: 1e7, mustExist: false });
     };
     const [busy, paused] = [open('busy'), open('paused')];
     await Promise.all([busy, paused].map((one) => one.exec({ command: 'true' })));
     while ((await paused.pause()) === null);
     busy.eval({ language: 'js', code: 'while (true);', timeoutMs: 100_000 }).catch(() => {});
     setTimeout(() => process.send([busy.pid, paused.pid]), 500);`,
  );
  const server = fork(script, [], { execArgv: ['--no-warnings'], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const pids = (await new Promise((resolve) => server.once('message', resolve))) as number[];
  expect(pids.map(isRunning)).toEqual([true, true]);
  server.kill('SIGKILL');
  await expect.poll(() => pids.map(isRunning)).toEqual([false, false]);
  rmSync(folder, { recursive: true, force: true });
});

test('files of a server without walls go on working behind them, and what a worker made does without them', async () => {
  const bare = createPool({ size: 0, maxActive: 5, dataFolder: at.folder, cacheFolder: process.env.WB_CACHE });
  const limits = { maxBytes: 1e8, maxFileBytes: 1e7, mustExist: false };
  const spec = { id: 'moved', file: at.file('moved'), policy: 'posix', ...limits };
  mkdirSync(dirname(spec.file), { recursive: true });
  const say = async (opened: InstanceProcess, command: string) => {
    const said = await at.say(opened, command);
    await opened.close({ drainMs: 1000, force: false });
    return said;
  };
  expect(await say(bare.open(spec), 'echo bare > a; cat a')).toBe('bare\n');
  expect(await say(at.open('moved'), 'echo walled > b; cat a b')).toBe('bare\nwalled\n');
  expect(statSync(spec.file).uid).toBe(at.walls.ownUser?.('moved').uid ?? process.getuid?.());
  expect(await say(bare.open(spec), 'echo c >> b; cat a b')).toBe('bare\nwalled\nc\n');
  expect(await say(at.open('moved'), 'cat b')).toBe('walled\nc\n');
  await bare.stop();
});

test.runIf(isRoot)(
  'as root without CAP_SYS_ADMIN every wall stands; where no namespace can be had the rest does, and what is missing is said',
  () => {
    const script = `const { buildWalls } = await import(${JSON.stringify(join(import.meta.dirname, 'walls.ts'))});
    const folder = process.getBuiltinModule('node:fs').mkdtempSync('/tmp/winterdock-contained-');
    const walls = await buildWalls({ dataFolder: folder, cacheFolder: folder + '/cache', maxStartMs: 30000 });
    console.log(JSON.stringify([walls.states, [...walls.missing.keys()]]));
    process.getBuiltinModule('node:fs').rmSync(folder, { recursive: true });`;
    const without = (...capabilities: string[]) =>
      spawnSync(
        'setpriv',
        [
          `--bounding-set=${capabilities.map((name) => `-${name}`).join(',')}`,
          '--inh-caps=-all',
          process.execPath,
          '--no-warnings',
          '--input-type=module',
          '-e',
          script,
        ],
        { encoding: 'utf8', env: { NODE_ENV: 'test', PATH: process.env.PATH } },
      ).stdout;
    const namespaces = { net: false, files: false, pid: false, ipc: false };
    // Whoever may not give ids to a namespace of users cannot be root in it.
    expect(JSON.parse(without('sys_admin', 'setfcap', 'sys_ptrace', 'sys_nice'))[0]).toEqual({
      ...namespaces,
      uid: false,
      caps: true,
      seccomp: true,
    });
    const [states, missing] = JSON.parse(without('sys_admin', 'setfcap', 'sys_ptrace'));
    expect(states).toEqual({ ...namespaces, uid: true, caps: true, seccomp: true });
    expect(missing.sort()).toEqual(Object.keys(namespaces).sort());
    expect(JSON.parse(without('sys_admin', 'setfcap', 'chown'))[0]).toEqual({
      ...namespaces,
      uid: false,
      caps: true,
      seccomp: true,
    });
  },
);

test.runIf(isRoot)(
  'root’s workers open what an earlier server gave to their user, where it cannot reach the folder any more',
  async () => {
    const parent = mkdtempSync(join(tmpdir(), 'winterdock-moved-'));
    const folder = join(parent, 'data');
    const cacheFolder = join(parent, 'cache');
    const file = join(folder, 'live', 'moved', 'vfs.sqlite');
    const limits = { maxBytes: 1e8, maxFileBytes: 1e7, mustExist: false };
    // More than SQLite keeps in memory: it writes into the folder of spill files too.
    const command = 'head -c 4000000 /dev/urandom > big; cat big big > more; wc -c < more';
    for (const [mode, uid] of [
      [0o755, true],
      [0o700, false],
    ] as const) {
      chmodSync(parent, mode);
      mkdirSync(dirname(file), { recursive: true });
      const walls = await buildWalls({ dataFolder: folder, cacheFolder, maxStartMs: 240_000 });
      expect(walls.states.uid).toBe(uid);
      const pool = createPool({ size: 0, maxActive: 5, dataFolder: folder, cacheFolder, walls });
      await pool.start();
      const opened = pool.open({ id: 'moved', file, policy: 'posix', ...limits });
      expect(await at.say(opened, command)).toBe('8000000\n');
      await opened.close({ drainMs: 1000, force: false });
      await pool.stop();
      walls.close();
    }
    rmSync(parent, { recursive: true });
  },
);

test.runIf(isRoot)(
  'root opens what is another user’s, whole or in parts, also where that user cannot be used',
  async () => {
    const parent = mkdtempSync(join(tmpdir(), 'winterdock-parts-'));
    chmodSync(parent, 0o755);
    const [folder, cacheFolder] = [join(parent, 'data'), join(parent, 'cache')];
    const file = join(folder, 'live', 'parts', 'vfs.sqlite');
    const spec = { id: 'parts', file, policy: 'posix', maxBytes: 1e8, maxFileBytes: 1e7, mustExist: false };
    mkdirSync(dirname(file), { recursive: true });
    mkdirSync(cacheFolder, { mode: 0o700 });
    for (const foreign of [folder, join(folder, 'live')]) {
      spawnSync('chown', ['-R', '0:0', folder]);
      spawnSync('chown', ['-R', '61000:61000', foreign]);
      // As another server has left it, for its workers.
      chownSync(cacheFolder, 0, 60_999);
      const walls = await buildWalls({ dataFolder: folder, cacheFolder, maxStartMs: 240_000 });
      expect([walls.states.uid, walls.states.caps]).toEqual([false, false]);
      expect(walls.missing.get('caps')).toBe(`${foreign} belongs to another user than root`);
      const pool = createPool({ size: 0, maxActive: 5, dataFolder: folder, cacheFolder, walls });
      await pool.start();
      const opened = pool.open(spec);
      expect(await at.say(opened, 'echo one >> n; tail -n 1 n')).toBe('one\n');
      await opened.close({ drainMs: 1000, force: false });
      await pool.stop();
      walls.close();
    }
    rmSync(parent, { recursive: true });
  },
);

test.runIf(isRoot)('a data folder that is a link is passed through where it leads to', () => {
  const parent = mkdtempSync(join(tmpdir(), 'winterdock-linked-'));
  chmodSync(parent, 0o755);
  const [folder, link] = [join(parent, 'disk'), join(parent, 'data')];
  mkdirSync(folder, { mode: 0o700 });
  symlinkSync(folder, link);
  const user = { uid: WORKER_USER, gid: WORKER_USER };
  prepareUser(user, { passable: [link, join(link, 'live')], own: [join(link, 'spill')], readable: [] });
  const { mode, gid } = statSync(folder);
  expect([mode & 0o777, gid, statSync(join(folder, 'spill')).uid]).toEqual([0o710, WORKER_USER, WORKER_USER]);
  rmSync(parent, { recursive: true });
});

test('a wall that is required and missing is named with its reason, and words tell which are in force', () => {
  const none = { net: true, uid: false, caps: true, files: true, pid: true, ipc: true, seccomp: true };
  const walls = {
    command: [],
    user: null,
    ownUser: null,
    states: none,
    missing: new Map([['uid', 'the server does not run as root'] as const]),
    close: () => {},
  };
  expect(() => requireWalls(walls, ['net', 'uid'])).toThrow(
    'WB_REQUIRE_WALLS=net,uid asks for walls that this machine does not give: uid (the server does not run as root).',
  );
  expect(() => requireWalls(walls, ['net'])).not.toThrow();
  expect(wallsAtStart(walls)).toEqual({
    text: 'net, caps, files, pid, ipc, seccomp; missing: uid (the server does not run as root)',
    isWhole: false,
  });
});
