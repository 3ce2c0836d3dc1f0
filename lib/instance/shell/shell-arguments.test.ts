/** Shells that scripts start, as agents and their frameworks type them. */
import { expect, test } from 'vitest';
import { stage } from '../testing/stage.ts';

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
