/** The Logs tab: what ran in a sandbox printed. */
import type { Caller } from '#lib/auth/caller.ts';
import type { Instance } from '#lib/contract/schema.ts';
import { LogSection } from '../../log-section.tsx';
import type { SearchParams } from '../../search-params.ts';

export function LogsTab({
  caller,
  instance: { id, tenant },
  search,
  rendered,
}: {
  caller: Caller;
  instance: Instance;
  search: SearchParams;
  rendered: number;
}) {
  const path = `/sandboxes/${id}`;
  return <LogSection {...{ caller, tenant, path, search, rendered }} instance={id} kept={{ tab: 'logs' }} />;
}
