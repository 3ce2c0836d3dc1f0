/** One tenant: counts by state, next moves, quotas, thresholds, shares, keys, and the last ledger lines. */
import type { Metadata } from 'next';
import Link from 'next/link';
import { notFound } from 'next/navigation';
import { cache } from 'react';
import { AsOf } from '#components/live/live-data.tsx';
import { LiveTenantStates, LiveTenantWords } from '#components/live/tenant-counts.tsx';
import { FAULT_MEANS } from '#components/sandbox/state-words.ts';
import { Breadcrumbs } from '#components/ui/breadcrumbs.tsx';
import { sizeInWords } from '#components/ui/durations.ts';
import { NameHeading } from '#components/ui/name-heading.tsx';
import { PageIndex } from '#components/ui/page-index.tsx';
import { PageSection } from '#components/ui/page-section.tsx';
import type { Caller } from '#lib/auth/caller.ts';
import { isWinterdockError } from '#lib/base/errors.ts';
import { mayDo, whyNot } from '#lib/contract/access.ts';
import type { Tenant } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { FAULTS } from '#lib/lifecycle/words.ts';
import { currentCaller, ledgerSeq, renderedAt, requireCaller } from '../../caller.ts';
import { SecretsSection } from '../../guests/secrets-section.tsx';
import { VariablesSection } from '../../guests/variables-section.tsx';
import { LoadSection } from '../../load-section.tsx';
import type { SearchParams } from '../../search-params.ts';
import { DueSection, LedgerSection, SharesSection, WeekSection } from './activity-sections.tsx';
import { BeingForgotten, ForgetPart } from './forgetting.tsx';
import { KeysSection } from './keys-section.tsx';
import { MoreLink } from './more-link.tsx';
import { NetworkSection } from './network-section.tsx';
import { QuotasSection } from './quotas-section.tsx';
import { ReplicaSection } from './replica-section.tsx';
import { ThresholdsSection } from './thresholds-section.tsx';
import { VolumeSums } from './volume-sums.tsx';

export const dynamic = 'force-dynamic';

interface Props {
  params: Promise<{ tenant: string }>;
  searchParams: Promise<SearchParams>;
}

/** The parts of the page, for the index; those that not every visitor has are left out by `indexFor`. */
const PARTS = [
  ['sandboxes', 'Sandboxes'],
  ['due', 'Due next'],
  ['load', 'Load'],
  ['week', 'Last seven days'],
  ['quotas', 'Quotas'],
  ['thresholds', 'Thresholds'],
  ['replica', 'Replica'],
  ['network', 'Network'],
  ['variables', 'Variables'],
  ['secrets', 'Secrets'],
  ['shares', 'Shares'],
  ['keys', 'Keys'],
  ['ledger', 'Ledger'],
  ['forget', 'Forget it'],
] as const;

function indexFor(caller: Caller, { forgetting }: Tenant) {
  const isBeingForgotten = forgetting !== null && forgetting.finished === null;
  return PARTS.filter(([id]) => {
    if (id === 'keys') return mayDo(caller, 'listKeys');
    return id !== 'forget' || !isBeingForgotten;
  });
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

/** Counts by fault, each linking to its list; nothing where there is no fault. */
async function FaultCounts({ caller, tenant }: { caller: Caller; tenant: string }) {
  const { faults } = await getHost().operations.counts(caller);
  const present = FAULTS.filter((fault) => (faults[fault] ?? 0) > 0);
  if (present.length === 0) return null;
  return (
    <p className="mt-3">
      <span className="text-fault-ink">Faults:</span>{' '}
      {present.map((fault, index) => (
        <span key={fault}>
          {index > 0 && ', '}
          <Link href={`/sandboxes?tenant=${tenant}&fault=${fault}`} prefetch={false} title={FAULT_MEANS[fault]}>
            {figures(faults[fault] ?? 0)} {fault}
          </Link>
        </span>
      ))}
    </p>
  );
}

export default async function TenantPage({ params, searchParams }: Props) {
  const { tenant: name } = await params;
  const caller = await requireCaller(`/tenants/${name}`);
  const asOf = await ledgerSeq();
  const tenant = await readTenant(name);
  if (tenant === null) notFound();
  // Operations over everything that a caller sees are called as a caller who sees this tenant only.
  const narrowed = { ...caller, tenants: [name] };
  const rendered = renderedAt();
  const whyNotSet = whyNot(caller, 'patchTenant', { tenant: name });
  const { counts, bytes, quotas } = tenant;
  const sandboxes = quotas.max_sandboxes.used;
  return (
    <AsOf asOf={asOf} rendered={rendered}>
      <header className="pt-6 pb-6 sm:pt-8">
        <Breadcrumbs steps={[{ name: 'Tenants', href: '/tenants' }]} />
        <NameHeading name={name}>
          <LiveTenantWords tenant={name} states={counts} />
        </NameHeading>
      </header>
      <PageIndex parts={indexFor(caller, tenant)} />
      <BeingForgotten caller={caller} tenant={tenant} />
      <PageSection id="sandboxes" name="Sandboxes" note="By state. Each number links to its list.">
        <LiveTenantStates tenant={name} states={counts} all />
        <p className="mt-3 text-small text-ink-2">
          {sizeInWords(bytes.total)} on disk, which its quota counts: {sizeInWords(bytes.live)} in the live drawer,{' '}
          {sizeInWords(bytes.cold)} in the cold one, {sizeInWords(bytes.archive)} in the archive
          {bytes.none > 0 && <>, {sizeInWords(bytes.none)} that new ones begin with</>}.
        </p>
        <VolumeSums volumes={tenant.volumes} of={sandboxes} />
        <FaultCounts caller={narrowed} tenant={name} />
        <MoreLink href={`/sandboxes?tenant=${name}`}>All of its sandboxes</MoreLink>
        <MoreLink href={`/tenants/${name}/logs`}>What they print</MoreLink>
      </PageSection>
      <DueSection caller={narrowed} rendered={rendered} />
      <LoadSection
        caller={caller}
        tenant={name}
        path={`/tenants/${name}`}
        search={await searchParams}
        rendered={rendered}
      />
      <WeekSection caller={caller} tenant={name} />
      <QuotasSection tenant={tenant} whyNotSet={whyNotSet} />
      <ThresholdsSection caller={caller} tenant={tenant} whyNotSet={whyNotSet} />
      <ReplicaSection tenant={tenant} whyNotSet={whyNotSet} />
      <NetworkSection caller={caller} tenant={name} />
      <VariablesSection caller={caller} owner={{ kind: 'tenant', name }} tenant={name} />
      <SecretsSection caller={caller} owner={{ kind: 'tenant', name }} tenant={name} rendered={rendered} />
      <SharesSection caller={caller} tenant={name} rendered={rendered} />
      <KeysSection caller={caller} tenant={name} rendered={rendered} />
      <LedgerSection caller={caller} tenant={name} rendered={rendered} />
      <ForgetPart caller={caller} tenant={tenant} rendered={rendered} />
    </AsOf>
  );
}
