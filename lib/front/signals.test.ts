/** What signals do to a started server, and on what it and its processes listen. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Event, Instance } from '../contract/schema.ts';
import { listeningOf } from '../testing/listening.ts';
import { type ServerProcess, spawnServer } from '../testing/process.ts';
import { treeOf } from '../testing/process-tree.ts';

const onLinux = test.runIf(process.platform === 'linux');
const LONG_MS = 60_000;

let folder: string;
const running: ServerProcess[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-signals-'));
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.end('SIGKILL')));
  rmSync(folder, { recursive: true, force: true });
});

async function start(options: { settings?: Record<string, string>; within?: string[] } = {}): Promise<ServerProcess> {
  const server = await spawnServer({ folder, ...options });
  running.push(server);
  await server.call('POST', '/api/instances', { id: 'box', tenant: 'acme' });
  return server;
}

const commandOf = (pid: number) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
const KINDS = [/worker/, /reader/, /parse/];

/** The processes of a server once it has some of each kind that stays: workers, readers, the parser of sources. */
async function withAllKinds(server: ServerProcess): Promise<number[]> {
  const { call } = server;
  const said = await call<{ stdout: string }>('POST', '/api/instances/box/exec', {
    command: 'js -e "console.log(6 * 7)"; python3 -c "print(6 * 8)"',
  });
  expect(said.json.stdout).toBe('42\n48\n');
  expect((await call('GET', '/api/instances/box/volumes/workspace')).status).toBe(200);
  expect((await call('POST', '/api/instances/box/query', { sql: 'SELECT 1 AS one' })).status).toBe(200);
  expect((await call('POST', '/api/workbooks/plan', '#+title: Empty')).status).toBe(200);
  const tree = () => treeOf(server.child.pid ?? 0);
  let pids: number[] = [];
  // One that has just begun is a program that has not made way for Node yet, and some end at once.
  await vi.waitFor(
    async () => {
      pids = tree();
      const commands = pids.map(commandOf);
      for (const kind of KINDS) expect(commands.filter((command) => kind.test(command))).not.toEqual([]);
      await pause(500);
      expect([tree(), pids.map(commandOf)]).toEqual([pids, commands]);
    },
    { timeout: LONG_MS },
  );
  return pids;
}

const allOf = (pids: readonly number[]) => pids.flatMap((pid) => listeningOf(pid).map((on) => [pid, on]));

onLinux('a server and all that it starts listen on its one port, also after SIGUSR1 to each of them', async () => {
  const server = await start({ settings: { WB_POOL: '1' } });
  const pids = await withAllKinds(server);
  const own = [[server.child.pid, `tcp ${new URL(server.url).port}`]];
  expect(allOf(pids)).toEqual(own);

  for (const pid of pids) process.kill(pid, 'SIGUSR1');
  const said = await server.call<{ stdout: string }>('POST', '/api/instances/box/exec', { command: 'echo here' });
  expect(said.json.stdout).toBe('here\n');
  expect(allOf(treeOf(server.child.pid ?? 0))).toEqual(own);
  expect(server.output()).not.toMatch(/debugger/i);
});

onLinux('a process that listens on anything is seen: a port, a datagram, an abstract name, a debugger', async () => {
  const code = `
    const net = require('node:net');
    net.createServer().listen(0, '127.0.0.1', () =>
      net.createServer().listen('\\0winterdock-test-' + process.pid, () => {
        const datagrams = require('node:dgram').createSocket('udp6');
        datagrams.bind(0, () => console.log('bound'));
      }));`;
  const child = spawn(process.execPath, ['--inspect=127.0.0.1:0', '-e', code], { stdio: ['ignore', 'pipe', 'ignore'] });
  try {
    await once(child.stdout, 'data');
    const found = listeningOf(child.pid ?? 0).map((on) => on.replace(/\d+$/, 'N'));
    expect(found.toSorted()).toEqual(['tcp N', 'tcp N', 'udp6 N', 'unix @winterdock-test-N']);
  } finally {
    child.kill('SIGKILL');
  }
});

/** Starts a command, and returns its answer to come once it has begun. */
async function begin(server: ServerProcess) {
  let isAnswered = false;
  const answer = server
    .call<{ stdout: string }>('POST', '/api/instances/box/exec', {
      command: 'echo begun > mark; sleep 3; echo whole',
    })
    .finally(() => {
      isAnswered = true;
    });
  answer.catch(() => {});
  const mark = () => server.call('GET', '/api/instances/box/volumes/workspace/mark');
  await vi.waitFor(async () => expect((await mark()).text).toBe('begun\n'), { timeout: LONG_MS });
  expect(isAnswered).toBe(false);
  return { answer };
}

test.each(['SIGHUP', 'SIGQUIT', 'SIGINT'] as const)(
  '%s to all its group, as a terminal sends it, lets the calls under way end and files what is awake',
  async (signal) => {
    const server = await start({ settings: { WB_DRAIN_MS: '60000' }, within: ['setsid'] });
    const { answer } = await begin(server);
    process.kill(-(server.child.pid ?? 0), signal);
    // Whoever started it for a terminal says so too.
    if (signal === 'SIGHUP') server.child.kill('SIGHUP');
    await once(server.child, 'exit');
    expect([server.child.exitCode, server.child.signalCode]).toEqual([0, null]);
    const { status, json } = await answer;
    expect([status, json.stdout]).toEqual([200, 'whole\n']);

    const again = await spawnServer({ folder });
    running.push(again);
    expect((await again.call<Instance>('GET', '/api/instances/box')).json).toMatchObject({
      state: 'suspended',
      fault: null,
    });
    const { json: lines } = await again.call<Event[]>('GET', '/api/instances/box/events?type=transition');
    expect(lines[0]).toMatchObject({ to: 'suspended', trigger: 'stop' });
  },
);

/** Starts what follows it as a job, in a group of its own, and waits as a shell does. */
const AS_A_JOB = ['setsid', 'perl', '-e', 'if (!fork) { setpgrp(0, 0); exec(@ARGV) } sleep while 1'];
const stateOf = (pid: number) => /^State:\s+(\S)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];

onLinux(
  'a server in the background of a shell goes on when the shell ends, with paused processes too',
  async () => {
    const server = await start({ settings: { WB_HOT_TO_WARM: '1', WB_TICK_MS: '100' }, within: AS_A_JOB });
    const run = async (command = 'echo here') => {
      return (await server.call<{ stdout: string }>('POST', '/api/instances/box/exec', { command })).json.stdout;
    };
    const shell = server.child.pid ?? 0;
    const [pid = 0] = treeOf(shell).filter((one) => one !== shell);
    const paused = () => treeOf(pid).filter((one) => stateOf(one) === 'T');
    try {
      expect(await run()).toBe('here\n');
      await vi.waitFor(() => expect(paused()).not.toEqual([]), { timeout: LONG_MS });
      const before = paused();
      process.kill(shell, 'SIGKILL');
      await once(server.child, 'exit');
      // The kernel tells the group at once; a server that stops lets the first of these end and takes no second.
      for (const command of ['sleep 2; echo here', 'echo here']) expect(await run(command)).toBe('here\n');
      expect(treeOf(pid)).toEqual(expect.arrayContaining(before));
      expect((await server.call('GET', '/api/instances/box')).json).toMatchObject({ state: 'active', fault: null });
    } finally {
      process.kill(pid, 'SIGTERM');
      await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow(), { timeout: LONG_MS });
    }
  },
  120_000,
);
