/** What the recorded answers cannot show: time, chance, circles, and what is not supported. */
import { expect, test } from 'vitest';
import { stage } from '../../../workers/testing/stage.ts';
import { SHELL_COMMANDS } from './shell-commands.ts';

const at = stage();

const BYTES = 4 * 1024 * 1024;
const STOPPED = `it has no end, ${BYTES} bytes were`;

test('an expression that backtracks without end is ended with its process at the time of the call', async () => {
  const a = at.open('backtracks');
  await a.exec({ command: "printf '%60s' '' | tr ' ' a > f; echo b >> f" });
  const outcome = await a.exec({ command: "grep -E '^(a+)+$' f", timeoutMs: 1000 });
  expect(outcome).toMatchObject({ timedOut: true, exitCode: 124, stdout: '' });
  expect(await a.ended).toMatchObject({ cause: 'timeout' });
  expect(await at.say(at.open('backtracks', { mustExist: true }), 'wc -l < f')).toBe('1\n');
});

test('links that lead in circles end a walk and are told', async () => {
  const a = at.open('circles');
  await a.exec({ command: 'mkdir -p d/e; echo foo > d/f; ln -s .. d/e/up; ln -s self self' });
  const found = await a.exec({ command: 'find -L d' });
  expect(found.stdout).toBe('d\nd/e\nd/f\n');
  expect(found.stderr).toContain('File system loop detected; ‘d/e/up’');
  expect(found.exitCode).toBe(1);
  const searched = await a.exec({ command: 'grep -R foo d' });
  expect(searched.stdout).toBe('d/f:foo\n');
  expect(searched.stderr).toBe('grep: d/e/up: warning: recursive directory loop\n');
  expect(await a.exec({ command: 'cat self; grep x self; stat -L self' })).toMatchObject({ stdout: '', exitCode: 1 });
});

test('a device without an end gives as much as a call may print', async () => {
  const a = at.open('devices');
  expect(await at.say(a, 'head -c 4 /dev/zero | od -An -tx1')).toBe(' 00 00 00 00\n');
  expect(await at.say(a, 'wc -c < /dev/zero; echo $?')).toBe(
    `${BYTES}\n1\nwc: /dev/zero: it has no end, a part of it was read\n`,
  );
  expect(await at.say(a, 'head -c 20M /dev/zero > big; head -c 6000000 /dev/urandom | wc -c; wc -c < big')).toBe(
    '6000000\n20971520\n',
  );
  const random = 'head -c 16 /dev/urandom | od -An -tx1';
  const [one, other] = [await at.say(a, random), await at.say(a, random)];
  expect(one).toHaveLength(49);
  expect(other).not.toBe(one);
  expect(await at.say(a, 'yes | head -n 2; yes a b 2> said | tail -n 1; cat said')).toBe(
    `y\ny\na b\nyes: ${STOPPED} written\n`,
  );
  expect(await at.say(a, 'set -o pipefail; yes | head -n 1; echo $?')).toBe('y\n141\n');
});

test('what wants more than that of an output without an end is told on stderr', async () => {
  const script = 'set -o pipefail; yes | head -c 100M | wc -c; echo $?; set +o pipefail; cat /dev/zero | wc -c';
  const { stdout, stderr, exitCode } = await at.open('wanting').exec({ command: script });
  expect(stderr).toBe(`yes: it has no end, ${4 * BYTES} bytes were written\ncat: /dev/zero: ${STOPPED} read\n`);
  expect(stdout).toBe(`${4 * BYTES}\n1\n${BYTES}\n`);
  expect(exitCode).toBe(0);
});

