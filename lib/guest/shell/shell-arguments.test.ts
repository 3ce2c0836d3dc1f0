// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the content of shell scripts.
/** Shells that scripts start, as agents and their frameworks type them. */
import { expect, test } from 'vitest';
import { stage } from '../../workers/testing/stage.ts';

const { open } = stage();

/** Each with what bash 5.2 prints, its exit code last. */
const CASES: readonly [command: string, printed: string][] = [
  ["bash -lc 'echo a $0'", 'a bash\n0\n'],
  ["bash -lc 'cd /tmp && pwd'; pwd", '/tmp\n/workspace\n0\n'],
  ["bash -l -c 'exit 3'", '3\n'],
  ["timeout 5 bash -lc 'echo o'", 'o\n0\n'],
  ["sh -ec 'false; echo no'", '1\n'],
  ["bash -euo pipefail -c 'echo $1' _ b", 'b\n0\n'],
  ["bash -euo pipefail -c 'false | true; echo no'", '1\n'],
  ["bash +e -c 'false; echo on'", 'on\n0\n'],
  ["bash -c -e 'false; echo no'", '1\n'],
  ["bash --norc --noprofile -c 'echo i'", 'i\n0\n'],
  ["{ bash -x -c 'echo k' > /dev/null; } 2>&1", '+ echo k\n0\n'],
  ["bash -s <<< 'echo e'", 'e\n0\n'],
  ["echo 'echo $1' | bash -s -- g", 'g\n0\n'],
  ["printf 'a\\nb\\n' | bash -lc 'read x; echo got $x; cat'", 'got a\nb\n0\n'],
  ["bash -lc $'cat <<EOF\\nhi\\nEOF'", 'hi\n0\n'],
  ["bash -c 'echo $1' _ --help", '--help\n0\n'],
  ["printf 'echo $0 $1\\nfalse\\necho more\\n' > s.sh; bash -e s.sh m", 's.sh m\n1\n'],
  ['bash -n s.sh', '0\n'],
  ["printf 'if true\\n' > bad.sh; bash -n bad.sh 2> /dev/null", '2\n'],
  ['bash -l nowhere.sh 2>&1', 'bash: nowhere.sh: No such file or directory\n127\n'],
  ['bash -c 2>&1', 'bash: -c: option requires an argument\n2\n'],
  ['mkdir d; bash d 2>&1', 'd: d: Is a directory\n126\n'],
  ["echo 'cat; read -r x || echo none' | bash", 'none\n0\n'],
  ["printf 'echo $((1 +\n' | bash -n 2> /dev/null", '2\n'],
];

/** Scripts that are run as programs, each with what bash 5.2 prints. */
const PROGRAMS: readonly [script: string, command: string, printed: string][] = [
  ['#!/usr/bin/env python3\nimport sys\nprint(sys.argv)\n', './p "a b"', "['./p', 'a b']\n0\n"],
  ['#!/usr/bin/awk -f\n{ print $2 }\n', "echo 'a b' | ./p", 'b\n0\n'],
  ['#!/bin/bash -e\nfalse\necho no\n', './p', '1\n'],
  ['#!/usr/bin/ruby\n', './p 2>&1', 'bash: line 5: ./p: cannot execute: required file not found\n127\n'],
  ['#!/usr/bin/env ruby\n', './p 2>&1', 'env: ‘ruby’: No such file or directory\n127\n'],
  ['echo $0 $# ${11} [$x] [$y]\n', 'x=1; export y=2; ./p {1..11}', './p 11 11 [] [2]\n0\n'],
  ['f 2> /dev/null || echo none\n', 'f() { echo f; }; ./p', 'none\n0\n'],
  ['for x; do echo "[$x]"; done\n', "./p 'a b' ''", '[a b]\n[]\n0\n'],
  ['echo ${BASH_SOURCE[0]}\n', './p; bash p; . ./p', './p\np\n./p\n0\n'],
  ['[ "${BASH_SOURCE[0]}" = "$0" ] && echo run\n', './p; . ./p', 'run\n1\n'],
  ['[ $# = 0 ] && echo end && exit 3; shift; exec "$0" "$@"; echo no\n', './p a b', 'end\n3\n'],
  ["trap 'echo bye' EXIT; exec echo hi; echo no\n", './p', 'hi\n0\n'],
  ['exec nowhere; echo no\n', './p 2> /dev/null', '127\n'],
  ['i=0; for ((;;)); do ((++i > 2)) && break; echo $i; done\n', './p', '1\n2\n0\n'],
];

test('options of bash and sh, together and apart, before a script, a file or standard input', async () => {
  const process = open('shells');
  for (const [command, printed] of CASES) {
    const { stdout } = await process.exec({ command: `${command}\necho $?` });
    expect([command, stdout]).toEqual([command, printed]);
  }
  const { stdout, stderr, exitCode } = await process.exec({ command: 'bash -Z' });
  expect([stdout, stderr, exitCode]).toEqual(['', 'bash: -Z: invalid option\n', 2]);
  await process.kill('killed');
});

test('a file that is run as a program is run by what its first line names, in a shell of its own', async () => {
  const process = open('programs');
  for (const [script, command, printed] of PROGRAMS) {
    const write = `cat > p <<'END'\n${script}END\nchmod +x p`;
    const { stdout } = await process.exec({ command: `${write}\n${command}\necho $?` });
    expect([script, command, stdout]).toEqual([script, command, printed]);
  }
  await process.kill('killed');
});

test('what a shell sets holds in no other shell and in no later call', async () => {
  const process = open('settings');
  const set = "shopt -s nullglob; readonly R=1; hash -p /bin/ls zz; bash -c 'R=2; echo $R *.none'; echo *.none";
  expect((await process.exec({ command: set })).stdout).toBe('2 *.none\n\n');
  expect(await process.exec({ command: 'R=3; echo $R *.none; zz 2> /dev/null' })).toMatchObject({
    stdout: '3 *.none\n',
    exitCode: 127,
  });
  await process.kill('killed');
});

test.each([
  'echo a | | cat',
  'echo a | ; echo b',
  'echo a && && echo b',
  'echo a ||',
  'echo a |',
  'x=$(( 1 +',
  'for ((i=0;i<2)); do echo; done',
  'for x in a; do done',
])('%s is a syntax error, and nothing of it is run', async (command) => {
  const process = open('syntax');
  const { stdout, stderr, exitCode } = await process.exec({ command });
  expect([stdout, exitCode]).toEqual(['', 2]);
  expect(stderr).toMatch(/^bash: syntax error: .+\n$/);
  await process.kill('killed');
});

test.each([
  [`printf '%1000000000d' 1`, 'printf: format width limit exceeded'],
  [`printf '%*s' 1000000000 x`, 'printf: format width limit exceeded'],
  [`x=$(printf '%100000000d' 1); [ "$x" = '' ] && false`, 'printf: format width limit exceeded'],
])('%s fails, and the script goes on', async (command, sentence) => {
  const process = open('large');
  const { stdout, stderr } = await process.exec({ command: `${command}; echo "on $?"` });
  expect(stdout).toBe('on 1\n');
  expect(stderr).toContain(sentence);
  await process.kill('killed');
});
