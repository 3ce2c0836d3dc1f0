import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { GiveWay } from './give-way.ts';
import { startWorkerProcess, type Worker } from './process.ts';

const children: ChildProcess[] = [];

afterEach(async () => {
  for (const child of children.splice(0)) {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
});

function startChild(): Worker {
  const worker = startWorkerProcess(['/bin/sleep', '60'], { NODE_ENV: 'test' });
  children.push(worker.child);
  return worker;
}

/** Whether the kernel has stopped it. */
const isStopped = ({ pid }: Worker) => /^State:\s+T/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));

test('a worker that nobody waits for is stopped while a call runs and goes on when nothing does', async () => {
  const worker = startChild();
  const giveWay = new GiveWay(() => [worker]);
  giveWay.started(worker);
  expect(isStopped(worker)).toBe(false);
  const [a, b] = [{}, {}];
  giveWay.begin(a);
  giveWay.begin(b);
  await expect.poll(() => isStopped(worker)).toBe(true);
  giveWay.end(a);
  await setTimeout(50);
  expect(isStopped(worker)).toBe(true);
  giveWay.end(b);
  await expect.poll(() => isStopped(worker)).toBe(false);
});

test('a worker that is needed goes on at once, and one that starts for somebody is never stopped', async () => {
  const [spare, needed] = [startChild(), startChild()];
  const spares = [spare];
  const giveWay = new GiveWay(() => spares);
  giveWay.started(needed);
  giveWay.started(spare);
  giveWay.begin({});
  await expect.poll(() => isStopped(spare)).toBe(true);
  expect(isStopped(needed)).toBe(false);
  spares.length = 0;
  giveWay.update();
  await expect.poll(() => isStopped(spare)).toBe(false);
});

test('beside calls that never end it gives way for a limited time, however often it is stopped', async () => {
  const worker = startChild();
  const giveWay = new GiveWay(() => [worker]);
  giveWay.started(worker);
  const calls = [{}, {}, {}, {}];
  for (const call of calls) {
    giveWay.begin(call);
    await setTimeout(120);
    giveWay.end(call);
    await setTimeout(20);
  }
  giveWay.begin({});
  await setTimeout(20);
  expect(isStopped(worker)).toBe(false);
});

test('a start waits until nothing runs, and not for ever', async () => {
  const giveWay = new GiveWay(() => []);
  const call = {};
  giveWay.begin(call);
  let starts = 0;
  giveWay.whenQuiet(1, () => {
    starts += 1;
  });
  await setTimeout(60);
  expect(starts).toBe(0);
  giveWay.end(call);
  await expect.poll(() => starts).toBe(1);
  giveWay.begin(call);
  giveWay.whenQuiet(1, () => {
    starts += 1;
  });
  await expect.poll(() => starts).toBe(2);
});
