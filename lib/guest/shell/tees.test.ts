/** What goes through `tee` at the end of a pipeline is there while it runs, and all else is as without a follower. */
import { beforeAll, expect, test } from 'vitest';
import type { InstanceProcess, OutputChunk } from '../../workers/protocol/instance.ts';
import { stage } from '../../workers/testing/stage.ts';

const at = stage();
let sandbox: InstanceProcess;

const SCRIPT = `#!/bin/bash
echo begin
for i in 1 2; do sleep 0.5; echo "round $i"; done`;
const PROGRAM = `import time
print('begin'); time.sleep(0.5); print('round 1'); time.sleep(0.5); print('round 2')`;
const ROUNDS = 'begin\nround 1\nround 2\n';

beforeAll(async () => {
  sandbox = at.open('tees');
  await at.say(sandbox, `cat > x.sh <<'X'\n${SCRIPT}\nX\ncat > x.py <<'X'\n${PROGRAM}\nX\nchmod +x x.sh`);
  // Python is compiled.
  await at.say(sandbox, 'python3 -c 1');
});

/** Follows a command. `leadMs`: from the first output to the end. */
async function follow(command: string, timeoutMs = 600_000) {
  const chunks: OutputChunk[] = [];
  let firstMs = Number.NaN;
  const onOutput = (chunk: OutputChunk) => {
    if (chunks.length === 0) firstMs = performance.now();
    chunks.push(chunk);
  };
  const outcome = await sandbox.exec({ command, timeoutMs }, { onOutput });
  return { ...outcome, chunks, leadMs: performance.now() - firstMs };
}

function said({ stdout, stderr, exitCode }: { stdout: string; stderr: string; exitCode: number }) {
  return { stdout, stderr: stderr.replace(/\d\.\d{3}s/g, '0.000s'), exitCode };
}

/** What a command says with a follower and without one, which must be the same. */
async function bothWays(command: string) {
  const folder = 'rm -rf /workspace/way; mkdir /workspace/way; cd /workspace/way';
  const script = `${folder}\n${command}`;
  const alone = said(await sandbox.exec({ command: script }));
  expect(said(await follow(script))).toEqual(alone);
  return alone;
}

test.each([
  ['./x.sh | tee log'],
  ['bash x.sh 2>&1 | tee -a log'],
  ['./x.sh |& tee -ai log | cat'],
  ['./x.sh | cat | tee hidden log'],
  ['timeout 300 ./x.sh | tee log'],
  ['(cd /; /workspace/x.sh) | tee log'],
  ['echo begin | { cat; for i in 1 2; do sleep 0.5; echo round $i; done; } | tee log'],
  [
    "printf '0\\n1\\n2\\n' | while read i; do [ $i = 0 ] && echo begin || { sleep 0.5; echo round $i; }; done | tee log",
  ],
  ['build() { ./x.sh; }; build 2>&1 | tee "$HOME/log"'],
  ['build() { ./x.sh | tee inner; }; build | tee log; cmp inner log'],
  ["bash -c './x.sh | tee log'"],
  ['set -e; true && ./x.sh | tee log && true'],
  ['cat <(echo 1) > hidden; ./x.sh | tee log'],
  ['python3 x.py | tee log'],
  ['python3 x.py 2>&1 | tee log'],
  [
    "js -e \"const end = Date.now() + 900; console.log('begin'); while (Date.now() < end) if (end - Date.now() < 400) { console.log('round 1'); while (Date.now() < end); } console.log('round 2')\" | tee log",
  ],
])('what is printed in front of tee is there when it is printed, and in the file at the end: %s', async (command) => {
  await at.say(sandbox, 'rm -f log hidden inner');
  const { chunks, leadMs, stdout, stderr, exitCode } = await follow(command);
  expect({ stdout, stderr, exitCode }).toEqual({ stdout: ROUNDS, stderr: '', exitCode: 0 });
  expect(chunks.length).toBeGreaterThan(1);
  expect(leadMs).toBeGreaterThan(300);
  expect(await at.say(sandbox, 'cat log')).toBe(ROUNDS);
});

test('tail -f goes through tee', async () => {
  const { chunks, stdout } = await follow(
    `echo a > f; timeout 2 tail -f f | tee copy; echo $? "\${PIPESTATUS[@]}"; cat copy`,
  );
  expect(stdout).toBe('a\n0 124 0\na\n');
  expect(chunks[0]?.text).toBe('a\n');
});

test('exit codes, PIPESTATUS, pipefail, set -e, !, exit, break and time are those of the pipeline', async () => {
  const command = `(echo a; exit 3) | tee log; echo "$? \${PIPESTATUS[@]}"; f() { echo b; return 4; }; f | tee log | cat
echo "\${PIPESTATUS[@]}"; ! (echo c; exit 3) | tee log; echo $?; set -o pipefail; (echo d; exit 5) | tee log; echo $?
! (echo e; exit 3) | tee log; echo $?; if (echo g; exit 1) | tee log; then echo yes; else echo no; fi
bash -c 'set -e; (echo h; false; echo never) | tee log; echo on; set -o pipefail; (echo i; false) | tee log; echo off'
echo $?; false | { echo j; } | tee log || echo failed; x=1; { x=2; echo k; } | tee log; echo $x; (cd /; ls -d ~) | tee log; cat log
bash -c 'trap "echo bye" EXIT; trap "echo wrong" ERR; (trap "echo inner" EXIT; echo l) | tee log; false'; cat log
for i in 1 2 3; do (echo $i; [ $i != 2 ]) | tee -a all || break; done; cat all; time true | tee log`;
  const { stdout, stderr } = await bothWays(command);
  expect(stdout).toBe(`a
0 3 0
b
4 0 0
c
1
d
5
e
0
g
no
h
on
i
1
j
failed
k
1
/workspace
/workspace
l
inner
wrong
bye
l
inner
1
2
1
2
`);
  expect(stderr).toMatch(/^\nreal/);
});

