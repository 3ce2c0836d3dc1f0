import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WinterdockError } from './errors.ts';
import { HelperProcess } from './helper-process.ts';

const late = () => new WinterdockError('internal', 'It is late.');
const MOST_MS = 120_000;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-helper-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Starts a process that answers each task with these messages, in one go, and then makes a file. */
async function startSaying(messages: readonly object[]): Promise<{
  helper: HelperProcess<Record<string, unknown>>;
  /** Holds this thread, as other work does, until all of them are there. */
  waitBusily: () => void;
}> {
  const name = `said-${messages.length}`;
  const [entry, said] = [join(folder, `${name}.mjs`), join(folder, name)];
  writeFileSync(
    entry,
    `import { writeFileSync } from 'node:fs';
     import { WorkerChannel } from ${JSON.stringify(join(import.meta.dirname, 'channel.ts'))};
     const channel = new WorkerChannel(() => {
       for (const message of ${JSON.stringify(messages)}) channel.send(message);
       writeFileSync(${JSON.stringify(said)}, '');
     }, () => process.exit());
     channel.send({ ready: true });`,
  );
  const helper = await HelperProcess.start<Record<string, unknown>>({
    name: 'test',
    entry,
    flags: ['--no-warnings'],
    env: { NODE_COMPILE_CACHE: join(folder, 'cache') },
    stdout: 'ignore',
    memoryBytes: 2 ** 30,
    memoryIntervalMs: 1000,
    tooMuchMemory: late,
    walls: null,
    parse: (message) => message as Record<string, unknown>,
  });
  return {
    helper,
    waitBusily: () => {
      while (!existsSync(said)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    },
  };
}

test('two messages that come in one piece are both received', async () => {
  const { helper, waitBusily } = await startSaying([{ begun: 1 }, { answer: 2 }]);
  helper.send({});
  const begun = helper.next((message) => 'begun' in message, MOST_MS, late);
  waitBusily();
  expect(await begun).toEqual({ begun: 1 });
  expect(await helper.next((message) => 'answer' in message, MOST_MS, late)).toEqual({ answer: 2 });
  helper.kill();
  await helper.exited;
});

test('a process that says more than anybody waits for is ended', async () => {
  const { helper, waitBusily } = await startSaying([{ begun: 1 }, { answer: 2 }, { answer: 3 }]);
  helper.send({});
  const begun = helper.next((message) => 'begun' in message, MOST_MS, late);
  waitBusily();
  expect(await begun).toEqual({ begun: 1 });
  await helper.exited;
});
