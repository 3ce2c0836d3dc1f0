// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the syntax of the shell.
/** `trap`, and what `set -e` and `set -u` end, as bash does it. */
import { expect, test } from 'vitest';
import { Bash } from './bash.ts';

async function run(command: string): Promise<string> {
  const { stdout, exitCode } = await new Bash().exec(command, { rawScript: true });
  return `${stdout}${exitCode}`;
}

test.each([
  ["trap 'echo bye é' EXIT; echo hi", 'hi\nbye é\n0'],
  ["trap 'echo $?' EXIT; exit 3", '3\n3'],
  ["trap 'exit 9' EXIT; exit 1", '9'],
  ["trap 'echo $?; true' EXIT; false", '1\n1'],
  ["(trap 'echo sub' EXIT; echo in); echo out", 'in\nsub\nout\n0'],
  ["x=$(trap 'echo s' EXIT; echo c); echo [$x]", '[c s]\n0'],
  ["trap 'echo outer' EXIT; (echo in); echo $(echo sub)", 'in\nsub\nouter\n0'],
  ['bash -c \'trap "echo inner" EXIT; exit 5\'; echo $?', 'inner\n5\n0'],
  ["trap 'echo one' EXIT; trap - EXIT; echo end", 'end\n0'],
  ["set -e; trap 'echo end' EXIT; false; echo never", 'end\n1'],
])('an EXIT action runs when its shell ends: %s', async (script, answer) => {
  expect(await run(script)).toBe(answer);
});

test.each([
  ["set -e; trap 'echo failed $?' ERR; { false; }; echo never", 'failed 1\n1'],
  ["trap 'echo failed' ERR; false || true; if false; then :; fi; ! true; echo end", 'end\n0'],
  ["set -Eeuo pipefail; trap 'echo failed' ERR; f() { false; }; f", 'failed\n1'],
  ["f() { trap 'echo leaving' RETURN; echo in; }; f; g() { echo g; }; g", 'in\nleaving\ng\n0'],
  ["trap 'echo i' INT; trap; trap '' TERM; trap -p TERM", "trap -- 'echo i' SIGINT\ntrap -- '' SIGTERM\n0"],
])('actions for errors, returns and signals: %s', async (script, answer) => {
  expect(await run(script)).toBe(answer);
});

test('a trap that the shell cannot keep is refused in a sentence', async () => {
  const { stderr, exitCode } = await new Bash().exec("trap 'echo x' DEBUG");
  expect({ stderr, exitCode }).toEqual({
    stderr: 'bash: line 1: trap: DEBUG: actions before each command are not supported\n',
    exitCode: 1,
  });
});

test.each([
  ['set -e; f() { false; echo in; }; f || echo caught; echo end', 'in\nend\n0'],
  ['set -e; f() { false; echo in; }; if f; then echo yes; fi', 'in\nyes\n0'],
  ['set -e; f() { false; echo never; }; true && f; echo never', '1'],
  ['set -eu; echo "${nope:-fallback}" "${nope-x}"; echo end', 'fallback x\nend\n0'],
  ['set -u; { echo $nope; }; echo never', '127'],
  ['set -u; for i in 1 2; do echo $nope; done; echo never', '127'],
  ['set -u; f() { echo $nope; }; f; echo never', '127'],
  ['set -u; (echo $nope); echo $?', '1\n0'],
  ['f() { (( $1 < 2 )) && echo 1 || echo $(( $1 * $(f $(( $1 - 1 ))) )); }; f 5', '120\n0'],
  ["A=1 bash -c 'echo $A'; env B=2 bash -c 'echo $B'", '1\n2\n0'],
  ['echo $((1 / 0)); echo never', '1'],
  ['f() { for i in 1 2; do { echo $((08)); }; done; }; f; echo never', '1'],
  ["trap 'echo end' EXIT; if [ $((1 / 0)) -eq 1 ]; then :; fi; echo never", 'end\n1'],
  ['echo $((1 / 0)) | cat; (echo $((1 / 0))); x=$(echo $((1 / 0))); ((1 / 0)); let 1/0; echo $?', '1\n0'],
  [
    'env -u HOME sh -c \'echo "[$HOME]"\'; env -i bash -c \'echo "[$USER]"\'; unset HOME; sh -c \'echo "[$HOME]"\'',
    '[]\n[]\n[]\n0',
  ],
  ['x=1; export y=2; bash -c \'echo "[$x][$y]"; IFS=, read a b <<< p,q; echo $b\'', '[][2]\nq\n0'],
  ["echo a1 a2 b1 b2 | awk 'length > 8'; echo abc | awk '{ print length, length + 1 }'", 'a1 a2 b1 b2\n3 4\n0'],
])('options and expansions: %s', async (script, answer) => {
  expect(await run(script)).toBe(answer);
});

test('a mask is kept and shown', async () => {
  expect(await run('umask; umask 077; umask; umask -S; (umask 0); umask')).toBe('0022\n0077\nu=rwx,g=,o=\n0077\n0');
  expect(await run('umask u=rwx')).toBe('1');
});
