/**
 * Ids of people and jobs that earlier steps of a forgetting removed. Later steps need them, and they are stored nowhere
 * else.
 */

import { forgottenIdStatements } from '../statements/forgotten-ids.ts';
import type { RegistryDatabase } from './database.ts';

/** A ledger line without a tenant that names one of these is about the forgotten tenant. */
export interface ForgottenIds {
  actors: string[];
  jobs: string[];
}

export function forgottenIds(database: RegistryDatabase) {
  const { read, write } = forgottenIdStatements(database);
  const idsOf = (job: string): ForgottenIds => read().get({ job })?.ids ?? { actors: [], jobs: [] };
  return {
    idsOf,
    /** Runs inside a transaction. */
    addIds(job: string, more: Partial<ForgottenIds>): void {
      const { actors, jobs } = idsOf(job);
      const ids: ForgottenIds = {
        actors: [...new Set([...actors, ...(more.actors ?? [])])],
        jobs: [...new Set([...jobs, ...(more.jobs ?? [])])],
      };
      write().run({ ids, job });
    },
  };
}
