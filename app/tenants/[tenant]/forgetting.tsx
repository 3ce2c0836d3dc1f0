/**
 * The parts of a tenant's page about forgetting it: that it is under way, what still holds the tenant, and the link to
 * the dry run.
 */
import Link from 'next/link';
import { LiveJobBar, LiveJobStatus } from '#components/live/job.tsx';
import { DisabledAction } from '#components/ui/disabled-action.tsx';
import { PageSection } from '#components/ui/page-section.tsx';
import { RelativeTime } from '#components/ui/relative-time.tsx';
import { exactMoment } from '#components/ui/zones.ts';
import type { Caller } from '#lib/auth/caller.ts';
import { isWinterdockError } from '#lib/base/errors.ts';
import { mayDo, whyNot } from '#lib/contract/access.ts';
import type { Job, Tenant, TenantForgetPlan } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { visitorZone } from '../../zone.ts';

/** The job, or null when it no longer exists or the visitor may not see it. */
async function jobOf(caller: Caller, id: string): Promise<Job | null> {
  try {
    return await getHost().operations.getJob(caller, id);
  } catch (error) {
    if (isWinterdockError(error) && ['not_found', 'forbidden'].includes(error.code)) return null;
    throw error;
  }
}

/** The notice at the head of the page while the job runs. */
export async function BeingForgotten({ caller, tenant }: { caller: Caller; tenant: Tenant }) {
  const { forgetting } = tenant;
  if (forgetting === null || forgetting.finished !== null) return null;
  const job = await jobOf(caller, forgetting.job);
  return (
    <div className="mb-8 grid max-w-2xl gap-3 border-y border-ink py-4" role="status">
      <p>
        <span className="font-[540] text-fault-ink">It is being forgotten.</span> Nothing is made for it meanwhile.{' '}
        <Link href={`/jobs/${forgetting.job}`} prefetch={false}>
          The job
        </Link>
        {job !== null && (
          <>
            {': '}
            <LiveJobStatus job={job} />
          </>
        )}
      </p>
      {job !== null && <LiveJobBar job={job} label="How far it is forgotten" />}
    </div>
  );
}

/** What still holds the tenant: backups on record, and folders that a restore set aside. */
export async function StillHolds({
  plan,
  rendered,
}: {
  plan: Pick<TenantForgetPlan, 'backups' | 'set_aside'>;
  rendered: number;
}) {
  const { backups, set_aside } = plan;
  const zone = await visitorZone();
  return (
    <div className="grid max-w-2xl gap-2">
      {backups.length === 0 ? (
        <p>No backup on record was made while there was something of it.</p>
      ) : (
        <>
          <p>
            {backups.length === 1
              ? 'A backup on record was'
              : `${backups.length.toLocaleString('en')} backups on record were`}{' '}
            made while there was something of it, and still {backups.length === 1 ? 'holds' : 'hold'} it:
          </p>
          <ul className="grid gap-1">
            {backups.slice(0, 10).map(({ id, time, to, gone_by: by }) => (
              <li key={`${id} ${time}`}>
                <code className="[overflow-wrap:anywhere]">{id ?? to ?? 'one'}</code>{' '}
                <span className="text-ink-2">
                  <RelativeTime at={time} rendered={rendered} />
                  {to !== null && `, to ${to}`}
                  {by !== null && `; gone by ${exactMoment(by, zone)}, as long as backups go on`}
                </span>
              </li>
            ))}
          </ul>
          {backups.length > 10 && <p className="text-ink-2">And {backups.length - 10} older ones.</p>}
        </>
      )}
      {set_aside.map((folder) => (
        <p key={folder}>
          A restore set aside everything of its time in <code className="[overflow-wrap:anywhere]">{folder}</code>:
          remove it yourself.
        </p>
      ))}
      <p className="text-small text-ink-2">
        Exports, shares and replicas that left this machine, and backups that this server was not told of, hold what
        they held.
      </p>
    </div>
  );
}

/** The last section of the page: the result, or the link to the dry run. */
export async function ForgetPart({ caller, tenant, rendered }: { caller: Caller; tenant: Tenant; rendered: number }) {
  const { tenant: name, forgetting } = tenant;
  if (forgetting !== null && forgetting.finished === null) return null;
  const against = whyNot(caller, 'forgetTenant', { tenant: name });
  const answer =
    forgetting !== null && mayDo(caller, 'forgetTenant')
      ? await getHost().operations.forgetTenant(caller, name, { dry_run: true })
      : null;
  const before = forgetting?.finished ?? 0;
  const plan = answer !== null && 'plan' in answer ? answer.plan : null;
  return (
    <PageSection id="forget" name="Forget it" note="For good: nothing of it but ids is kept, here.">
      <div className="grid gap-5">
        {forgetting !== null && forgetting.finished !== null && (
          <p>
            It was forgotten <RelativeTime at={forgetting.finished} rendered={rendered} />. What the registry still has
            of that time is ids.
          </p>
        )}
        {plan !== null && (
          <StillHolds
            plan={{ ...plan, backups: plan.backups.filter(({ time }) => time <= before) }}
            rendered={rendered}
          />
        )}
        {against === null ? (
          <p>
            <Link href={`/tenants/${name}/forget`} prefetch={false} className="button button-fault">
              See what would go
            </Link>
          </p>
        ) : (
          <DisabledAction id="forget" label="See what would go" whyNot={against} />
        )}
      </div>
    </PageSection>
  );
}
