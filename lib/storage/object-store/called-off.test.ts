import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openFileDriver } from './file-driver.ts';
import { downloadFile } from './transfers.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-called-off-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

test('what is called off while an object is opened ends with that, and ends no process', async () => {
  const driver = await openFileDriver(join(folder, 'store'), { makes: true });
  await driver.put('a', Buffer.from('whole'), {});
  const path = join(folder, 'brought');
  for (const start of [
    (signal: AbortSignal) => driver.open('a', undefined, signal),
    (signal: AbortSignal) => downloadFile(driver, 'a', path, { signal }),
  ]) {
    const ending = new AbortController();
    const begun = start(ending.signal);
    ending.abort(new Error('called off'));
    await expect(begun).rejects.toThrow('called off');
  }
  expect(existsSync(path)).toBe(false);
});