test('bc reads and writes other bases as GNU bc 1.07 does; what it lacks is said, and fails', async () => {
  const a = at.open('bases');
  const cases = [
    ['obase=16; 255; 3.5; -255; .1; 0', 'FF\n3.8\n-FF\n.1\n0\n'],
    ['obase=2; 5; 10.625; scale=4; 1/3', '101\n1010.1010000000\n.01010101010100\n'],
    ['ibase=2; 1011; 101.1; 9', '11\n5.5\n9\n'],
    ['ibase=16; obase=A; FF; A.8; obase', '255\n10.5\n10\n'],
    ['ibase=8; 777; ibase; ibase=12; ibase', '511\n8\n10\n'],
  ] as const;
  for (const [script, answer] of cases) {
    const outcome = await a.exec({ command: 'bc', stdin: Buffer.from(`${script}\n`) });
    expect({ script, ...outcome }).toMatchObject({ stdout: answer, stderr: '', exitCode: 0 });
  }
  expect(await a.exec({ command: "echo 'obase=20; 5' | bc" })).toMatchObject({
    stdout: '',
    stderr: '(standard_in) 1: an obase above 16 is not supported\n',
    exitCode: 1,
  });
  expect(await a.exec({ command: "echo 's(1); 2' | bc -l" })).toMatchObject({
    stderr: '(standard_in) 1: the function s is not supported\n',
    exitCode: 1,
  });
});

test('timeout ends what takes longer, and the script goes on', async () => {
  const a = at.open('timeout');
  expect(await at.say(a, 'timeout 0.2 sleep 30; echo $?; timeout 5 echo in time; echo $?')).toBe('124\nin time\n0\n');
  expect(await at.say(a, 'timeout -s KILL 0.2 sleep 30; echo $?')).toBe('137\n');
  expect(await at.say(a, 'timeout 0.3 bash -c "while true; do :; done"; echo $?')).toBe('124\n');
});

test('names of mktemp are new, and only its owner may read what it makes', async () => {
  const a = at.open('mktemp');
  const [file = '', other = '', folder = ''] = (await at.say(a, 'mktemp; mktemp; mktemp -d')).split('\n');
  expect(file).toMatch(/^\/tmp\/tmp\.[A-Za-z0-9]{10}$/);
  expect(other).not.toBe(file);
  expect(await at.say(a, `stat -c '%a %F' ${file} ${folder}`)).toBe('600 regular empty file\n700 directory\n');
});

test.each([
  ['grep --nope x', 2, "grep: unrecognized option '--nope'"],
  ['find . -nope', 1, "find: unknown predicate `-nope'"],
  ['ls --nope', 2, "ls: unrecognized option '--nope'"],
  ['stat -y a', 1, "stat: invalid option -- 'y'"],
  ['cp -Q a b', 1, "cp: invalid option -- 'Q'"],
  ['rm --nope', 1, "rm: unrecognized option '--nope'"],
  ['mktemp --nope', 1, "mktemp: unrecognized option '--nope'"],
  ['sha256sum --nope', 1, "sha256sum: unrecognized option '--nope'"],
  ['timeout --nope', 125, "timeout: unrecognized option '--nope'"],
  ['uname -w', 1, "uname: invalid option -- 'w'"],
  ['df -Z', 1, "df: invalid option -- 'Z'"],
  ['df nowhere', 1, 'df: nowhere: No such file or directory'],
  ['stat -f nowhere', 1, "stat: cannot read file system information for 'nowhere': No such file or directory"],
  ['hostname -I', 1, 'hostname: a sandbox has no address in a network'],
  [
    'ulimit -v 1000',
    1,
    "ulimit: virtual memory: a limit of a script's own is not supported: its policy has the limits",
  ],
  ['seq -f %d 3', 1, 'seq: format ‘%d’ is not one directive for a number, as %g, %.2f or %03g'],
  ['getconf NOPE', 2, "getconf: Unrecognized variable 'NOPE'"],
  [
    'ps -o nosuch',
    1,
    'ps: the column in -o nosuch is not supported in this sandbox: ps, ps aux, ps -ef, ps -p and ps -o are',
  ],
])('%s fails with a sentence, not with nothing', async (command, exitCode, sentence) => {
  const outcome = await at.open('unknown').exec({ command });
  expect(outcome.stdout).toBe('');
  expect(outcome.stderr.split('\n')[0]).toBe(sentence);
  expect(outcome.exitCode).toBe(exitCode);
});

