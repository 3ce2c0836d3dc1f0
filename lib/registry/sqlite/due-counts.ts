/** How many sandboxes fall due when, counted in the index of what is due and nowhere else. Read only. */
import type { DueTo } from '../due-counts.ts';
import type { RegistryDatabase, Value } from './database.ts';

/** Entries that are counted of one span; a span with more says this many. */
const COUNTED = 100_000;

/** As `nextMove` decides it: an ephemeral one walks on through the map, any other goes down the ladder. */
const TO: Readonly<Record<DueTo, string>> = {
  suspended: "state = 'active' AND NOT ephemeral",
  frozen: "state = 'suspended' AND NOT ephemeral",
  archived: "ephemeral AND state IN ('active', 'suspended', 'frozen')",
  deleted: "ephemeral AND state = 'archived'",
};
const DUE_TO = Object.keys(TO) as DueTo[];

const SUMS = DUE_TO.map((to) => `coalesce(sum(${TO[to]}), 0)`).join(', ');
const OF_TENANTS = 'AND tenant IN (SELECT value FROM json_each(?))';

function sqlOf(ofTenants: boolean): string {
  return `SELECT ${SUMS} FROM (
    SELECT state, ephemeral FROM instances INDEXED BY instances_due
    WHERE due_at IS NOT NULL AND pending IS NULL AND due_at >= ? AND due_at < ? ${ofTenants ? OF_TENANTS : ''} LIMIT ${COUNTED})`;
}

/** One record a span, in order; see `Registry.dueCounts`. */
export function dueCounts(
  database: RegistryDatabase,
  { from, seconds, slots }: { from: number; seconds: number; slots: number },
  tenants?: readonly string[],
): Record<DueTo, number>[] {
  const among: Value[] = tenants === undefined ? [] : [JSON.stringify(tenants)];
  return Array.from({ length: slots }, (_, slot) => {
    const since = slot === 0 ? 0 : from + slot * seconds;
    const counted = database.sql(sqlOf(tenants !== undefined)).get(since, from + (slot + 1) * seconds, ...among) ?? [];
    return Object.fromEntries(DUE_TO.map((to, at) => [to, Number(counted[at] ?? 0)])) as Record<DueTo, number>;
  });
}
