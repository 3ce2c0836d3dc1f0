/** What a start keeps and loses: kills in the middle of calls, pauses, memory given back, four languages. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { wasmOfWat } from '#peers/wasm.ts';
import type { ComponentSpec, ComponentStep } from '../../workers/protocol/component-call.ts';
import { pssMib, stage } from '../../workers/testing/stage.ts';
import { callOne, componentOf } from './testing/component.ts';
import { DIGIT_STATE, digitCounter } from './testing/modules.ts';

const { open } = stage({ size: 2 });

const JS = `let n = 0; export default () => { n += 1; globalThis.vfs?.put?.('/n', String(n)); return n; };
export const state = { get: () => n, set: (value) => { n = value; } };`;
const PYTHON = `n = 0
def run(input):
    global n
    n += 1
    return n
def get_state():
    return n
def set_state(value):
    global n
    n = value
`;

async function counters(persist: ComponentSpec['persist']): Promise<ComponentSpec[]> {
  const plain = 'let n = 0; export default () => ++n; export const state = { get: () => n, set: (v) => { n = v; } };';
  const typed = plain.replace('let n', 'let n: number').replace('(v)', '(v: number)');
  const module = Buffer.from(await wasmOfWat(digitCounter(DIGIT_STATE))).toString('base64');
  return [
    componentOf('js', plain, { path: `${persist}/js`, persist }),
    componentOf('ts', typed, { path: `${persist}/ts`, persist }),
    componentOf('python', PYTHON, { path: `${persist}/python`, persist }),
    componentOf('wasm', module, { path: `${persist}/wasm`, persist }),
  ];
}

test('a counter in four languages goes on with :persist over a close and a kill, and begins anew without', async () => {
  const [durable, fleeting] = [await counters('state'), await counters('no')];
  for (const [round, end] of (['close', 'kill', 'kill'] as const).entries()) {
    const process = open('four');
    const valuesOf = async (components: ComponentSpec[]) => {
      const values: unknown[] = [];
      for (const component of components) values.push((await callOne(process, component)).value);
      return values;
    };
    expect(await valuesOf(durable)).toEqual(durable.map(() => round + 1));
    expect(await valuesOf(fleeting)).toEqual(fleeting.map(() => 1));
    if (end === 'kill') await process.kill('killed');
    else await process.close({ drainMs: 2000, force: false });
  }
});

test('a kill at any moment leaves the state and the files of the same call', async () => {
  const writes = componentOf('js', JS, { persist: 'state', uses: ['vfs'] });
  let before = 0;
  for (let round = 0; round < 6; round += 1) {
    const process = open('split');
    const calls = Array.from({ length: 8 }, () => callOne(process, writes).catch(() => null));
    await calls[0];
    await new Promise((resolve) => setTimeout(resolve, round * 0.8));
    await process.kill('killed');
    const answered = (await Promise.all(calls)).filter((call) => call?.result.state === 'done').length;
    const after = open('split');
    const file = Number((await after.exec({ command: 'cat n' })).stdout);
    const [, kept = ''] = (
      await after.eval({ language: 'js', code: `vfs.get('/.workbook/main/it.state', 'memory')` })
    ).value
      ?.toString()
      .split('\n') ?? [''];
    expect(Number(kept)).toBe(file);
    // Every call that was answered is kept.
    expect(file).toBeGreaterThanOrEqual(before + answered);
    before = file;
    await after.kill('killed');
  }
});

test('a pause keeps the memory of components, and gives back interpreters in which there is none', async () => {
  const process = open('pause');
  const [js, , python, wasm] = await counters('no');
  if (!js || !python || !wasm) throw new Error('There are four.');
  for (const component of [js, python, wasm]) await callOne(process, component);
  // It may not be paused while it answers late, and is asked again.
  await expect.poll(() => process.pause()).not.toBeNull();
  expect(process.thermal).toBe('warm');
  for (const component of [js, python, wasm]) expect((await callOne(process, component)).value).toBe(2);
  await process.kill('killed');
});

test('before its first component a worker has loaded nothing of them', async () => {
  const process = open('lazy');
  await process.exec({ command: 'true' });
  const threads = () => Number(/^Threads:\s+(\d+)/m.exec(readFileSync(`/proc/${process.pid}/status`, 'utf8'))?.[1]);
  const [before, pss] = [threads(), pssMib(process.pid)];
  const [js, , , wasm] = await counters('no');
  if (!js || !wasm) throw new Error('There are four.');
  await callOne(process, js);
  expect(threads()).toBe(before);
  await callOne(process, wasm);
  expect(threads()).toBeGreaterThan(before);
  expect(pssMib(process.pid)).toBeGreaterThan(pss);
  await process.kill('killed');
});

test('a call that its caller stops did not run out of time', async () => {
  const process = open('stopped');
  const sleeper = componentOf('python', 'import time\ndef run(input):\n    time.sleep(60)\n', { path: 'w/py' });
  const enough = new AbortController();
  const answer = await process.callComponents(
    {
      workbook: { id: 'test', version: 1 },
      steps: [{ component: sleeper, after: [], inputs: null }],
      input: '{}',
      trigger: 'request',
    },
    { signal: enough.signal, onProgress: () => enough.abort() },
  );
  expect(answer).toMatchObject({ timedOut: false, steps: [{ state: 'failed', error: { kind: 'timeout' } }] });
  expect(answer.steps[0]?.error?.message).toMatch(/^It was stopped/);
  await process.kill('killed');
});

test('independent steps run at once in different interpreters; a failed one stops what depends on it', async () => {
  const process = open('workflow');
  const spin = 'const until = Date.now() + 150; while (Date.now() < until); ';
  const step = (component: ComponentSpec, after: number[] = []): ComponentStep => ({ component, after, inputs: [] });
  const python = componentOf(
    'python',
    'import time\ndef run(input):\n    time.sleep(0.3)\n    return {"at": time.time()}\n',
    { path: 'w/py', uses: ['clock'] },
  );
  const js = componentOf('js', `export default () => { ${spin} return { at: Date.now() / 1000 }; };`, {
    path: 'w/js',
    uses: ['clock'],
  });
  const bad = componentOf('js', 'export default () => { throw new Error("no"); };', { path: 'w/bad' });
  const last = componentOf('js', 'export default () => 1;', { path: 'w/last' });
  await callOne(process, python);
  const seen: string[] = [];
  const { steps } = await process.callComponents(
    {
      workbook: { id: 'test', version: 1 },
      steps: [step(python), step(js), step(bad), step(last, [2]), step(last, [0, 1])],
      input: '{}',
      trigger: 'request',
    },
    {
      onProgress: (progress) => {
        if ('state' in progress) seen.push(`${progress.step} ${progress.state}`);
      },
    },
  );
  expect(steps.map(({ state }) => state)).toEqual(['done', 'done', 'failed', 'skipped', 'done']);
  expect(steps[3]?.because).toBe('w/bad failed');
  // JavaScript was done before the sleeping Python, which was given its work first.
  expect(seen.indexOf('1 done')).toBeLessThan(seen.indexOf('0 done'));
  await process.kill('killed');
});
