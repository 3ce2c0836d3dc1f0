/**
 * Ids of people and jobs that earlier steps of a forgetting removed. Later steps need them, and they are stored nowhere
 * else.
 */

import { forgottenIdStatements } from '../statements/forgotten-ids.ts';
import { type ForgottenIds, withMore } from '../tenant-forgettings.ts';
import type { PostgresDatabase } from './database.ts';

export function forgottenIds(database: PostgresDatabase) {
  const { read, write } = database.with(forgottenIdStatements);
  const idsOf = async (job: string): Promise<ForgottenIds> =>
    (await read().get({ job }))?.ids ?? { actors: [], jobs: [] };
  return {
    idsOf,
    /** Runs inside a transaction. */
    async addIds(job: string, more: Partial<ForgottenIds>): Promise<void> {
      await write().run({ ids: withMore(await idsOf(job), more), job });
    },
  };
}
