/** One snapshot: its contents, its lineage, and the form that makes sandboxes from it. */

import type { Metadata } from 'next';
import Link from 'next/link';
import { notFound } from 'next/navigation';
import { cache } from 'react';
import { ActorName } from '#app/actor-name.tsx';
import { WithCall } from '#components/calls/with-call.tsx';
import { CopyMark } from '#components/sandbox/copy-mark.tsx';
import { SeedForm } from '#components/sandbox/seed-form.tsx';
import { Breadcrumbs } from '#components/ui/breadcrumbs.tsx';
import { CopyId } from '#components/ui/copy-id.tsx';
import { DisabledAction } from '#components/ui/disabled-action.tsx';
import { sizeInWords } from '#components/ui/durations.ts';
import { Fact, FactList } from '#components/ui/fact-list.tsx';
import { NameHeading } from '#components/ui/name-heading.tsx';
import { PageSection } from '#components/ui/page-section.tsx';
import { RelativeTime } from '#components/ui/relative-time.tsx';
import { RemoveForm } from '#components/ui/remove-form.tsx';
import { isWinterdockError } from '#lib/base/errors.ts';
import { whyNot } from '#lib/contract/access.ts';
import type { Snapshot } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { BatchResult } from '../../batch-result.tsx';
import { currentCaller, renderedAt, requireCaller } from '../../caller.ts';
import { LineageSection } from '../../lineage-section.tsx';
import { policyChoices } from '../../sandboxes/policies.ts';
import { type SearchParams, singleValues } from '../../search-params.ts';
import { VolumeContents } from '../../volume-contents.tsx';
import { removeSnapshot, restoreSnapshot } from '../actions.ts';

export const dynamic = 'force-dynamic';

interface Props {
  params: Promise<{ id: string }>;
  searchParams: Promise<SearchParams>;
}

/** The snapshot, or null when there is none. Read once per request. */
const readSnapshot = cache(async (id: string): Promise<Snapshot | null> => {
  const caller = await requireCaller(`/snapshots/${id}`);
  try {
    return await getHost().operations.getSnapshot(caller, id);
  } catch (error) {
    if (isWinterdockError(error) && (error.code === 'not_found' || error.code === 'validation')) return null;
    throw error;
  }
});

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  const { id } = await params;
  if ((await currentCaller()) === null) return { title: 'Snapshot' };
  const snapshot = await readSnapshot(id);
  return { title: snapshot === null ? 'No such snapshot' : `${snapshot.tag ?? snapshot.id}, snapshot` };
}

function Title({ snapshot, rendered }: { snapshot: Snapshot; rendered: number }) {
  return (
    <header className="pt-6 pb-8 sm:pt-8">
      <Breadcrumbs
        steps={[
          { name: 'Snapshots', href: '/snapshots' },
          { name: snapshot.tenant, href: `/snapshots?tenant=${snapshot.tenant}` },
        ]}
      />
      <NameHeading name={snapshot.tag ?? snapshot.id}>
        <CopyMark kind="snapshot" size={16} className="mr-1.5 inline-block align-[-0.125em]" />
        Snapshot · taken <RelativeTime at={snapshot.created} rendered={rendered} />
      </NameHeading>
      <p className="mt-4 text-small">
        <CopyId id={snapshot.id} />
      </p>
    </header>
  );
}

export default async function SnapshotPage({ params, searchParams }: Props) {
  const { id } = await params;
  const caller = await requireCaller(`/snapshots/${id}`);
  const snapshot = await readSnapshot(id);
  if (snapshot === null) notFound();
  const { made, starting } = singleValues(await searchParams);
  const rendered = renderedAt();
  const { tenant, source } = snapshot;
  const noRestore = whyNot(caller, 'restoreSnapshot', { tenant });
  const noDelete = whyNot(caller, 'deleteSnapshot', { tenant });
  return (
    <>
      <Title snapshot={snapshot} rendered={rendered} />
      {made !== undefined && (
        <PageSection id="made" name="Just made" note="Updates by itself.">
          <BatchResult caller={caller} requestId={made} starting={starting === '1'} />
        </PageSection>
      )}
      <PageSection
        id="restore"
        name="Restore"
        note="New sandboxes that begin where this was taken. They are independent of it and of each other."
      >
        {noRestore === null ? (
          <WithCall
            name="restoreSnapshot"
            path={{ id }}
            fields={{ count: 'number', name: 'text', tenant: 'text', policy: 'text' }}
          >
            <SeedForm
              verb="Restore"
              action={restoreSnapshot.bind(null, id)}
              start={{ values: { count: '1', tenant }, errors: {}, problem: null }}
              policies={policyChoices(getHost().config).map(({ name }) => name)}
            />
          </WithCall>
        ) : (
          <DisabledAction id="restore" label="Restore" whyNot={noRestore} />
        )}
      </PageSection>
      <PageSection id="holds" name="Holds" note="At one moment. tmp is not included.">
        <FactList>
          <Fact name="Of the sandbox">
            <Link href={`/sandboxes/${source}`} prefetch={false} className="font-mono text-[0.8125rem]">
              {source}
            </Link>
          </Fact>
          <Fact name="Size">{sizeInWords(snapshot.bytes)}</Fact>
          <Fact name="Made from it">
            {snapshot.instances === 0
              ? 'nothing yet'
              : `${snapshot.instances.toLocaleString('en')} ${snapshot.instances === 1 ? 'sandbox' : 'sandboxes'}`}
          </Fact>
          <Fact name="Taken by">
            <ActorName actor={snapshot.actor} />
          </Fact>
          <Fact name="Hash" wide>
            <code className="text-[0.8125rem]">{snapshot.hash}</code>
          </Fact>
          <Fact name="Volumes" wide>
            <VolumeContents contents={snapshot.contents} />
          </Fact>
        </FactList>
      </PageSection>
      <LineageSection
        caller={caller}
        current={{ kind: 'snapshot', id }}
        note="What it came from, what came from it, and what each takes on disk of its own."
      />
      <PageSection id="delete" name="Delete">
        {noDelete === null ? (
          <WithCall name="deleteSnapshot" path={{ id }}>
            <RemoveForm
              what="snapshot"
              id={id}
              keeps="Sandboxes that came from it keep what they have, and so does the one it was taken of."
              action={removeSnapshot.bind(null, id)}
            />
          </WithCall>
        ) : (
          <DisabledAction id="delete" label="Delete the snapshot" whyNot={noDelete} />
        )}
      </PageSection>
    </>
  );
}
