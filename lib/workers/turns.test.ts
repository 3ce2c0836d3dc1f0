import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { callOne, componentOf } from '../guest/component-runner/testing/component.ts';
import { cpuMs } from '../testing/cpu-time.ts';
import { openAtRest } from '../vfs/open.ts';
import { vfsPath } from '../vfs/testing/tmp-files.ts';
import { runNiceness, workerNiceness } from './process.ts';
import type { CallAhead, ExecOutcome, InstanceProcess } from './protocol/instance.ts';
import { isRunning, stage } from './testing/stage.ts';
import { turnOfScript } from './turns.ts';

const at = stage({ size: 2 });

/** A process with its file open. */
async function opened(id: string, spec?: Parameters<typeof at.open>[1]): Promise<InstanceProcess> {
  const process = at.open(id, spec);
  await process.opened;
  return process;
}

/** Begins a call that ends when it is stopped, and waits until it runs. */
async function endless(a: InstanceProcess, command: string) {
  const stop = new AbortController();
  const begun = Promise.withResolvers<void>();
  const outcome = a.exec({ command }, { signal: stop.signal, onStarted: () => begun.resolve() });
  await begun.promise;
  const end = () => {
    stop.abort();
    return outcome;
  };
  return { outcome, stop: end };
}

const PYTHON = "python3 -c 'while True: pass'";
const SHELL = 'while :; do :; done';
const put = (path: string, text: string) =>
  ({ op: 'put', volume: 'workspace', path: vfsPath(path), content: Buffer.from(text) }) as const;

