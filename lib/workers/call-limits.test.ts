import { expect, test } from 'vitest';
import { vfsPath } from '../vfs/testing/tmp-files.ts';
import type { EvalRequest, ExecRequest, InstanceProcess } from './protocol/instance.ts';
import { isRunning, pssMib, stage } from './testing/stage.ts';

const at = stage({ size: 2, maxActive: 60 });
/** As long as a call may take that is to end by itself, on a busy machine too. */
const LONG_MS = 60_000;
const exec = (command: string, timeoutMs = LONG_MS): ExecRequest => ({ command, timeoutMs });
const code = (language: EvalRequest['language'], text: string, timeoutMs = LONG_MS): EvalRequest => ({
  language,
  code: text,
  timeoutMs,
});

test.each([
  ['while true; do :; done'],
  ['f() { while :; do :; done; }; f'],
  ['until false; do x=$(echo a); done | cat'],
  // An interpreter is loaded first: that is no part of what runs away, and takes longer on a busy machine.
  ['js -e "while(1){}"', 'js -e 1'],
  ["python3 -c 'while True: pass'", 'python3 -c 1'],
  ['sleep 60'],
])('the runaway `%s` is ended at its time and its process lives on', async (command, loads = ':') => {
  const a = at.open(`soft-${command.replace(/[^a-z0-9]/g, '').slice(0, 30)}`);
  expect(await a.exec(exec(`${loads} && echo kept > kept`))).toMatchObject({ exitCode: 0 });
  expect(await a.exec(exec(command, 400))).toMatchObject({ timedOut: true, exitCode: 124 });
  expect(await at.say(a, 'cat kept')).toBe('kept\n');
});

test('a runaway that blocks its thread is ended with its process, and the answer says so', async () => {
  const a = at.open('hard');
  await a.exec(exec('echo kept > kept'));
  const outcome = await a.exec(exec('echo said; printf %060dz 0 | grep -E "^(0+)+$"', 1000));
  expect(outcome).toMatchObject({ timedOut: true, exitCode: 124 });
  expect(outcome.stderr).toContain('its process was ended');
  expect(await a.ended).toMatchObject({ cause: 'timeout' });
  const again = at.open('hard', { mustExist: true });
  expect(await at.say(again, 'cat kept')).toBe('kept\n');
});

test.each([
  ['js', 'while(1){}'],
  ['python', 'while True: pass'],
] as const)('an endless evaluation of %s is ended at its time', async (language, text) => {
  const a = at.open(`eval-${language}`);
  expect(await a.eval(code(language, text, 1000))).toMatchObject({ ok: false, timedOut: true });
  expect(await at.say(a, 'echo here')).toBe('here\n');
});

test('a memory bomb of JavaScript is an error inside the guest', async () => {
  const a = at.open('bomb-js', { policy: 'minimal' });
  const outcome = await a.eval(code('js', 'const kept = []; while (1) kept.push(new Uint8Array(1e6).fill(1));'));
  expect(outcome).toMatchObject({ ok: false, timedOut: false });
  expect(outcome.error).toContain('out of memory');
  expect(await a.eval(code('js', '1 + 1'))).toMatchObject({ ok: true, value: 2 });
});

test('a string that doubles in the shell ends, and other sandboxes answer meanwhile', async () => {
  const a = at.open('bomb-sh', { policy: 'minimal' });
  const other = at.open('other');
  await other.opened;
  const bomb = a.exec(exec('x=x; while :; do x=$x$x; done')).catch((error: unknown) => error);
  expect(await at.say(other, 'echo fine')).toBe('fine\n');
  const end = await bomb;
  expect(end).toSatisfy(
    (value: { exitCode?: number; extra?: { cause: string } }) =>
      value.exitCode === 126 || value.extra?.cause === 'memory',
  );
});

test('a memory bomb of Python ends its call and its process, and nothing else', async () => {
  const a = at.open('bomb-py');
  const other = at.open('other-py');
  await a.exec(exec('echo kept > kept'));
  const bomb = a.eval(code('python', 'kept = []\nwhile True: kept.append(bytearray(10_000_000))'));
  const waiting = a.eval(code('python', 'print("waits")'));
  waiting.catch(() => {});
  expect(await at.say(other, 'echo fine')).toBe('fine\n');
  await expect(bomb).rejects.toMatchObject({ code: 'conflict', extra: { cause: 'memory', started: true } });
  await expect(waiting).rejects.toMatchObject({ code: 'conflict', extra: { cause: 'memory', started: false } });
  expect(await a.ended).toMatchObject({ cause: 'memory' });
  expect(await at.say(at.open('bomb-py', { mustExist: true }), 'cat kept')).toBe('kept\n');
});

test('a capability that a policy lacks is refused by name', async () => {
  const compute = at.open('compute', { policy: 'compute' });
  const minimal = at.open('minimal', { policy: 'minimal' });
  await expect(compute.exec(exec('true'))).rejects.toMatchObject({
    code: 'capability',
    extra: { needs: 'shell', policy: 'compute' },
  });
  await expect(compute.eval(code('js', '1'))).rejects.toMatchObject({ extra: { needs: 'js', policy: 'compute' } });
  await expect(minimal.eval(code('python', '1'))).rejects.toMatchObject({
    extra: { needs: 'python', policy: 'minimal' },
  });
  expect(await minimal.exec(exec('python3 -c 1'))).toMatchObject({
    exitCode: 126,
    stderr: 'python3: the policy "minimal" of this sandbox has no python\n',
  });
  expect(await minimal.exec(exec('tar cf a.tar .'))).toMatchObject({ exitCode: 126 });
  await expect(at.open('unknown', { policy: 'root' }).exec(exec('true'))).rejects.toMatchObject({
    extra: { policy: 'compute' },
  });
});

test('a crash loses nothing that was answered', async () => {
  const a = at.open('crash');
  await a.exec(exec('for i in 1 2 3; do echo $i > f$i; done'));
  await a.write({ op: 'put', volume: 'memory', path: vfsPath('/m'), content: Buffer.from('remembered') });
  const running = a.exec(exec('sleep 30', 60_000));
  process.kill(a.pid, 'SIGKILL');
  await expect(running).rejects.toMatchObject({ code: 'conflict', extra: { cause: 'crash', started: true } });
  expect(await a.ended).toMatchObject({ cause: 'crash', detail: expect.stringContaining('SIGKILL') });
  const again = at.open('crash', { mustExist: true });
  expect(await at.say(again, 'cat f1 f2 f3 /memory/m')).toBe('1\n2\n3\nremembered');
});

test('twenty sandboxes run at once, each takes at most 27 MB, and all end with the pool', async () => {
  const processes: InstanceProcess[] = [];
  // A few at a time: a start has a time limit, and one core may have to make them all.
  for (let index = 0; index < 20; index += 4) {
    const few = Array.from({ length: 4 }, (_, n) => at.open(`many-${index + n}`));
    await Promise.all(few.map((one) => one.opened));
    processes.push(...few);
  }
  const outputs = await Promise.all(processes.map((one, index) => at.say(one, `echo ${index} > n; cat n`)));
  expect(outputs).toEqual(Array.from({ length: 20 }, (_, index) => `${index}\n`));
  const mean = processes.reduce((sum, { pid }) => sum + pssMib(pid), 0) / processes.length;
  expect(mean).toBeLessThan(27);
  await Promise.all(processes.map((one) => one.close({ drainMs: 1000, force: false })));
  expect(processes.filter(({ pid }) => isRunning(pid))).toEqual([]);
});
