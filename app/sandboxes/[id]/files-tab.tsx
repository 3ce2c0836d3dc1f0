/** The tab of what is inside: the files, and questions in SQL. */

import { SqlBox } from '#app/sandboxes/[id]/sql-box.tsx';
import { Greyed } from '#components/ui/disabled-action.tsx';
import { Part } from '#components/ui/part.tsx';
import type { Caller } from '#lib/auth/caller.ts';
import { whyNot } from '#lib/contract/access.ts';
import type { Instance } from '#lib/contract/schema.ts';
import type { Search } from '../../search.ts';
import { ask } from './ask.ts';
import { Inside } from './inside.tsx';

export function FilesTab({ caller, instance, search }: { caller: Caller; instance: Instance; search: Search }) {
  const { id, tenant } = instance;
  const noQuery = whyNot(caller, 'query', { tenant });
  return (
    <>
      <Inside instance={instance} search={search} />
      <Part id="query" name="Query" note="SQL over all three volumes at once.">
        {noQuery === null ? <SqlBox action={ask.bind(null, id)} /> : <Greyed id="query" label="Ask" whyNot={noQuery} />}
      </Part>
    </>
  );
}
