/** The inbox of what needs a person: what is wrong, what comes near a wall, and what somebody has acknowledged. */
import { WithCall } from '#components/calls/with-call.tsx';
import { LocalTime } from '#components/ui/local-time.tsx';
import { PageSection } from '#components/ui/page-section.tsx';
import { RelativeTime } from '#components/ui/relative-time.tsx';
import type { Caller } from '#lib/auth/caller.ts';
import { mayDo } from '#lib/contract/access.ts';
import type { Attention } from '#lib/contract/schema.ts';
import { ActorName } from '../actor-name.tsx';
import { renderedAt, requireCaller } from '../caller.ts';
import { AcknowledgeForm, ReopenForm } from './acknowledge-form.tsx';
import { acknowledge, reopen } from './actions.ts';
import { countOfRows, type ReadAttention, readAttention } from './read.ts';
import { AttentionRows } from './rows.tsx';

export const dynamic = 'force-dynamic';
export const metadata = { title: 'Attention' };

/** Whoever is of some tenants decides nothing about the whole server. */
function mayDecide(caller: Caller, { tenant }: Attention): boolean {
  if (!mayDo(caller, 'acknowledge', { tenant })) return false;
  return tenant !== null || caller.tenants === null;
}

function Acknowledged({
  acknowledged,
  caller,
  rendered,
}: Pick<ReadAttention, 'acknowledged'> & { caller: Caller; rendered: number }) {
  return (
    <PageSection id="acknowledged" name="Acknowledged" note="Not counted. What begins anew is.">
      <AttentionRows
        rows={acknowledged}
        rendered={rendered}
        beside={(row) => {
          const by = row.acknowledged;
          return (
            <div className="flex flex-wrap items-center gap-x-4 gap-y-2 text-small text-ink-2">
              {by !== null && (
                <p>
                  <ActorName actor={by.actor} />, <RelativeTime at={by.at} rendered={rendered} />,{' '}
                  {by.until === null ? (
                    'until it ends'
                  ) : (
                    <>
                      until <LocalTime at={by.until} />
                    </>
                  )}
                  {by.reason !== null && `: ${by.reason}`}
                </p>
              )}
              {mayDecide(caller, row) && (
                <WithCall name="unacknowledge" path={{ id: row.id }}>
                  <ReopenForm action={reopen.bind(null, row.id)} name={row.name} />
                </WithCall>
              )}
            </div>
          );
        }}
      />
    </PageSection>
  );
}

export default async function AttentionPage() {
  const caller = await requireCaller('/attention');
  const { open, acknowledged } = await readAttention(caller);
  const rendered = renderedAt();
  const count = countOfRows(open);
  return (
    <>
      <div className="pt-8 pb-8 sm:pt-12">
        <h1 className="headline">
          {count === 0
            ? 'Nothing needs you'
            : `${count.toLocaleString('en')} ${count === 1 ? 'thing needs' : 'things need'} somebody`}
        </h1>
        <p className="mt-3 max-w-[44rem] text-ink-2">
          Faults, and walls that come near: stuck operations, backups, the replica, the disk, quotas, webhooks and
          schedules, as far as you may see them. What is acknowledged is so for everybody.
        </p>
      </div>
      <PageSection id="open" name="Open" note="It leaves this list by itself when it is over.">
        {open.length === 0 ? (
          <p className="text-ink-2">{acknowledged.length === 0 ? 'All is well.' : 'All of it is acknowledged.'}</p>
        ) : (
          <AttentionRows
            rows={open}
            rendered={rendered}
            beside={(row) =>
              mayDecide(caller, row) && (
                <WithCall name="acknowledge" path={{ id: row.id }} fields={{ for: { to: 'until', kind: 'seconds' } }}>
                  <AcknowledgeForm action={acknowledge.bind(null, row.id)} name={row.name} />
                </WithCall>
              )
            }
          />
        )}
      </PageSection>
      {acknowledged.length > 0 && <Acknowledged acknowledged={acknowledged} caller={caller} rendered={rendered} />}
    </>
  );
}
