/**
 * One archived sandbox at the support desk: why it is here, its files, and the form that revives it. Reading wakes
 * nothing.
 */
import type { Metadata } from 'next';
import Link from 'next/link';
import { notFound } from 'next/navigation';
import { cache } from 'react';
import { LedgerLines } from '#components/ledger/ledger-lines.tsx';
import { Moves } from '#components/sandbox/moves.tsx';
import { PageSection } from '#components/ui/page-section.tsx';
import type { Caller } from '#lib/auth/caller.ts';
import { isWinterdockError } from '#lib/base/errors.ts';
import { type InstanceId, isInstanceId } from '#lib/base/ids.ts';
import type { Instance } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { actorNames } from '../../actor-names.ts';
import { currentCaller, renderedAt, requireCaller } from '../../caller.ts';
import { moveSandbox } from '../../sandboxes/[id]/actions.ts';
import { moveOffers } from '../../sandboxes/[id]/move-offers.ts';
import { FaultNotice, NotOfferedNotice, Title } from '../../sandboxes/[id]/title.tsx';
import { VolumeBrowser } from '../../sandboxes/[id]/volume-browser.tsx';
import { WhyHere } from '../../sandboxes/[id]/why-here.tsx';
import type { SearchParams } from '../../search-params.ts';

export const dynamic = 'force-dynamic';

const LINES_SHOWN = 10;

interface Props {
  params: Promise<{ id: string }>;
  searchParams: Promise<SearchParams>;
}

/** The sandbox, or null when there is none or it is deleted. Read once per request. */
const readSandbox = cache(async (id: InstanceId): Promise<Instance | null> => {
  const caller = await requireCaller(`/archive/${id}`);
  try {
    const instance = await getHost().operations.getInstance(caller, id);
    return instance.state === 'deleted' ? null : instance;
  } catch (error) {
    if (isWinterdockError(error) && ['gone', 'not_found', 'validation'].includes(error.code)) return null;
    throw error;
  }
});

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  if ((await currentCaller()) === null) return { title: 'Archive' };
  const { id } = await params;
  const instance = isInstanceId(id) ? await readSandbox(id) : null;
  return { title: instance === null ? 'Nothing filed' : `${instance.name ?? instance.id}, in the archive` };
}

/** The last lines of its ledger, newest first. */
async function LastLines({ caller, id, rendered }: { caller: Caller; id: InstanceId; rendered: number }) {
  const [events, names] = await Promise.all([
    getHost().operations.instanceEvents(caller, id, { limit: LINES_SHOWN }),
    actorNames(),
  ]);
  return (
    <PageSection id="ledger" name="Ledger" note="What happened to it last, newest first.">
      <LedgerLines events={events.items} rendered={rendered} showInstance={false} names={names} />
      {events.next !== null && (
        <p className="mt-3 text-small">
          <Link href={`/audit?instance=${id}`}>All of its lines</Link>
        </p>
      )}
    </PageSection>
  );
}

export default async function ArchivedSandbox({ params, searchParams }: Props) {
  const { id } = await params;
  const caller = await requireCaller(`/archive/${id}`);
  if (!isInstanceId(id)) notFound();
  const instance = await readSandbox(id);
  if (instance === null) notFound();
  const rendered = renderedAt();
  return (
    <>
      <Title instance={instance} rendered={rendered} from={{ name: 'Archive', href: '/archive' }} />
      <FaultNotice instance={instance} />
      <NotOfferedNotice instance={instance} />
      <PageSection id="why" name="Why it is here">
        <WhyHere caller={caller} instance={instance} named />
        {instance.state !== 'archived' && (
          <p className="mt-3 max-w-2xl">
            It is not in the archive. <Link href={`/sandboxes/${id}`}>Go to its page</Link>, where its other moves are.
          </p>
        )}
      </PageSection>
      <PageSection id="revive" name="Revive" note="The reason goes into the ledger, with who gave it.">
        <Moves
          id={id}
          offers={moveOffers(instance, caller).filter(({ verb }) => verb === 'revive')}
          action={moveSandbox.bind(null, id)}
        />
      </PageSection>
      <VolumeBrowser instance={instance} search={await searchParams} at="/archive" />
      <LastLines caller={caller} id={id} rendered={rendered} />
    </>
  );
}
