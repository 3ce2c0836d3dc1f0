// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the syntax of the shell.
/** Writers without an end, readers that have enough, `tail -f` and `timeout`, in real processes. */
import { expect, test } from 'vitest';
import type { InstanceProcess, OutputChunk } from '../../workers/protocol/instance.ts';
import { joinStream } from '../../workers/protocol/output.ts';
import { stage } from '../../workers/testing/stage.ts';

const at = stage();
let kept: InstanceProcess | null = null;
/** One for all tests that leave nothing behind. */
function shared(): InstanceProcess {
  kept ??= at.open('shared');
  return kept;
}

const STATUS = 'echo "${PIPESTATUS[*]}"';

test.each([
  ['yes | head -n 3', 'y\ny\ny\n141 0\n'],
  ['cat /dev/zero | head -c 3 | od -An -tx1', ' 00 00 00\n141 0 0\n'],
  ['cat /dev/urandom | tr -dc a-z | fold -w 8 | head -n 1 | wc -c', '9\n141 141 141 0 0\n'],
  ['tr -dc a-z </dev/urandom | head -c 8 | wc -c', '8\n141 0 0\n'],
  ['seq 1 100000000 | head -n 2', '1\n2\n141 0\n'],
  ['seq 100000000 -3 1 | sed 1q', '100000000\n141 0\n'],
  ['yes | sed 2q', 'y\ny\n141 0\n'],
  ['yes x | grep -m2 x', 'x\nx\n141 0\n'],
  ["yes x | awk 'NR == 2 { exit } { print NR }'", '1\n141 0\n'],
  ['timeout 60 yes | head -n 1', 'y\n141 0\n'],
  ["bash -c 'yes no' | head -n 1", 'no\n141 0\n'],
  ['n=2; yes | head -n "$n"', 'y\ny\n141 0\n'],
  ['while true; do echo y; done | head -2', 'y\ny\n141 0\n'],
  ['until false; do echo y; done | tr y n | head -2', 'n\nn\n141 141 0\n'],
  ['for ((i = 0; ; i++)); do echo $i; done | sed 2q', '0\n1\n141 0\n'],
  ['f() { while :; do echo y; done; }; f | grep -m1 y', 'y\n141 0\n'],
  ['(while :; do echo y; done) | sed -n "2p;2q"', 'y\n141 0\n'],
  ["eval 'while :; do echo y; done' | head -1", 'y\n141 0\n'],
  ['i=0; while sleep 0.01; do i=$((i + 1)); echo $i; done | head -2', '1\n2\n141 0\n'],
])('%s ends when its reader has enough, as by SIGPIPE', async (pipeline, output) => {
  expect(await at.say(shared(), `${pipeline}; ${STATUS}`)).toBe(output);
});

test('a short writer ends by itself, whose output the pipe holds', async () => {
  const a = at.open('short');
  expect(await at.say(a, `seq 3 | head -1; ${STATUS}`)).toBe('1\n0 0\n');
  expect(await at.say(a, `for i in 1 2 3; do echo $i; echo $i >> log; done | head -1; ${STATUS}; cat log`)).toBe(
    '1\n0 0\n1\n2\n3\n',
  );
  expect(await at.say(a, `seq 100000 > many; cat many | head -1; ${STATUS}; cat many | tail -1; ${STATUS}`)).toBe(
    '1\n141 0\n100000\n0 0\n',
  );
  expect(await at.say(a, 'set -o pipefail; cat many | grep -q 7; echo $?; cat many | grep -c 7; echo $?')).toBe(
    '141\n40951\n0\n',
  );
});

test('what goes elsewhere than to the pipe is whole', async () => {
  const a = at.open('whole');
  const loop = 'while true; do seq 50000 > numbers; x=$(seq 50000); echo "${#x}"; done';
  expect(await at.say(a, `${loop} | head -1; wc -c < numbers`)).toBe('288893\n288894\n');
  expect(await at.say(a, '{ seq 50000 > numbers; yes; } | head -1; wc -c < numbers')).toBe('y\n288894\n');
  expect(await at.say(a, "yes 2> said | sed -e '2w out' -e 2q | tail -1; cat out")).toBe('y\ny\n');
});

test('a pipeline whose reader needs little takes little', async () => {
  const a = shared();
  await at.say(a, 'yes | head -n 1; seq 2 | head -1; yes x | grep -m1 x');
  const all = (await a.exec({ command: 'yes | wc -c' })).tookMs;
  for (const command of ['yes | head -n 3', 'seq 1 100000000 | head', 'yes x | grep -m2 x'])
    expect([command, (await a.exec({ command })).tookMs < all]).toEqual([command, true]);
});

test('tail -f prints what others append, as it comes, until its time is over', async () => {
  const a = at.open('follow');
  await at.say(a, 'echo one > log');
  const chunks: OutputChunk[] = [];
  const following = a.exec(
    { command: 'timeout 30 tail -f log; echo $?', background: 'run', longestMs: 60_000 },
    { onOutput: (chunk) => chunks.push(chunk) },
  );
  await expect.poll(() => joinStream(chunks, 'stdout')).toBe('one\n');
  await at.say(a, 'echo two >> log; echo other > new');
  await expect.poll(() => joinStream(chunks, 'stdout')).toBe('one\ntwo\n');
  await at.say(a, 'echo 3 > log');
  await expect.poll(() => joinStream(chunks, 'stderr')).toBe('tail: log: file truncated\n');
  await expect.poll(() => joinStream(chunks, 'stdout')).toBe('one\ntwo\n3\n');
  expect(await following).toMatchObject({ exitCode: 0 });
  expect(joinStream(chunks, 'stdout')).toBe('one\ntwo\n3\n124\n');
});

