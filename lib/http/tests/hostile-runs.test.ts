/**
 * A tenant that floods the server with runs, their output, their followers and firings of schedules: the floods are
 * bounded, and another tenant's calls stay quick beside each of them.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { availableParallelism } from 'node:os';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import type { ExecAnswer, Instance, RunOutput, SandboxRun, Schedule, ScheduleRun } from '../../contract/schema.ts';
import { watchLoop } from '../../testing/loop-watch.ts';
import { startServer, type TestServer } from '../../testing/server.ts';

const MIB = 1024 * 1024;
/** Processor time that the server may take in one turn of its event loop beside a flood, in milliseconds. */
const LONGEST_TURN_MS = 100;
const PER_SANDBOX = 8;
const PER_TENANT = 12;
const KEPT = 20;

let server: TestServer;
let theirKey: string;
const opened: Socket[] = [];

beforeAll(async () => {
  server = await startServer({
    settings: {
      WB_RATE_KEY: '0',
      WB_RATE_ADDRESS: '0',
      WB_RUNS_PER_SANDBOX: `${PER_SANDBOX}`,
      WB_RUNS_PER_TENANT: `${PER_TENANT}`,
      WB_RUNS_KEPT: `${KEPT}`,
      WB_RUN_OUTPUT: `${MIB}`,
      WB_RUN_OUTPUT_PER_TENANT: `${2 * MIB}`,
    },
  });
  for (const id of ['flood', 'flood-2', 'flood-3']) await server.call('POST', '/api/instances', { id, tenant: 'acme' });
  for (const id of ['calm', 'calm-2']) await server.call('POST', '/api/instances', { id, tenant: 'globex' });
  await exec('true', 'calm');
  theirKey = (await server.call<{ key: string }>('POST', '/api/keys', { name: 'acme', role: 'tenant', tenant: 'acme' }))
    .json.key;
});
afterEach(async () => {
  for (const socket of opened.splice(0)) socket.destroy();
  for (const id of ['flood', 'flood-2', 'flood-3']) await stopAll(id);
});
afterAll(() => server.stop());

const exec = async (command: string, id = 'flood'): Promise<ExecAnswer> =>
  (await server.call<ExecAnswer>('POST', `/api/instances/${id}/exec`, { command })).json;
const begin = (command: string, id = 'flood', more: object = {}) =>
  server.call<SandboxRun>('POST', `/api/instances/${id}/runs`, { command, ...more }, { key: theirKey });
const runsOf = async (id: string) =>
  (await server.call<SandboxRun[]>('GET', `/api/instances/${id}/runs?limit=500`)).json;
const underWay = async (id: string) => (await runsOf(id)).filter(({ ended }) => ended === null);
const stopAll = async (id: string) => {
  for (const run of await underWay(id)) await server.call('POST', `/api/instances/${id}/runs/${run.id}/stop`, {});
};

/** Calls `exec true` of the other tenant again and again, and demands that no turn of the server holds it up. */
async function quickBeside(flood: string): Promise<void> {
  const longestTurn = watchLoop();
  const took: number[] = [];
  for (let n = 0; n < 60; n += 1) {
    const began = performance.now();
    const { exit_code } = await exec('true', 'calm');
    took.push(performance.now() - began);
    expect(exit_code).toBe(0);
  }
  const sorted = took.toSorted((one, other) => one - other);
  const [median = 0, most = 0] = [sorted[29], sorted[56]];
  const turnMs = longestTurn();
  process.stdout.write(
    `beside ${flood}: exec true took ${median.toFixed(1)} ms, at most ${most.toFixed(1)} ms, one turn ${turnMs.toFixed(1)} ms\n`,
  );
  expect(turnMs, flood).toBeLessThan(LONGEST_TURN_MS);
}

