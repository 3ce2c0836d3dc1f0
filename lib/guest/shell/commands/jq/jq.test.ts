/** jq in a sandbox: what it reads, what it knows of the host, and what ends it. */
import { expect, test } from 'vitest';
import { stage } from '../../../../workers/testing/stage.ts';

const at = stage();

test('jq reads its input, the files that its arguments name, and pipes', async () => {
  const a = at.open('jq-files');
  const prepare = `echo '{"a":[1,2]}' > data.json; mkdir d; echo '.a | add' > d/filter.jq`;
  expect(await at.say(a, `${prepare}; jq -c '.a[]' data.json; jq -f d/filter.jq data.json`)).toBe('1\n2\n3\n');
  expect(await at.say(a, "jq -n --slurpfile x data.json '$x[0].a[1]'; cd d; jq -c .a ../data.json")).toBe('2\n[1,2]\n');
  expect(await at.say(a, `jq .a <(echo '{"a":"ü"}'); echo 4 | jq '. + 1'`)).toBe('"ü"\n5\n');
  expect(await at.say(a, 'jq . nowhere; echo $?')).toBe(
    '2\njq: error: Could not open file nowhere: No such file or directory\n',
  );
});

test('jq knows the variables of its script and nothing of the host, and nothing stays of a run', async () => {
  const a = at.open('jq-host');
  expect(await at.say(a, `X=5 jq -nc 'env.X, ($ENV | has("NODE_COMPILE_CACHE")), input_filename'`)).toBe(
    '"5"\nfalse\nnull\n',
  );
  for (const path of ['/etc/passwd', '/proc/self/environ', process.argv[1] ?? '/bin/sh']) {
    const said = await at.say(a, `jq -n --rawfile p ${path} '$p'; echo $?`);
    expect(said).toBe(`2\njq: Bad JSON in --rawfile p ${path}: Could not open ${path}: No such file or directory\n`);
  }
  expect(await at.say(a, 'jq -nj \'"x"\'; jq -n 1; jq -n \'"x" | halt_error(3)\'; echo $?')).toBe('x1\n3\nx');
});

test('a filter that takes more memory than it may ends with a sentence, and the sandbox goes on', async () => {
  const a = at.open('jq-memory');
  expect(await at.say(a, "jq -n 'def f: 1 + f; f'; echo $?")).toBe(
    '5\njq: it takes more memory than one call of it has: 256 MiB, and a stack of 5 MiB\n',
  );
  expect(await at.say(a, 'jq -n 1')).toBe('1\n');
});

test('a filter that prints without end ends with a sentence, and the sandbox goes on', async () => {
  const a = at.open('jq-endless');
  const said = await at.say(a, "echo kept > /tmp/kept; jq -n 'range(1e12)' > out; echo $?; wc -c < out; cat /tmp/kept");
  expect(said).toBe('5\n0\nkept\njq: it prints more than 33554432 bytes\n');
});