describe('calls of several kinds', () => {
  test('a long Python job keeps neither a quick `ls` nor JavaScript waiting', async () => {
    const a = await opened('long');
    await at.say(a, 'echo x > before');
    expect(a.members.length).toBe(1);
    const job = await endless(a, PYTHON);
    expect(await at.say(a, 'ls')).toBe('before\n');
    expect(await a.eval({ language: 'js', code: '6 * 7' })).toMatchObject({ ok: true, value: 42 });
    expect(a.members.length).toBe(2);
    expect(await job.stop()).toMatchObject({ exitCode: 130 });
  });

  test('a busy loop in each of the three stops neither the others nor a write', async () => {
    const a = await opened('loops');
    const shell = await endless(a, SHELL);
    const python = await endless(a, PYTHON);
    const stuck = a.eval({ language: 'js', code: 'for (;;) {}', timeoutMs: 4000 });
    await pause(100);
    expect(a.members.length).toBe(3);
    expect(await shell.stop()).toMatchObject({ exitCode: 130 });
    expect(await at.say(a, 'echo w > w; cat w')).toBe('w\n');
    await a.write(put('/put', 'put'));
    expect(await python.stop()).toMatchObject({ exitCode: 130 });
    expect(await a.eval({ language: 'python', code: 'print(open("put").read())' })).toMatchObject({ stdout: 'put\n' });
    expect(await stuck).toMatchObject({ ok: false, timedOut: true });
  });

  test('calls of one kind run in the order they came, whatever runs beside them', async () => {
    const a = await opened('order');
    const python = [1, 2].map((n) =>
      a.eval({ language: 'python', code: `open("python", "a").write("${n}")`, timeoutMs: 30_000 }),
    );
    const shell = Array.from({ length: 20 }, (_, n) => a.exec({ command: `echo ${n} >> shell` }));
    const js = Array.from({ length: 10 }, (_, n) => a.exec({ command: `js -e 'console.log(${n})' >> js` }));
    await Promise.all([...python, ...shell, ...js]);
    const lines = (count: number) => Array.from({ length: count }, (_, n) => `${n}\n`).join('');
    expect(await at.say(a, 'cat shell')).toBe(lines(20));
    expect(await at.say(a, 'cat js')).toBe(lines(10));
    expect(await at.say(a, 'cat python')).toBe('12');
    expect(a.members.length).toBeLessThanOrEqual(3);
  });

  test('what one has committed the others see at once, with tmp, and versions only rise', async () => {
    const a = await opened('seen');
    const job = await endless(a, PYTHON);
    const versions: number[] = [];
    for (let n = 0; n < 20; n += 1) {
      await at.say(a, `echo ${n} > n; echo ${n} > /tmp/n`);
      const seen = await a.exec({ command: 'js -e 1; cat n /tmp/n' });
      expect(seen.stdout).toBe(`${n}\n${n}\n`);
      const { stat } = await a.write(put('/n', `${n}`));
      versions.push(stat?.version ?? 0);
    }
    expect(versions).toEqual(versions.toSorted((one, other) => one - other));
    expect(new Set(versions).size).toBe(20);
    await job.stop();
  });

  test('each has its own overlay: a command is whole or absent in the eyes of the others', async () => {
    const a = await opened('overlay');
    const writing = await endless(a, `{ echo half > half; ${SHELL}; }`);
    expect((await a.exec({ command: 'python3 --version > /dev/null; ls' })).stdout).toBe('');
    await writing.stop();
    expect(await at.say(a, 'ls')).toBe('half\n');
  });

  test('one that takes too much memory ends its own call; what others acknowledged, and their calls, stay', async () => {
    const a = await opened('memory');
    const lost: string[] = [];
    a.watch({ onSilent: () => {}, onThawed: () => {}, onMemberEnded: ({ cause }) => lost.push(cause) });
    const shell = await endless(a, SHELL);
    const greedy = a.exec({ command: "python3 -c 'x = [bytearray(50_000_000) for _ in range(40)]'" });
    await a.write(put('/kept', 'kept'));
    const outcome = await greedy.then(
      ({ exitCode, stderr }) => ({ exitCode, stderr }),
      (error: unknown) => error,
    );
    // Python itself refuses, or its process is ended.
    expect(JSON.stringify(outcome)).toMatch(/MemoryError|memory/);
    expect(await shell.stop()).toMatchObject({ exitCode: 130 });
    expect(await at.say(a, 'cat kept')).toBe('kept');
  });

  test('a first process that is killed in its call leaves the others and tmp', async () => {
    const a = await opened('first');
    await at.say(a, 'echo t > /tmp/t');
    const [first] = a.members;
    const dying = a.exec({ command: 'sleep 30' });
    const job = await endless(a, PYTHON);
    process.kill(first?.pid ?? 0, 'SIGKILL');
    await expect(dying).rejects.toMatchObject({ code: 'conflict', extra: { cause: 'crash', started: true } });
    expect(await at.say(a, 'cat /tmp/t')).toBe('t\n');
    await job.stop();
    expect(a.pid).not.toBe(first?.pid);
    expect(await a.close({ drainMs: 1000, force: false })).toBe(true);
    const resting = openAtRest(at.file('first'));
    expect(Buffer.from(resting.get(vfsPath('/t'), 'tmp') ?? []).toString()).toBe('t\n');
    resting.close();
  });

  test('a call whose process had to be ended says whether tmp stays', async () => {
    const a = await opened('tmp');
    await at.say(a, 'echo t > /tmp/t');
    const job = await endless(a, PYTHON);
    const stuck = { command: 'printf %060dz 0 | grep -E "^(0+)+$"', timeoutMs: 500 };
    const beside = await a.exec(stuck);
    expect(beside).toMatchObject({ timedOut: true, stderr: expect.stringContaining('goes on, and tmp stays') });
    expect(await job.stop()).toMatchObject({ exitCode: 130 });
    expect(await at.say(a, 'cat /tmp/t')).toBe('t\n');
    await expect.poll(() => a.members.length).toBe(1);
    const alone = await a.exec(stuck);
    expect(alone).toMatchObject({ timedOut: true, stderr: expect.stringContaining('tmp is gone at the next wake') });
    expect(await a.ended).toMatchObject({ cause: 'timeout' });
  });

  test('a call that waits is told which one it waits for, until it begins', async () => {
    const a = await opened('waits');
    const job = await endless(a, SHELL);
    const asked: (() => CallAhead | null)[] = [];
    const second = a.exec({ command: 'echo second' });
    const third = a.exec({ command: 'echo third' }, { onWaiting: (ahead) => asked.push(ahead) });
    const told = () => asked.map((ahead) => ahead());
    expect(told()).toEqual([{ kind: 'shell', code: SHELL, forMs: expect.any(Number), others: 1 }]);
    await job.stop();
    await Promise.all([second, third]);
    expect(told()).toEqual([null]);
  });

  test('a first process that is killed in its call, alone at work, ends them all', async () => {
    const a = await opened('alone');
    const job = await endless(a, PYTHON);
    await at.say(a, 'true');
    await job.stop();
    const pids = a.members.map(({ pid }) => pid);
    expect(pids.length).toBe(2);
    process.kill(a.pid, 'SIGKILL');
    expect(await a.ended).toMatchObject({ cause: 'crash' });
    await expect.poll(() => pids.filter(isRunning)).toEqual([]);
  });
});

