/** Opens the registry as the settings say: the server and the doctor, which both work on all of it. */
import type { Config } from '../base/config.ts';
import type { RegistryDriver } from '../registry/driver.ts';
import type { Registry } from '../registry/registry.ts';

type RegistrySettings = Pick<
  Config,
  | 'hotToWarmSeconds'
  | 'idleToSuspendSeconds'
  | 'idleToFreezeSeconds'
  | 'schedulesPerSandbox'
  | 'schedulesPerTenant'
  | 'runsPerSchedule'
>;

/** Opens it; makes and migrates it. Throws the errors of its database. */
export function openRegistry(driver: RegistryDriver, config: RegistrySettings): Promise<Registry> {
  return driver.open({
    thresholds: {
      hotToWarmSeconds: config.hotToWarmSeconds,
      idleToSuspendSeconds: config.idleToSuspendSeconds,
      idleToFreezeSeconds: config.idleToFreezeSeconds,
    },
    scheduleLimits: { perSandbox: config.schedulesPerSandbox, perTenant: config.schedulesPerTenant },
    runsPerSchedule: config.runsPerSchedule,
  });
}
