/** Every byte passes through the shell unchanged: commands, pipes, redirections, variables and languages. */
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { vfsPath } from '../../vfs/testing/tmp-files.ts';
import { bytesOfText } from '../../workers/protocol/byte-text.ts';
import type { InstanceProcess } from '../../workers/protocol/instance.ts';
import { stage } from '../../workers/testing/stage.ts';

const at = stage();
const ALL = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
/** Text, a Latin-1 byte, NUL, and a last line without a line break. */
const LINES = Buffer.from('61ff0a62c3a90a00630a64', 'hex');

const opened = new Map<string, InstanceProcess>();

/** The output of a script in hex. The files `all`, `lines` and `ff` exist. */
async function hex(id: string, command: string, stdin?: Uint8Array): Promise<{ out: string; err: string }> {
  const a = opened.get(id) ?? at.open(id);
  opened.set(id, a);
  for (const [path, content] of Object.entries({ '/all': ALL, '/lines': LINES, '/ff': Buffer.from([0xff, 0xfe]) }))
    await a.write({ op: 'put', volume: 'workspace', path: vfsPath(path), content });
  const { stdout, stderr } = await a.exec({ command, ...(stdin && { stdin }) });
  return {
    out: Buffer.from(bytesOfText(stdout)).toString('hex'),
    err: Buffer.from(bytesOfText(stderr)).toString('hex'),
  };
}

const all = ALL.toString('hex');
const lines = LINES.toString('hex');

test('all bytes come out of files, pipes, groups, functions, substitutions and loops', async () => {
  const ways = [
    'cat all',
    'cat < all',
    'cat all | cat | (cat) | { cat; }',
    'f() { cat; }; f < all',
    'if true; then cat all; fi',
    'cat all > copy; cat copy',
    'head -c 100 all > copy; tail -c 156 all >> copy; cat copy',
    '{ head -c 100 all; tail -c 156 all; } > copy; cat copy',
    'cat all | tee copy > /dev/null; cp copy again; cat again',
    'gzip -c all | gunzip',
    'base64 all | base64 -d',
    'tar cf - all | tar xf - -C /tmp; cat /tmp/all',
    'tar czf a.tgz all; rm all; tar xzf a.tgz; cat all',
    'bash -c "cat all"',
    'eval "cat all"',
    'cat <(cat all)',
    'exec 3< all; cat <&3',
    'tar cf a.tar lines all; tar xOf a.tar all',
    'split -b 100 all; cat xaa xab xac',
  ].map((way) => `( ${way}\n)`);
  const { out } = await hex('ways', ways.join('\n'));
  expect(out.match(/.{512}/g)).toEqual(ways.map(() => all));
  expect((await hex('unzipped', 'for i in 1 2 3; do cat ff; done')).out).toBe('fffe'.repeat(3));
});

test('all bytes come in on stdin', async () => {
  const { out } = await hex('in', 'tee one > two; cat one two - < one', ALL);
  expect(out).toBe(all.repeat(3));
  expect((await hex('in-count', 'wc -c', ALL)).out).toBe(Buffer.from('256\n').toString('hex'));
});

test('text commands change what they are told to and nothing else', async () => {
  const ways = {
    'cat lines': lines,
    'sed s/b/x/ lines': lines.replace('62c3', '78c3'),
    'grep -av zz lines': `${lines}0a`,
    'sort lines | head -n 1': '00630a',
    "awk '{ print }' lines": `${lines}0a`,
    'while IFS= read -r l; do echo "$l"; done < ff; echo': '0a',
    'read -r x < lines; printf %s "$x"': '61ff',
    'cat lines | { read -r x; read -r y; printf %s "$y$x"; }': '62c3a961ff',
    'mapfile -t a < lines; printf %s "${a[1]}${a[0]}"': '62c3a961ff',
    'x=$(cat ff); printf %s "$x"': 'fffe',
    'x=$(cat ff); export x; bash -c \'printf %s "$x"\' | cat': 'fffe',
    'x=$(cat ff); cat <<< "$x"': 'fffe0a',
    'cat <<A\né\nA': 'c3a90a',
    'echo é | { read -n 1 x; printf %s "$x"; }': 'c3a9',
  };
  for (const [command, printed] of Object.entries(ways))
    expect((await hex('text', command)).out, command).toBe(printed);
});

test('byte escapes produce those bytes, and together they form characters', async () => {
  const ways = {
    "printf '\\xff\\377\\303\\251'": 'ffffc3a9',
    "printf '%b%c' '\\0377' é": 'ffc3',
    "echo -ne '\\xff\\0303\\0251'": 'ffc3a9',
    'x=$\'\\377\\303\\251\'; printf %s "$x${#x}"': 'ffc3a932',
    'printf -v x \'\\303\\251\'; printf %s "${#x}$x"': '31c3a9',
    "printf '\\xc3'; printf '\\xa9'": 'c3a9',
    "printf '\\xef\\xbb\\xbfx'": 'efbbbf78',
    'awk \'BEGIN { printf "\\377" }\'': 'ff',
    'echo é | wc -c': '330a',
  };
  for (const [command, printed] of Object.entries(ways))
    expect((await hex('escapes', command)).out, command).toBe(printed);
});

test('a file name that is not UTF-8 is refused', async () => {
  const { out } = await hex(
    'names',
    "for n in $'\\xff' $'a\\xe9'; do echo x > $n; touch $n; ln -s $n l; mkdir $n; done; ls -A",
  );
  expect(Buffer.from(out, 'hex').toString()).toBe('all\nff\nlines\n');
});

