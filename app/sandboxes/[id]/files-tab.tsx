/** The Files tab: the volumes, and SQL over them. */

import { SqlBox } from '#app/sandboxes/[id]/sql-box.tsx';
import { WithCall } from '#components/calls/with-call.tsx';
import { DisabledAction } from '#components/ui/disabled-action.tsx';
import { PageSection } from '#components/ui/page-section.tsx';
import type { Caller } from '#lib/auth/caller.ts';
import { whyNot } from '#lib/contract/access.ts';
import type { Instance } from '#lib/contract/schema.ts';
import type { SearchParams } from '../../search-params.ts';
import { FileComparison } from './file-comparison.tsx';
import { runSql } from './sql-actions.ts';
import { VolumeBrowser } from './volume-browser.tsx';

export function FilesTab({ caller, instance, search }: { caller: Caller; instance: Instance; search: SearchParams }) {
  const { id, tenant } = instance;
  const noQuery = whyNot(caller, 'query', { tenant });
  return (
    <>
      <VolumeBrowser instance={instance} search={search} />
      <FileComparison caller={caller} instance={instance} search={search} />
      <PageSection id="query" name="Query" note="SQL over all three volumes at once.">
        {noQuery === null ? (
          <WithCall name="queryFiles" path={{ id }} fields={{ sql: 'text' }}>
            <SqlBox action={runSql.bind(null, id)} />
          </WithCall>
        ) : (
          <DisabledAction id="query" label="Ask" whyNot={noQuery} />
        )}
      </PageSection>
    </>
  );
}
