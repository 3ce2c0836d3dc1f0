// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the syntax of the shell, and of what is changed.
import { expect, test } from 'vitest';
import type { ExecOutcome, InstanceProcess } from '../../workers/protocol/instance.ts';
import { stage } from '../../workers/testing/stage.ts';

/**
 * Every built-in number at which the shell or one of its commands stops was looked up in just-bash's source and tested.
 * Each case returns the whole answer or fails with an error; none returns a part as success.
 */
const at = stage({ maxActive: 200 });

let opened = 0;
let open: InstanceProcess | null = null;

/** Runs a script in an empty workspace. Opens another sandbox when the last one's process ended. */
async function run(command: string): Promise<ExecOutcome> {
  if (open === null) opened += 1;
  const process = open ?? at.open(`cuts-${opened}`);
  open = null;
  const outcome = await process.exec({ command });
  await process.exec({ command: 'rm -rf ./*' });
  open = process;
  return outcome;
}

type Whole = [script: string, stdout: string];

/** Larger than the original limit, or than the nearest number in the source. */
const WHOLE: Whole[] = [
  // Braces: 10 000 words a range, 100 000 operations a script.
  ['echo {1..20000} | wc -w', '20000\n'],
  ['echo {20000..1..3} | wc -w', '6667\n'],
  ['echo a{00001..20000}b | wc -c', '160000\n'],
  ['echo {1..400}{1..400} | wc -w', '160000\n'],
  ['for i in {1..20000}; do :; done; echo $i', '20000\n'],
  ['x=({1..20000}); echo ${#x[@]}', '20000\n'],
  ['eval "echo {1..20000} | wc -w"', '20000\n'],
  ['bash -c "echo {1..20000} | wc -w"', '20000\n'],
  ['echo "echo {1..20000} | wc -w" > s.sh; source ./s.sh; bash s.sh', '20000\n20000\n'],
  ['echo $(echo {1..20000}) | wc -w', '20000\n'],
  ['f() { echo {1..20000} | wc -w; }; f', '20000\n'],
  ['for i in {1..400}; do x=({1..200}); done; echo ${#x[@]}', '200\n'],
  // Scripts: 10 000 commands.
  ['for i in $(seq 10500); do echo "x=$i"; done > long.sh; source ./long.sh; echo $x', '10500\n'],
  // Variables, arrays, arguments, substitutions, here-documents.
  ['x=$(seq 150000); echo ${#x}', '938894\n'],
  ['x=a; for i in $(seq 22); do x=$x$x; done; echo ${#x}', '4194304\n'],
  ['m=($(seq 150000)); echo ${#m[@]} ${m[149999]}', '150000 150000\n'],
  ['mapfile -t m < <(seq 150000); echo ${#m[@]}', '150000\n'],
  ['set -- $(seq 150000); echo $#', '150000\n'],
  ['x=$(echo $(echo $(echo $(echo $(echo deep))))); echo $x', 'deep\n'],
  ['f() { if (($1 > 0)); then f $(($1 - 1)); else echo deep; fi; }; f 150', 'deep\n'],
  ['cat <<< "$(seq 150000)" | wc -l', '150000\n'],
  ["printf '%70000s|' x | wc -c", '70001\n'],
  // Commands over many lines, words or iterations.
  ['seq 150000 | tail -n 120000 | wc -l', '120000\n'],
  ['seq 150000 | head -n 120000 | wc -l', '120000\n'],
  ['seq 150000 | sort -rn | tail -1', '1\n'],
  ['seq 150000 | sort -u | wc -l', '150000\n'],
  ['seq 150000 | uniq | wc -l', '150000\n'],
  ['seq 150000 | tac | head -1', '150000\n'],
  ['seq 150000 | grep -c 1', '90952\n'],
  ['seq 150000 | grep -o . | wc -l', '788895\n'],
  ['seq 150000 | tr -d 1 | wc -c', '808894\n'],
  ['seq 150000 | cut -c1-3 | wc -l', '150000\n'],
  ['seq 150000 | paste - - | wc -l', '75000\n'],
  ['seq 150000 | gzip | gunzip | wc -l', '150000\n'],
  ['seq 150000 | base64 | base64 -d | wc -l', '150000\n'],
  ['seq 150000 | xargs echo | wc -w', '150000\n'],
  ["seq 150000 | awk '{ s += $1 } END { print NR, s }'", '150000 11250075000\n'],
  ["awk 'BEGIN { for (i = 0; i < 150000; i++) n++; print n }'", '150000\n'],
  ["seq 150000 | sed -n '$p'", '150000\n'],
  ["seq 20000 | sed ':a;N;$!ba;s/\\n/,/g' | wc -c", '108894\n'],
  ['seq 20000 | awk \'{ a[NR] = $1 } END { print length(a), length($0), length("xyz") }\'', '20000 5 3\n'],
  [
    'awk \'function n(b) { return length(b) } BEGIN { a[1] = 1; a[2] = 1; x = "four"; print n(a), length(x), length(y) }\'',
    '2 4 0\n',
  ],
  // What is removed one by one took a minute: each looked past all that were removed before it.
  ['seq 150000 | split -l 10 -; ls | wc -l; rm ./*; ls | wc -l', '15000\n0\n'],
  // sed's D: 10 000 times.
  ["seq 20000 | sed '$!N;$!D'", '19999\n20000\n'],
  ["seq 20000 | sed '$!{N;P;D}' | wc -l", '20000\n'],
  ["jq -n '[range(150000)] | length'", '150000\n'],
  ["jq -n 'reduce range(150000) as $i (0; . + 1)'", '150000\n'],
  ["jq -n '[0 | while(. < 20000; . + 1)] | length'", '20000\n'],
  ['seq 150000 | jq -s length', '150000\n'],
  ["jq -n 'reduce range(200) as $i (null; [.]) | tojson | length'", '404\n'],
  ["jq -n '[limit(20000; range(1e9))] | length'", '20000\n'],
  // Directories: `grep -r` 256 deep.
  [
    'for i in $(seq 300); do mkdir d; cd d; done; echo needle > f; cd /workspace; grep -r needle d | wc -l; find d -name f | wc -l; rm -r d',
    '1\n1\n',
  ],
  [
    'for i in $(seq 1500); do : > g$i; done; echo g* | wc -w; ls g* | wc -l; find . -name "g*" | wc -l',
    '1500\n1500\n1500\n',
  ],
  [
    'mkdir d; : > a; : > b; : > d/c; ls a b | wc -l; ls -l a b | wc -l; ls -d a d b | wc -l; ls a d',
    '2\n2\n3\na\n\nd:\nc\n',
  ],
  // Arithmetic: 32 bits in shifts and masks.
  [
    'echo $((1 << 40)) $((2 ** 40 >> 3)) $((2 ** 40 | 1)) $(((2 ** 40 + 5) & 2 ** 40)) $((~(2 ** 40)))',
    '1099511627776 137438953472 1099511627777 1099511627776 -1099511627777\n',
  ],
  [
    'echo $((-5 >> 1)) $((6 & 3)) $((6 | 3)) $((6 ^ 3)) $((x = 5, x <<= 3)) $((7 / 2)) $((-7 % 3)) $((0xff))',
    '-3 2 7 5 40 3 -1 255\n',
  ],
  ['x=9223372036854775807; ((5 < x)) && echo less', 'less\n'],
];