test.each([
  [
    'exec 3< f; readlink -f /proc/$$/fd/3; readlink /proc/self/fd/3; cat /dev/fd/3; base64 <&3',
    '/workspace/f\n/workspace/f\na\nYQo=\n',
  ],
  [
    'ln -s f l; exec 3< l; exec 4<&3 3<&-; echo $(readlink -f /proc/$$/fd/4); [ -e /dev/fd/3 ] || echo closed',
    '/workspace/f\nclosed\n',
  ],
  ['exec 3< f; (exec 3<&-); { readlink -f /dev/fd/3; } 3< g; readlink -f /dev/fd/3', '/workspace/g\n/workspace/f\n'],
  ['exec 5> out; echo x >&5; readlink -f /proc/$$/fd/5; ls /proc/self/fd | tr "\\n" " "', '/workspace/out\n0 1 2 5 '],
  ['echo in | cat /dev/fd/0; cat /dev/fd/3 3<<< hëre; echo out > /dev/fd/1', 'in\nhëre\nout\n'],
])('a descriptor of the shell is a file: %s', async (command, answer) => {
  const a = at.open('descriptors');
  await a.exec({ command: 'echo a > f; echo b > g; rm -f l out' });
  expect(await a.exec({ command })).toMatchObject({ stdout: answer, stderr: '', exitCode: 0 });
});

test('bytes beyond ASCII are read from a descriptor as they are', async () => {
  const a = at.open('bytes');
  await a.exec({ command: "printf 'né\\nñu €\\n\\xff\\n' > f" });
  expect(await at.say(a, 'exec 3< f; cat <&3 | cmp - f && echo same')).toBe('same\n');
  expect(await at.say(a, 'exec 3< f; read -r x <&3; read -r -u 3 y; echo "$x $y"; od -An -tx1 <&3')).toBe(
    'né ñu €\n ff 0a\n',
  );
  expect(await at.say(a, 'while read -r x <&3; do echo "[$x]"; done 3<<< "é ß"; read -r -u 4 z 4<<< ü; echo $z')).toBe(
    '[é ß]\nü\n',
  );
});

test('descriptors of others, and closed ones, are not there', async () => {
  const a = at.open('closed');
  for (const path of [
    '/dev/fd/9',
    '/proc/self/fd/9',
    '/proc/2/fd/0',
    '/proc/2/fd',
    '/proc/self/environ',
    '/proc/1/cmdline',
  ]) {
    const outcome = await a.exec({ command: `cat ${path}` });
    expect(outcome).toMatchObject({ stdout: '', exitCode: 1 });
    expect(outcome.stderr).toBe(`cat: ${path}: No such file or directory\n`);
  }
  expect(await at.say(a, 'exec 3< /bin/ls; ls /; ls -d /proc/self/fd')).toBe(
    'bin\ndev\nmemory\ntmp\nusr\nworkspace\n/proc/self/fd\n',
  );
});

test('a mask is taken from what a script makes, until its shell ends', async () => {
  const a = at.open('mask');
  const make = 'touch a; mkdir -p b/c; echo x > d; echo x >> e; cp -r b f; cp d g; tee h < d > i';
  expect(await at.say(a, `umask 077; ${make}; stat -c %a a b b/c d e f g h i | tr '\\n' ' '`)).toBe(
    '600 700 700 600 600 700 600 600 600 ',
  );
  expect(
    await at.say(a, "umask 002; bash -c 'umask; echo x > j'; (umask 0; echo x > k); echo y > d; stat -c %a d j k"),
  ).toBe('0002\n600\n664\n666\n');
  expect(await at.say(a, 'umask; echo x > m; stat -c %a m')).toBe('0022\n644\n');
});

