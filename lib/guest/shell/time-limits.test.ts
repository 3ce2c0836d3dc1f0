/** What is ended by `timeout`, or by the time of its call, acts on that and says nothing of the interpreter's. */
import { expect, test } from 'vitest';
import { stage } from '../../workers/testing/stage.ts';

const at = stage();
/** Long enough for a script to begin beside others. */
const LIMIT_MS = 3000;

test('a call that is ended at its limit says nothing of its own', async () => {
  const a = at.open('silent');
  for (const command of ['sleep 20', 'while :; do :; done', '(sleep 20)', 'echo "$(sleep 20)"', 'sleep 20 | cat']) {
    const done = await a.exec({ command: `echo before; ${command}; echo after`, timeoutMs: 400 });
    expect({ command, ...done }).toMatchObject({ stdout: 'before\n', stderr: '', exitCode: 124, timedOut: true });
  }
  expect((await a.exec({ command: 'echo "bash: execution aborted" >&2' })).stderr).toBe('bash: execution aborted\n');
});

test('a script acts on TERM under timeout, and goes on when its action does not end it', async () => {
  const a = at.open('acts');
  const done = await a.exec({
    command: `timeout 0.3 bash -c 'trap "echo term; exit 3" TERM; sleep 20; echo never'; echo $?
timeout 0.3 bash -c 'trap "echo cleaned" EXIT; while :; do :; done'; echo $?
timeout 0.3 bash -c 'trap "echo term" TERM; sleep 20; echo goes on'; echo $?
timeout 0.3 bash -c 'trap "" TERM; sleep 0.6; echo unmoved'; echo $?
timeout --preserve-status -s INT 0.3 bash -c 'trap "exit 7" INT; python3 -c "while True: pass"'; echo $?
timeout -s KILL 0.3 bash -c 'trap "echo never" EXIT; sleep 20'; echo $?
trap 'echo outer' TERM; timeout 0.3 sleep 20; echo $?
timeout -k 0.3 0.3 bash -c 'trap "" TERM; while :; do sleep 0.1; done'; echo $?`,
    timeoutMs: 600_000,
  });
  expect(done.stdout.split('\n')).toEqual(
    [['term', 124], ['cleaned', 124], ['term', 'goes on', 124], ['unmoved', 124], [7], [137], [124], [137], ['']]
      .flat()
      .map(String),
  );
  expect(done.stderr).toBe('');
});

test('a script acts on the end of its call’s time, and what its action wrote is kept', async () => {
  const a = at.open('limit');
  const ended = await a.exec({
    command: "trap 'echo term; echo bye > bye; exit 3' TERM; sleep 200",
    timeoutMs: LIMIT_MS,
  });
  expect(ended).toMatchObject({ stdout: 'term\n', stderr: '', exitCode: 124, timedOut: true });
  expect((await a.exec({ command: 'cat bye' })).stdout).toBe('bye\n');
  const looping = await a.exec({ command: "trap 'echo over > over' EXIT; while :; do :; done", timeoutMs: LIMIT_MS });
  expect(looping).toMatchObject({ stderr: '', exitCode: 124, timedOut: true });
  expect((await a.exec({ command: 'cat over' })).stdout).toBe('over\n');
  // One that does not stop has a moment, and its process stays.
  const stubborn = await a.exec({ command: "trap '' TERM; while :; do :; done", timeoutMs: LIMIT_MS });
  expect(stubborn).toMatchObject({ stderr: '', exitCode: 124, timedOut: true });
  expect((await a.exec({ command: 'echo here' })).stdout).toBe('here\n');
});
