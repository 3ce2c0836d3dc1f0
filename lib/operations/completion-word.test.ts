import { expect, test } from 'vitest';
import { cpuMs } from '../testing/cpu-time.ts';
import { wordBefore } from './completion-word.ts';

const W = '/workspace';

test.each([
  ['cat no', W, 'no', ['workspace']],
  ['cd ', W, '', ['workspace']],
  ['cat ./no', W, 'no', ['workspace']],
  ['cat src/in', '/workspace/app', 'in', ['workspace', 'app', 'src']],
  ['cat ../memory/le', W, 'le', ['memory']],
  ['cat ../../../../tmp/a', W, 'a', ['tmp']],
  ['ls /t', W, 't', []],
  ['ls /tmp/', W, '', ['tmp']],
  ['ls ~/no', '/memory', 'no', ['workspace']],
  ['ls ~', W, '~', ['workspace']],
  ['ls a~/no', W, 'no', ['workspace', 'a~']],
  ['wc -l my\\ fi', W, 'my fi', ['workspace']],
  ['wc -l my\\ folder/a', W, 'a', ['workspace', 'my folder']],
  ['echo >out', W, 'out', ['workspace']],
  ['echo 2>/tmp/er', W, 'er', ['tmp']],
  ['echo >|out', W, 'out', ['workspace']],
  ['echo >&out', W, 'out', ['workspace']],
  ['sort <in', W, 'in', ['workspace']],
  ['a=b', W, 'b', ['workspace']],
  ['dd if=/tmp/x', W, 'x', ['tmp']],
  ['sh ./run', W, 'run', ['workspace']],
  ['./run', W, 'run', ['workspace']],
  ['', '/', '', []],
])('%s in %s goes on with a name in its folder', (line, cwd, begin, path) => {
  expect(wordBefore(line, cwd)).toMatchObject({ begin, path, quote: null });
});

test.each([
  ['cat "my fi', 'my fi', ['workspace'], '"'],
  ["cat 'my fi", 'my fi', ['workspace'], "'"],
  ['cat "my folder/a b', 'a b', ['workspace', 'my folder'], '"'],
  ['cat "my folder"/a', 'a', ['workspace', 'my folder'], null],
  ['cat my" "fi', 'my fi', ['workspace'], null],
  ["cat 'it", 'it', ['workspace'], "'"],
  ["cat it\\'s", "it's", ['workspace'], null],
  ['cat "a \\"b', 'a "b', ['workspace'], '"'],
  ["cat 'a\\b", 'a\\b', ['workspace'], "'"],
  ['key="my fi', 'my fi', ['workspace'], '"'],
  ['echo "done; no" >o', 'o', ['workspace'], null],
  ['cat "~/no', 'no', ['workspace', '~'], '"'],
])('%s is one word, quotes and all', (line, begin, path, quote) => {
  expect(wordBefore(line, W)).toEqual({ begin, path, quote, isCommand: false });
});

test('a command stands at the beginning, after what separates commands, and nowhere else', () => {
  const isCommand = (line: string) => wordBefore(line, W).isCommand;
  for (const line of [
    '',
    'gre',
    '  gre',
    'a | gre',
    'a;gre',
    'a && gre',
    'a & gre',
    'x=$(gre',
    'if a; then gre',
    'a\ngre',
  ])
    expect([line, isCommand(line)]).toEqual([line, true]);
  for (const line of ['gre ', 'cat gre', './gre', '/gre', 'a=gre', 'a >gre', 'a >&gre', 'echo "a; gre', 'thenx gre'])
    expect([line, isCommand(line)]).toEqual([line, false]);
});

test('a long line takes one pass', () => {
  const begun = cpuMs();
  for (const piece of ['"\\', '\\ ', "'a", '| ']) expect(wordBefore(piece.repeat(5000), W).path).toEqual(['workspace']);
  expect(cpuMs() - begun).toBeLessThan(1000);
});
