import { setTimeout as pause } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { AnsweringEnd } from './interpreter-channel.ts';

const CHANNEL = new URL('./interpreter-channel.ts', import.meta.url).href;
/** A thread that asks twenty times, and says what it was answered. */
const THREAD = `import { parentPort, workerData } from 'node:worker_threads';
const { AskingEnd } = await import(${JSON.stringify(CHANNEL)});
const end = new AskingEnd(workerData);
const answers = [];
for (let n = 0; n < 20; n += 1) answers.push(end.ask('stat', 0, n));
parentPort.postMessage(answers.map(({ error, value }) => error === 0 ? value : -1));`;

test('a wake-up without an answer is none, and each question gets its own answer', async () => {
  const end = new AnsweringEnd();
  const thread = new Worker(new URL(`data:text/javascript,${encodeURIComponent(THREAD)}`), { workerData: end.shared });
  const said = new Promise<number[]>((resolve, reject) => {
    thread.once('message', resolve);
    thread.once('error', reject);
  });
  const words = new Int32Array(end.shared, 0, 1);
  for (let asked = 0; asked < 20; asked += 1) {
    const request = await end.next();
    expect(request?.operation).toBe('stat');
    for (let early = 0; early < 3; early += 1) {
      await pause(1);
      Atomics.notify(words, 0);
    }
    end.answer({ value: 10 * (request?.numbers[0] ?? 0) });
    // The late wake-up of an answer meets the next question.
    Atomics.notify(words, 0);
  }
  expect(await said).toEqual(Array.from({ length: 20 }, (_, n) => 10 * n));
  await thread.terminate();
});

test('after a stop nothing is asked and nothing is answered', async () => {
  const end = new AnsweringEnd();
  const next = end.next();
  end.stop();
  expect(await next).toBeNull();
  end.answer({ value: 1 });
  expect(await end.next()).toBeNull();
});