test('tr works on bytes, as its sets are of bytes', async () => {
  const ways = {
    "tr -d '\\377' < ff": 'fe',
    "tr -d '\\200-\\377' < all": all.slice(0, 256),
    "tr '\\000-\\377' '\\001-\\377\\000' < all": `${all.slice(2)}00`,
    "tr -cd '\\12\\15\\40-\\176' < lines": '610a620a630a64',
    "printf 'a\\0\\0b' | tr -s '\\000' '\\n'": '610a62',
    "echo é0 | tr -d '\\060'": 'c3a90a',
    'echo é | tr é e': '65650a',
  };
  for (const [command, printed] of Object.entries(ways)) expect((await hex('tr', command)).out, command).toBe(printed);
  expect(await hex('tr', "tr '\\377' < ff; tr 'z-\\141' x < ff")).toMatchObject({
    out: '',
    err: expect.stringMatching(/^74723a/),
  });
});

test('bytes stay unchanged when redirected between stdout and stderr', async () => {
  expect(await hex('sides', 'cat ff >&2')).toEqual({ out: '', err: 'fffe' });
  expect(await hex('sides', '(cat ff >&2) 2>&1 | cat')).toEqual({ out: 'fffe', err: '' });
  expect(await hex('sides', '{ cat ff; echo é; } >&2')).toEqual({ out: '', err: 'fffec3a90a' });
  expect(await hex('sides', 'cat ff nope_é > o 2>&1; head -c 2 o; grep -c é o')).toEqual({ out: 'fffe310a', err: '' });
  expect(await hex('sides', 'cat ff all nope 2> e | cat; wc -l < e')).toEqual({ out: `fffe${all}310a`, err: '' });
  expect(await hex('sides', "printf '\\xff' 1>&2 2> e; cat e")).toEqual({ out: '', err: 'ff' });
});

test('Python reads and writes any byte, as text streams, as bytes and by descriptor', async () => {
  const script = `import os, sys
sys.stdout.buffer.write(sys.stdin.buffer.read() + open("all", "rb").read())
sys.stdout.flush()
os.write(1, bytes([255, 10, 0]))
sys.stdout.write("é\\ue005")
sys.stderr.buffer.write(bytes([255, 0]))
sys.exit("ü")`;
  const printed = await hex('python', `cat > s.py <<'END'\n${script}\nEND\npython3 s.py < all | cat`);
  expect(printed).toEqual({ out: `${all}${all}ff0a00c3a9ee8085`, err: 'ff00c3bc0a' });
  expect((await hex('python', 'echo {} | python3 -m json.tool; echo "print(1, end=str())" | python3')).out).toBe(
    '7b7d0a31',
  );
});

test('JavaScript in the shell reads and writes any byte, and text with such bytes gives them back', async () => {
  const ways = {
    "js -e 'stdout.write(stdinBytes())' < all": all,
    "js -e 'stdout.write(stdin)' < all | cat": all,
    'js -e \'stdout.write(new Uint8Array([1, 254, 255, 2]).subarray(1, 3)); stdout.write("é\\0")\'': 'feffc3a900',
    "js -e 'console.log(stdin)' < ff": 'fffe0a',
    "js -e 'console.log(stdinBytes().length)' < /dev/null": '300a',
    'js -e \'console.log("\\ud800")\'': Buffer.from('\\ud800\n').toString('hex'),
  };
  for (const [command, printed] of Object.entries(ways)) expect((await hex('js', command)).out, command).toBe(printed);
  expect(await hex('js', "js -e 'stderr.write(stdinBytes())' < ff")).toEqual({ out: '', err: 'fffe' });
  const a = opened.get('js') ?? at.open('js');
  const { stdout } = await a.eval({ language: 'js', code: 'stdout.write(new Uint8Array([255, 0])); 1' });
  expect(Buffer.from(bytesOfText(stdout)).toString('hex')).toBe('ff00');
});

test('chunks of a stream hold whole characters, and invalid bytes are not held back for ever', async () => {
  const a = at.open('pieces');
  const pieces: string[] = [];
  const printed = await a.exec(
    { command: "printf 'a\\xc3'; printf '\\xa9'; printf '\\xe2\\x82'; printf '\\xff'; printf '\\xf0\\x9f'" },
    { onOutput: ({ text }) => pieces.push(text) },
  );
  expect(pieces).toEqual(['a', 'é', '\udce2\udc82\udcff', '\udcf0\udc9f']);
  expect(printed.stdout).toBe('aé\udce2\udc82\udcff\udcf0\udc9f');
});

test('output is cut at 4 MiB to the byte', async () => {
  const a = at.open('cut');
  const content = Buffer.from(`x${'é'.repeat(2_500_000)}`);
  await a.write({ op: 'put', volume: 'workspace', path: vfsPath('/much'), content });
  const outcome = await a.exec({ command: 'cat much; cat much | head -c 4194304 | sha256sum >&2' });
  const bytes = Buffer.from(bytesOfText(outcome.stdout));
  expect([bytes.byteLength, outcome.truncated]).toEqual([4 * 1024 * 1024, true]);
  const hash = createHash('sha256').update(bytes).digest('hex');
  expect(outcome.stderr).toContain(hash);
  expect(hash).toBe(
    createHash('sha256')
      .update(content.subarray(0, 4 * 1024 * 1024))
      .digest('hex'),
  );
});
