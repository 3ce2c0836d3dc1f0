/**
 * One tenant: what it has in which state, what happens next, what it may have, what left, which keys are its, what
 * happened last.
 */
import type { Metadata } from 'next';
import Link from 'next/link';
import { notFound } from 'next/navigation';
import { cache, type ReactNode } from 'react';
import { QuotaMeter } from '#components/figures/quota-meter.tsx';
import { LiveTenantStates } from '#components/live/counts.tsx';
import { AsOf } from '#components/live/live-data.tsx';
import { LiveLedger } from '#components/live/live-ledger.tsx';
import { ShareTable } from '#components/sandbox/share-table.tsx';
import { FAULT_MEANS } from '#components/sandbox/state-words.ts';
import { Breadcrumbs } from '#components/ui/breadcrumbs.tsx';
import { DisabledAction } from '#components/ui/disabled-action.tsx';
import { sizeInWords, thresholdInWords } from '#components/ui/durations.ts';
import { PageSection } from '#components/ui/page-section.tsx';
import { RelativeTime } from '#components/ui/relative-time.tsx';
import { isWinterdockError } from '#lib/base/errors.ts';
import { mayDo, whyNot } from '#lib/contract/access.ts';
import type { Key, Settings, Tenant } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { FAULTS } from '#lib/lifecycle/words.ts';
import { actorNames } from '../../actor-names.ts';
import { exactSize } from '../../amounts.ts';
import { currentCaller, ledgerSeq, renderedAt, requireCaller } from '../../caller.ts';
import { DueList } from '../../overview/due-list.tsx';
import { setThresholds } from '../../settings/thresholds/actions.ts';
import { ThresholdsForm } from '../../settings/thresholds/thresholds-form.tsx';
import { setLimits } from './actions.ts';
import { BeingForgotten, ForgetPart } from './forgetting.tsx';
import { LimitsForm } from './limits-form.tsx';
import { VolumeSums } from './volume-sums.tsx';

export const dynamic = 'force-dynamic';

const DAY = 86_400;
const DUE_SHOWN = 8;
const SHARES_SHOWN = 5;
const LINES_SHOWN = 10;

interface Props {
  params: Promise<{ tenant: string }>;
}

const figures = (count: number) => count.toLocaleString('en');

/** The tenant, or null when there is none that the visitor may see. Read once per request. */
const readTenant = cache(async (name: string): Promise<Tenant | null> => {
  const caller = await requireCaller(`/tenants/${name}`);
  try {
    return await getHost().operations.getTenant(caller, name);
  } catch (error) {
    if (isWinterdockError(error) && ['not_found', 'validation'].includes(error.code)) return null;
    throw error;
  }
});

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  if ((await currentCaller()) === null) return { title: 'Tenant' };
  const { tenant } = await params;
  return { title: (await readTenant(tenant)) === null ? 'No such tenant' : `${tenant}, a tenant` };
}

function More({ href, children }: { href: string; children: ReactNode }) {
  return (
    <p className="mt-3 text-small">
      <Link href={href} prefetch={false}>
        {children}
      </Link>
    </p>
  );
}

