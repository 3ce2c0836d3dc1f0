import { execFileSync } from 'node:child_process';
import { linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { verdict, weigh } from './weight.ts';

/**
 * A node_modules of three packages, with a file that has two names, a link, a package within one, and what a tool left.
 */
function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'winterdock-weight-'));
  const put = (path: string, kib: number) => {
    mkdirSync(join(made, path, '..'), { recursive: true });
    writeFileSync(join(made, path), Buffer.alloc(kib * 1024, 1));
  };
  put('large/dist/a.js', 3000);
  put('large/node_modules/inner/b.js', 100);
  put('@scope/one/c.js', 700);
  put('@scope/two/d.js', 10);
  linkSync(join(made, 'large/dist/a.js'), join(made, '@scope/two/a.js'));
  mkdirSync(join(made, '.bin'));
  symlinkSync('../large/dist/a.js', join(made, '.bin', 'large'));
  return made;
}

test('an install weighs what du says, by package, and a file with two names once', () => {
  const made = folder();
  const { bytes, packages } = weigh(made);
  expect(bytes / 1024).toBe(Number.parseInt(execFileSync('du', ['-sk', made], { encoding: 'utf8' }), 10));
  const twice = packages.filter(([, size]) => size > 2900 * 1024);
  expect(twice.length).toBe(1);
  expect(packages.map(([name]) => name)).toEqual(expect.arrayContaining(['large', '@scope/one', '@scope/two']));
  rmSync(made, { recursive: true });
});

test('what tools leave in .cache is not of the install', () => {
  const made = folder();
  const before = weigh(made).bytes;
  mkdirSync(join(made, '.cache', 'tool'), { recursive: true });
  writeFileSync(join(made, '.cache', 'tool', 'big'), Buffer.alloc(5_000_000, 1));
  expect(weigh(made).bytes).toBe(before);
  rmSync(made, { recursive: true });
});

test('an install that is too large is refused in a line that names the largest first', () => {
  const weight = {
    bytes: 700 * 2 ** 20,
    packages: [['next', 209 * 2 ** 20] as [string, number], ['zod', 8 * 2 ** 20] as [string, number]],
  };
  expect(verdict(weight, 700)).toEqual({ fits: true, line: 'node_modules: 700 MiB of at most 700' });
  expect(verdict(weight, 650)).toEqual({
    fits: false,
    line: 'node_modules is 700 MiB and may be 650; the largest, in MiB: next 209, zod 8',
  });
});
