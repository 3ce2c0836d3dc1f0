import { expect, test } from 'vitest';
import { readConfig } from './config.ts';
import { machineMemory, sandboxMemoryShare } from './machine-memory.ts';

const MIB = 1024 * 1024;

test('sandboxes get three quarters of a machine, all but 512 MiB of a small one, a quarter of a tiny one', () => {
  const shares = [24_576, 2048, 1024, 600, 512, 256].map((mib) => sandboxMemoryShare(mib * MIB) / MIB);
  expect(shares).toEqual([18_432, 1536, 512, 150, 128, 64]);
});

test('the memory budget is the machine’s unless it is set, and none when it is 0', () => {
  expect(machineMemory()).toBeGreaterThan(0);
  expect(readConfig({}).memoryBytes).toBe(sandboxMemoryShare(machineMemory()));
  expect(readConfig({ WB_MEMORY: '1073741824' }).memoryBytes).toBe(1024 * MIB);
  expect(readConfig({ WB_MEMORY: '0' }).memoryBytes).toBeNull();
});

test.each(['1GB', '1000', '-1', '64 MiB'])('WB_MEMORY=%s is refused with what is allowed', (value) => {
  expect(() => readConfig({ WB_MEMORY: value })).toThrow(
    `WB_MEMORY="${value}": must be a whole number of bytes from 41943040 to 70368744177664, or 0 for no budget`,
  );
});
