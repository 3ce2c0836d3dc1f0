/** The inbox of what needs a person: what is wrong, what comes near a wall, and what somebody has acknowledged. */
import { LocalTime } from '#components/ui/local-time.tsx';
import { PageSection } from '#components/ui/page-section.tsx';
import { RelativeTime } from '#components/ui/relative-time.tsx';
import type { Caller } from '#lib/auth/caller.ts';
import { mayDo } from '#lib/contract/access.ts';
import { ActorName } from '../actor-name.tsx';
import { renderedAt, requireCaller } from '../caller.ts';
import { AcknowledgeForm, ReopenForm } from './acknowledge-form.tsx';
import { acknowledge, reopen } from './actions.ts';
import { type Attention, countOfRows, readAttention } from './read.ts';
import { AttentionRows } from './rows.tsx';
import type { AttentionRow } from './sources.ts';

export const dynamic = 'force-dynamic';
export const metadata = { title: 'Attention' };

/** Whoever is of some tenants decides nothing about the whole server. */
function mayDecide(caller: Caller, { tenant }: AttentionRow): boolean {
  if (!mayDo(caller, 'acknowledge', { tenant })) return false;
  return tenant !== null || caller.tenants === null;
}

function Acknowledged({
  acknowledged,
  caller,
  rendered,
}: Pick<Attention, 'acknowledged'> & { caller: Caller; rendered: number }) {
  const byKey = new Map(acknowledged.map(({ row, by }) => [row.key, by]));
  return (
    <PageSection id="acknowledged" name="Acknowledged" note="Not counted. What begins anew is.">
      <AttentionRows
        rows={acknowledged.map(({ row }) => row)}
        rendered={rendered}
        beside={(row) => {
          const by = byKey.get(row.key);
          return (
            <div className="flex flex-wrap items-center gap-x-4 gap-y-2 text-small text-ink-2">
              {by !== undefined && (
                <p>
                  <ActorName actor={by.by} />, <RelativeTime at={by.at} rendered={rendered} />,{' '}
                  {by.until === null ? (
                    'until it ends'
                  ) : (
                    <>
                      until <LocalTime at={by.until} />
                    </>
                  )}
                </p>
              )}
              {mayDecide(caller, row) && <ReopenForm action={reopen.bind(null, row.key, row.tenant)} name={row.name} />}
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
              mayDecide(caller, row) && <AcknowledgeForm action={acknowledge.bind(null, row.key)} name={row.name} />
            }
          />
        )}
      </PageSection>
      {acknowledged.length > 0 && <Acknowledged acknowledged={acknowledged} caller={caller} rendered={rendered} />}
    </>
  );
}
