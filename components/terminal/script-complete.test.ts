import { expect, test } from 'vitest';
import { cpuMs } from '#lib/testing/cpu-time.ts';
import { isCompleteScript } from './script-complete.ts';

test.each([
  'echo hello',
  `echo 'it is' "quoted \\" here"`,
  'echo done # it is "open',
  'cat <<END\none "quote\nEND',
  'cat <<-END\n\tone\n\tEND\necho after',
  `cat <<'A' <<B\na\nA\nb\nB`,
  'wc <<< word',
  'sleep 1 &',
  '',
])('%j runs as it stands', (script) => expect(isCompleteScript(script)).toBe(true));

test.each([
  `echo 'open`,
  'echo "open\nstill',
  'echo one \\',
  'echo one \\\n',
  'cat <<END',
  'cat <<END\none',
  `cat <<"E F"\none\nE`,
  'cat <<A <<B\na\nA\nb',
  'ls |',
  'true && ',
  'false ||',
])('%j goes on in the next line', (script) => expect(isCompleteScript(script)).toBe(false));

test('a long script takes one pass', () => {
  const started = cpuMs();
  expect(isCompleteScript(`${'echo "a" <<<b; '.repeat(20_000)}'`)).toBe(false);
  expect(cpuMs() - started).toBeLessThan(2000);
});
