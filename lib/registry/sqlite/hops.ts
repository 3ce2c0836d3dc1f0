/** The hops of the ledger, newest first, read beside everything else: what the simulator walks. */
import type { State } from '../../lifecycle/states.ts';
import type { Source, Trigger } from '../../lifecycle/words.ts';
import type { Hop } from '../hops.ts';
import type { RegistryDatabase, Value } from './database.ts';

/** Lines read before others have their turn: some milliseconds. */
const PIECE = 1000;
const COLUMNS = 'time_ms, instance, "from", "to", "trigger", source, reason';
const WHERE = `time_ms >= ? AND type = 'transition' AND instance IS NOT NULL`;
/** Numbers rise with time, so that the table itself is read backwards: no index has to be followed line by line. */
const FIRST = 'SELECT seq FROM events INDEXED BY events_by_time WHERE time_ms >= ? ORDER BY time_ms, seq LIMIT 1';
const ALL = `SELECT ${COLUMNS} FROM events NOT INDEXED WHERE seq >= ? AND ${WHERE} ORDER BY seq DESC`;
const OF_TENANT = `SELECT ${COLUMNS} FROM events INDEXED BY events_by_tenant WHERE tenant = ? AND ${WHERE} ORDER BY time_ms DESC, seq DESC`;

export async function readHops(
  database: RegistryDatabase,
  sinceMs: number,
  tenants: readonly string[] | undefined,
  seen: (hop: Hop) => boolean,
): Promise<void> {
  const statements =
    tenants === undefined
      ? [{ sql: ALL, params: [database.integer(FIRST, sinceMs), sinceMs] }]
      : tenants.map((tenant) => ({ sql: OF_TENANT, params: [tenant, sinceMs] }));
  await database.snapshot(statements, PIECE, turn, (values) => seen(hopOf(values)));
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function hopOf(values: Value[]): Hop {
  return {
    timeMs: values[0] as number,
    instance: values[1] as string,
    from: values[2] as State,
    to: values[3] as State,
    trigger: values[4] as Trigger,
    source: values[5] as Source | null,
    reason: values[6] as string | null,
  };
}
