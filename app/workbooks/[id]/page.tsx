/** One workbook: its source with the plan beside it, its versions, and the form that docks it. */

import type { Metadata } from 'next';
import Link from 'next/link';
import { notFound } from 'next/navigation';
import { cache } from 'react';
import { WithCall } from '#components/calls/with-call.tsx';
import { Code } from '#components/files/code.tsx';
import { Breadcrumbs } from '#components/ui/breadcrumbs.tsx';
import { DisabledAction } from '#components/ui/disabled-action.tsx';
import { sizeInWords } from '#components/ui/durations.ts';
import { NameHeading } from '#components/ui/name-heading.tsx';
import type { ActionOutcome } from '#components/ui/outcome.tsx';
import { PageSection } from '#components/ui/page-section.tsx';
import { RelativeTime } from '#components/ui/relative-time.tsx';
import { RemoveForm } from '#components/ui/remove-form.tsx';
import { checkInWords } from '#components/workbook/check-words.ts';
import { PlanGraph } from '#components/workbook/plan-graph.tsx';
import { Problems } from '#components/workbook/problems.tsx';
import { workbookAddress } from '#components/workbook/workbook-address.ts';
import { type SourceCheck, WorkbookEditor } from '#components/workbook/workbook-editor.tsx';
import type { Caller } from '#lib/auth/caller.ts';
import { whyNot } from '#lib/contract/access.ts';
import { slugSchema, type Workbook } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { currentCaller, renderedAt, requireCaller } from '../../caller.ts';
import { policyChoices } from '../../sandboxes/policies.ts';
import { addressWith, type SearchParams, singleValues } from '../../search-params.ts';
import { dockNewSandbox, removeWorkbook, restoreVersion, saveWorkbook } from '../actions.ts';
import { DockForm } from '../dock-form.tsx';
import { FIRST_SOURCE } from '../editor-state.ts';
import { NewestForm } from '../newest-form.tsx';
import { type ReadWorkbook, readWorkbook } from '../reading.ts';
import { checkSource, MOST_EDITED_BYTES, sourceCheckOf } from '../source-check.ts';
import { comparedIn, VersionSection } from '../version-section.tsx';

export const dynamic = 'force-dynamic';

const VERSIONS_SHOWN = 20;

interface Props {
  params: Promise<{ id: string }>;
  searchParams: Promise<SearchParams>;
}

const read = cache(
  async (id: string, tenant: string | undefined, version: number | undefined): Promise<ReadWorkbook | null> => {
    const caller = await requireCaller(`/workbooks/${id}`);
    return readWorkbook(caller, id, { tenant, version });
  },
);

function versionIn(search: Readonly<Record<string, string>>): number | undefined {
  const version = Number(search.version);
  return Number.isSafeInteger(version) && version > 0 ? version : undefined;
}

export async function generateMetadata({ params, searchParams }: Props): Promise<Metadata> {
  const { id } = await params;
  const search = singleValues(await searchParams);
  if ((await currentCaller()) === null) return { title: 'Workbook' };
  const found = await read(id, search.tenant, undefined);
  if (found === null) return { title: search.new === undefined ? 'No such workbook' : `${id}, a new workbook` };
  // Several workbooks may have one title.
  const { title } = found.workbook;
  return { title: title === null ? `${id}, workbook` : `${title}, workbook ${id}` };
}

/** What the save said that led here. */
function savedIn({ saved }: Readonly<Record<string, string>>, { version }: Workbook): ActionOutcome | null {
  return saved === String(version) ? { ok: true, says: `Saved as version ${version}.` } : null;
}

function Title({
  id,
  tenant,
  workbook,
  rendered,
}: {
  id: string;
  tenant: string;
  workbook: Workbook | null;
  rendered: number;
}) {
  return (
    <header className="pt-6 pb-8 sm:pt-8">
      <Breadcrumbs
        steps={[
          { name: 'Workbooks', href: '/workbooks' },
          { name: tenant, href: `/workbooks?tenant=${tenant}` },
        ]}
      />
      <NameHeading name={id}>
        {workbook === null ? 'New workbook' : (workbook.title ?? 'Workbook')}
        {workbook !== null && (
          <>
            {' '}
            · changed <RelativeTime at={workbook.updated_at} rendered={rendered} />
          </>
        )}
      </NameHeading>
    </header>
  );
}

/** A version as it was: its source and its plan, read only. */
function ReadOnly({ source, check, at }: { source: string; check: SourceCheck; at: string }) {
  const [first] = check.problems;
  return (
    <div className="grid items-start gap-x-8 gap-y-6 lg:grid-cols-[minmax(0,1.15fr)_minmax(0,1fr)]">
      <div className="min-w-0 rounded border border-rule-2 bg-sheet">
        <Code text={source} language="org" firstLine={1} marked={first?.line ?? null} />
      </div>
      <div className="grid min-w-0 gap-4">
        <p className="text-small text-ink-2">{checkInWords(check)}</p>
        <Problems problems={check.problems} hrefOf={(line) => `${at}#L${line}`} />
        {check.drawing !== null && (
          <PlanGraph drawing={check.drawing} links={{ hrefOf: ({ line }) => `${at}#L${line}` }} />
        )}
      </div>
    </div>
  );
}

