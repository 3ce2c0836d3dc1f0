/** Rows that the engine looks up for its own work: due, unsettled, with a file; and the tenant of an id. */
import type { InstanceId } from '../../base/ids.ts';
import { eachOrAll, instanceStatements } from '../statements/instance-queries.ts';
import type { InstanceRow } from '../types.ts';
import type { PostgresDatabase } from './database.ts';

export class InstanceQueries {
  readonly statements;

  constructor(database: PostgresDatabase) {
    this.statements = database.with(instanceStatements);
  }

  /** Rows due up to `until` (epoch seconds), of all or some tenants and hosts, soonest first. */
  async due(
    until: number,
    limit: number,
    { tenants, host }: { tenants?: readonly string[]; host?: string },
  ): Promise<InstanceRow[]> {
    const statement = this.statements.due(tenants !== undefined, host);
    const ofEach = eachOrAll(tenants).map((bound) => statement.all({ until, limit, host, ...bound }));
    const found = (await Promise.all(ofEach)).flat();
    if (tenants !== undefined) found.sort((one, other) => Number(one.dueAt) - Number(other.dueAt));
    return found.slice(0, limit).map(({ dueAt: _, ...row }) => row);
  }

  async tenantOf(id: InstanceId): Promise<string | null> {
    return (await this.statements.tenantOf().get({ id }))?.tenant ?? null;
  }

  /** Rows with an intent, and active rows, of all hosts or of one and of nobody. */
  async unsettled(host?: string): Promise<InstanceRow[]> {
    return [
      ...(await this.statements.intended(host).all({ host })),
      ...(await this.statements.active(host).all({ host })),
    ];
  }

  /**
   * Rows that are not deleted and were last used after `time` (epoch seconds), of all hosts or of one and of nobody.
   */
  laterThan(time: number, limit: number, host?: string): Promise<InstanceRow[]> {
    return this.statements.laterThan(host).all({ time, limit, host });
  }

  /** See `InstanceStore.stillHeld`. */
  async stillHeld(
    ids: readonly InstanceId[],
    tokens: ReadonlyMap<InstanceId, string> = new Map(),
  ): Promise<InstanceId[]> {
    const rows = await this.statements.tokensOf().all({ ids: JSON.stringify(ids) });
    return rows.filter((row) => row.token !== null && row.token === tokens.get(row.id)).map((row) => row.id);
  }

  /** Rows with a file, in the order of their ids. */
  withFile(after: string, limit: number): Promise<InstanceRow[]> {
    return this.statements.withFile().all({ after, limit });
  }

  /** A round trip that proves that the registry answers and writes. `now` in epoch seconds. */
  async ping(now: number): Promise<void> {
    await this.statements.ping().run({ now });
  }
}
