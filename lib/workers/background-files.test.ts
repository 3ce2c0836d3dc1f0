/** What a command in the background writes, as others see it meanwhile and when it is ended. */

import { setTimeout as pause } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import type { ExecOutcome, InstanceProcess } from './protocol/instance.ts';
import { stage } from './testing/stage.ts';

const at = stage({ size: 2 });
const MINUTE = 60_000;

async function opened(id: string): Promise<InstanceProcess> {
  const process = at.open(id);
  await process.opened;
  return process;
}

/** Begins a run of the sandbox, and waits until it is sent to a process. */
async function run(a: InstanceProcess, command: string, timeoutMs = MINUTE) {
  const stop = new AbortController();
  const begun = Promise.withResolvers<void>();
  const request = { command, timeoutMs, longestMs: 2 * MINUTE, background: 'run', endless: true } as const;
  const follower = { signal: stop.signal, onStarted: () => begun.resolve(), onOutput: () => {} };
  const outcome: Promise<ExecOutcome> = a.exec({ ...request, commitsMeanwhile: true }, follower);
  await begun.promise;
  const stopped = () => {
    stop.abort();
    return outcome;
  };
  return { outcome, stop: stopped };
}

const lines = async (a: InstanceProcess, file: string) => {
  const { stdout } = await a.exec({ command: `cat ${file} 2> /dev/null` });
  return stdout.split('\n').slice(0, -1);
};
const grows = (a: InstanceProcess, file: string, least: number) =>
  vi.waitFor(async () => expect((await lines(a, file)).length).toBeGreaterThanOrEqual(least), MINUTE);

/** Commands that write a line to `log` a few times a second, without an end. */
const WRITERS = {
  'a loop that appends': 'while :; do echo x >> log; sleep 0.1; done',
  'a loop whose output is redirected': 'i=0; while :; do echo "line $((i++))"; sleep 0.1; done > log',
  'a subshell with both outputs': '(while :; do echo out; echo err >&2; sleep 0.1; done) > log 2>&1',
  'a group with &>>': '{ echo first; while :; do echo x; sleep 0.1; done; } &>> log',
  'a function into a file that a variable names': 'to=log; f() { while :; do date; sleep 0.1; done; }; f > "$to"',
  'nohup and a shell': `nohup sh -c 'while :; do echo x; sleep 0.1; done' > log 2>&1`,
  'a loop that never waits': 'while :; do echo x >> log; done',
  'Python that prints': "python3 -c 'import time\nwhile True: print(1); time.sleep(0.1)' > log 2>&1",
  'Python that logs': `python3 -c 'import logging, time
logging.basicConfig(filename="log", level=20)
while True: logging.info("x"); time.sleep(0.1)'`,
};

test.each(Object.entries(WRITERS))(
  '%s is seen by others while it writes, and stays when it is stopped',
  async (name, command) => {
    const a = await opened(`writes-${name.replaceAll(/[^a-z]/gi, '')}`);
    const { stop } = await run(a, command);
    await grows(a, 'log', 2);
    const before = await lines(a, 'log');
    await grows(a, 'log', before.length + 1);
    const outcome = await stop();
    expect(outcome.cutOff ?? outcome.exitCode).toBeOneOf(['caller', 130, 124]);
    const after = await lines(a, 'log');
    expect(after.slice(0, before.length)).toEqual(before);
  },
);

/** Ways in which a writer ends without its own will. Its lines are numbered, so that what is kept shows no gap. */
const WRITER = 'i=0; while :; do echo $((i++)) >> log; sleep 0.05; done';
const ENDS: Record<string, (a: InstanceProcess) => Promise<void>> = {
  stopped: async (a) => {
    const { stop } = await run(a, WRITER);
    await grows(a, 'log', 2);
    await stop();
  },
  'ended by `timeout`': async (a) => {
    const { outcome } = await run(a, `timeout 3 sh -c '${WRITER}'`);
    await grows(a, 'log', 2);
    expect((await outcome).exitCode).toBe(124);
  },
  'out of its own time': async (a) => {
    const { outcome } = await run(a, WRITER, 3000);
    await grows(a, 'log', 2);
    expect((await outcome).timedOut).toBe(true);
  },
  'killed with its process': async (a) => {
    const { outcome } = await run(a, WRITER);
    const ended = expect(outcome).rejects.toMatchObject({ code: 'conflict' });
    await grows(a, 'log', 2);
    const member = a.members.find(({ isBackground }) => isBackground);
    process.kill(member?.pid ?? 0, 'SIGKILL');
    await ended;
  },
};