function Dock({ caller, workbook }: { caller: Caller; workbook: Workbook }) {
  const { id, tenant, components, docked } = workbook;
  const refusal =
    whyNot(caller, 'createInstance', { tenant }) ??
    (components === null ? 'Its newest version has problems: mend them first.' : null);
  return (
    <PageSection
      id="dock"
      name="Dock"
      note={`A new sandbox of ${tenant} that runs its newest version. ${
        docked === 0 ? 'None does yet.' : `${docked.toLocaleString('en')} run a version of it.`
      }`}
    >
      {refusal === null ? (
        <WithCall
          name="createInstance"
          body={{ tenant, workbook: id }}
          fields={{ id: 'text', name: 'text', policy: 'text' }}
        >
          <DockForm action={dockNewSandbox.bind(null, tenant, id)} policies={policyChoices(getHost().config)} />
        </WithCall>
      ) : (
        <DisabledAction id="dock" label="Make a sandbox of it" whyNot={refusal} />
      )}
    </PageSection>
  );
}

export default async function WorkbookPage({ params, searchParams }: Props) {
  const { id } = await params;
  const search = singleValues(await searchParams);
  const caller = await requireCaller(addressWith(`/workbooks/${id}`, search));
  const version = versionIn(search);
  const rendered = renderedAt();
  const newest = await read(id, search.tenant, undefined);
  if (newest === null) {
    const { tenant } = search;
    const refusal = tenant === undefined ? null : whyNot(caller, 'putWorkbook', { tenant });
    const begins = search.new !== undefined && slugSchema.safeParse(id).success;
    if (!begins || tenant === undefined || !slugSchema.safeParse(tenant).success || refusal !== null) notFound();
    const check = await checkSource(caller, FIRST_SOURCE);
    return (
      <>
        <Title id={id} tenant={tenant} workbook={null} rendered={rendered} />
        <div className="pb-12">
          <WithCall name="putWorkbook" path={{ id }} query={{ tenant }}>
            <WorkbookEditor
              action={saveWorkbook.bind(null, tenant, id)}
              start={{ text: FIRST_SOURCE, version: 0, newer: null, check, outcome: null }}
              checkAddress={`/workbooks/${id}/check`}
            />
          </WithCall>
        </div>
      </>
    );
  }
  const { workbook } = newest;
  const { tenant } = workbook;
  const isOld = version !== undefined && version !== workbook.version;
  const shown = isOld ? await read(id, tenant, version) : newest;
  if (shown === null) notFound();
  const { operations } = getHost();
  const [plan, versions] = await Promise.all([
    operations.workbookPlan(caller, id, { tenant, version: isOld ? version : undefined }),
    operations.workbookVersions(caller, id, { tenant, limit: VERSIONS_SHOWN, cursor: search.cursor }),
  ]);
  const check = sourceCheckOf(plan);
  const noSave = whyNot(caller, 'putWorkbook', { tenant });
  const noDelete = whyNot(caller, 'deleteWorkbook', { tenant });
  const tooLarge = Buffer.byteLength(shown.source) > MOST_EDITED_BYTES;
  return (
    <>
      <Title id={id} tenant={tenant} workbook={workbook} rendered={rendered} />
      <div className="pb-12">
        {isOld && (
          <div className="mb-5 grid gap-3 border-l-[3px] border-rule-2 pl-3">
            <p>
              This is version {version}. <Link href={workbookAddress(id, { tenant })}>Edit the newest</Link>, version{' '}
              {workbook.version}.
            </p>
            {noSave === null && (
              <WithCall name="putWorkbook" path={{ id }} query={{ tenant }}>
                <NewestForm action={restoreVersion.bind(null, tenant, id, version)} />
              </WithCall>
            )}
          </div>
        )}
        {!isOld && noSave === null && !tooLarge ? (
          <WithCall name="putWorkbook" path={{ id }} query={{ tenant }}>
            <WorkbookEditor
              key={id}
              action={saveWorkbook.bind(null, tenant, id)}
              start={{
                text: shown.source,
                version: workbook.version,
                newer: null,
                check,
                outcome: savedIn(search, workbook),
              }}
              checkAddress={`/workbooks/${id}/check`}
            />
          </WithCall>
        ) : (
          <>
            {!isOld && (
              <p className="mb-4 text-ink-2">
                {noSave ??
                  `${sizeInWords(shown.source.length)} are too much for an editor here: use the API or the CLI.`}
              </p>
            )}
            <ReadOnly source={shown.source} check={check} at={workbookAddress(id, { tenant, version })} />
          </>
        )}
      </div>
      <Dock caller={caller} workbook={workbook} />
      <VersionSection
        caller={caller}
        workbook={workbook}
        versions={versions.items}
        next={versions.next === null ? null : addressWith(`/workbooks/${id}`, { tenant, cursor: versions.next })}
        compared={comparedIn(search)}
        rendered={rendered}
      />
      <PageSection id="delete" name="Delete">
        {noDelete === null ? (
          <WithCall name="deleteWorkbook" path={{ id }} query={{ tenant }}>
            <RemoveForm
              what="workbook"
              id={id}
              keeps="With all its versions. It is refused while a sandbox is docked to it."
              action={removeWorkbook.bind(null, tenant, id)}
            />
          </WithCall>
        ) : (
          <DisabledAction id="delete" label="Delete the workbook" whyNot={noDelete} />
        )}
      </PageSection>
    </>
  );
}
