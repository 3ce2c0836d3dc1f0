/** The dry run of a job: the plans, what is lost, who is skipped and why. It changes nothing. */

import Link from 'next/link';
import { DryRunRows } from '#app/jobs/new/dry-run-rows.tsx';
import { StartJob } from '#app/jobs/new/start-job.tsx';
import { WithCall } from '#components/calls/with-call.tsx';
import { filterInWords, JOB_WORDS, sandboxesInWords } from '#components/jobs/job-words.ts';
import { Hops } from '#components/sandbox/hops.tsx';
import { Outcome } from '#components/ui/outcome.tsx';
import { PageSection } from '#components/ui/page-section.tsx';
import type { Caller } from '#lib/auth/caller.ts';
import { whyNot } from '#lib/contract/access.ts';
import type { DryRun } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { STATES } from '#lib/lifecycle/state-map.ts';
import { requireCaller } from '../../caller.ts';
import { problemInWords, problemOf } from '../../problem.ts';
import { parseSelection, type Selection, selectionJobInput } from '../../sandboxes/selection.ts';
import { addressWith, type SearchParams } from '../../search-params.ts';
import { visitorZone } from '../../zone.ts';
import { startSelected } from './actions.ts';
import { LabelForm } from './label-form.tsx';

export const dynamic = 'force-dynamic';
export const metadata = { title: 'For many' };

async function dryRun(caller: Caller, chosen: Selection): Promise<{ dry: DryRun } | { says: string; hint?: string }> {
  const job = selectionJobInput(chosen);
  if ('wrong' in job) return { says: job.wrong };
  try {
    const answer = await getHost().operations.startJob(caller, { ...job.input, dry_run: true });
    return 'dryRun' in answer ? { dry: answer.dryRun } : { says: 'It could not be tried.' };
  } catch (error) {
    return problemInWords(problemOf(error, caller));
  }
}

