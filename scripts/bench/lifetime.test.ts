import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, expect, test } from 'vitest';
import { caller } from '../../lib/testing/call.ts';
import { isRunning } from '../../lib/workers/testing/stage.ts';
import { ROOT } from '../build.ts';
import { workersOf } from './processes.ts';
import { KEY } from './server.ts';

/** A measurement that has started what it measures. */
const BENCH = `
const { endWithRunner } = await import(${JSON.stringify(join(ROOT, 'scripts/bench/lifetime.ts'))});
const { startAll, startBare, startWinterdock } = await import(${JSON.stringify(join(ROOT, 'scripts/bench/server.ts'))});
endWithRunner();
const [server, bare] = await startAll([startWinterdock({ WB_POOL: '1' }), startBare()]);
console.log(JSON.stringify({ bench: process.pid, server: server.pid, bare: bare.pid, url: server.url }));
`;
/** As npm: it waits for the measurement, whose output is its own. */
const RUNNER = `
const { spawn } = require('node:child_process');
spawn(process.execPath, ['--input-type=module', '-e', process.env.BENCH], { stdio: 'inherit' });
`;

interface Started {
  bench: number;
  server: number;
  bare: number;
  url: string;
}

const started: { runner: ChildProcess; pids: number[] }[] = [];

afterEach(() => {
  for (const { runner, pids } of started.splice(0)) {
    runner.kill('SIGKILL');
    for (const pid of pids.filter(isRunning)) process.kill(pid, 'SIGKILL');
  }
});

function childrenOf(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return text.split(' ').filter(Boolean).map(Number);
}

/** Starts it, with a sandbox that runs; returns every process of it. */
async function begin(): Promise<Started & { runner: ChildProcess; pids: number[] }> {
  const env = { ...process.env, BENCH, npm_lifecycle_event: 'bench' };
  const runner = spawn(process.execPath, ['-e', RUNNER], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const entry = { runner, pids: [] as number[] };
  started.push(entry);
  const { value } = await createInterface({ input: runner.stdout })[Symbol.asyncIterator]().next();
  const found = JSON.parse(value ?? '') as Started;
  entry.pids = [found.bench, found.server, found.bare, ...childrenOf(found.bare)];
  const call = caller(found.url, KEY);
  await call('POST', '/api/instances', { id: 'held', tenant: 'acme' });
  expect((await call('POST', '/api/instances/held/exec', { command: 'echo on' })).json).toMatchObject({
    stdout: 'on\n',
  });
  await expect.poll(() => workersOf(found.server).length).toBeGreaterThan(1);
  entry.pids.push(...workersOf(found.server));
  return { ...found, ...entry };
}

test.each([
  ['the measurement is told to end', 'bench', 'SIGTERM'],
  ['the measurement is interrupted', 'bench', 'SIGINT'],
  ['the measurement is killed', 'bench', 'SIGKILL'],
  ['npm is killed', 'runner', 'SIGKILL'],
] as const)('all that a measurement has started ends when %s', async (_, whom, signal) => {
  const { runner, bench, pids } = await begin();
  process.kill(whom === 'bench' ? bench : (runner.pid ?? 0), signal);
  await expect.poll(() => pids.filter(isRunning)).toEqual([]);
});
