/** Connections to a database of Postgres, as the registry uses them. Loads the client only when it is asked for. */
import type { Sql } from 'postgres';

/** Connections at once: transactions wait for one another anyway, reads do not. */
const CONNECTIONS = 8;
const CONNECT_SECONDS = 30;

/**
 * Connects when the first statement is sent. Whole numbers and sums are numbers: none of the registry's is beyond
 * `Number.MAX_SAFE_INTEGER`.
 */
export async function connect(url: string, { most = CONNECTIONS }: { most?: number } = {}): Promise<Sql> {
  const { default: postgres } = await import('postgres');
  const number = { parse: Number, serialize: String };
  return postgres(url, {
    max: most,
    connect_timeout: CONNECT_SECONDS,
    // Types of extensions are not asked for: the registry uses none.
    fetch_types: false,
    onnotice: () => undefined,
    types: { bigint: { to: 20, from: [20], ...number }, numeric: { to: 1700, from: [1700], ...number } },
    connection: { application_name: 'winterdock' },
  }) as unknown as Sql;
}
