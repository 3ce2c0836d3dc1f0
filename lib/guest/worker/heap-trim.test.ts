import { readFileSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import { vfsPath } from '../../vfs/testing/tmp-files.ts';
import type { InstanceProcess } from '../../workers/protocol/instance.ts';
import { stage } from '../../workers/testing/stage.ts';

const at = stage({ size: 2 });
const MIB = 1024 * 1024;

/** Private memory of a process, in MiB. */
function ownMib(pid: number): number {
  return Number(/^RssAnon:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}

/**
 * Runs something that needs much memory in a sandbox that has run calls before. Returns the memory of its process
 * before, and at most during the run.
 */
async function runHungry(id: string, hungry: (process: InstanceProcess) => Promise<unknown>) {
  const process = at.open(id);
  for (let round = 0; round < 20; round += 1)
    await at.say(process, 'echo kept > kept; echo left > /tmp/left; cat kept');
  const before = ownMib(process.pid);
  let most = before;
  const timer = setInterval(() => {
    most = Math.max(most, ownMib(process.pid));
  }, 5);
  await hungry(process).finally(() => clearInterval(timer));
  return { process, before, most };
}

const bombs: [string, number, number, (process: InstanceProcess) => Promise<unknown>][] = [
  [
    'a JavaScript evaluation',
    200,
    16,
    (process) =>
      process.eval({ language: 'js', code: 'const all = []; for (;;) all.push(new Uint8Array(1e6).fill(1));' }),
  ],
  [
    'JavaScript that the shell ran',
    200,
    16,
    (process) => process.exec({ command: `js -e 'const all = []; for (;;) all.push(new Uint8Array(1e6).fill(1));'` }),
  ],
  ['a string of the shell', 100, 16, (process) => process.exec({ command: 'x=x; while :; do x=$x$x; done' })],
  // CPython runs in a thread, which leaves holes in the C library's heap.
  [
    'Python',
    100,
    32,
    (process) => process.eval({ language: 'python', code: 'kept = [bytearray(1_000_000) for _ in range(150)]' }),
  ],
  [
    'a file that was put from outside',
    30,
    16,
    (process) =>
      process.write({ op: 'put', volume: 'workspace', path: vfsPath('/big'), content: Buffer.alloc(48 * MIB, 1) }),
  ],
];

test.each(bombs)(
  'the memory that %s took is returned while its sandbox stays hot',
  async (name, takes, leaves, hungry) => {
    const { process, before, most } = await runHungry(`given-${name.replaceAll(' ', '-')}`, hungry);
    expect(most - before).toBeGreaterThan(takes);
    // No request reaches it meanwhile.
    await vi.waitFor(() => expect(ownMib(process.pid)).toBeLessThan(before + leaves), {
      timeout: 120_000,
      interval: 200,
    });
    expect(await at.say(process, 'cat kept /tmp/left')).toBe('kept\nleft\n');
  },
);

test('memory is returned between calls that follow each other without a pause', async () => {
  const { process, before } = await runHungry('given-busily', (hungry) =>
    hungry.exec({ command: `js -e 'const all = []; for (;;) all.push(new Uint8Array(1e6).fill(1));'` }),
  );
  const until = performance.now() + 120_000;
  while (ownMib(process.pid) > before + 16 && performance.now() < until) {
    const calls = Array.from({ length: 20 }, () => process.exec({ command: 'for i in {1..50}; do echo $i; done' }));
    await Promise.all(calls);
  }
  expect(ownMib(process.pid)).toBeLessThan(before + 16);
});
