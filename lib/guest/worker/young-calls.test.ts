import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { entryOf } from '../../base/bundled.ts';
import { WORKER_ENTRY } from '../guest.ts';

const SCRIPTS = [
  'x=1',
  ':',
  'echo hi',
  'cat /dev/null',
  'echo 1 > f; cat f; ls',
  'ls | while read a; do echo $a; done',
];
/** A getter or a function in the old generation keeps all that its call made: 30 KB of an `echo`. Code is some KB. */
const MOST_BYTES = 15_000;

test('what a call makes is gone with it, and waits for no full collection', () => {
  const entry = join(import.meta.dirname, 'testing/left-behind.ts');
  const printed = execFileSync(process.execPath, ['--no-warnings', '--expose-gc', entry, ...SCRIPTS], {
    encoding: 'utf8',
  });
  const left: number[] = JSON.parse(printed);
  expect(left).toHaveLength(SCRIPTS.length);
  expect(SCRIPTS.filter((_, index) => (left[index] ?? Number.POSITIVE_INFINITY) > MOST_BYTES)).toEqual([]);
});

test('the bundle of a worker, which is what runs, has these functions in no property as they stand', () => {
  const folder = dirname(entryOf('worker', WORKER_ENTRY));
  const files = readdirSync(folder).filter((name) => name.endsWith('.cjs'));
  const code = files.map((name) => readFileSync(join(folder, name), 'utf8')).join('\n');
  for (const name of ['origCommand', 'input']) {
    expect(new RegExp(`\\.${name}=[\\w$]+\\(`).test(code)).toBe(true);
    expect(new RegExp(`\\.${name}=(\\w+|\\(\\w*\\))=>`).test(code)).toBe(false);
  }
});