describe('components', () => {
  const COUNTER = componentOf('js', 'let n = 0; export default () => ++n;');
  const SLOW = componentOf('python', 'def run(input):\n  while True: pass\n', { path: 'main/slow' });
  const PYTHON_COUNTER = componentOf('python', 'n = 0\ndef run(input):\n  global n\n  n += 1\n  return n\n', {
    path: 'main/python',
  });

  test('a call of components waits for no long shell call, before and after they have memory', async () => {
    const a = await opened('components-beside');
    const shell = await endless(a, SHELL);
    expect((await callOne(a, COUNTER)).value).toBe(1);
    expect(await shell.stop()).toMatchObject({ exitCode: 130 });
    const calls = [await endless(a, SHELL), await endless(a, PYTHON)];
    expect((await callOne(a, COUNTER)).value).toBe(2);
    expect((await callOne(a, PYTHON_COUNTER)).value).toBe(1);
    expect((await callOne(a, PYTHON_COUNTER)).value).toBe(2);
    for (const call of calls) expect(await call.stop()).toMatchObject({ exitCode: 130 });
    expect((await callOne(a, COUNTER)).value).toBe(3);
  });

  test('a long call of components keeps a quick `ls` waiting neither first nor later', async () => {
    const a = await opened('components-long');
    await at.say(a, 'echo x > before');
    for (const round of [1, 2]) {
      const stop = new AbortController();
      const running = Promise.withResolvers<void>();
      const long = a.callComponents(
        {
          workbook: { id: 'test', version: 1 },
          steps: [{ component: SLOW, after: [], inputs: null }],
          input: '{}',
          trigger: 'request',
          timeoutMs: 20_000,
        },
        { signal: stop.signal, onProgress: () => running.resolve() },
      );
      await running.promise;
      expect([round, await at.say(a, 'ls')]).toEqual([round, 'before\n']);
      expect(await a.eval({ language: 'js', code: '6 * 7' })).toMatchObject({ value: 42 });
      expect(await Promise.race([long, 'still runs'])).toBe('still runs');
      stop.abort();
      await long;
    }
  });

  test('their memory is in one process, which a pause and the end of those beside it leave alone', async () => {
    const a = await opened('components-kept');
    const [before] = a.members;
    const shell = await endless(a, SHELL);
    expect((await callOne(a, COUNTER)).value).toBe(1);
    expect(a.pid).not.toBe(before?.pid);
    await shell.stop();
    await expect.poll(() => a.pause()).not.toBeNull();
    expect(a.members.length).toBe(1);
    expect((await callOne(a, COUNTER)).value).toBe(2);
    expect(await at.say(a, 'echo on > on; cat on')).toBe('on\n');
    const job = await endless(a, PYTHON);
    const { pid } = a;
    process.kill(pid, 'SIGKILL');
    await expect.poll(() => a.pid).not.toBe(pid);
    // What was in memory is gone with its process; the other call goes on.
    expect((await callOne(a, COUNTER)).value).toBe(1);
    await job.stop();
    expect(await a.close({ drainMs: 5000, force: false })).toBe(true);
    openAtRest(at.file('components-kept')).close();
  });

  test('in a sandbox in memory they wait for the calls before them', async () => {
    const a = await opened('components-inside', { file: ':memory:' });
    const shell = a.exec({ command: 'sleep 1; echo done' });
    const order: string[] = [];
    await Promise.all([
      shell.then(() => order.push('shell')),
      callOne(a, COUNTER).then(() => order.push('components')),
    ]);
    expect([order, a.members.length]).toEqual([['shell', 'components'], 1]);
    expect(await at.say(a, 'echo on')).toBe('on\n');
  });
});

