/** What a forgetting keeps in mind of what its earlier steps removed, for its later ones: ids alone. */
import { eq, placeholder } from '../../../db/drizzle.ts';
import { forgettings } from '../../../db/schema.ts';
import type { RegistryDatabase } from './database.ts';
import { bound } from './placeholders.ts';

/** Who and what is looked for in lines of no tenant. */
export interface About {
  actors: string[];
  jobs: string[];
}

export function aboutForgotten(database: RegistryDatabase) {
  const read = database.statement((queries) =>
    queries
      .select({ about: forgettings.about })
      .from(forgettings)
      .where(eq(forgettings.job, placeholder('job')))
      .prepare(),
  );
  const write = database.statement((queries) =>
    queries
      .update(forgettings)
      .set({ about: bound('about') })
      .where(eq(forgettings.job, placeholder('job')))
      .prepare(),
  );
  const aboutOf = (job: string): About => read().get({ job })?.about ?? { actors: [], jobs: [] };
  return {
    aboutOf,
    /** Inside a transaction. */
    keepInMind(job: string, more: Partial<About>): void {
      const { actors, jobs } = aboutOf(job);
      const about: About = {
        actors: [...new Set([...actors, ...(more.actors ?? [])])],
        jobs: [...new Set([...jobs, ...(more.jobs ?? [])])],
      };
      write().run({ about, job });
    },
  };
}
