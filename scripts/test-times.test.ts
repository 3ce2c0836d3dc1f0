import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { tableOfTimes } from './test-times.ts';

const BUSY_MS = 300;

test('a file is charged for what it started, and the table begins with the most expensive one', () => {
  const folder = mkdtempSync(join(tmpdir(), 'winterdock-times-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'times');
  // In a process of its own: one that is shared with other files loses what of theirs ends meanwhile.
  const busy = `const { user } = process.cpuUsage(); while (process.cpuUsage().user - user < ${BUSY_MS * 1000});`;
  const script = `
    import { spawnSync } from 'node:child_process';
    import { noteTestTime } from ${JSON.stringify(new URL('./test-times.ts', import.meta.url).href)};
    const note = (file) => noteTestTime(${JSON.stringify(path)}, file, performance.now());
    note('before.test.ts');
    note('cheap.test.ts');
    spawnSync(process.execPath, ['--eval', ${JSON.stringify(busy)}]);
    note('dear.test.ts');
    note('cheap.test.ts');`;
  execFileSync(process.execPath, ['--input-type=module', '--eval', script], { stdio: ['ignore', 'ignore', 'inherit'] });

  const [, , dear] = readFileSync(path, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(dear.cpu).toBeGreaterThanOrEqual(BUSY_MS / 1000);
  expect(dear.own).toBeLessThan(dear.cpu);
  const lines = tableOfTimes(path, 1000).split('\n');
  expect(lines.findIndex((line) => line.endsWith('dear.test.ts'))).toBeLessThan(
    lines.findIndex((line) => line.endsWith('cheap.test.ts')),
  );
  expect(lines.filter((line) => line.endsWith('cheap.test.ts'))).toHaveLength(1);
  expect(lines.at(-1)).toMatch(/^ +1000\.0 .* all$/);
});