describe('the processes beside the first one', () => {
  test('a close waits for the calls of all, is refused while one runs, and by force cuts them all off', async () => {
    const a = await opened('close');
    const [shell, python] = [await endless(a, SHELL), await endless(a, PYTHON)];
    const js = a.eval({ language: 'js', code: 'for (;;) {}' });
    expect(await a.close({ drainMs: 50, force: false })).toBe(false);
    expect(a.busy).toBe(true);
    const pids = a.members.map(({ pid }) => pid);
    expect(await a.close({ drainMs: 0, force: true }).catch((error: Error) => error.message)).toBe(true);
    expect(await shell.outcome).toMatchObject({ cutOff: 'closing' });
    expect(await python.outcome).toMatchObject({ cutOff: 'closing' });
    expect(await js).toMatchObject({ cutOff: 'closing' });
    expect(pids.filter(isRunning)).toEqual([]);
    openAtRest(at.file('close')).close();
  });

  test('a pause is refused while any runs a call, and ends those beside the first', async () => {
    const a = await opened('pause');
    const job = await endless(a, PYTHON);
    await at.say(a, 'true');
    expect(await a.pause()).toBeNull();
    await job.stop();
    expect(a.members.length).toBe(2);
    await expect.poll(() => a.pause()).not.toBeNull();
    expect([a.members.length, a.thermal]).toEqual([1, 'warm']);
    expect(await at.say(a, 'echo on')).toBe('on\n');
  });

  test('a sandbox in memory has one process, and its calls wait for each other', async () => {
    const a = await opened('inside', { file: ':memory:' });
    const order: string[] = [];
    const note = (name: string) => () => void order.push(name);
    await Promise.all([
      a.eval({ language: 'python', code: '1' }).then(note('python')),
      a.exec({ command: 'true' }).then(note('shell')),
    ]);
    expect([order, a.members.length]).toEqual([['python', 'shell'], 1]);
  });

  test('a file that another has taken the place of is joined by none', async () => {
    const a = await opened('replaced');
    await at.say(a, 'echo x > x');
    const { copyFileSync, renameSync } = await import('node:fs');
    const job = await endless(a, PYTHON);
    copyFileSync(at.file('replaced'), `${at.file('replaced')}.copy`);
    renameSync(`${at.file('replaced')}.copy`, at.file('replaced'));
    const waiting = at.say(a, 'cat x');
    await pause(300);
    expect(a.members.length).toBe(1);
    await job.stop();
    expect(await waiting).toBe('x\n');
  });

  test('runs have processes of their own, of a lower priority, beside every call', async () => {
    const a = await opened('runs');
    const stop = new AbortController();
    const runs = [1, 2].map(() =>
      a.exec({ command: SHELL, background: 'run', longestMs: 60_000 }, { signal: stop.signal }),
    );
    const third = expect(a.exec({ command: 'true', background: 'run' }, { signal: stop.signal })).rejects.toMatchObject(
      {
        extra: { cause: 'aborted' },
      },
    );
    expect(await at.say(a, 'echo on')).toBe('on\n');
    await expect.poll(() => a.members.filter(({ isBackground }) => isBackground).length).toBe(2);
    const { getPriority } = await import('node:os');
    for (const { pid, isBackground } of a.members)
      expect([isBackground, getPriority(pid)]).toEqual([isBackground, isBackground ? runNiceness() : workerNiceness()]);
    expect(await at.say(a, 'echo still')).toBe('still\n');
    stop.abort();
    for (const run of runs) expect(await run).toMatchObject({ exitCode: 130 } satisfies Partial<ExecOutcome>);
    await third;
  });
});

test('a script takes the turn of the first interpreter that it starts by name', () => {
  const kinds: [string, string][] = [
    ['ls', 'shell'],
    ['python3 x.py', 'python'],
    ['  python -c "1"', 'python'],
    ['cd /workspace && python3 train.py | tail -5', 'python'],
    ['A=1 B=2 python3 x.py', 'python'],
    ['timeout 10 python3 x.py', 'python'],
    ['for f in *; do python3 "$f"; done', 'python'],
    ['echo "$(js -e 1)"', 'js'],
    ["cat > x.py <<'E'\nprint(1)\nE\npython3 x.py", 'python'],
    ['echo python3', 'shell'],
    ['grep -rn python .', 'shell'],
    ['cat x.js; ls js', 'shell'],
    ['which python3', 'shell'],
    ['./python3', 'shell'],
    ['sh x.sh', 'shell'],
  ];
  for (const [script, kind] of kinds) expect([script, turnOfScript(script)]).toEqual([script, kind]);
  const began = cpuMs();
  for (const hostile of ['A=1 ', 'python3 ', ';env x=', '; a=b ', '\t'])
    turnOfScript(`;${hostile.repeat(200_000)}python3`);
  expect(cpuMs() - began).toBeLessThan(1500);
});
