/** Counts the sandboxes that fall due per span of time. Read only. */
import { dueCountStatements } from '../statements/due-counts.ts';
import { eachOrAll } from '../statements/instance-queries.ts';
import type { DueTarget } from '../types.ts';
import type { PostgresDatabase } from './database.ts';

/** One record per span, in order; see `InstanceStore.dueCounts`. */
export function openDueCounts(database: PostgresDatabase) {
  const { within } = database.with(dueCountStatements);
  return async (
    { from, seconds, slots, most }: { from: number; seconds: number; slots: number; most: number },
    tenants?: readonly string[],
  ): Promise<Record<DueTarget, number>[]> => {
    const spans: Record<DueTarget, number>[] = [];
    for (let slot = 0; slot < slots; slot += 1) {
      const since = slot === 0 ? 0 : from + slot * seconds;
      const until = from + (slot + 1) * seconds;
      const counts: Record<DueTarget, number> = { suspended: 0, frozen: 0, archived: 0, deleted: 0 };
      let left = most;
      for (const bound of eachOrAll(tenants)) {
        if (left <= 0) break;
        const counted = await within(tenants !== undefined).get({ since, until, most: left, ...bound });
        for (const to of Object.keys(counts) as DueTarget[]) {
          counts[to] += counted?.[to] ?? 0;
          left -= counted?.[to] ?? 0;
        }
      }
      spans.push(counts);
    }
    return spans;
  };
}