/** A follower that reads the head of its answer and nothing after it. */
async function followSlowly({ id, instance }: SandboxRun): Promise<{ socket: Socket; status: number }> {
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
  opened.push(socket);
  socket.on('error', () => undefined);
  socket.write(
    `GET /api/instances/${instance}/runs/${id}/output HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${theirKey}\r\naccept: text/event-stream\r\n\r\n`,
  );
  const [head] = (await once(socket, 'data')) as [Buffer];
  socket.pause();
  return { socket, status: Number(/^HTTP\/1\.1 (\d+)/.exec(head.toString())?.[1]) };
}

test('of thousands who follow one run, and do not read, a few have a place, and the others are told to come back', async () => {
  await exec('printf "%0200000d" 7 > big');
  const run = (await begin('while true; do cat big; done', 'flood', { timeout_ms: 120_000 })).json;
  await vi.waitFor(async () => expect((await runsOf('flood'))[0]?.output_bytes).toBeGreaterThan(2 * MIB), 240_000);
  const statuses = new Map<number, Socket[]>();
  for (let batch = 0; batch < 20; batch += 1) {
    const some = await Promise.all(Array.from({ length: 100 }, () => followSlowly(run)));
    for (const { socket, status } of some) statuses.set(status, [...(statuses.get(status) ?? []), socket]);
  }
  expect([...statuses.keys()].toSorted()).toEqual([200, 429]);
  const served = statuses.get(200) ?? [];
  expect(served.length).toBe(100);
  await quickBeside('2 000 slow followers of one run');
  const others = (await begin('sleep 60', 'flood')).json;
  expect((await followSlowly(others)).status).toBe(200);
  // Their places are free once they have left, also those who only say that they send no more.
  for (const [n, socket] of served.entries()) {
    if (n % 2 === 0) socket.destroy();
    else socket.resume().end();
  }
  await vi.waitFor(async () => expect((await followSlowly(run)).status).toBe(200), 240_000);
});

test('who follows all runs of a tenant leaves places to another tenant', async () => {
  const runs: SandboxRun[] = [];
  for (const id of ['flood', 'flood-2'])
    for (let n = 0; n < 5; n += 1) runs.push((await begin('sleep 100', id, { timeout_ms: 120_000 })).json);
  let served = 0;
  for (const run of runs) {
    const some = await Promise.all(Array.from({ length: 100 }, () => followSlowly(run)));
    served += some.filter(({ status }) => status === 200).length;
  }
  expect(served).toBe(200);
  const { json: theirs } = await server.call<SandboxRun>('POST', '/api/instances/calm/runs', { command: 'sleep 100' });
  expect((await followSlowly(theirs)).status).toBe(404);
  const head = await fetch(`${server.url}/api/instances/calm/runs/${theirs.id}/output`, {
    headers: { authorization: `Bearer ${server.host.config.adminKey}`, accept: 'text/event-stream' },
  });
  expect(head.status).toBe(200);
  await head.body?.cancel();
  await quickBeside('followers of ten runs');
  await stopAll('calm');
});

test('a flood of runs is refused over its numbers, leaves the newest rows, and another tenant’s calls stay quick', async () => {
  let refused = 0;
  let begun = 0;
  let over = false;
  const flood = (async () => {
    while (!over) {
      const some = ['flood', 'flood-2', 'flood-3'].flatMap((id) => Array.from({ length: 20 }, () => begin('true', id)));
      for (const { status, json } of await Promise.all(some)) {
        if (status === 202) begun += 1;
        else {
          refused += 1;
          expect([status, json]).toMatchObject([429, { code: 'quota_exceeded' }]);
        }
      }
      const all = await Promise.all(['flood', 'flood-2', 'flood-3'].map(underWay));
      expect(all.flat().length).toBeLessThanOrEqual(PER_TENANT);
      for (const runs of all) expect(runs.length).toBeLessThanOrEqual(PER_SANDBOX);
    }
  })();
  try {
    await quickBeside('a flood of runs');
  } finally {
    over = true;
    await flood;
  }
  expect(refused).toBeGreaterThan(50);
  expect(begun).toBeGreaterThan(PER_TENANT);
  for (const id of ['flood', 'flood-2', 'flood-3']) {
    await vi.waitFor(async () => expect(await underWay(id)).toEqual([]), 240_000);
    expect((await runsOf(id)).length).toBeLessThanOrEqual(KEPT + PER_SANDBOX);
  }
});