test.each(WHOLE)('whole: %s', async (script, stdout) => {
  expect(await run(script)).toMatchObject({ stdout, stderr: '', exitCode: 0 });
});

/** Cases that fail, and their errors. */
const REFUSED: [script: string, error: string][] = [
  ['echo {1..3000000}', 'brace expansion result limit exceeded (1048576)'],
  ['echo {1..99999999999}', 'brace expansion result limit exceeded (1048576)'],
  ['echo {1..2000}{1..2000}', 'brace expansion result limit exceeded (1048576)'],
  ['eval "x=({1..3000000})"', 'brace expansion result limit exceeded (1048576)'],
  ['x=a; while :; do x=$x$x; done', 'limit exceeded'],
  ['f() { f; }; f', 'maximum recursion depth (200) exceeded'],
  ['f() { echo $(f); }; f', 'Command substitution nesting limit exceeded (50)'],
  ['f() { f; }; f', 'maximum recursion depth (200) exceeded'],
  ['awk \'BEGIN { printf "%20000s", "x" }\'', 'printf width limit exceeded'],
  ["awk 'function f(n) { return n <= 0 ? 0 : 1 + f(n - 1) } BEGIN { print f(500) }'", 'recursion depth exceeded'],
  ["jq -n 'def f: 1 + f; f'", 'it takes more memory than one call of it has'],
  ['seq 150000 | split -a 2 -l 10 -', 'output file suffixes exhausted'],
  ['cat /dev/zero > zeros', '/dev/zero'],
];

test.each(REFUSED)('an error with a sentence: %s', async (script, error) => {
  const { exitCode, stderr } = await run(script);
  expect(stderr).toContain(error);
  expect(exitCode).not.toBe(0);
});
