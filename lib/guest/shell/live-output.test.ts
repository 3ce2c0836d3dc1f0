/** What a command prints is there while it runs, in the order it was printed, and is kept when the command is ended. */
import { beforeAll, expect, test } from 'vitest';
import type { InstanceProcess, OutputChunk } from '../../workers/protocol/instance.ts';
import { stage } from '../../workers/testing/stage.ts';

const at = stage();
let sandbox: InstanceProcess;

/** Between the first and the last line of the program, and how long a line may wait for the next. */
const PROGRAM_MS = 900;
const DELAY_MS = 400;
const PROGRAM = `import sys, time
print('one'); time.sleep(0.5); print('wrong', file=sys.stderr); time.sleep(0.4); print('two, é')`;
const SCRIPT = `#!/bin/bash
echo begin
for i in 1 2; do sleep 0.5; echo "round $i"; done`;

beforeAll(async () => {
  sandbox = at.open('live');
  await at.say(sandbox, `cat > x.py <<'X'\n${PROGRAM}\nX\ncat > x.sh <<'X'\n${SCRIPT}\nX\nchmod +x x.sh`);
  // Python is compiled.
  await at.say(sandbox, 'python3 -c 1');
});

/** Follows a command. `leadMs`: from the first output to the end. */
async function follow(command: string) {
  const chunks: OutputChunk[] = [];
  let firstMs = Number.NaN;
  const onOutput = (chunk: OutputChunk) => {
    if (chunks.length === 0) firstMs = performance.now();
    chunks.push(chunk);
  };
  const outcome = await sandbox.exec({ command, timeoutMs: 600_000 }, { onOutput });
  return { ...outcome, chunks, leadMs: performance.now() - firstMs };
}

test.each([
  ['python3 x.py'],
  ['cat x.py | python3 -'],
  ['true && python3 x.py && true'],
  ['timeout 50 env A=1 python3 x.py'],
  ['bash -c "python3 x.py"'],
  ['run() { local file=x.py; if true; then python3 $file; fi; }; run'],
  ['( python3 x.py )'],
])('Python’s lines are there when they are printed: %s', async (command) => {
  const { chunks, leadMs, stdout, stderr, exitCode } = await follow(command);
  expect({ stdout, stderr, exitCode }).toEqual({ stdout: 'one\ntwo, é\n', stderr: 'wrong\n', exitCode: 0 });
  expect(leadMs).toBeGreaterThan(PROGRAM_MS - DELAY_MS);
  expect(chunks.map(({ text }) => text)).toEqual(['one\n', 'wrong\n', 'two, é\n']);
});

test.each([
  ['bash x.sh'],
  ['./x.sh 2>&1'],
  ['source x.sh'],
  ['timeout 50 ./x.sh'],
  ['main() { ./x.sh; }; main "$@"'],
  ["bash -c 'cd / && /workspace/x.sh'"],
  [
    "js -e \"const end = Date.now() + 900; console.log('begin'); while (Date.now() < end) if (end - Date.now() < 400) { console.log('round 1'); while (Date.now() < end); } console.log('round 2')\"",
  ],
])('so are those of scripts, functions and JavaScript: %s', async (command) => {
  const { chunks, leadMs, stdout } = await follow(command);
  expect(stdout).toBe('begin\nround 1\nround 2\n');
  expect(chunks.length).toBeGreaterThan(1);
  expect(leadMs).toBeGreaterThan(300);
});

test('stderr comes in its place where it is sent to stdout, and goes elsewhere where it is not', async () => {
  expect((await follow('python3 x.py 2>&1')).stdout).toBe('one\nwrong\ntwo, é\n');
  const quiet = await follow('python3 x.py 2> errors');
  expect([quiet.stdout, quiet.stderr]).toEqual(['one\ntwo, é\n', '']);
  const hidden = await follow('python3 x.py > output 2>&1; cat output errors');
  expect([hidden.stdout, hidden.stderr]).toEqual(['wrong\none\ntwo, é\nwrong\n', '']);
  const mixed = 'f() { echo 1; echo 2 >&2; echo 3; }; f 2>&1; f 2> errors; cat errors';
  expect(await at.say(sandbox, mixed)).toBe('1\n2\n3\n1\n3\n2\n');
});

test('a command that was used wrongly says so in its place, and a program prints its own help', async () => {
  const wrong = 'f() { if [ x -gt 1 ]; then :; fi; [ y -gt 1 ]; ls none; }; [ z -gt 1 ]; f';
  const { stderr } = await follow(wrong);
  expect(stderr.match(/[xyz](?=: integer)|none/g)).toEqual(['z', 'x', 'y', 'none']);
  const program = 'import sys; print(sys.argv[1:])';
  expect((await follow(`python3 -c '${program}' --help`)).stdout).toBe("['--help']\n");
  // Nothing is left over for the one behind it.
  expect(await at.say(sandbox, `python3 --help > /dev/null; python3 -c '${program}' a`)).toBe("['a']\n");
});