test('getconf says what nproc says, and what a page has', async () => {
  expect(await at.say(at.open('getconf'), 'getconf _NPROCESSORS_ONLN; nproc; getconf PAGE_SIZE LONG_BIT')).toBe(
    '1\n1\n4096\n',
  );
});

test('a program that another one starts has the variables that are exported, and no others', async () => {
  const stdout = await at.say(
    at.open('exported'),
    'export X=1; Y=2; timeout 9 printenv X; nice printenv X; echo a | xargs -I{} printenv X; find . -maxdepth 0 -exec printenv X \\;; timeout 9 printenv Y; Z=3 timeout 9 printenv Z; env -i A=5 printenv X; echo $Y',
  );
  expect(stdout).toBe('1\n1\n1\n1\n3\n2\n');
});

test('an archive whose names lead out, or whose sums are wrong, is refused, and nothing of it is written', async () => {
  const a = at.open('hostile-archives');
  const made = `import zipfile
with zipfile.ZipFile('out.zip', 'w') as z: z.writestr('../../tmp/escaped', 'x')
with zipfile.ZipFile('lie.zip', 'w') as z: z.writestr('a', 'x' * 1000)
content = bytearray(open('lie.zip', 'rb').read())
content[content.rfind(b'PK\\x01\\x02') + 16] ^= 1
open('lie.zip', 'wb').write(content)`;
  expect(await a.exec({ command: `python3 - <<'X'\n${made}\nX` })).toMatchObject({ exitCode: 0 });
  const out = await a.exec({ command: 'unzip -q out.zip -d o' });
  expect(out).toMatchObject({ exitCode: 3, stderr: 'unzip: invalid relative path: ../../tmp/escaped\n' });
  expect(await a.exec({ command: 'unzip -q lie.zip -d l' })).toMatchObject({
    exitCode: 2,
    stderr: 'unzip: a: bad CRC\n',
  });
  expect(await at.say(a, 'ls -d /tmp/escaped o l 2> /dev/null | wc -l')).toBe('0\n');
});

test('every command completes in a terminal', async () => {
  const names = (await at.say(at.open('names'), 'ls /bin')).split('\n').filter(Boolean);
  expect(names).toEqual(expect.arrayContaining(['cmp', 'find', 'grep', 'id', 'mktemp', 'yes']));
  expect(names.filter((name) => !SHELL_COMMANDS.includes(name))).toEqual([]);
});

test('df and stat -f say what the file of a sandbox may take, what is free in it, and what each volume holds', async () => {
  const a = at.open('room');
  const bytes = async (command: string) => (await at.say(a, command)).trim().split(/\s+/).map(Number);
  const [limit = 0, used = 0, free = 0] = await bytes('df -B1 --output=size,used,avail / | tail -1');
  expect(used + free).toBe(limit);
  expect(await bytes("stat -f -c '%b %a %S' .")).toEqual([limit / 4096, free / 4096, 4096]);
  // One command: what it has written is not committed yet.
  const grown = 'head -c 1000000 /dev/urandom > /tmp/a && df -B1 --output=used,avail /tmp /memory | tail -2 | xargs';
  const [inTmp = 0, free1 = 0, inMemory, free2] = await bytes(`{ ${grown}; }`);
  expect([inTmp, inMemory, free2]).toEqual([1_000_000, 0, free1]);
  expect(free - free1).toBeGreaterThanOrEqual(1_000_000);
  expect(free - free1).toBeLessThan(1_100_000);
  expect(await at.say(a, "df -h . /tmp | sed 's/  */ /g' | cut -d' ' -f1,2,6")).toMatch(
    /^Filesystem Size Mounted\nsandbox \S+[MG] \/workspace\nsandbox \S+[MG] \/tmp\n$/,
  );
});