test('a flood of output, in pieces of a byte to either stream, takes no more memory than the tenant has, and loses another’s nothing', async () => {
  const kept = await server.call<SandboxRun>('POST', '/api/instances/calm/runs', { command: 'seq 1 20000' });
  const { json: theirs } = kept;
  const bytes = Array.from({ length: 20_000 }, (_, n) => `${n + 1}\n`).join('').length;
  await vi.waitFor(async () => expect((await runsOf('calm'))[0]?.output_bytes).toBe(bytes), 240_000);
  for (const id of ['flood', 'flood-2']) await exec('printf "%0400000d" 7 > big', id);
  const floods = ['while true; do cat big; cat big >&2; done', 'while true; do echo x; echo y >&2; done'];
  for (const id of ['flood', 'flood-2'])
    for (const command of floods) expect((await begin(command, id, { timeout_ms: 100_000 })).status).toBe(202);
  await vi.waitFor(
    async () => expect((await underWay('flood')).map(({ state }) => state)).toEqual(['running', 'running']),
    60_000,
  );
  await vi.waitFor(async () => {
    for (const id of ['flood', 'flood-2'])
      expect(Math.max(...(await runsOf(id)).map(({ output_bytes: end }) => end))).toBeGreaterThan(3 * MIB);
  }, 240_000);
  /** Bytes of the tenant's output that the server has; offsets count also what was left out. */
  const held = async () => {
    let sum = 0;
    for (const { id, instance } of (await Promise.all(['flood', 'flood-2', 'flood-3'].map(runsOf))).flat()) {
      const path = `/api/instances/${instance}/runs/${id}/output?limit=1048576`;
      const { pieces } = (await server.call<RunOutput>('GET', path)).json;
      sum += pieces.reduce((bytes, { text }) => bytes + text.length, 0);
    }
    return sum;
  };
  await quickBeside('floods of output');
  for (let look = 0; look < 5; look += 1) expect(await held()).toBeLessThan(3 * MIB);
  const { json: read } = await server.call<RunOutput>(
    'GET',
    `/api/instances/calm/runs/${theirs.id}/output?limit=1048576`,
  );
  expect([read.dropped, read.pieces.map(({ text }) => text).join('').length]).toEqual([0, bytes]);
});

test('schedules that are fired by hand in a loop hold up neither calls nor the schedules of another tenant', async () => {
  // More than the scheduler fires at a time, and each waits for the turn of the one before it.
  const many = 4 * availableParallelism() + 4;
  const made: string[] = [];
  for (let n = 0; n < many; n += 1) {
    const input = { cron: '0 0 1 1 *', command: 'sleep 20' };
    made.push((await server.call<Schedule>('POST', '/api/instances/flood-3/schedules', input)).json.id);
  }
  const at = '/api/instances/flood-3/schedules';
  const fireAll = () => Promise.all(made.map((id) => server.call('POST', `${at}/${id}/run`, {}, { key: theirKey })));
  expect((await fireAll()).map(({ status }) => status)).toEqual(made.map(() => 202));
  for (let round = 0; round < 10; round += 1)
    for (const answer of await fireAll()) expect([answer.status, answer.json.code]).toEqual([409, 'conflict']);
  await quickBeside('schedules fired by hand');
  const input = { cron: '* * * * *', command: 'echo ran >> ran' };
  const { json: theirs } = await server.call<Schedule>('POST', '/api/instances/calm-2/schedules', input);
  (server as TestServer & { clock: { advance(seconds: number): void } }).clock.advance(70);
  await server.host.scheduler.tick();
  await vi.waitFor(async () => {
    const runs = await server.call<ScheduleRun[]>('GET', `/api/instances/calm-2/schedules/${theirs.id}/runs`);
    expect(runs.json.map(({ result }) => result)).toContain('done');
  }, 240_000);
  await server.call('POST', '/api/instances/flood-3/suspend', { force: true });
});

