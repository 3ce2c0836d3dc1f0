import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createPool } from './pool.ts';
import type { InstancePool } from './protocol/instance.ts';

const MIB = 1024 * 1024;

let folder: string;
let pool: InstancePool;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-budget-'));
});
afterEach(async () => {
  await pool.stop();
  rmSync(folder, { recursive: true, force: true });
});

function open(id: string) {
  mkdirSync(join(folder, 'live', id), { recursive: true });
  const file = join(folder, 'live', id, 'vfs.sqlite');
  return pool.open({ id, file, policy: 'posix', maxBytes: 64 * MIB, maxFileBytes: MIB, mustExist: false });
}

const budget = (memoryBytes: number | null, size: number) =>
  createPool({ size, maxActive: 10, memoryBytes, dataFolder: folder, cacheFolder: process.env.WB_CACHE });

test('spare workers use the memory that sandboxes leave, and are started again when sandboxes end', async () => {
  pool = budget(63 * MIB, 5);
  await pool.start();
  expect(pool.ready).toBe(3);
  expect(pool.memory).toEqual({ limitBytes: 63 * MIB, servingBytes: 0, spareBytes: 48 * MIB });
  const opened = ['a', 'b', 'c'].map(open);
  expect(pool.memory.spareBytes).toBe(0);
  for (const process of opened) await process.exec({ command: 'true' });
  expect(pool.shortage).toBe('memory');
  expect(() => open('d')).toThrow(expect.objectContaining({ code: 'capacity', retryAfterSeconds: 5 }));
  await Promise.all(opened.map((process) => process.kill('killed')));
  expect(pool.shortage).toBeNull();
  await vi.waitFor(() => expect(pool.ready).toBe(3), { timeout: 240_000 });
});

test('a claim counts until it is released', async () => {
  pool = budget(40 * MIB, 0);
  const [first, second] = [pool.claim(), pool.claim()];
  expect(pool.shortage).toBe('memory');
  expect(() => pool.claim()).toThrow(/use 32 MiB of the 40 MiB that they share \(WB_MEMORY\)/);
  first.release();
  first.release();
  expect(pool.shortage).toBeNull();
  pool.claim();
  expect(pool.shortage).toBe('memory');
  second.release();
});

test('without a budget only places count', async () => {
  pool = budget(null, 0);
  const claims = Array.from({ length: 10 }, () => pool.claim());
  expect(pool.shortage).toBe('places');
  claims[0]?.release();
  expect(pool.shortage).toBeNull();
  expect(pool.memory).toMatchObject({ limitBytes: null });
});