function Keys({ keys, rendered }: { keys: readonly Key[]; rendered: number }) {
  if (keys.length === 0) {
    return (
      <p className="text-ink-2">
        No key is limited to it.{' '}
        <Link href="/settings/keys" prefetch={false}>
          Make one
        </Link>{' '}
        for a program of this tenant.
      </p>
    );
  }
  return (
    <table className="ledger ledger-cards">
      <thead>
        <tr>
          <th scope="col">Key</th>
          <th scope="col">Role</th>
          <th scope="col">Used</th>
          <th scope="col">Ends</th>
        </tr>
      </thead>
      <tbody>
        {keys.map(({ id, name, role, prefix, last_used, expires }) => (
          <tr key={id}>
            <td className="whole [overflow-wrap:anywhere] md:w-full">
              <span className="font-[540]">{name}</span> <code className="text-[0.8125rem] text-ink-3">{prefix}…</code>
            </td>
            <td className="left">{role}</td>
            <td className="right text-small whitespace-nowrap text-ink-2">
              {last_used === null ? 'not used yet' : <RelativeTime at={last_used} rendered={rendered} />}
            </td>
            <td className="left text-small whitespace-nowrap text-ink-2">
              {expires === null ? 'never ends' : `ends on ${new Date(expires * 1000).toISOString().slice(0, 10)}`}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Quotas({ quotas }: Pick<Tenant, 'quotas'>) {
  const { max_sandboxes, max_active, max_bytes } = quotas;
  return (
    <div className="grid gap-x-10 gap-y-5 sm:grid-cols-3">
      <QuotaMeter name="Sandboxes" {...max_sandboxes} inWords={figures} />
      <QuotaMeter name="Awake at once" {...max_active} inWords={figures} />
      <QuotaMeter name="Bytes" {...max_bytes} inWords={sizeInWords} />
    </div>
  );
}

/** What holds now, as it would be typed. */
function typed({ quotas }: Tenant) {
  const said = (amount: number | null, words: (amount: number) => string) => (amount === null ? '' : words(amount));
  return {
    max_sandboxes: said(quotas.max_sandboxes.limit, String),
    max_active: said(quotas.max_active.limit, String),
    max_bytes: said(quotas.max_bytes.limit, exactSize),
  };
}

/** `againstForm`: why the visitor may not set them, or null. */
function Thresholds({ tenant, global, againstForm }: { tenant: Tenant; global: Settings; againstForm: string | null }) {
  const { thresholds, idle_to_suspend_s, idle_to_freeze_s } = tenant;
  const whose = (own: number | null) => (own === null ? 'as set for all' : 'set for it');
  const said = (own: number | null) => (own === null ? '' : thresholdInWords(own));
  return (
    <div className="grid gap-5">
      <p>
        Its sandboxes suspend once idle for {thresholdInWords(thresholds.idle_to_suspend_s)}{' '}
        <span className="text-small text-ink-3">({whose(idle_to_suspend_s)})</span> and freeze once suspended for{' '}
        {thresholdInWords(thresholds.idle_to_freeze_s)}{' '}
        <span className="text-small text-ink-3">({whose(idle_to_freeze_s)})</span>, unless a sandbox has its own.{' '}
        <Link href={`/settings/thresholds?tenant=${tenant.tenant}#simulator`} prefetch={false}>
          What others would have made of the last days
        </Link>
      </p>
      {againstForm === null ? (
        <ThresholdsForm
          held={{ idle_to_suspend_s: said(idle_to_suspend_s), idle_to_freeze_s: said(idle_to_freeze_s) }}
          notes={{ idle_to_suspend_s: 'Empty: as set for all.', idle_to_freeze_s: 'Empty: as set for all.' }}
          empty={{
            idle_to_suspend_s: `as set for all: ${thresholdInWords(global.idle_to_suspend_s)}`,
            idle_to_freeze_s: `as set for all: ${thresholdInWords(global.idle_to_freeze_s)}`,
          }}
          action={setThresholds.bind(null, tenant.tenant)}
        />
      ) : (
        <DisabledAction id="thresholds" label="See what it would do" whyNot={againstForm} />
      )}
    </div>
  );
}

export default async function TenantPage({ params }: Props) {
  const { tenant: name } = await params;
  const caller = await requireCaller(`/tenants/${name}`);
  const asOf = await ledgerSeq();
  const tenant = await readTenant(name);
  if (tenant === null) notFound();
  const { operations } = getHost();
  // What is asked of the whole dock is asked with the eyes of someone who sees this tenant only.
  const narrowed = { ...caller, tenants: [name] };
  const [global, due, { faults }, shares, lines, keys] = await Promise.all([
    operations.getSettings(caller),
    operations.due(narrowed, DAY, DUE_SHOWN),
    operations.counts(narrowed),
    operations.shares(caller, { tenant: name, limit: SHARES_SHOWN }),
    operations.events(caller, { tenant: name, limit: LINES_SHOWN }),
    mayDo(caller, 'listKeys') ? operations.listKeys(caller) : null,
  ]);
  const rendered = renderedAt();
  const noLimits = whyNot(caller, 'patchTenant', { tenant: name });
  const { counts, bytes, quotas } = tenant;
  const sandboxes = quotas.max_sandboxes.used;
  const faulty = FAULTS.filter((fault) => (faults[fault] ?? 0) > 0);
  return (
    <AsOf asOf={asOf} rendered={rendered}>
      <header className="pt-6 pb-8 sm:pt-8">
        <Breadcrumbs steps={[{ name: 'Tenants', href: '/tenants' }]} />
        <h1>
          <span className="block text-[1.125rem] font-[560] tracking-[-0.01em] [overflow-wrap:anywhere]">{name}</span>
          <span className="headline mt-1.5 block">
            {sandboxes === 0 ? 'No sandbox' : `${figures(sandboxes)} ${sandboxes === 1 ? 'sandbox' : 'sandboxes'}`}{' '}
            <span className="quiet quiet-half">
              <span className="dot">· </span>
              {figures(counts.active)} awake
            </span>
          </span>
        </h1>
      </header>
      <BeingForgotten caller={caller} tenant={tenant} />
      <PageSection id="sandboxes" name="Sandboxes" note="By state. A number leads to them.">
        <LiveTenantStates tenant={name} states={counts} all />
        <p className="mt-3 text-small text-ink-2">
          {sizeInWords(bytes.total)} in all: {sizeInWords(bytes.live)} in the live drawer, {sizeInWords(bytes.cold)} in
          the cold one, {sizeInWords(bytes.archive)} in the archive.
        </p>
        <VolumeSums volumes={tenant.volumes} of={sandboxes} />
        {faulty.length > 0 && (
          <p className="mt-3">
            <span className="text-fault-ink">Faults:</span>{' '}
            {faulty.map((fault, index) => (
              <span key={fault}>
                {index > 0 && ', '}
                <Link href={`/sandboxes?tenant=${name}&fault=${fault}`} prefetch={false} title={FAULT_MEANS[fault]}>
                  {figures(faults[fault] ?? 0)} {fault}
                </Link>
              </span>
            ))}
          </p>
        )}
        <More href={`/sandboxes?tenant=${name}`}>All of its sandboxes</More>
      </PageSection>
      <PageSection id="due" name="Due next" note="What the ladder does within a day if nothing else happens.">
        {due.length === 0 ? (
          <p className="text-ink-2">Nothing of it moves by itself within a day.</p>
        ) : (
          <DueList instances={due} rendered={rendered} />
        )}
      </PageSection>
      <PageSection
        id="quotas"
        name="Quotas"
        note="What it has, and may have. Enforced before anything is made; what it has beyond a new limit stays."
      >
        <div className="grid gap-6">
          <Quotas quotas={quotas} />
          {noLimits === null ? (
            <LimitsForm held={typed(tenant)} action={setLimits.bind(null, name)} />
          ) : (
            <DisabledAction id="limits" label="Set the limits" whyNot={noLimits} />
          )}
        </div>
      </PageSection>
      <PageSection id="thresholds" name="Thresholds" note="When its sandboxes fall asleep.">
        <Thresholds tenant={tenant} global={global} againstForm={noLimits} />
      </PageSection>
      <PageSection id="shares" name="Shares" note="What left the building, newest first.">
        {shares.items.length === 0 ? (
          <p className="text-ink-2">Nothing of it has left.</p>
        ) : (
          <ShareTable shares={shares.items} rendered={rendered} />
        )}
        {shares.next !== null && <More href={`/shares?tenant=${name}`}>All of its shares</More>}
      </PageSection>
      {keys !== null && (
        <PageSection id="keys" name="Keys" note="Keys of programs that see this tenant only.">
          <Keys keys={keys.filter(({ tenant: of }) => of === name)} rendered={rendered} />
        </PageSection>
      )}
      <PageSection id="ledger" name="Ledger" note="What happened to it last, newest first.">
        <LiveLedger
          events={lines.items}
          limit={LINES_SHOWN}
          rendered={rendered}
          tenant={name}
          names={await actorNames()}
        />
        {lines.next !== null && <More href={`/audit?tenant=${name}`}>All of its lines</More>}
      </PageSection>
      <ForgetPart caller={caller} tenant={tenant} rendered={rendered} />
    </AsOf>
  );
}