function Counted({
  rows,
  name,
}: {
  name: string;
  rows: readonly { key: string; what: React.ReactNode; count: number }[];
}) {
  return (
    <table className="ledger max-w-3xl">
      <thead className="sr-only">
        <tr>
          <th scope="col">{name}</th>
          <th scope="col">Sandboxes</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ key, what, count }) => (
          <tr key={key}>
            <td>{what}</td>
            <td className="text-right whitespace-nowrap">{count.toLocaleString('en')}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Sorted by their first state, in the order of the lifecycle. */
function inOrder(plans: DryRun['plans']): DryRun['plans'] {
  return plans.toSorted((a, b) => STATES.indexOf(a.from) - STATES.indexOf(b.from));
}

function sumOf(counted: readonly { count: number }[]): number {
  return counted.reduce((sum, { count }) => sum + count, 0);
}

/** The list that the selection came from. */
function backOf({ of }: Selection): string {
  return 'filter' in of ? addressWith('/sandboxes', of.filter) : '/sandboxes';
}

function DryRunSections({ chosen, dry }: { chosen: Selection; dry: DryRun }) {
  const job = selectionJobInput(chosen);
  const input = 'input' in job ? job.input : {};
  const { order } = JOB_WORDS[chosen.verb];
  const held = sumOf(dry.held);
  const passed = sumOf(dry.skip);
  const of = (outcome: DryRun['rows'][number]['outcome']) => dry.rows.filter((row) => row.outcome === outcome);
  return (
    <>
      {chosen.verb !== 'label' && dry.plans.length > 0 && (
        <PageSection id="plans" name="What it would do" note="Each hop has its line in the ledger.">
          <Counted
            name="Plan"
            rows={inOrder(dry.plans).map(({ from, hops, count }) => ({
              key: from,
              what: <Hops from={from} hops={hops} />,
              count,
            }))}
          />
        </PageSection>
      )}
      {dry.losses.length > 0 && (
        <PageSection id="lost" name="What is lost" note="It does not come back.">
          <Counted name="Loss" rows={dry.losses.map(({ loss, words, count }) => ({ key: loss, what: words, count }))} />
        </PageSection>
      )}
      {held > 0 && (
        <PageSection
          id="held"
          name="Set apart"
          note="Somebody keeps these hot or holds them. Nothing happens to them unless they are included below."
        >
          <Counted name="Why" rows={dry.held.map(({ hold, words, count }) => ({ key: hold, what: words, count }))} />
          <DryRunRows rows={of('held')} count={held} />
        </PageSection>
      )}
      {passed > 0 && (
        <PageSection id="passed" name="Passed over" note="Nothing happens to these.">
          <Counted name="Why" rows={dry.skip.map(({ reason, count }) => ({ key: reason, what: reason, count }))} />
          <DryRunRows rows={of('skip')} count={passed} />
        </PageSection>
      )}
      <PageSection
        id="run"
        name="Run it"
        note="The server runs it, whether this page stays open or not. Matching sandboxes are chosen when it starts."
      >
        {dry.will + held === 0 ? (
          <p>
            There is nothing to {order.toLowerCase()}. <Link href={backOf(chosen)}>Choose others</Link>.
          </p>
        ) : (
          <WithCall name="startJob" body={{ ...input }} fields={{ reason: 'text', include_held: 'true' }}>
            <StartJob verb={chosen.verb} will={dry.will} held={held} action={startSelected.bind(null, chosen)} />
          </WithCall>
        )}
      </PageSection>
      {dry.will > 0 && (
        <PageSection id="rows" name="Rows" note="What it would be done to.">
          <DryRunRows rows={of('will')} count={dry.will} />
        </PageSection>
      )}
    </>
  );
}

export default async function NewJobPage({ searchParams }: { searchParams: Promise<SearchParams> }) {
  const search = await searchParams;
  const caller = await requireCaller('/sandboxes');
  const refusal = whyNot(caller, 'startJob');
  const chosen = parseSelection(search);
  const nothing = chosen === null || ('ids' in chosen.of && chosen.of.ids.length === 0);
  if (refusal !== null || nothing) {
    return (
      <>
        <h1 className="headline pt-8 pb-6 sm:pt-12">{refusal === null ? 'Nothing is chosen' : 'Not for you'}</h1>
        <p className="pb-12">
          {refusal ?? 'Tick the rows it is about, or “all”, and choose what to do.'}{' '}
          <Link href="/sandboxes">Back to the list</Link>.
        </p>
      </>
    );
  }
  const unlabelled = chosen.verb === 'label' && chosen.labels.trim() === '';
  const found = unlabelled ? null : await dryRun(caller, chosen);
  const { order } = JOB_WORDS[chosen.verb];
  const count = found !== null && 'dry' in found ? found.dry : null;
  return (
    <>
      <div className="pt-8 pb-8 sm:pt-12">
        <h1 className="headline">
          {order} {count === null ? 'many' : sandboxesInWords(count.will)}
          {count !== null && count.will !== count.matched && (
            <span className="quiet"> of {count.matched.toLocaleString('en')} chosen</span>
          )}
        </h1>
        <p className="mt-3 text-ink-2">
          {'ids' in chosen.of
            ? 'Chosen: the rows that were ticked. '
            : `Chosen: ${filterInWords(chosen.of.filter, await visitorZone())}. `}
          Nothing has happened yet. <Link href={backOf(chosen)}>Choose others</Link>
        </p>
      </div>
      {chosen.verb === 'label' && (
        <PageSection id="labels" name="Labels" note="One a line. With a value it is set, without one it is taken away.">
          <LabelForm chosen={chosen} />
        </PageSection>
      )}
      {found !== null && !('dry' in found) && (
        <div className="pb-12">
          <Outcome outcome={{ ok: false, ...found }} />
        </div>
      )}
      {found !== null && 'dry' in found && <DryRunSections chosen={chosen} dry={found.dry} />}
    </>
  );
}
