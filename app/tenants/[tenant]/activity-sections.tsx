/** What moves next, what left, and what happened last in a tenant. Each section reads for itself, beside the others. */
import { Week } from '#components/figures/week.tsx';
import { LedgerLines } from '#components/ledger/ledger-lines.tsx';
import { LiveLedger } from '#components/live/live-ledger.tsx';
import { ShareTable } from '#components/sandbox/share-table.tsx';
import { PageSection } from '#components/ui/page-section.tsx';
import type { Caller } from '#lib/auth/caller.ts';
import { getHost } from '#lib/host/host.ts';
import { actorNames, lineNames } from '../../actor-names.ts';
import { DueList } from '../../overview/due-list.tsx';
import { visitorZone } from '../../zone.ts';
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

export async function WeekSection({ caller, tenant }: Pick<Props, 'caller' | 'tenant'>) {
  const usage = await getHost().operations.tenantUsage(caller, tenant, {});
  return (
    <PageSection id="week" name="Last seven days" note="By the hour, all of its sandboxes together.">
      <Week
        usage={usage}
        zone={await visitorZone()}
        linesOf={(since, until) =>
          `/audit?${new URLSearchParams({ tenant, since: String(since), until: String(until) })}`
        }
      />
    </PageSection>
  );
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
        <ShareTable
          shares={shares.items}
          names={await actorNames(shares.items.map(({ actor }) => actor))}
          rendered={rendered}
        />
      )}
      {shares.next !== null && <MoreLink href={`/shares?tenant=${tenant}`}>All of its shares</MoreLink>}
    </PageSection>
  );
}

export async function LedgerSection({ caller, tenant, rendered }: Props) {
  const lines = await getHost().operations.events(caller, { tenant, limit: LINES_SHOWN });
  const names = await lineNames(lines.items);
  return (
    <PageSection id="ledger" name="Ledger" note="What happened to it last, newest first.">
      <LiveLedger events={lines.items} limit={LINES_SHOWN} rendered={rendered} tenant={tenant} names={names}>
        {lines.items.length === 0 ? (
          <p className="text-ink-2">Nothing has happened yet.</p>
        ) : (
          <LedgerLines events={lines.items} rendered={rendered} names={names} />
        )}
      </LiveLedger>
      {lines.next !== null && <MoreLink href={`/audit?tenant=${tenant}`}>All of its lines</MoreLink>}
    </PageSection>
  );
}
