/** What moves next, what left, and what happened last in a tenant. Each section reads for itself, beside the others. */
import { LiveLedger } from '#components/live/live-ledger.tsx';
import { ShareTable } from '#components/sandbox/share-table.tsx';
import { PageSection } from '#components/ui/page-section.tsx';
import type { Caller } from '#lib/auth/caller.ts';
import { getHost } from '#lib/host/host.ts';
import { actorNames } from '../../actor-names.ts';
import { DueList } from '../../overview/due-list.tsx';
import { MoreLink } from './more-link.tsx';

const DAY_SECONDS = 86_400;
const DUE_SHOWN = 8;
const SHARES_SHOWN = 5;
const LINES_SHOWN = 10;

interface Props {
  caller: Caller;
  tenant: string;
  /** The server's time in epoch seconds. */
  rendered: number;
}

/** `caller`: narrowed to this tenant, because the list is of everything that a caller sees. */
export async function DueSection({ caller, rendered }: Pick<Props, 'caller' | 'rendered'>) {
  const due = await getHost().operations.due(caller, DAY_SECONDS, DUE_SHOWN);
  return (
    <PageSection id="due" name="Due next" note="What the ladder does within a day if nothing else happens.">
      {due.length === 0 ? (
        <p className="text-ink-2">None of its sandboxes moves by itself within a day.</p>
      ) : (
        <DueList instances={due} rendered={rendered} />
      )}
    </PageSection>
  );
}

export async function SharesSection({ caller, tenant, rendered }: Props) {
  const shares = await getHost().operations.shares(caller, { tenant, limit: SHARES_SHOWN });
  return (
    <PageSection id="shares" name="Shares" note="What left the building, newest first.">
      {shares.items.length === 0 ? (
        <p className="text-ink-2">Nothing of it has left.</p>
      ) : (
        <ShareTable shares={shares.items} rendered={rendered} />
      )}
      {shares.next !== null && <MoreLink href={`/shares?tenant=${tenant}`}>All of its shares</MoreLink>}
    </PageSection>
  );
}

export async function LedgerSection({ caller, tenant, rendered }: Props) {
  const [lines, names] = await Promise.all([
    getHost().operations.events(caller, { tenant, limit: LINES_SHOWN }),
    actorNames(),
  ]);
  return (
    <PageSection id="ledger" name="Ledger" note="What happened to it last, newest first.">
      <LiveLedger events={lines.items} limit={LINES_SHOWN} rendered={rendered} tenant={tenant} names={names} />
      {lines.next !== null && <MoreLink href={`/audit?tenant=${tenant}`}>All of its lines</MoreLink>}
    </PageSection>
  );
}