test('tail -f ends when its reader has its lines, and with the call', async () => {
  const a = at.open('lines');
  await at.say(a, 'echo one > log');
  const reading = a.exec({ command: `tail -f log | head -n 2; ${STATUS}`, background: 'run', longestMs: 60_000 });
  await expect.poll(() => a.members.some(({ isBackground }) => isBackground)).toBe(true);
  await at.say(a, 'echo two >> log');
  expect(await reading).toMatchObject({ exitCode: 0 });
  expect(await at.say(a, `tail -f log | head -n 2; ${STATUS}; tail -n 1 -f log | sed 1q`)).toMatch(
    /^one\ntwo\n141 0\ntwo\n/,
  );
  expect(await a.exec({ command: 'tail -f log', timeoutMs: 1500 })).toMatchObject({
    ...{ exitCode: 124, timedOut: true, stdout: 'one\ntwo\n' },
  });
  expect(await a.exec({ command: 'tail -f nowhere' })).toMatchObject({
    ...{ exitCode: 1, stderr: expect.stringContaining('tail: no files remaining') },
  });
  expect(await at.say(a, 'echo still')).toBe('still\n');
});

test.each([
  'sleep 60',
  'tail -f /workspace/file',
  "bash -c 'while true; do :; done'",
  "bash -c 'until false; do x=$((x + 1)); done'",
  "awk 'BEGIN { while (1); }'",
  "awk 'BEGIN { do { x++ } while (1) }'",
  "awk '{ for (;;) x++ }' /workspace/file",
  "sed ':a; b a' /workspace/file",
  "python3 -c 'while True: pass'",
  "python3 -c 'import time; time.sleep(60)'",
  "js -e 'while (true);'",
  "sqlite3 :memory: 'WITH RECURSIVE a(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM a) SELECT count(*) FROM a'",
])('timeout ends %s with 124, and the sandbox goes on', async (command) => {
  const a = shared();
  await at.say(a, 'echo line > file');
  const { stdout, exitCode, timedOut, tookMs } = await a.exec({ command: `timeout 1 ${command}; echo "then $?"` });
  expect({ stdout: stdout.replace(/^line\n/, ''), exitCode, timedOut }).toEqual({
    ...{ stdout: 'then 124\n', exitCode: 0, timedOut: false },
  });
  expect(tookMs).toBeGreaterThan(990);
  expect(await at.say(a, 'cat file')).toBe('line\n');
});

test('an endless awk ends with its call, and its process stays', async () => {
  const a = at.open('awk');
  await at.say(a, 'echo kept > /tmp/kept');
  expect(await a.exec({ command: "awk 'BEGIN { while (1); }'", timeoutMs: 500 })).toMatchObject({
    ...{ exitCode: 124, timedOut: true },
  });
  expect(await at.say(a, 'cat /tmp/kept')).toBe('kept\n');
});

test('what computes in one piece outlasts timeout, and is ended with its process at the time of the call', async () => {
  const a = at.open('one-piece');
  await at.say(a, 'seq 400000 -1 1 > many');
  expect(await at.say(a, 'timeout 0.001 sort -n many > sorted; echo $?')).toBe('124\n');
  const command = 'timeout 0.5 grep -E "^(0+)+$" <<< "$(printf %060dz 0)"; echo never';
  expect(await a.exec({ command, timeoutMs: 1500 })).toMatchObject({
    ...{ timedOut: true, exitCode: 124, stdout: '', stderr: expect.stringContaining('its process was ended') },
  });
  expect(await at.say(at.open('one-piece', { mustExist: true }), 'head -n 1 many')).toBe('400000\n');
});

test.each([
  ['timeout -s KILL 0.1 sleep 60', 137, ''],
  ['timeout -s HUP 0.1 sleep 60', 124, ''],
  ['timeout --preserve-status 0.1 sleep 60', 143, ''],
  ['timeout --preserve-status -s SIGINT 0.1 sleep 60', 130, ''],
  ['timeout -s 1 --preserve-status 0.1 sleep 60', 129, ''],
  ['timeout -k 1 0.1 sleep 60', 124, ''],
  ['timeout -v 0.1 sleep 60', 124, 'timeout: sending signal TERM to command ‘sleep’\n'],
  ['timeout 30 false', 1, ''],
  ["timeout 30 bash -c 'exit 124'", 124, ''],
  ['timeout -s NOPE 1 true', 125, "timeout: ‘NOPE’: invalid signal\nTry 'timeout --help' for more information.\n"],
  ['timeout 30 nowhere', 127, 'timeout: failed to run command ‘nowhere’: No such file or directory\n'],
])('%s ends with %i as GNU’s', async (command, exitCode, stderr) => {
  expect(await shared().exec({ command })).toMatchObject({ exitCode, stderr });
});

test('seq counts as far as it is told', async () => {
  const a = at.open('counts');
  expect(await at.say(a, 'seq 3000000 | tail -n 1; x=$(seq 2200000); echo ${#x}')).toBe('3000000\n16488895\n');
});
