/**
 * Rebuilds plans of an older plan builder when they are read, so that stored versions have what today's builder finds
 * in a source. Knows the store by its interface alone.
 */
import { messageOf } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { scheduledIn } from './docked.ts';
import { PLAN_BUILDER } from './limits.ts';
import type { ParsedSource } from './messages.ts';
import type { WorkbookPlan } from './types.ts';

interface StoredVersion {
  tenant: string;
  id: string;
  version: number;
  title: string | null;
  components: number | null;
  problems: number;
  source: string;
  plan: string | null;
  problemList: string;
  builder: number;
}

interface RebuildableStore {
  planOf(tenant: string, id: string, version: number): Promise<{ builder: number } | null>;
  version(tenant: string, id: string, version: number): Promise<StoredVersion | null>;
  rebuild(version: Omit<StoredVersion, 'source'> & { schedules: number }): Promise<void>;
}

interface SourceReader {
  parse(tenant: string, source: string): Promise<ParsedSource>;
}

/**
 * The store, whose plans are those of this version's builder. A plan that cannot be made anew now is given as it is,
 * and tried again at its next reading.
 */
export function withCurrentPlans<Store extends RebuildableStore>(
  store: Store,
  { sources, log }: { sources: SourceReader; log: Pick<Logger, 'warn'> },
): Store {
  const rebuilding = new Map<string, Promise<void>>();
  const rebuild = (tenant: string, id: string, version: number): Promise<void> => {
    const key = JSON.stringify([tenant, id, version]);
    const running =
      rebuilding.get(key) ??
      rebuildVersion(store, sources, tenant, id, version)
        .catch((error) => log.warn({ tenant, workbook: id, version, error: messageOf(error) }, 'an older plan is kept'))
        .finally(() => rebuilding.delete(key));
    rebuilding.set(key, running);
    return running;
  };
  const current =
    <Stored extends { builder: number }>(read: (...key: [string, string, number]) => Promise<Stored | null>) =>
    async (...key: [tenant: string, id: string, version: number]): Promise<Stored | null> => {
      const stored = await read(...key);
      if (stored === null || stored.builder >= PLAN_BUILDER) return stored;
      await rebuild(...key);
      return read(...key);
    };
  return {
    ...store,
    planOf: current((...key) => store.planOf(...key)),
    version: current((...key) => store.version(...key)),
  };
}

async function rebuildVersion(
  store: RebuildableStore,
  sources: SourceReader,
  tenant: string,
  id: string,
  version: number,
): Promise<void> {
  const stored = await store.version(tenant, id, version);
  if (stored === null || stored.builder >= PLAN_BUILDER) return;
  const { source, ...before } = stored;
  const { title, plan, problems, components, schedules } = await sources.parse(tenant, source);
  // What was accepted once goes on: sandboxes are docked to it.
  const isKept = plan === null && before.plan !== null;
  const rebuilt = isKept
    ? { ...before, schedules: scheduledIn(JSON.parse(before.plan ?? '') as WorkbookPlan) }
    : {
        ...before,
        title,
        plan,
        components: plan === null ? null : components,
        problems: problems.length,
        problemList: JSON.stringify(problems),
        schedules,
      };
  await store.rebuild({ ...rebuilt, builder: PLAN_BUILDER });
}
