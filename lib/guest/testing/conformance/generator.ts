// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the syntax of the shell.
/**
 * Draws invocations that nobody has tuned the shell for: commands, options, files and pipelines put together by chance.
 * The same seed draws the same invocations.
 */
import type { Invocation } from './table.ts';

/** Numbers from 0 to below 1 (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const TEXTS = [
  'data/words.txt',
  'data/teams.txt',
  'data/people.csv',
  'data/numbers.txt',
  'data/scores.tsv',
  'logs/app.log',
  'logs/error.log',
  'src/index.ts',
  'src/lib/math.ts',
  'README.md',
  '.env',
  'versions/old.txt',
  'data/blank-lines.txt',
  'data/no-newline.txt',
  "'docs/my notes.txt'",
  "'docs/naïve café.md'",
  "'odd/two  spaces.txt'",
];
const FOLDERS = ['.', 'src', 'data', 'docs', 'logs', 'deep', 'versions', 'scripts'];
const PATTERNS = [
  'TODO',
  'export',
  'ERROR',
  'a',
  'fig',
  '^a',
  'e$',
  '[0-9]',
  'red',
  'the',
  'import',
  'nothing-like-it',
];
const GLOBS = ['*.ts', '*.txt', '*.md', '*.log', 'm*', '*a*', '[a-m]*', '*.test.ts'];

type Draw = <T>(from: readonly T[]) => T;
type Form = (draw: Draw, count: (most: number) => number) => string;

const FILTERS: readonly Form[] = [
  (_, count) => `head -n ${count(5)}`,
  (_, count) => `tail -n ${count(5)}`,
  (_, count) => `tail -n +${count(4)}`,
  () => 'sort',
  (draw) => `sort ${draw(['-r', '-u', '-n', '-f', '-rn', '-k2', '-t, -k2', '-k1,1 -s', '-V'])}`,
  (draw) => `sort | uniq ${draw(['', '-c', '-d', '-u', '-ic'])}`,
  (draw) => `wc ${draw(['-l', '-w', '-c', '-m', ''])}`,
  (draw) =>
    `tr ${draw(['a-z A-Z', "-d '\\r'", "-s ' '", "'[:upper:]' '[:lower:]'", "-cd '[:alnum:]\\n'", "' ' '\\n'"])}`,
  (draw) => `cut ${draw(['-c1-5', '-d, -f1', "-d' ' -f2", '-d= -f2-', '-f1', '-c3-', "-d' ' -f1,3"])}`,
  (draw) => `grep ${draw(['', '-v', '-i', '-c', '-n', '-w', '-o'])} ${draw(PATTERNS.map((pattern) => `'${pattern}'`))}`,
  (draw) =>
    `sed ${draw(["'s/a/A/'", "'s/[aeiou]/_/g'", "-n '2,3p'", "'/^$/d'", "'1d'", "'$d'", "-E 's/([a-z])([a-z])/\\2\\1/'", "'s/^/> /'", "-n '$='", "'2q'"])}`,
  (draw) =>
    `awk ${draw(["'{print $1}'", "'{print NR, $0}'", "-F, '{print $2}'", "'NF > 1'", "'{print NF}'", "'{s += $1} END {print s}'", "'length > 8'", "'!seen[$1]++'", '\'{printf "%s|%d\\n", $1, NR}\'', "'END {print NR}'"])}`,
  () => 'tac',
  () => 'rev',
  () => 'cat -A',
  () => 'nl',
  (draw) => `paste -sd${draw([',', '+', "' '"])}`,
  (draw) => `xargs -n ${draw(['1', '2', '3'])} echo < data/numbers.txt`,
  (draw) => `fold -w ${draw(['10', '20', '40'])}`,
  () => 'while IFS= read -r line; do echo "<$line>"; done',
];

const SOURCES: readonly Form[] = [
  (draw) => `cat ${draw(TEXTS)}`,
  (draw) => `cat ${draw(TEXTS)} ${draw(TEXTS)}`,
  (_, count) => `seq ${count(20)}`,
  (draw) => `printf '${draw(['%s\\n', '[%s]\\n', '%5s|\\n', '%-5s|\\n'])}' ${draw(['a b c', '"x y" z', '1 22 333'])}`,
  (draw) => `echo ${draw(['hello world', '{a,b}{1,2}', '"$HOME" *.md', 'src/*.ts', '$((3 * 7))'])}`,
];

const ALONE: readonly Form[] = [
  (draw) =>
    `find ${draw(FOLDERS)} ${draw(['', '-maxdepth 1', '-maxdepth 2', '-mindepth 1'])} ${draw(['-type f', '-type d', ''])} -name '${draw(GLOBS)}' | sort`,
  (draw) =>
    `find ${draw(FOLDERS)} -type f ${draw(['-size +100c', '-empty', '-newer README.md', "-not -name '*.ts'", "-path '*a*'"])} | sort`,
  (draw) =>
    `grep -r${draw(['', 'n', 'l', 'c', 'i', 'w', 'h', 'nH'])} ${draw(['', "--include='*.ts'", "--include='*.txt'", '--exclude-dir=node_modules'])} '${draw(PATTERNS)}' ${draw(FOLDERS)} | sort`,
  (draw) =>
    `grep ${draw(['-n', '-c', '-l', '-L', '-H', '-h', '-A1', '-B1', '-m1'])} '${draw(PATTERNS)}' ${draw(TEXTS)} ${draw(TEXTS)}`,
  (draw) => `ls ${draw(['', '-1', '-a', '-l', '-R', '-F', '-t', '-S'])} ${draw(FOLDERS)}`,
  (draw) => `head -n 2 ${draw(TEXTS)} ${draw(TEXTS)}`,
  (draw) => `wc ${draw(['-l', '-w', '-c', ''])} ${draw(TEXTS)} ${draw(TEXTS)}`,
  (draw) =>
    `diff ${draw(['', '-q', '-u --label a --label b', '-w', '-i'])} ${draw(['versions/old.txt', 'data/words.txt'])} ${draw(['versions/new.txt', 'data/teams.txt'])}`,
  (draw) =>
    `for f in ${draw(['src/*.ts', 'data/*.csv data/*.tsv', 'docs/*', 'odd/*'])}; do ${draw(['wc -l < "$f"', 'basename "$f"', 'echo "${f##*/}"', 'head -n 1 "$f"'])}; done`,
  (draw) =>
    `set -euo pipefail; ${draw(['x=$(grep -c . README.md)', 'x=$(ls | wc -l)', 'x=${y:-3}'])}; echo "$x"; ${draw(['false', 'cat nowhere', 'true', 'grep -q nothing README.md', 'echo end'])}; echo after`,
  (draw) =>
    `trap 'echo "${draw(['bye', 'exit $?'])}"' EXIT; ${draw(['false', 'exit 3', 'echo in', '(exit 2)', 'set -e; false; echo never'])}`,
  (draw) =>
    `if ${draw(['[ -f README.md ]', '[[ a == b* ]]', 'grep -q fig data/words.txt', 'test -d nowhere', '((2 > 1))'])}; then echo yes; else echo no; fi`,
  (draw, count) =>
    `i=0; while [ $i -lt ${count(5)} ]; do ${draw(['echo $i', 'printf "%02d " $i', ':'])}; i=$((i + 1)); done; echo "end $i"`,
  (draw) =>
    `x=${draw(['hello.tar.gz', '"a b c"', '/usr/local/bin', 'ABC'])}; echo ${draw(['${x%.*}', '${x##*/}', '${#x}', '${x/a/b}', '"${x:1:3}"', '${x,,}', '"${x^^}"', '${x:-y}'])}`,
  (draw) =>
    `sed -i ${draw(["'s/a/b/g'", "'1d'", "'/^#/d'", "'$a end'", "'s/^/  /'"])} ${draw(TEXTS)} && cat ${draw(TEXTS)} | head -n 4`,
  (draw) =>
    `mkdir -p /tmp/w && cp ${draw(['-r', '-a', '-R'])} ${draw(['src', 'docs', 'links'])} /tmp/w && find /tmp/w | sort`,
  (draw) =>
    `tar c${draw(['', 'z'])}f /tmp/a.tar ${draw(['src', 'docs', 'data'])} && tar tf /tmp/a.tar | sort | head -n 5`,
  (draw) =>
    `find ${draw(FOLDERS)} -name '${draw(GLOBS)}' -type f -print0 | sort -z | xargs -0 ${draw(['wc -l', 'head -n 1', 'grep -c e', 'ls -1'])}`,
  (draw) =>
    `cat <<EOF | ${draw(['sort', 'wc -w', 'tr a-z A-Z', "sed 's/o/0/'", 'cat -n'])}\nfoo $((1 + 1))\n${draw(['bar', '$HOME', 'o o o', '`echo sub`'])}\nEOF`,
  (draw) =>
    `a=(${draw(['1 2 3', 'x "y z"', '$(seq 4)'])}); echo ${draw(['"${#a[@]}"', '"${a[@]}"', '"${a[1]}"', '"${a[@]:1}"', '"${!a[@]}"'])}`,
  (draw) =>
    `${draw(['ls', 'cat', 'head -n 1', 'wc -l', 'sort', 'cut -c1', 'tail -n 1', 'sed p', 'grep x'])} nowhere; echo $?`,
];

/** So many invocations, each different. */
export function drawInvocations(seed: number, wanted: number): Invocation[] {
  const random = randomOf(seed);
  const draw: Draw = (from) => {
    const drawn = from[Math.floor(random() * from.length)];
    if (drawn === undefined) throw new Error('There is nothing to draw from.');
    return drawn;
  };
  const count = (most: number) => 1 + Math.floor(random() * most);
  const commands = new Set<string>();
  while (commands.size < wanted) {
    if (random() < 0.5) {
      commands.add(draw(ALONE)(draw, count));
      continue;
    }
    const filters = Array.from({ length: count(3) }, () => draw(FILTERS)(draw, count));
    commands.add([draw(SOURCES)(draw, count), ...filters].join(' | '));
  }
  return [...commands].map((command) => ({ subject: 'unseen', form: `seed ${seed}`, command }));
}