test('in a file, a variable or a pipe, too, what went to stderr has its place', async () => {
  const script = `f() { echo 1; if true; then echo 2 >&2; fi; echo 3; }
cat > s.sh <<'X'
echo 1; ls none; echo 3
X
a=$(f 2>&1); echo $a; f > log 2>&1; cat log; f &> log; cat log; f 2>&1 | cat; f 2>&1 > log | tr 2 x; cat log
a=$(bash s.sh 2>&1); echo $a; bash s.sh >> log 2>&1; tail -3 log; ( f; echo 4 ) 2>&1 | tail -4
{ f; g() { f; }; g; } > log 2>&1; cat log; for i in a b; do echo $i; f; done > log 2>&1; cat log
a=$(eval 'echo 1; ls none; echo 3' 2>&1); echo $a; (f) 2> log; cat log; { echo $(f); } 2> log; cat log
a=$(timeout 9 bash s.sh 2>&1); echo $a`;
  const missing = "ls: cannot access 'none': No such file or directory";
  const three = '1\n2\n3\n';
  expect(await at.say(sandbox, script)).toBe(
    `1 2 3\n${three}${three}${three}x\n1\n3\n1 ${missing} 3\n1\n${missing}\n3\n${three}4\n${three}${three}` +
      `a\n${three}b\n${three}1 ${missing} 3\n1\n3\n2\n1 3\n2\n1 ${missing} 3\n`,
  );
});

test('what was printed is kept when the time of a command or a call is over, and nobody else says anything', async () => {
  const say = (command: string) => at.say(sandbox, command);
  expect(await say("timeout 0.3 bash -c 'echo a; while true; do :; done'; echo $?")).toBe('a\n124\n');
  expect(await say("timeout 0.4 bash -c 'f() { for i in 1 2; do echo $i; sleep 9; done; }; f'; echo $?")).toBe(
    '1\n124\n',
  );
  const call = await sandbox.exec({
    command: 'f() { echo b; while true; do echo x > /dev/null; done; }; f; echo c',
    timeoutMs: 500,
  });
  expect(call).toMatchObject({ exitCode: 124, timedOut: true, stdout: 'b\n' });
});

test('a loop in a function whose commands never wait lets its call be stopped', async () => {
  const stop = new AbortController();
  const onOutput = () => stop.abort();
  const command = 'echo p > kept; f() { echo a; sleep 0.3; while :; do :; done; }; f';
  const { stdout, timedOut } = await sandbox.exec({ command, timeoutMs: 50_000 }, { signal: stop.signal, onOutput });
  expect([stdout, timedOut]).toEqual(['a\n', false]);
  // The process goes on.
  expect(await at.say(sandbox, 'cat kept')).toBe('p\n');
});

test('statements keep their meaning where their output is sent: exit codes, set -e, traps, variables, returns', async () => {
  const script = `f() { local v=1; v=2; echo "f $v"; return 3; }; f; echo $?; echo "[$v]"
g() { for i in 1 2 3; do echo $i; [ $i = 2 ] && break; done; w=5; }; g && echo "w $w"
if f > /dev/null; then echo yes; else echo "no $?"; fi; ! f && echo negated; f || echo or
bash -c 'set -e; echo on; false; echo never'; echo $?
bash -c 'trap "echo bye" EXIT; trap "echo failed" ERR; echo hi; false; exit 4'; echo $?
false | true && echo "\${PIPESTATUS[@]}"; true | false || echo "\${PIPESTATUS[@]}"
printf 'l1\\nl2\\n' | { read a; echo "got $a"; cat; }
h() { read a; echo "read $a"; }; h < <(echo from; echo more)
bash -c 'exec > hidden; echo unseen'; cat hidden; declare -f h | head -1; ( echo sub; exit 7 ); echo $?
bash -c 'set -x; a=1; echo $a' 2>&1`;
  expect(await at.say(sandbox, script)).toBe(`f 2
3
[]
1
2
w 5
no 3
f 2
negated
f 2
or
on
1
hi
failed
bye
4
1 0
0 1
got l1
l2
read from
unseen
h () 
sub
7
+ a=1
+ echo 1
1
`);
});

test('what ends a subshell is said once, and what was printed before it is kept', async () => {
  const unset = 'bash: line 1: none: unbound variable\n';
  const command = 'set -u; (echo a; echo $none; echo b); (echo c; { echo d; echo $none; }) | cat; echo $?';
  expect(await follow(command)).toMatchObject({ stdout: 'a\nc\nd\n0\n', stderr: unset + unset });
  const division = '(echo a; echo $((1 / 0)); echo b); echo $?';
  expect(await follow(division)).toMatchObject({
    stdout: 'a\n1\n',
    stderr: 'bash: line 1: 1 / 0: division by 0 (error token is "0")\n',
  });
});
