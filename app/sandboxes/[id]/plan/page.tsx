/**
 * A plan of several hops for one sandbox: each hop, what is lost, and the form that runs it. The page changes nothing
 * by itself.
 */

import Link from 'next/link';
import { notFound, redirect } from 'next/navigation';
import { PlanForm } from '#app/sandboxes/[id]/plan/plan-form.tsx';
import { WithCall } from '#components/calls/with-call.tsx';
import { Hops } from '#components/sandbox/hops.tsx';
import { VERB_WORDS } from '#components/sandbox/state-words.ts';
import { Breadcrumbs } from '#components/ui/breadcrumbs.tsx';
import { sizeInWords } from '#components/ui/durations.ts';
import { PageSection } from '#components/ui/page-section.tsx';
import type { Caller } from '#lib/auth/caller.ts';
import { isWinterdockError } from '#lib/base/errors.ts';
import { type InstanceId, isInstanceId } from '#lib/base/ids.ts';
import { whyNot } from '#lib/contract/access.ts';
import type { Plan } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { isState, type State } from '#lib/lifecycle/state-map.ts';
import { requireCaller } from '../../../caller.ts';
import { type SearchParams, singleValues } from '../../../search-params.ts';
import { runPlan } from './actions.ts';

export const dynamic = 'force-dynamic';
export const metadata = { title: 'A plan' };

async function readPlan(caller: Caller, id: InstanceId, to: State): Promise<Plan | 'gone'> {
  try {
    return await getHost().operations.plan(caller, id, { to });
  } catch (error) {
    if (isWinterdockError(error) && error.code === 'gone') return 'gone';
    if (isWinterdockError(error) && (error.code === 'not_found' || error.code === 'validation')) notFound();
    throw error;
  }
}

function counted(count: number, one: string, many: string): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
}

/** The losses as of now. */
function Now({ plan }: { plan: Plan }) {
  const sentences = [
    ...(plan.tmp === null
      ? []
      : [
          plan.tmp.files === 0
            ? 'tmp is empty now'
            : `tmp holds ${counted(plan.tmp.files, 'file', 'files')}, ${sizeInWords(plan.tmp.bytes)}`,
        ]),
    ...(plan.calls === 0 ? [] : [`${counted(plan.calls, 'call runs', 'calls run')} now`]),
    ...(plan.attached === 0 ? [] : [`${counted(plan.attached, 'terminal is', 'terminals are')} attached`]),
  ];
  return sentences.length === 0 ? null : <p className="mt-3 text-ink-2">Just now: {sentences.join('; ')}.</p>;
}

function Steps({ plan }: { plan: Plan }) {
  return (
    <ol className="grid max-w-2xl">
      {plan.hops.map(({ from, to, verb, passing }, at) => (
        <li key={to} className="flex flex-wrap items-baseline gap-x-4 gap-y-1 border-b border-rule py-2 last:border-0">
          <span className="w-5 text-ink-3">{at + 1}</span>
          <span className="w-20 font-[540]">{VERB_WORDS[verb].label}</span>
          <Hops from={from} hops={[to]} />
          <span className="text-small text-ink-3">
            {passing
              ? 'passed through: no process starts'
              : verb === 'archive' && plan.to === 'deleted'
                ? 'The file stays where it is: nothing of it is to be kept.'
                : VERB_WORDS[verb].does}
          </span>
        </li>
      ))}
    </ol>
  );
}

interface Props {
  params: Promise<{ id: string }>;
  searchParams: Promise<SearchParams>;
}

export default async function PlanPage({ params, searchParams }: Props) {
  const { id } = await params;
  const { to } = singleValues(await searchParams);
  const home = `/sandboxes/${id}`;
  const caller = await requireCaller(home);
  if (!isState(to)) redirect(home);
  if (!isInstanceId(id)) notFound();
  const plan = await readPlan(caller, id, to);
  if (plan === 'gone') redirect(home);
  const against = whyNot(caller, 'runPlan') ?? plan.refusal;
  return (
    <>
      <div className="pt-6 pb-8 sm:pt-8">
        <Breadcrumbs
          steps={[
            { name: 'Sandboxes', href: '/sandboxes' },
            { name: id, href: home },
          ]}
        />
        <h1 className="headline">
          From {plan.from} to {plan.to}{' '}
          {plan.hops.length > 0 && <span className="quiet">in {counted(plan.hops.length, 'step', 'steps')}</span>}
        </h1>
        <p className="mt-3 text-ink-2">Nothing has happened yet.</p>
      </div>
      {plan.hops.length > 0 && (
        <PageSection
          id="hops"
          name="The steps"
          note="Each hop writes a ledger line. If one fails, the sandbox stays in the state it has reached."
        >
          <Steps plan={plan} />
        </PageSection>
      )}
      {plan.losses.length > 0 && (
        <PageSection id="lost" name="What is lost" note="It does not come back.">
          <ul className="grid max-w-2xl gap-1.5">
            {plan.losses.map(({ loss, words }) => (
              <li key={loss}>{words}</li>
            ))}
          </ul>
          <Now plan={plan} />
        </PageSection>
      )}
      <PageSection id="run" name="Run the plan">
        {against === null ? (
          <WithCall name="walkPlan" path={{ id }} body={{ to }} fields={{ reason: 'text' }}>
            <PlanForm
              id={id}
              to={to}
              steps={plan.hops.length}
              busy={plan.calls > 0 || plan.attached > 0}
              action={runPlan.bind(null, id, to)}
            />
          </WithCall>
        ) : (
          <p>
            {against} <Link href={home}>Back to the sandbox</Link>.
          </p>
        )}
      </PageSection>
    </>
  );
}
