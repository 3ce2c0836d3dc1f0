/** Chooses the driver of a registry by its address: the one place where another kind of registry is plugged in. */
import type { RegistryAddress } from '../base/registry-url.ts';
import type { RegistryDriver } from './driver.ts';
import { postgresDriver } from './postgres/driver.ts';
import { memoryDriver, sqliteFileDriver } from './sqlite/driver.ts';

/** The driver of a registry. Opens and makes nothing. */
export function registryDriver(address: RegistryAddress): RegistryDriver {
  switch (address.driver) {
    case 'memory':
      return memoryDriver();
    case 'sqlite':
      return sqliteFileDriver(address.path);
    case 'postgres':
      return postgresDriver(address);
  }
}