test('a script stops and waits for jobs of its own sandbox alone, whatever numbers and ids it names', async () => {
  const theirs = await server.call<SandboxRun>('POST', '/api/instances/calm/runs', { command: 'sleep 100' });
  const job = (await exec('sleep 101 & echo $!', 'calm')).stdout.trim();
  const own = (await exec('sleep 102 & echo $!', 'flood')).stdout.trim();
  expect(own).toBe(job);
  const attack = await exec(
    `for n in ${theirs.json.id} 0 -1 99999999999999999999 1e3 0x3e9 %9 %calm "1001 1002" ../calm/1001; do kill "$n"; wait "$n"; done; kill ${job}; kill -9 ${job}; true`,
    'flood',
  );
  expect(attack).toMatchObject({ exit_code: 0, stdout: '' });
  // The number of each script's own shell is that of no other.
  expect(await exec('echo $$; kill 1; echo on', 'flood')).toMatchObject({ exit_code: 143, stdout: '1\n' });
  await vi.waitFor(async () => expect(await underWay('flood')).toEqual([]), 240_000);
  expect((await exec('jobs -p', 'calm')).stdout).toBe(`${job}\n`);
  expect((await underWay('calm')).map(({ id }) => id)).toContain(theirs.json.id);
  for (const id of [theirs.json.id, `${theirs.json.id}%00`, `..%2f..%2fcalm%2fruns%2f${theirs.json.id}`]) {
    for (const where of ['flood', 'calm']) {
      const answer = await server.call('POST', `/api/instances/${where}/runs/${id}/stop`, {}, { key: theirKey });
      expect([where, id, answer.status]).toEqual([where, id, expect.toBeOneOf([404, 422])]);
    }
  }
  expect((await underWay('calm')).map(({ id }) => id)).toContain(theirs.json.id);
  await stopAll('calm');
});

test('a forged name of a component or a run is one that there is not, and its sandbox stays asleep', async () => {
  const source = '* main :workflow:\n** one :component:\n#+begin_src js\nexport default () => 1;\n#+end_src\n';
  expect((await server.call('PUT', '/api/workbooks/forged?tenant=acme', source)).status).toBe(201);
  const docked = { id: 'docked', tenant: 'acme', workbook: 'forged' };
  expect((await server.call('POST', '/api/instances', docked)).status).toBe(201);
  const names = [
    ...[
      '__proto__',
      'constructor',
      'toString',
      'hasOwnProperty',
      'main',
      'main%2f__proto__',
      'main%2fone%2f..',
      '..%2fone',
    ],
    ...[
      'one%00',
      'ONE',
      '%F0%9F%92%A9',
      'one%2f',
      '%2fone',
      'main%5Cone',
      '%2e%2e',
      'one%0d%0aX-A:%20b',
      'a'.repeat(1024),
    ],
    ...[encodeURIComponent("x'; DROP TABLE runs; --"), '%24%7Bone%7D', '*'],
  ];
  for (const name of names) {
    const call = await server.call('POST', `/api/instances/docked/call/${name}`, {}, { key: theirKey });
    expect([name, call.status]).toEqual([name, expect.toBeOneOf([404, 422])]);
    for (const path of ['', '/output', '/stop']) {
      const run = await server.call(path === '/stop' ? 'POST' : 'GET', `/api/instances/docked/runs/${name}${path}`);
      expect([name, path, run.status]).toEqual([name, path, expect.toBeOneOf([404, 422])]);
    }
  }
  expect((await server.call<Instance>('GET', '/api/instances/docked')).json.state).toBe('created');
  const good = await server.call('POST', '/api/instances/docked/call/one', {}, { key: theirKey });
  expect([good.status, good.json], good.text.slice(0, 300)).toMatchObject([200, {}]);
});