test.each(Object.entries(ENDS))(
  'what a command in the background wrote is there without a gap when it is %s',
  async (how, end) => {
    const a = await opened(`ends-${how.replaceAll(/[^a-z]/gi, '')}`);
    await end(a);
    const kept = await lines(a, 'log');
    expect(kept.length).toBeGreaterThanOrEqual(2);
    expect(kept).toEqual(kept.map((_, at) => String(at)));
  },
);

test('code that never waits is seen meanwhile, and what it wrote stays when its process has to be killed', async () => {
  const a = await opened('code');
  const stop = new AbortController();
  const code = 'for (let i = 0; ; i += 1) vfs.put("/count", String(i) + "\\n")';
  const request = { language: 'js', code, timeoutMs: MINUTE, longestMs: MINUTE, background: 'run' } as const;
  const outcome = a.eval({ ...request, commitsMeanwhile: true }, { signal: stop.signal });
  const count = async () => Number((await lines(a, 'count'))[0] ?? -1);
  await vi.waitFor(async () => expect(await count()).toBeGreaterThan(0), MINUTE);
  const first = await count();
  await vi.waitFor(async () => expect(await count()).toBeGreaterThan(first), MINUTE);
  const last = await count();
  stop.abort();
  expect(await outcome).toMatchObject({ ok: false });
  expect(await count()).toBeGreaterThanOrEqual(last);
});

test('`tail -f` of another call follows what a command in the background writes', async () => {
  const a = await opened('tail');
  const { stop } = await run(a, 'i=0; while :; do echo "line $((i++))"; sleep 0.2; done > log');
  await grows(a, 'log', 1);
  const seen = Promise.withResolvers<void>();
  let text = '';
  const leave = new AbortController();
  const onOutput = (chunk: { text: string }) => {
    text += chunk.text;
    if (text.split('\n').length > 6) seen.resolve();
  };
  const tail = a.exec({ command: 'tail -n +1 -f log', timeoutMs: MINUTE }, { onOutput, signal: leave.signal });
  await seen.promise;
  leave.abort();
  await Promise.all([tail, stop()]);
  expect(text.split('\n').slice(0, 4)).toEqual(['line 0', 'line 1', 'line 2', 'line 3']);
});

test('redirected output is the same as of a command that somebody waits for', async () => {
  const command = `
    { echo a; printf b; echo c >&2; } > both 2>&1
    { echo out; cat missing; } > out 2> err; echo "$?" > code
    f() { echo "f $1"; }; f 1 > twice; f 2 >> twice
    n=0; echo x > "name$((n++))"; echo "$n" > n
    for i in 1 2 3; do echo $i; done | cat > piped
    { cat < in; echo mine; } > in2 < out
    echo old > over; { echo longer than before; } > over; (exit 3) > status; echo $? > status
    { echo visible; } 2>&1 > order; python3 -c 'print("p")' &> py
    echo discarded > /dev/null; d=/dev/null; { echo discarded; } > $d
    set -C; echo no > over; echo "$?" > clobber
    : > empty; { :; } > empty2; { echo a; : > self; echo b; } > self
    { { echo inner; } > inner; echo outer; } > outer
    cd /tmp; { cd /memory; echo there; } > /workspace/moved`;
  const listing = 'cd /workspace; for f in *; do echo "== $f"; cat "$f"; done';
  const [waited, background] = await Promise.all([opened('waited'), opened('background')]);
  await waited.exec({ command });
  const { outcome } = await run(background, command);
  await outcome;
  const expected = await at.say(waited, listing);
  expect(expected).toContain('== both\na\nbc\n');
  expect(await at.say(background, listing)).toBe(expected);
  // As on Linux, where an open file has no name.
  const renamed = await run(
    background,
    '{ echo one; mv from to; echo two; } > from; { echo x; rm gone; echo y; } > gone',
  );
  await renamed.outcome;
  expect((await background.exec({ command: 'ls from gone; cat to' })).stdout).toBe('one\ntwo\n');
});

test('a command that somebody waits for is seen whole or not at all, as before', async () => {
  const a = await opened('waited-for');
  const begun = Promise.withResolvers<void>();
  const outcome = a.exec(
    {
      command: 'echo begun > first\nfor i in 1 2 3 4 5 6; do echo $i >> log; [ $i = 1 ] && echo at it; sleep 0.4; done',
    },
    { onOutput: () => begun.resolve() },
  );
  await begun.promise;
  await pause(1500);
  const { stdout } = await a.exec({ command: 'ls', background: 'run' });
  expect(stdout).toBe('first\n');
  await outcome;
  expect(await lines(a, 'log')).toEqual(['1', '2', '3', '4', '5', '6']);
});
