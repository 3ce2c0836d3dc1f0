/** Opens the registry as the settings say: the server and the doctor, which both work on all of it. */
import type { Config } from '../base/config.ts';
import { RegistryTimes } from '../health/registry-times.ts';
import type { RegistryDriver } from '../registry/driver.ts';
import type { RegistryLogKeeper } from '../registry/log-keeper.ts';
import type { Registry } from '../registry/registry.ts';
import { timedRegistry } from '../registry/timed-registry.ts';
import { ShippedRegistry } from '../replication/shipped-registry.ts';

type RegistrySettings = Pick<
  Config,
  | 'hotToWarmSeconds'
  | 'idleToSuspendSeconds'
  | 'idleToFreezeSeconds'
  | 'schedulesPerSandbox'
  | 'schedulesPerTenant'
  | 'runsPerSchedule'
>;

/**
 * Opens it; makes and migrates it. `keeper`: without its leave the log of the registry stays. `follow`: for whoever
 * stays beside others. Throws the errors of its database.
 */
export function openRegistry(
  driver: RegistryDriver,
  config: RegistrySettings,
  { keeper = null, follow = false }: { keeper?: RegistryLogKeeper | null; follow?: boolean } = {},
): Promise<Registry> {
  return driver.open({
    thresholds: {
      hotToWarmSeconds: config.hotToWarmSeconds,
      idleToSuspendSeconds: config.idleToSuspendSeconds,
      idleToFreezeSeconds: config.idleToFreezeSeconds,
    },
    scheduleLimits: { perSandbox: config.schedulesPerSandbox, perTenant: config.schedulesPerTenant },
    runsPerSchedule: config.runsPerSchedule,
    keeper,
    follow,
  });
}

/**
 * The same for a server, whose replica keeps the log from the start: what an earlier one left in it is shipped too.
 * `keeper` is null without a replica, and for a registry that is no file.
 */
export async function openShippedRegistry(
  driver: RegistryDriver,
  config: RegistrySettings & Pick<Config, 'store' | 'registry'>,
): Promise<{ opened: Registry; keeper: ShippedRegistry | null; registryTimes: RegistryTimes }> {
  const isShipped = config.store.replica !== null && driver.isKept && config.registry.driver === 'sqlite';
  const keeper = isShipped ? new ShippedRegistry() : null;
  const opened = await openRegistry(driver, config, { keeper, follow: true });
  const close = async () => {
    await opened.close();
    await keeper?.noteEnd();
  };
  const registryTimes = new RegistryTimes();
  return { opened: timedRegistry({ ...opened, close }, registryTimes.observe), keeper, registryTimes };
}
