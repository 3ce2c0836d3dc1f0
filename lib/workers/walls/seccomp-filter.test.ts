import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { CALLS_BY_NAME, seccompFilter } from './seccomp-filter.ts';

/** Headers of the kernel, where they are installed: of x86-64, and the generic ones that arm64 has. */
const HEADERS = ['/usr/include/x86_64-linux-gnu/asm/unistd_64.h', '/usr/include/asm-generic/unistd.h'];

test.runIf(HEADERS.every(existsSync))('the calls of the filter have the numbers of the kernel’s headers', () => {
  const tables = HEADERS.map((file) => {
    const lines = readFileSync(file, 'utf8').matchAll(/^#define\s+(?:__NR|__NR3264)_(\w+)\s+(\d+)/gm);
    return new Map([...lines].map(([, name = '', number]): [string, number] => [name, Number(number)]));
  });
  // Calls that are newer than the headers are in none of them.
  const known = Object.entries(CALLS_BY_NAME).filter(([name]) => tables.some((table) => table.has(name)));
  expect(known.length).toBeGreaterThan(80);
  expect(Object.fromEntries(known)).toEqual(
    Object.fromEntries(known.map(([name]) => [name, tables.map((table) => table.get(name) ?? -1)])),
  );
});

test('there is a filter for each architecture that is named, none for others, and it fits the kernel’s bounds', () => {
  for (const architecture of ['x64', 'arm64'] as const) {
    const filter = seccompFilter(architecture);
    // An instruction is eight bytes; a program has at most 4 096.
    expect(filter?.code).toMatch(/^(?:[0-9a-f]{16}){100,4096}$/);
    const at = (filter?.ownPidAt ?? 0) * 2;
    expect(filter?.code.slice(at, at + 8)).toBe('00000000');
  }
  expect(seccompFilter('riscv64')).toBeNull();
});
