/** just-bash's Python thread, whose other end the test has. */
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';

const BUNDLE = dirname(createRequire(import.meta.url).resolve('just-bash'));
const WAITS = join(import.meta.dirname, 'exact-waits.cjs');
/** Of the memory that the thread shares: numbers of four bytes, then a path, then the data. */
const SHARED_BYTES = 32 + 4096 + 8 * 1024 * 1024;
const [OPERATION, STATUS, DATA_LENGTH, RESULT_LENGTH] = [0, 1, 3, 4];
const DATA_AT = 32 + 4096;
const [READY, SUCCESS] = [1, 2];
const [LSTAT, STDOUT, STDERR, EXIT] = [11, 100, 101, 102];

/** Runs Python; wakes its thread too early `wakeUps` times before each answer. Returns what it printed. */
async function printed(pythonCode: string, wakeUps: number): Promise<string> {
  const sharedBuffer = new SharedArrayBuffer(SHARED_BYTES);
  const [numbers, bytes] = [new Int32Array(sharedBuffer), new Uint8Array(sharedBuffer)];
  const view = new DataView(sharedBuffer);
  const input = { protocolToken: 't', sharedBuffer, pythonCode, stdin: '', cwd: '/', env: {}, args: [] };
  const thread = new Worker(join(BUNDLE, 'chunks', 'worker.js'), {
    workerData: { ...input, timeoutMs: 60_000, maxFileSize: 1024 },
    execArgv: ['--require', WAITS],
    stderr: true,
  });
  let isOver = false;
  thread.once('exit', () => {
    isOver = true;
  });
  let text = '';
  for (let operation = 0; operation !== EXIT; ) {
    for (let status = 0; status !== READY; status = Atomics.load(numbers, STATUS)) {
      if (isOver) return text;
      const changed = Atomics.waitAsync(numbers, STATUS, status, 100);
      if (changed.async) await changed.value;
    }
    operation = Atomics.load(numbers, OPERATION);
    for (let count = 0; count < wakeUps; count += 1) {
      await pause(5);
      Atomics.notify(numbers, STATUS);
    }
    if (operation === STDOUT || operation === STDERR)
      text += Buffer.from(bytes.slice(DATA_AT, DATA_AT + Atomics.load(numbers, DATA_LENGTH))).toString();
    else if (operation <= LSTAT) {
      // A folder, whatever was asked.
      view.setUint8(DATA_AT, 0);
      view.setUint8(DATA_AT + 1, 1);
      view.setInt32(DATA_AT + 4, 0o755, true);
      Atomics.store(numbers, RESULT_LENGTH, 24);
    }
    Atomics.store(numbers, STATUS, SUCCESS);
    Atomics.notify(numbers, STATUS);
  }
  await thread.terminate();
  return text;
}

test('Python’s thread takes a wake-up without an answer for none', async () => {
  const code = 'import os\nfor n in range(20): os.stat("/host/folder")\nprint("whole")';
  expect(await printed(code, 2)).toBe('whole\n');
});
