/** The tab of what is inside: the files, and questions in SQL. */
import { Greyed } from '#components/greyed.tsx';
import { Part } from '#components/part.tsx';
import { SqlBox } from '#components/sql-box.tsx';
import { whyNot } from '#lib/api/access.ts';
import type { Caller } from '#lib/api/operations.ts';
import type { Instance } from '#lib/api/schema.ts';
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
