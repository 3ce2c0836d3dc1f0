/** A process that the kernel keeps from answering is waited for; one that sleeps is given up at the end of its time. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { processStat, STAT } from '../base/process-stat.ts';
import { AnswerWatch } from './answer-watch.ts';
import { HealthCheck } from './health-check.ts';

const GIVE_UP_MS = 1000;
const hasPython = spawnSync('python3', ['-c', 'import os; os.posix_spawn']).status === 0;

const started: ChildProcess[] = [];
const folder = mkdtempSync(join(tmpdir(), 'winterdock-held-'));
afterEach(() => {
  for (const one of started.splice(0)) one.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

function checkOf(pid: number): HealthCheck {
  return new HealthCheck(
    () => {},
    GIVE_UP_MS,
    () => new AnswerWatch({ pid, isHeld: () => false }),
  );
}

function start(command: string, args: string[]): number {
  const child = spawn(command, args, { stdio: 'ignore' });
  started.push(child);
  return child.pid ?? 0;
}

/** A process that has vforked waits uninterruptibly, as at a slow disk, until its child goes on: here from a FIFO. */
const AT_DISK = `import os, sys
os.posix_spawn('/bin/true', ['true'], {}, file_actions=[(os.POSIX_SPAWN_OPEN, 0, sys.argv[1], os.O_RDONLY, 0)])
while True: os.read(sys.stdin.fileno(), 1) or __import__('time').sleep(60)`;

test.skipIf(!hasPython)('a process at the disk is waited for, and given up once it only sleeps', async () => {
  const fifo = join(folder, 'fifo');
  expect(spawnSync('mkfifo', [fifo]).status).toBe(0);
  const pid = start('python3', ['-c', AT_DISK, fifo]);
  await expect.poll(() => processStat(pid)?.[STAT.state], { timeout: 240_000 }).toBe('D');
  const check = checkOf(pid);
  let said: boolean | null = null;
  const alive = check.isAlive().then((answer) => {
    said = answer;
    return answer;
  });
  await pause(3 * GIVE_UP_MS);
  expect(said).toBe(null);
  writeFileSync(fifo, '');
  await expect.poll(() => processStat(pid)?.[STAT.state], { timeout: 240_000 }).not.toBe('D');
  expect(await alive).toBe(false);
});

test('a process that sleeps is given up', async () => {
  const check = checkOf(start('sleep', ['600']));
  expect(await check.isAlive()).toBe(false);
});

test('an answer that came while this server was held up counts', async () => {
  const check = checkOf(start('sleep', ['600']));
  const alive = check.isAlive();
  // As it does with the channel, the loop hands the answer over after the timers that are due.
  const until = performance.now() + GIVE_UP_MS - 100;
  await pause(200);
  setImmediate(() => {
    while (performance.now() < until + 2 * GIVE_UP_MS);
    setImmediate(() => setImmediate(() => check.pongReceived()));
  });
  expect(await alive).toBe(true);
});
