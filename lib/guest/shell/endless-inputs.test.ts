import { expect, test } from 'vitest';
import { stage } from '../../workers/testing/stage.ts';

const at = stage();

/** More than what is read of a device at once. */
const WHOLE: readonly string[] = [
  '{ head -c 9000000 | wc -c; } < /dev/zero',
  '(tr "\\0" a | head -c 9000000 | wc -c) < /dev/zero',
  'if true; then cat | head -c 9000000; fi < /dev/urandom | wc -c',
  'f() { head -c 9000000; }; f < /dev/urandom | wc -c',
  '{ { g() { head -c 9000000 | wc -c; }; g; }; } < /dev/zero',
  'exec 3< /dev/urandom; head -c 9000000 <&3 | wc -c',
  'exec 3< /dev/zero; { dd bs=1M count=9 2> /dev/null | head -c 9000000 | wc -c; } <&3',
  'bash -c "head -c 9000000 | wc -c" < /dev/zero',
];

/** What takes all of its input cannot end well. */
const REFUSED: readonly string[] = [
  '{ md5sum; } < /dev/urandom',
  'exec 3< /dev/zero; sort <&3',
  '{ cat; } < /dev/zero',
  'bash -c sha256sum < /dev/zero',
];

test('a device behind a group, a function, a shell or a descriptor runs on', async () => {
  const a = at.open('whole');
  const printed = await a.exec({ command: WHOLE.join('\n'), timeoutMs: 600_000 });
  expect(printed).toMatchObject({ stdout: WHOLE.map(() => '9000000\n').join(''), stderr: '', exitCode: 0 });
});

test.each(REFUSED)('%s fails with a sentence', async (command) => {
  const a = at.open(`refused-${REFUSED.indexOf(command)}`);
  const done = await a.exec({ command: `(${command}) > /dev/null; echo $?`, timeoutMs: 600_000 });
  expect(done).toMatchObject({ stdout: '1\n', stderr: expect.stringContaining('it has no end') });
});

test('what stands in such a group and has an input of its own reads that, and a file of zeros is a file', async () => {
  const a = at.open('own');
  const own = '{ true | wc -c; echo x | wc -c; wc -c < f; wc -c <<< x; } < /dev/zero';
  const done = await a.exec({ command: `head -c 4194304 /dev/zero > f; ${own}; { wc -c; } < f; cat f | wc -c` });
  expect(done).toMatchObject({ stdout: '0\n2\n4194304\n2\n4194304\n4194304\n', stderr: '', exitCode: 0 });
});
