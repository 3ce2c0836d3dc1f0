/** One blueprint: what it holds, its clones, and making more of them. */

import type { Metadata } from 'next';
import Link from 'next/link';
import { notFound } from 'next/navigation';
import { cache } from 'react';
import { ActorName } from '#app/actor-name.tsx';
import { WithCall } from '#components/calls/with-call.tsx';
import { CopyMark } from '#components/sandbox/copy-mark.tsx';
import { SeedForm } from '#components/sandbox/seed-form.tsx';
import { Breadcrumbs } from '#components/ui/breadcrumbs.tsx';
import { DisabledAction } from '#components/ui/disabled-action.tsx';
import { sizeInWords } from '#components/ui/durations.ts';
import { Fact, FactList } from '#components/ui/fact-list.tsx';
import { NameHeading } from '#components/ui/name-heading.tsx';
import { PageSection } from '#components/ui/page-section.tsx';
import { RelativeTime } from '#components/ui/relative-time.tsx';
import { RemoveForm } from '#components/ui/remove-form.tsx';
import { isWinterdockError } from '#lib/base/errors.ts';
import { whyNot } from '#lib/contract/access.ts';
import type { Blueprint } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { BatchResult } from '../../batch-result.tsx';
import { currentCaller, renderedAt, requireCaller } from '../../caller.ts';
import { VariablesSection } from '../../guests/variables-section.tsx';
import { LineageSection } from '../../lineage-section.tsx';
import { type SearchParams, singleValues } from '../../search-params.ts';
import { VolumeContents } from '../../volume-contents.tsx';
import { cloneBlueprint, removeBlueprint } from '../actions.ts';

export const dynamic = 'force-dynamic';

interface Props {
  params: Promise<{ name: string }>;
  searchParams: Promise<SearchParams>;
}

/** The blueprint, or null when there is none. Read once per request. */
const readBlueprint = cache(async (name: string): Promise<Blueprint | null> => {
  const caller = await requireCaller(`/blueprints/${name}`);
  try {
    return await getHost().operations.getBlueprint(caller, name);
  } catch (error) {
    if (isWinterdockError(error) && (error.code === 'not_found' || error.code === 'validation')) return null;
    throw error;
  }
});

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  const { name } = await params;
  if ((await currentCaller()) === null) return { title: 'Blueprint' };
  return { title: (await readBlueprint(name)) === null ? 'No such blueprint' : `${name}, blueprint` };
}

export default async function BlueprintPage({ params, searchParams }: Props) {
  const { name } = await params;
  const caller = await requireCaller(`/blueprints/${name}`);
  const blueprint = await readBlueprint(name);
  if (blueprint === null) notFound();
  const { made, starting } = singleValues(await searchParams);
  const rendered = renderedAt();
  const noClone = whyNot(caller, 'cloneBlueprint');
  const noDelete = whyNot(caller, 'deleteBlueprint');
  const tenant = caller.tenants?.length === 1 ? (caller.tenants[0] ?? '') : (blueprint.tenant ?? '');
  return (
    <>
      <header className="pt-6 pb-8 sm:pt-8">
        <Breadcrumbs steps={[{ name: 'Blueprints', href: '/blueprints' }]} />
        <NameHeading name={name}>
          <CopyMark kind="blueprint" size={16} className="mr-1.5 inline-block align-[-0.125em]" />
          Blueprint · made <RelativeTime at={blueprint.created} rendered={rendered} />
        </NameHeading>
      </header>
      {made !== undefined && (
        <PageSection id="made" name="Just made" note="Updates by itself.">
          <BatchResult caller={caller} requestId={made} starting={starting === '1'} />
        </PageSection>
      )}
      <PageSection
        id="clone"
        name="Clone"
        note="New sandboxes that begin with its content. They never write to it, and never see each other."
      >
        {noClone === null ? (
          <WithCall name="cloneBlueprint" path={{ name }} fields={{ count: 'number', name: 'text', tenant: 'text' }}>
            <SeedForm
              verb="Clone"
              action={cloneBlueprint.bind(null, name)}
              start={{ values: { count: '1', tenant }, errors: {}, problem: null }}
              policies={[]}
            />
          </WithCall>
        ) : (
          <DisabledAction id="clone" label="Clone" whyNot={noClone} />
        )}
      </PageSection>
      <PageSection id="holds" name="Holds" note="Read-only, for every tenant.">
        <FactList>
          <Fact name="Made of">
            {blueprint.source === null ? (
              'an uploaded file, or a sandbox you may not see'
            ) : (
              <Link href={`/sandboxes/${blueprint.source}`} prefetch={false} className="font-mono text-[0.8125rem]">
                {blueprint.source}
              </Link>
            )}
          </Fact>
          <Fact name="Size">{sizeInWords(blueprint.bytes)}</Fact>
          <Fact name="Clones">{blueprint.instances === 0 ? 'none yet' : blueprint.instances.toLocaleString('en')}</Fact>
          <Fact name="Made by">
            <ActorName actor={blueprint.actor} />
          </Fact>
          <Fact name="Hash" wide>
            <code className="text-[0.8125rem]">{blueprint.hash}</code>
          </Fact>
          <Fact name="Volumes" wide>
            <VolumeContents contents={blueprint.contents} />
          </Fact>
        </FactList>
      </PageSection>
      <VariablesSection caller={caller} owner={{ kind: 'blueprint', name }} />
      <LineageSection
        caller={caller}
        current={{ kind: 'blueprint', id: name }}
        note="What came from it, and what each takes on disk of its own."
      />
      <PageSection id="delete" name="Delete">
        {noDelete === null ? (
          <WithCall name="deleteBlueprint" path={{ name }}>
            <RemoveForm
              what="blueprint"
              id={name}
              keeps="Its clones keep what they have. The name is free again afterwards."
              action={removeBlueprint.bind(null, name)}
            />
          </WithCall>
        ) : (
          <DisabledAction id="delete" label="Delete the blueprint" whyNot={noDelete} />
        )}
      </PageSection>
    </>
  );
}
