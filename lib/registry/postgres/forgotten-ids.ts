/**
 * Ids of people and jobs that earlier steps of a forgetting removed. Later steps need them, and they are stored nowhere
 * else.
 */

import { forgottenIdStatements } from '../statements/forgotten-ids.ts';
import type { PostgresDatabase } from './database.ts';

/** A ledger line without a tenant that names one of these is about the forgotten tenant. */
export interface ForgottenIds {
  actors: string[];
  jobs: string[];
}

export function forgottenIds(database: PostgresDatabase) {
  const { read, write } = database.with(forgottenIdStatements);
  const idsOf = async (job: string): Promise<ForgottenIds> =>
    (await read().get({ job }))?.ids ?? { actors: [], jobs: [] };
  return {
    idsOf,
    /** Runs inside a transaction. */
    async addIds(job: string, more: Partial<ForgottenIds>): Promise<void> {
      const { actors, jobs } = await idsOf(job);
      const ids: ForgottenIds = {
        actors: [...new Set([...actors, ...(more.actors ?? [])])],
        jobs: [...new Set([...jobs, ...(more.jobs ?? [])])],
      };
      await write().run({ ids, job });
    },
  };
}
