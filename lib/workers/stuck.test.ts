/** A process that cannot answer is replaced at once; one that only waits for a processor is not. */
import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { SupervisedInstance } from './supervisor.ts';
import { startScriptedWorker } from './testing/scripted-worker.ts';
import { stage } from './testing/stage.ts';

const SPEC = { id: 'x', file: ':memory:', policy: 'posix', maxBytes: 1e6, maxFileBytes: 1e6, mustExist: false };
/** Much longer than it takes to notice, also on a busy machine, and as long as nobody should wait. */
const PATIENCE = { giveUpAfterMs: 120_000, readyMs: 120_000 };
const SOON_MS = 60_000;

const at = stage({ size: 1, healthCheckTimes: PATIENCE });

const burners: ChildProcess[] = [];
afterEach(() => {
  for (const burner of burners.splice(0)) burner.kill('SIGKILL');
});

/** Longer than a message makes an acknowledgement unnecessary. */
const silence = () => pause(40);

test('a process that the kernel shows stopped is ended as soon as somebody needs it, and has not begun the call', async () => {
  const a = at.open('stopped');
  await at.say(a, 'echo kept > kept');
  await silence();
  process.kill(a.pid, 'SIGSTOP');
  const began = performance.now();
  await expect(a.exec({ command: 'echo never > kept' })).rejects.toMatchObject({ extra: { started: false } });
  expect(performance.now() - began).toBeLessThan(SOON_MS);
  expect(await a.ended).toMatchObject({ cause: 'silent' });
  expect(await at.say(at.open('stopped', { mustExist: true }), 'cat kept')).toBe('kept\n');
});

test('one of several that is stopped is ended alone', async () => {
  const a = at.open('beside');
  await at.say(a, 'echo kept > kept');
  const stop = new AbortController();
  const begun = Promise.withResolvers<void>();
  const long = a.exec({ command: 'sleep 60' }, { signal: stop.signal, onStarted: () => begun.resolve() });
  await begun.promise;
  expect((await a.eval({ language: 'js', code: '1' })).ok).toBe(true);
  expect(a.members.length).toBe(2);
  await silence();
  process.kill(a.members[1]?.pid ?? 0, 'SIGSTOP');
  const began = performance.now();
  await a.eval({ language: 'js', code: '2' }).catch(() => undefined);
  expect(performance.now() - began).toBeLessThan(SOON_MS);
  expect((await a.eval({ language: 'js', code: '6 * 7' })).value).toBe(42);
  stop.abort();
  expect((await long).exitCode).toBe(130);
});

test('a process that the server itself has stopped is waited for', async () => {
  const a = at.open('held');
  await at.say(a, 'true');
  await silence();
  for (const member of a.members) member.signal('SIGSTOP');
  const answer = at.say(a, 'echo there');
  await pause(1000);
  for (const member of a.members) member.signal('SIGCONT');
  expect(await answer).toBe('there\n');
});

/** A worker that has its file open and, at its first message after that, does what it is told. */
async function scripted(habit: string): Promise<SupervisedInstance> {
  const worker = startScriptedWorker(
    `function message(received) {
       if (received.type === 'open') channel.send({ type: 'opened' });
       else { ${habit} }
     }`,
  );
  const instance = new SupervisedInstance(worker, SPEC, PATIENCE);
  await instance.opened;
  await silence();
  return instance;
}

test('a process that had half a second of processor time without an answer is ended, however long it may wait', async () => {
  const instance = await scripted('for (;;);');
  await expect(instance.exec({ command: 'true' })).rejects.toMatchObject({ extra: { started: false } });
  expect(await instance.ended).toMatchObject({ cause: 'silent' });
  expect(instance.cpuSeconds()).toBeLessThan(SOON_MS / 1000);
});

test('one that uses less and is late is waited for', async () => {
  const instance = await scripted(
    `const used = () => { const { user, system } = process.cpuUsage(); return user + system; };
     const enough = used() + 100_000;
     while (used() < enough);
     Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3000);
     channel.send({ type: 'started', id: received.id });`,
  );
  const begun = Promise.withResolvers<void>();
  const call = instance.exec({ command: 'true' }, { onOutput: () => {}, onStarted: () => begun.resolve() });
  call.catch(() => undefined);
  await begun.promise;
  expect(instance.isEnding).toBe(false);
  await instance.kill('killed');
});

test('beside twelve burning neighbours nothing is replaced', async () => {
  const a = at.open('starved');
  await at.say(a, 'echo x > kept');
  const { pid } = a;
  for (let n = 0; n < 12; n += 1) burners.push(spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }));
  for (let call = 0; call < 15; call += 1) {
    await pause(100);
    expect(await at.say(a, 'cat kept')).toBe('x\n');
  }
  expect(a.pid).toBe(pid);
  expect(a.members.length).toBe(1);
});
