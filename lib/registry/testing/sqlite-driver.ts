/** The SQLite registry as a driver under test: a folder of its own, removed after each test. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type PlainIds, withPlainIds } from '../../testing/plain-ids.ts';
import type { Registry } from '../registry.ts';
import { type RegistryUnderTest, THRESHOLDS } from './fixtures.ts';
import { placeNewRegistry } from './new-registry.ts';
import { openTestRegistry } from './open-test-registry.ts';

/** `wrap` gets every opened registry, and returns the one that the suite uses. */
export function sqliteDriver(wrap = (registry: Registry): Registry => registry): RegistryUnderTest {
  let folder = '';
  let opened: PlainIds<Registry>[] = [];
  const again = async (thresholds = THRESHOLDS) => {
    const registry = withPlainIds(wrap(await openTestRegistry(join(folder, 'registry.sqlite'), { thresholds })));
    opened.push(registry);
    return registry;
  };
  return {
    async open() {
      folder = mkdtempSync(join(tmpdir(), 'winterdock-registry-'));
      await placeNewRegistry(join(folder, 'registry.sqlite'));
      return again();
    },
    again,
    async discard() {
      for (const registry of opened) await registry.close();
      opened = [];
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
