/**
 * Whether a server may use its registry beside others, by its settings: what it lacks for that, in words. Pure.
 *
 * What sleeps on one host has to be able to wake on another, so its files rest in a store that all of them have; and
 * each has to be reached by the others.
 */
import type { Config } from '../base/config.ts';

type Settings = Pick<Config, 'registry' | 'hostRow' | 'store'>;

/** What is missing, a part of a sentence each; empty: it shares its registry with whoever lacks nothing either. */
export function lacksForSeveral({ registry, hostRow, store }: Settings): string[] {
  const lacks: string[] = [];
  if (registry.driver !== 'postgres') lacks.push('WB_REGISTRY, a registry on Postgres');
  if (hostRow.url === null) lacks.push('WB_HOST_URL, the address at which the other servers reach it');
  if (store.cold === null) lacks.push('WB_COLD_URL, the object store that all of them have');
  else if (store.isLeaving) lacks.push('WB_STORE_LEAVING to be unset: its files leave the store that all of them have');
  return lacks;
}

/** A sentence for a server that was kept out of a registry: what it needs to use it beside others. */
export function neededForSeveral(lacks: readonly string[]): string {
  if (lacks.length === 0)
    return 'This server would share it: the other one was started without what several servers need, or is a tool (docs/fleet.md).';
  return `To use it beside other servers this one needs ${lacks.join('; ')} (docs/fleet.md).`;
}

/**
 * The name of the host whose files are here, where rows of other hosts are none of its business; null: its registry is
 * of one server, and every file is here.
 */
export function hostAmongSeveral(config: Settings & Pick<Config, 'hostName'>): string | null {
  return lacksForSeveral(config).length === 0 ? config.hostName : null;
}
