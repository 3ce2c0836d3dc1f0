/** For tests: registries in files and in memory, opened as the server opens them. */
import type { RegistryDriver, RegistryOptions } from '../driver.ts';
import { registryDriver } from '../drivers.ts';
import type { Registry } from '../registry.ts';
import { THRESHOLDS } from './fixtures.ts';

/** The driver of the file at an absolute path. */
export function fileDriver(path: string): RegistryDriver {
  return registryDriver({ driver: 'sqlite', path });
}

/** Opens the file at an absolute path, which is made; null: one in memory. */
export function openTestRegistry(path: string | null, options: Partial<RegistryOptions> = {}): Promise<Registry> {
  const driver = path === null ? registryDriver({ driver: 'memory' }) : fileDriver(path);
  return driver.open({ thresholds: THRESHOLDS, follow: true, ...options });
}
