/**
 * The dry run of forgetting a tenant: what goes, what stays, what would still hold it, and the form that starts it. The
 * page changes nothing by itself.
 */

import Link from 'next/link';
import { notFound } from 'next/navigation';
import { WithCall } from '#components/calls/with-call.tsx';
import { sandboxesInWords } from '#components/jobs/job-words.ts';
import { Breadcrumbs } from '#components/ui/breadcrumbs.tsx';
import { sizeInWords } from '#components/ui/durations.ts';
import { Fact, FactList } from '#components/ui/fact-list.tsx';
import { PageSection } from '#components/ui/page-section.tsx';
import { RemoveForm } from '#components/ui/remove-form.tsx';
import type { Caller } from '#lib/auth/caller.ts';
import { isWinterdockError } from '#lib/base/errors.ts';
import { whyNot } from '#lib/contract/access.ts';
import type { TenantForgetPlan } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { STATES } from '#lib/lifecycle/state-map.ts';
import { renderedAt, requireCaller } from '../../../caller.ts';
import { StillHolds } from '../forgetting.tsx';
import { forgetTenant } from './actions.ts';

export const dynamic = 'force-dynamic';
export const metadata = { title: 'Forget a tenant' };

const figures = (count: number) => count.toLocaleString('en');

function counted(count: number, one: string, many: string): string {
  return `${figures(count)} ${count === 1 ? one : many}`;
}

async function readPlan(caller: Caller, tenant: string): Promise<TenantForgetPlan> {
  try {
    const answer = await getHost().operations.forgetTenant(caller, tenant, { dry_run: true });
    if ('plan' in answer) return answer.plan;
  } catch (error) {
    if (!isWinterdockError(error) || !['not_found', 'validation'].includes(error.code)) throw error;
  }
  notFound();
}

function Going({ plan }: { plan: TenantForgetPlan }) {
  const states = STATES.flatMap((state) => {
    const count = plan.sandboxes[state] ?? 0;
    return count === 0 ? [] : [`${figures(count)} ${state}`];
  });
  return (
    <FactList>
      <Fact name="Sandboxes" wide>
        {states.length === 0 ? 'none' : `${states.join(', ')}; what is active is stopped`}
      </Fact>
      <Fact name="Snapshots">{figures(plan.snapshots)}</Fact>
      <Fact name="Shares, as records">{figures(plan.shares)}</Fact>
      <Fact name="Workbooks">{figures(plan.workbooks)}</Fact>
      <Fact name="Blueprints" wide>
        {plan.blueprints.length === 0 ? 'none' : plan.blueprints.join(', ')}
      </Fact>
      <Fact name="Keys">{figures(plan.keys)}</Fact>
      <Fact name="Invitations">{figures(plan.invitations)}</Fact>
      <Fact name="People of this tenant alone" wide>
        {plan.people === 0 ? 'none' : `${figures(plan.people)}, with ${counted(plan.sessions, 'session', 'sessions')}`}
      </Fact>
      <Fact name="People who keep their other tenants">{figures(plan.limited)}</Fact>
      <Fact name="Jobs">{figures(plan.jobs)}</Fact>
      <Fact name="Files that were set aside">{figures(plan.orphans)}</Fact>
      <Fact name="Lines that lose their texts">{figures(plan.lines)}</Fact>
    </FactList>
  );
}

