/** The commands that the sandbox backend of deepagents sends for its tools, as it builds them. */
import { expect, test } from 'vitest';
import { stage } from '../../../workers/testing/stage.ts';

const at = stage();

const LS =
  "if find /dev/null -maxdepth 0 -printf '' 2>/dev/null; then find -L '/workspace' -maxdepth 1 -not -path '/workspace' -printf '%s\\t%T@\\t%y\\t%p\\n' 2>/dev/null; elif stat -c %s /dev/null >/dev/null 2>&1; then echo stat; else echo bsd; fi || true";
const PRUNED = ['/proc', '/sys', '/dev', '/run'].flatMap((path) => [path, `/workspace${path}`]);
const GLOB = `{ if find /dev/null -maxdepth 0 -printf '' 2>/dev/null; then find -L '/workspace' \\( ${PRUNED.map((path) => `-path ${path}`).join(' -o ')} \\) -prune -o -not -path '/workspace' -printf '%s\\t%T@\\t%y\\t%p\\n' 2>/dev/null; else echo other; fi || true; } | head -n 50001`;
const GREP = "grep -rHnF -e 'needle (1)' '/workspace' 2>/dev/null || true";
const GREP_GLOB = "find -L '/workspace' -type f -name '*.py' -exec grep -HnF -e 'needle (1)' {} + 2>/dev/null || true";

test('the tools ls, glob and grep of deepagents find what is there', async () => {
  const a = at.open('deepagents');
  await a.exec({
    command:
      "mkdir -p 'my src/deep'; echo 'has needle (1)' > 'my src/a.py'; printf 'x\\nneedle (1) y\\n' > 'my src/deep/b.txt'; ln -s 'my src/a.py' link.py; for f in 'my src/a.py' 'my src/deep/b.txt'; do touch -d '2024-01-02 03:04:05' \"$f\"; done",
  });
  const lines = async (command: string) => (await at.say(a, command)).split('\n').filter(Boolean).sort();
  const listed = (await lines(LS)).map((line) => line.replace(/^(4096)\t[\d.]+/, '$1\ttime'));
  expect(listed).toEqual(['15\t1704164645.0000000000\tf\t/workspace/link.py', '4096\ttime\td\t/workspace/my src']);
  expect((await lines(GLOB)).map((line) => line.split('\t').at(-1))).toEqual([
    '/workspace/link.py',
    '/workspace/my src/a.py',
    '/workspace/my src/deep/b.txt',
    '/workspace/my src',
    '/workspace/my src/deep',
  ]);
  expect(await lines(GREP)).toEqual([
    '/workspace/my src/a.py:1:has needle (1)',
    '/workspace/my src/deep/b.txt:2:needle (1) y',
  ]);
  expect(await lines(GREP_GLOB)).toEqual([
    '/workspace/link.py:1:has needle (1)',
    '/workspace/my src/a.py:1:has needle (1)',
  ]);
});

test('its reads and deletions answer as in a real sandbox', async () => {
  const a = at.open('deepagents-files');
  const read = (path: string) =>
    `if [ ! -f '${path}' ]; then echo "Error: File not found"; exit 1; fi; if [ ! -s '${path}' ]; then echo "System reminder: File exists but has empty contents"; exit 0; fi; awk 'NR >= 2 && NR <= 3 { printf "%6d\\t%s\\n", NR, $0 } END { printf "__DEEPAGENTS_READ_METADATA__\\t%d\\n", NR }' '${path}'`;
  await a.exec({ command: 'printf "1\\n2\\n3\\n4\\n" > four; : > nothing; mkdir -p d/e; echo x > d/e/f' });
  expect(await at.say(a, read('/workspace/four'))).toBe('     2\t2\n     3\t3\n__DEEPAGENTS_READ_METADATA__\t4\n');
  expect(await at.say(a, read('/workspace/nothing'))).toBe('System reminder: File exists but has empty contents\n');
  expect(await a.exec({ command: read('/workspace/none') })).toMatchObject({ exitCode: 1 });
  expect(await a.exec({ command: "test -e '/workspace/d' || test -L '/workspace/d'" })).toMatchObject({ exitCode: 0 });
  expect(await at.say(a, "rm -rf '/workspace/d'; ls -A")).toBe('four\nnothing\n');
});
