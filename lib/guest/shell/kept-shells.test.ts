// biome-ignore-all lint/suspicious/noTemplateCurlyInString: lines of the shell.
import { expect, test } from 'vitest';
import type { InstanceProcess } from '../../workers/protocol/instance.ts';
import { MAX_KEPT_LENGTH } from '../../workers/protocol/protocol.ts';
import { stage } from '../../workers/testing/stage.ts';

const at = stage();

/** A terminal: what each line prints, stdout and stderr apart, with its exit code where it is not 0. */
function terminal(process: InstanceProcess) {
  let [kept, cwd] = ['', '/workspace'];
  return async (command: string) => {
    const done = await process.exec({ command, cwd, kept });
    cwd = done.cwd;
    kept = done.kept ?? kept;
    return [done.stdout, done.stderr, ...(done.exitCode === 0 ? [] : [done.exitCode])].filter((part) => part !== '');
  };
}

test('variables, arrays and their attributes hold from line to line, and so does what is taken away', async () => {
  const type = terminal(at.open('variables'));
  await type('export A=1; B=two; declare -i N=5; arr=(x y z); declare -A m=([k]=v); declare -n ref=B');
  expect(await type("env | grep '^[AB]='; N=2+3; ref=2; echo $A $B $N ${#arr[@]} ${m[k]}")).toEqual([
    'A=1\n1 2 5 3 v\n',
  ]);
  await type('unset A arr[1]; export -n HOME; unset LANG; IFS=,; set -- p q');
  expect(await type('echo [${A-none}] [${LANG-none}] ${!arr[@]}; env | grep -c ^HOME; s=a,b; echo $s $# $2')).toEqual([
    '[none] [none] 0 2\n0\na b 2 q\n',
  ]);
  await type('readonly R=1');
  expect(await type('R=2')).toEqual(['bash: line 1: R: readonly variable\n', 1]);
  expect(await type('echo $R $B')).toEqual(['1 2\n']);
  expect(await type('false')).toEqual([1]);
  expect(await type('echo $?')).toEqual(['1\n']);
});

test('functions hold, with here-documents, numbers of 64 bits and patterns, and can be stopped', async () => {
  const type = terminal(at.open('functions'));
  await type('shopt -s extglob');
  await type('f() { cat <<X\n$1 $((9223372036854775807 - 1))\nX\n[[ ab == @(ab|c) ]] && echo "yes $(g)"; return 3; }');
  await type('g() { local i; for i in 1 2; do printf "%s;" "$i"; done; }');
  expect(await type('f one; echo $?')).toEqual(['one 9223372036854775806\nyes 1;2;\n3\n']);
  expect(await type('f one; echo $?')).toEqual(['one 9223372036854775806\nyes 1;2;\n3\n']);
  await type('loop() { while :; do :; done; }');
  expect(await type('timeout 1 true; (loop) & sleep 0; echo here')).toHaveLength(2);
  expect(await type('type -t f g loop; unset -f f; f')).toEqual([
    'function\nfunction\nfunction\n',
    'bash: line 1: f: command not found\n',
    127,
  ]);
});

test('what declare -f prints of a here-document is the function again', async () => {
  const a = at.open('printed');
  const f = 'f() { cat <<X\n$1\nX\necho "$(( 1 << 2 ))"; return 3; }';
  const done = await a.exec({ command: `${f}\ng=$(declare -f f); unset -f f; eval "$g"; f one; echo $?` });
  expect(done).toMatchObject({ stdout: 'one\n4\n3\n', stderr: '' });
});

test('aliases are words of the next line', async () => {
  const type = terminal(at.open('aliases'));
  await type("alias say='echo said'");
  expect(await type('say x')).toEqual(['said x\n']);
  expect(await type('say x | tee log; cat log')).toEqual(['said x\nsaid x\n']);
  expect(await type('unalias say; say')).toHaveLength(2);
});

test('options, traps, the mask, the stack of directories and the way back hold', async () => {
  const type = terminal(at.open('options'));
  await type('set -o pipefail; set -f; shopt -s nullglob; umask 077; cd /tmp; pushd /memory');
  expect(await type('false | true')).toEqual([1]);
  expect(await type('echo *; shopt -q nullglob && echo on; umask; dirs; popd > /dev/null; cd -')).toEqual([
    '*\non\n0077\n/memory /tmp\n/memory\n',
  ]);
  await type("trap 'echo failed' ERR; trap 'echo bye' EXIT");
  expect(await type('false')).toEqual(['failed\n', 1]);
  expect(await type('exit 4')).toEqual(['bye\n', 4]);
  expect(await type('trap; umask; shopt -q nullglob || echo off; pwd')).toEqual(['0022\noff\n/memory\n']);
});

test('history tells the lines of the terminal, also those before an exit, and is cleared', async () => {
  const type = terminal(at.open('history'));
  await type('echo one');
  await type('exit');
  expect(await type('history')).toEqual(['    1  echo one\n    2  exit\n    3  history\n']);
  await type('history -c');
  expect(await type('history')).toEqual(['    1  history\n']);
  for (let line = 0; line < 3; line += 1) await type(`: ${'x'.repeat(30_000)}`);
  expect((await type('history | wc -l'))[0]).toBe('3\n');
});

test('what failed, was ended for its time or cannot be read leaves the terminal as it can be', async () => {
  const a = at.open('failures');
  const type = terminal(a);
  await type('x=1; f() { local x=2; sleep 20; }');
  expect(await type('echo "open')).toHaveLength(2);
  const { kept, timedOut } = await a.exec({
    command: 'y=3; f',
    timeoutMs: 300,
    kept: (await a.exec({ command: 'x=1; f() { local x=2; sleep 20; }', kept: '' })).kept ?? '',
  });
  expect(timedOut).toBe(true);
  expect((await a.exec({ command: 'echo $x $y; type -t f', kept })).stdout).toBe('1 3\nfunction\n');
  expect(await type('echo $x')).toEqual(['1\n']);
  for (const broken of ['no text of ours', Buffer.from('{"variables":3}').toString('base64')])
    expect((await a.exec({ command: 'echo [$x]', kept: broken })).stdout).toBe('[]\n');
});

test('a line after which a terminal would keep too much says so, and the terminal goes on as it was', async () => {
  const type = terminal(at.open('large'));
  await type('x=small');
  // Bytes that cannot be packed.
  const [told] = await type(`x=$(head -c ${MAX_KEPT_LENGTH} /dev/urandom | base64 -w0)`);
  expect(told).toBe(
    'bash: the variables, functions and aliases of this terminal take more than 256 KiB: what this line changed of them is not kept\n',
  );
  expect(await type('echo $x')).toEqual(['small\n']);
  await type('y=$(head -c 3000000 /dev/zero | tr "\\0" a)');
  expect(await type('echo ${#y}')).toEqual(['3000000\n']);
});

test('a call that is no line of a terminal keeps nothing', async () => {
  const a = at.open('calls');
  expect(await a.exec({ command: 'x=1' })).not.toHaveProperty('kept');
});
