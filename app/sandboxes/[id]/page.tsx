/** One sandbox: its head, its tabs, and what is wrong with it. */
import type { Metadata } from 'next';
import Link from 'next/link';
import { notFound } from 'next/navigation';
import { cache } from 'react';
import { AsOf } from '#components/live/live-data.tsx';
import { RememberVisit } from '#components/palette/recent-visits.tsx';
import { Tabs } from '#components/ui/tabs.tsx';
import { isWinterdockError } from '#lib/base/errors.ts';
import { type InstanceId, isInstanceId } from '#lib/base/ids.ts';
import { mayDo } from '#lib/contract/access.ts';
import type { Instance } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { currentCaller, ledgerSeq, renderedAt, requireCaller } from '../../caller.ts';
import { SettleForms } from '../../overview/settle-forms.tsx';
import { type SearchParams, singleValues } from '../../search-params.ts';
import { DeletedSandbox } from './deleted-sandbox.tsx';
import { EnvironmentTab } from './environment-tab.tsx';
import { FilesTab } from './files-tab.tsx';
import { SandboxHead } from './head.tsx';
import { LedgerTab } from './ledger-tab.tsx';
import { LogsTab } from './logs-tab.tsx';
import { NetworkTab } from './network-tab.tsx';
import { AwayNotice, FaultNotice, InterruptedNotice, NotOfferedNotice } from './notices.tsx';
import { PastTab } from './past/past-tab.tsx';
import { RepairOptions } from './repair-options.tsx';
import { SchedulesTab } from './schedules-tab.tsx';
import { SettingsTab } from './settings-tab.tsx';
import { SharesTab } from './shares-tab.tsx';
import { SnapshotsTab } from './snapshots-tab.tsx';
import { firstTab, TABS, tabAddress, tabOf } from './tab-names.ts';
import { TerminalTab } from './terminal-tab.tsx';
import { TimeTab } from './time-tab.tsx';
import { WorkbookTab } from './workbook-tab.tsx';

export const dynamic = 'force-dynamic';

interface Props {
  params: Promise<{ id: string }>;
  searchParams: Promise<SearchParams>;
}

/** The sandbox; `gone` for a deleted one, null when there is none. Read once per request. */
const readSandbox = cache(async (id: InstanceId, path: string): Promise<Instance | 'gone' | null> => {
  const caller = await requireCaller(path);
  await ledgerSeq();
  try {
    const instance = await getHost().operations.getInstance(caller, id);
    return instance.state === 'deleted' ? 'gone' : instance;
  } catch (error) {
    if (isWinterdockError(error) && error.code === 'gone') return 'gone';
    if (isWinterdockError(error) && (error.code === 'not_found' || error.code === 'validation')) return null;
    throw error;
  }
});

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  const { id } = await params;
  if ((await currentCaller()) === null) return { title: 'Sandbox' };
  const sandbox = isInstanceId(id) ? await readSandbox(id, `/sandboxes/${id}`) : null;
  if (sandbox === null) return { title: 'No such sandbox' };
  return { title: sandbox === 'gone' ? `${id}, deleted` : (sandbox.name ?? sandbox.id) };
}

export default async function Sandbox({ params, searchParams }: Props) {
  const { id } = await params;
  const caller = await requireCaller(`/sandboxes/${id}`);
  if (!isInstanceId(id)) notFound();
  const instance = await readSandbox(id, `/sandboxes/${id}`);
  if (instance === null) notFound();
  if (instance === 'gone') return <DeletedSandbox id={id} />;
  const search = await searchParams;
  const first = firstTab(search, mayDo(caller, 'volumes'));
  const tab = tabOf(search, first);
  const rendered = renderedAt();
  return (
    <AsOf asOf={await ledgerSeq()} rendered={rendered}>
      <RememberVisit actor={caller.actor} id={id} name={instance.name} />
      <SandboxHead caller={caller} instance={instance} rendered={rendered} />
      <Tabs
        id="parts"
        label="Parts of this sandbox"
        tabs={TABS.map(({ name, key }) => ({ name, href: tabAddress(id, key, first), current: key === tab }))}
      />
      <div className="tabbed">
        <AwayNotice instance={instance} rendered={rendered} />
        <InterruptedNotice instance={instance} rendered={rendered}>
          <SettleForms instance={instance} caller={caller} />
        </InterruptedNotice>
        <FaultNotice instance={instance}>
          {instance.fault !== null &&
            instance.fault !== 'error' &&
            (tab === first ? (
              <RepairOptions fault={instance.fault} instance={instance} caller={caller} />
            ) : (
              <Link href={tabAddress(id, first, first)} prefetch={false}>
                The ways out
              </Link>
            ))}
        </FaultNotice>
        <NotOfferedNotice instance={instance} />
        {tab === 'files' && <FilesTab caller={caller} instance={instance} search={search} />}
        {tab === 'terminal' && <TerminalTab caller={caller} instance={instance} rendered={rendered} />}
        {tab === 'logs' && <LogsTab caller={caller} instance={instance} search={search} rendered={rendered} />}
        {tab === 'time' && <TimeTab caller={caller} instance={instance} search={search} rendered={rendered} />}
        {tab === 'past' && <PastTab caller={caller} instance={instance} search={search} rendered={rendered} />}
        {tab === 'ledger' && (
          <LedgerTab caller={caller} id={id} cursor={singleValues(search).cursor} rendered={rendered} />
        )}
        {tab === 'snapshots' && <SnapshotsTab caller={caller} instance={instance} rendered={rendered} />}
        {tab === 'workbook' && <WorkbookTab caller={caller} instance={instance} search={search} />}
        {tab === 'schedules' && (
          <SchedulesTab caller={caller} instance={instance} search={search} rendered={rendered} />
        )}
        {tab === 'network' && <NetworkTab caller={caller} instance={instance} />}
        {tab === 'environment' && <EnvironmentTab caller={caller} instance={instance} rendered={rendered} />}
        {tab === 'settings' && <SettingsTab caller={caller} instance={instance} rendered={rendered} />}
        {tab === 'shares' && <SharesTab caller={caller} instance={instance} search={search} rendered={rendered} />}
      </div>
    </AsOf>
  );
}