function Mind({ plan }: { plan: TenantForgetPlan }) {
  const more = plan.kept_count - plan.kept.length;
  const notes = [
    ...(plan.clones === 0
      ? []
      : [
          `${sandboxesInWords(plan.clones)} of other tenants came from its snapshots or blueprints. They keep what they have, and the names that they know of it.`,
        ]),
    ...plan.registry_copies.map(
      (name) => `${name} goes too: an upgrade kept that copy of the registry, with everything of its time.`,
    ),
    ...plan.doubtful.map((name) => `orphans/${name} stays: by its name it may be another tenant’s.`),
    ...(plan.store.objects === 0
      ? []
      : [`${figures(plan.store.objects)} objects in the store go too, with all their versions.`]),
    ...(plan.store.remain_until === null
      ? []
      : [
          `A lock of the store keeps bytes of them until ${new Date(plan.store.remain_until * 1000).toISOString().slice(0, 10)} (UTC).`,
        ]),
    ...(plan.registry_moments_end
      ? [
          'What its sandboxes committed goes from the replica, by themselves and in bundles.',
          'Earlier moments of the registry go from the replica: it can be restored from then on only.',
        ]
      : []),
    `The registry (${sizeInWords(plan.registry_bytes)}) is rewritten at the end: for that time this server does not answer.`,
    'The ledger keeps ids: of sandboxes, of whoever did something, and the name of the tenant.',
  ];
  return (
    <div className="grid max-w-2xl gap-4">
      {plan.kept_count > 0 && (
        <div className="grid gap-1.5">
          <p className="font-[540] text-fault-ink">
            {plan.kept_count === 1 ? 'Somebody asked for this one to stay' : 'Somebody asked for these to stay'} as{' '}
            {plan.kept_count === 1 ? 'it is' : 'they are'}:
          </p>
          <ul className="grid gap-1">
            {plan.kept.map(({ id, name, state, why }) => (
              <li key={id}>
                <Link href={`/sandboxes/${id}`} prefetch={false} className="[overflow-wrap:anywhere]">
                  {name ?? id}
                </Link>{' '}
                <span className="text-ink-2">
                  {state}, {why === 'held' ? 'held' : 'kept hot'}
                </span>
              </li>
            ))}
          </ul>
          {more > 0 && <p className="text-ink-2">And {figures(more)} more.</p>}
        </div>
      )}
      <ul className="grid gap-1.5">
        {notes.map((note) => (
          <li key={note} className="[overflow-wrap:anywhere]">
            {note}
          </li>
        ))}
      </ul>
    </div>
  );
}

interface Props {
  params: Promise<{ tenant: string }>;
}

export default async function ForgetPage({ params }: Props) {
  const { tenant } = await params;
  const home = `/tenants/${tenant}`;
  const caller = await requireCaller(`${home}/forget`);
  const against = whyNot(caller, 'forgetTenant', { tenant });
  const plan = against === null ? await readPlan(caller, tenant) : null;
  const rendered = renderedAt();
  return (
    <>
      <div className="pt-6 pb-8 sm:pt-8">
        <Breadcrumbs
          steps={[
            { name: 'Tenants', href: '/tenants' },
            { name: tenant, href: home },
          ]}
        />
        <h1 className="headline">
          Forget the tenant <span className="quiet [overflow-wrap:anywhere]">{tenant}</span>
        </h1>
        <p className="mt-3 text-ink-2">{plan === null ? against : 'Nothing has happened yet.'}</p>
      </div>
      {plan !== null && (
        <>
          <PageSection id="goes" name="What goes" note="As it is now. It does not come back.">
            <Going plan={plan} />
          </PageSection>
          <PageSection id="mind" name="Mind this">
            <Mind plan={plan} />
          </PageSection>
          <PageSection id="holds" name="What still holds it" note="Afterwards, elsewhere.">
            <StillHolds plan={plan} rendered={rendered} />
          </PageSection>
          <PageSection id="forget" name="Forget it">
            <WithCall name="forgetTenant" path={{ tenant }} fields={{ confirm: 'text' }}>
              <RemoveForm
                what="tenant"
                id={tenant}
                keeps="A job does it, and goes on after a restart. Nothing cancels it, and nothing is made for the tenant meanwhile."
                order={['Forget', 'Beginning…']}
                action={forgetTenant.bind(null, tenant)}
              />
            </WithCall>
          </PageSection>
        </>
      )}
    </>
  );
}
