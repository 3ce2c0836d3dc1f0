/** Errors read as bash's and GNU's do, and none as just-bash or its file system says them. */
import { expect, test } from 'vitest';
import { stage } from '../../workers/testing/stage.ts';

const at = stage();

const SCRIPTS: readonly [script: string, stdout: string, stderr: string][] = [
  ['echo $((08)); echo on', '', 'bash: line 1: 08: value too great for base (error token is "08")\n'],
  ['x=2024-01-08; echo $((x))', '', 'bash: line 1: 2024-01-08: value too great for base (error token is "08")\n'],
  ['echo $((1/0))', '', 'bash: line 1: 1/0: division by 0 (error token is "0")\n'],
  ['((7 % 0)); echo $?', '1\n', 'bash: line 1: ((: 7 % 0: division by 0 (error token is "0")\n'],
  ['echo $((1$))', '', 'bash: line 1: 1$: syntax error: invalid arithmetic operator (error token is "$")\n'],
  ['[[ 08 -eq 8 ]]; echo $?', '1\n', 'bash: line 1: [[: 08: value too great for base (error token is "08")\n'],
  ['declare -i n; n=08; echo on', '', 'bash: line 1: 08: value too great for base (error token is "08")\n'],
  ['printf "%d\\n" 08; echo $?', '0\n1\n', 'bash: line 1: printf: 08: invalid number\n'],
  ['mkdir d; awk \'BEGIN{print 1 > "d"}\'; echo $?', '2\n', 'awk: d: Is a directory\n'],
  ['awk \'BEGIN{print 1 > "no/x"}\'; echo $?', '2\n', 'awk: no/x: No such file or directory\n'],
  ['ln -s loop loop; awk \'BEGIN{print 1 > "loop"}\'', '', 'awk: loop: Too many levels of symbolic links\n'],
  // What a program of the guest says itself stays.
  ['f() { echo "f: ENOENT: gone, \'/x\'" >&2; }; f', '', "f: ENOENT: gone, '/x'\n"],
];

test.each(SCRIPTS)('%s', async (command, stdout, stderr) => {
  const id = `said-${SCRIPTS.findIndex(([script]) => script === command)}`;
  expect(await at.open(id).exec({ command })).toMatchObject({ stdout, stderr });
});
