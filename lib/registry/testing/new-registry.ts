/**
 * For tests: a new registry file without its migrations being run again. They take most of the time that a test waits
 * for an engine; lib/registry/sqlite/migrate.test.ts and every server process that a test starts still run them.
 */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { openTestRegistry } from './open-test-registry.ts';

/** The bytes of a file that was opened once, and closed. */
let empty: Buffer | null = null;

async function makeEmpty(): Promise<Buffer> {
  const folder = mkdtempSync(join(tmpdir(), 'winterdock-new-registry-'));
  try {
    const path = join(folder, 'registry.sqlite');
    await (await openTestRegistry(path, { durable: false })).close();
    return readFileSync(path);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * Puts an empty registry at `path` when its folder is new or empty. Anything else there may be what the test is about,
 * a missing registry included.
 */
export async function placeNewRegistry(path: string): Promise<void> {
  const folder = dirname(path);
  if (existsSync(folder) && readdirSync(folder).length > 0) return;
  empty ??= await makeEmpty();
  mkdirSync(folder, { recursive: true });
  writeFileSync(path, empty);
}