test('redirections on either side, and errors of tee, are as before', async () => {
  const f = 'f() { echo 1; echo 2 >&2; echo 3; }';
  const command = `${f}; f | tee log 2> e; f 2> e | tee log; cat e; f 2> /dev/null | tee log > hidden; cat log hidden
f >&2 | tee log; cat log; f > o 2>&1 | tee log; cat o; { f | tee log; } > o; cat o; a=$(f 2>&1 | tee log); echo $a
f 2>&1 | tee -a log; cat log; ls none | f | tee log; mkdir d; f | tee d; echo $?; f | tee missing/x log; echo $?; cat log
f | tee /etc/x; echo $?; (echo y; rm log; mkdir log) | tee log; echo $?; echo z | tee /dev/null; echo z | tee -z; echo $?
echo q | tee >(sed s/q/r/ > s); cat s; echo q | tee -- -x; cat ./-x; n='p q'; echo w | tee $n; cat p q`;
  const { stdout, stderr } = await bothWays(command);
  expect(stdout).toBe(
    `1\n3\n1\n3\n2\n1\n3\n1\n3\n1\n2\n3\n1\n3\n1 2 3\n1\n2\n3\n1\n2\n3\n1\n2\n3\n1\n3\n1\n3\n1\n1\n3\n1\n1\n3\n` +
      '1\n3\n1\ny\n1\nz\n1\nq\nr\nq\nq\nw\nw\nw\n',
  );
  expect(stderr.match(/tee: [^:\n]*/g)).toEqual([
    'tee: d',
    'tee: missing/x',
    'tee: /etc/x',
    'tee: log',
    "tee: invalid option -- 'z'",
  ]);
});

test('with 2>&1 and |& stderr has its place, and elsewhere it stays out of the file', async () => {
  const f = 'f() { echo 1; echo 2 >&2; echo 3; }';
  expect((await follow(`${f}; f |& tee log; cat log; { f | tee log; } 2>&1; cat log`)).stdout).toBe(
    '1\n2\n3\n1\n2\n3\n1\n2\n3\n1\n3\n',
  );
});

test('bytes go through as they are', async () => {
  const command = `{ printf '\\xff\\0\\xc3'; sleep 0.1; printf '\\xa9é\\n'; } | tee a | tee -a b | cat; cmp a b; od -An -tx1 a`;
  expect((await bothWays(command)).stdout).toBe('\udcff\0éé\n ff 00 c3 a9 c3 a9 0a\n');
});

test('what is called tee and is another program is given all at its end', async () => {
  const command = `tee() { sed s/a/b/; }; echo a | tee log; unset -f tee; mkdir bin; echo 'sed s/a/c/' > bin/tee
chmod +x bin/tee; PATH=$PWD/bin:$PATH; echo a | tee log; PATH=/usr/bin:/bin; hash -r; h=--help; echo a | tee "$h" | head -c 5
shopt -s expand_aliases
alias tee='sed s/a/d/'
echo a | tee`;
  expect((await bothWays(command)).stdout).toBe('b\nc\nUsaged\n');
});

test('when the time is over, or the call is stopped, the file has what was shown', async () => {
  const slow = 'echo 1; echo 2; sleep 60; echo 3';
  const inner = await follow(`timeout 2 bash -c '(${slow}) | tee -a log1'; echo $?; cat log1`);
  expect(inner.stdout).toBe('1\n2\n124\n1\n2\n');
  const front = await follow(`timeout 2 bash -c '${slow}' | tee log2; echo "\${PIPESTATUS[@]}"; cat log2`);
  expect(front.stdout).toBe('1\n2\n124 0\n1\n2\n');
  const call = await follow(`mkdir -p d; echo old > log3; (cd d; ${slow}) 2>&1 | tee -a log3 | cat; echo on`, 3000);
  expect(call).toMatchObject({ exitCode: 124, timedOut: true, stdout: '1\n2\n' });
  expect(await at.say(sandbox, 'cat log3')).toBe('old\n1\n2\n');
  const stop = new AbortController();
  const stopped = await sandbox.exec(
    { command: `f() { ${slow}; }; f | tee log4`, timeoutMs: 600_000 },
    { signal: stop.signal, onOutput: () => stop.abort() },
  );
  expect(stopped.stdout).toMatch(/^1\n/);
  expect(stopped.timedOut).toBe(false);
  expect(await at.say(sandbox, 'cat log4')).toBe(stopped.stdout);
});

test('what an output may have is what it may have without a follower', async () => {
  const flood = await bothWays(
    `yes | tee log | cat | tail -c 2; yes | tee log; echo "\${PIPESTATUS[@]}" >&2; wc -c log >&2`,
  );
  expect(flood.stderr).toMatch(/written\n1 0\n4194304 log\n$/);
  const print = "const line = 'x'.repeat(1e6); for (let i = 0; i < 5; i += 1) console.log(line)";
  const js = await bothWays(`js -e "${print}" | tee log; echo "\${PIPESTATUS[@]}" >&2; wc -c log >&2`);
  expect(js.stderr).toBe('js: more than 4194304 bytes were written, the rest was dropped\n1 0\n4194304 log\n');
  const many = 'for i in 1 2 3; do head -c 3000000 /dev/zero; done';
  const all = await bothWays(`(${many}) | tee log; echo "\${PIPESTATUS[@]}" >&2; wc -c log >&2`);
  expect(all.stderr).toBe('0 0\n9000000 log\n');
  expect(all.stdout.length).toBe(4_194_304);
});
