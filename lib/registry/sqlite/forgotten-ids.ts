/**
 * Ids of people and jobs that earlier steps of a forgetting removed. Later steps need them, and they are stored nowhere
 * else.
 */

import { forgottenIdStatements } from '../statements/forgotten-ids.ts';
import { type ForgottenIds, withMore } from '../tenant-forgettings.ts';
import type { RegistryDatabase } from './database.ts';

export function forgottenIds(database: RegistryDatabase) {
  const { read, write } = forgottenIdStatements(database);
  const idsOf = (job: string): ForgottenIds => read().get({ job })?.ids ?? { actors: [], jobs: [] };
  return {
    idsOf,
    /** Runs inside a transaction. */
    addIds(job: string, more: Partial<ForgottenIds>): void {
      write().run({ ids: withMore(idsOf(job), more), job });
    },
  };
}
