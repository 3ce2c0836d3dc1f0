import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { VfsPath } from '../vfs/paths.ts';
import { startWorker } from './process.ts';
import type { FromInstance, ToInstance } from './protocol/protocol.ts';
import { SupervisedInstance } from './supervisor.ts';
import { startScriptedWorker } from './testing/scripted-worker.ts';

const SPEC = { id: 'x', file: ':memory:', policy: 'posix', maxBytes: 1e6, maxFileBytes: 1e6, mustExist: false };

/** What a worker does with a message that it should acknowledge. */
const HABITS = {
  diesBegun: `channel.send({ type: 'started', id: received.id }, () => process.kill(process.pid, 'SIGKILL'))`,
  diesAtOnce: `process.kill(process.pid, 'SIGKILL')`,
  waits: `undefined`,
  stops: `process.kill(process.pid, 'SIGSTOP')`,
} as const;

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-gate-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** An open sandbox, idle for some time, whose process has one of the habits. */
async function idle(habit: keyof typeof HABITS): Promise<SupervisedInstance> {
  const worker = startScriptedWorker(
    `function message(received) {
       if (received.type === 'open') channel.send({ type: 'opened' });
       else if (received.type === 'ping') channel.send({ type: 'pong' });
       else if (received.acknowledge) ${HABITS[habit]};
     }`,
  );
  const instance = new SupervisedInstance(worker, SPEC, { giveUpAfterMs: 1200 });
  await instance.opened;
  await new Promise((resolve) => setTimeout(resolve, 40));
  return instance;
}

const ways = {
  call: (instance: SupervisedInstance) => instance.exec({ command: 'true' }),
  write: (instance: SupervisedInstance) => instance.write({ op: 'mkdir', volume: 'workspace', path: '/x' as VfsPath }),
};

test.each(['call', 'write'] as const)(
  'a %s that a process acknowledged counts as begun, however soon it dies',
  async (kind) => {
    for (let round = 0; round < 5; round += 1) {
      const instance = await idle('diesBegun');
      await expect(ways[kind](instance)).rejects.toMatchObject({ code: 'conflict', extra: { started: true } });
    }
  },
);

test.each(['diesAtOnce', 'stops'] as const)(
  'what a process did not acknowledge has not begun: one that %s',
  async (habit) => {
    const instance = await idle(habit);
    const both = [ways.call(instance), ways.write(instance)];
    for (const request of both) {
      await expect(request).rejects.toMatchObject({ code: 'conflict', extra: { started: false } });
    }
    expect(await instance.ended).toMatchObject({ cause: habit === 'stops' ? 'silent' : 'crash' });
  },
);

test('a call that is given up before it began costs its process nothing', async () => {
  const instance = await idle('waits');
  const before = performance.now();
  const call = instance.exec({ command: 'true' }, { signal: AbortSignal.timeout(10) });
  await expect(call).rejects.toMatchObject({ extra: { started: false } });
  // It was the silence that ended the process, not the caller's impatience.
  expect(await instance.ended).toMatchObject({ cause: 'silent' });
  expect(performance.now() - before).toBeGreaterThan(1100);
});

test('a worker acknowledges a message before it acts on it, and begins messages in the order in which they came', async () => {
  mkdirSync(join(folder, 'live'), { recursive: true });
  const { child, channel, ready } = startWorker({
    dataFolder: folder,
    spillFolder: join(folder, 'spill'),
    cacheFolder: process.env.WB_CACHE ?? join(folder, 'cache'),
    maxStartMs: 240_000,
  });
  await ready;
  const received: FromInstance[] = [];
  channel.onMessage((message) => received.push(message as FromInstance));
  const send = (message: ToInstance) => channel.send(message);
  const { id: _, ...spec } = SPEC;
  const call = { kind: 'exec', command: 'echo on; while true; do sleep 0.01; done', timeoutMs: 20_000 } as const;
  send({ type: 'open', spec: { ...spec, joins: false, uid: null } });
  send({
    type: 'call',
    id: 1,
    acknowledge: true,
    call: { ...call, streaming: true, endless: false, commitsMeanwhile: false },
  });
  send({ type: 'abort', id: 1 });
  send({ type: 'write', id: 2, acknowledge: true, operation: { op: 'mkdir', volume: 'tmp', path: '/x' as VfsPath } });
  await expect.poll(() => received.some(({ type }) => type === 'executed')).toBe(true);
  const order = received.map((message) => ('id' in message ? `${message.type} ${message.id}` : message.type));
  expect(order.slice(0, 2)).toEqual(['opened', 'started 1']);
  expect(order.indexOf('done 2')).toBeGreaterThan(order.indexOf('started 2'));
  expect(received.find(({ type }) => type === 'executed')).toMatchObject({ result: { exitCode: 130 } });
  child.kill('SIGKILL');
});
