/** One sandbox: where it is and why, its next automatic move, its open moves, and its tabs. */
import type { Metadata } from 'next';
import { notFound } from 'next/navigation';
import { cache } from 'react';
import { HoldForm } from '#app/sandboxes/[id]/hold-form.tsx';
import { IdleClock } from '#components/figures/idle-clock.tsx';
import { AsOf } from '#components/live/live-data.tsx';
import { LiveSandboxDiagram, WarmNote } from '#components/live/sandbox-status.tsx';
import { RememberVisit } from '#components/palette/recent-visits.tsx';
import { Moves } from '#components/sandbox/moves.tsx';
import { Tabs } from '#components/ui/tabs.tsx';
import { isWinterdockError } from '#lib/base/errors.ts';
import { type InstanceId, isInstanceId } from '#lib/base/ids.ts';
import { mayDo } from '#lib/contract/access.ts';
import type { Instance } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { currentCaller, ledgerSeq, renderedAt, requireCaller } from '../../caller.ts';
import { SettleForms } from '../../overview/settle-forms.tsx';
import { type SearchParams, singleValues } from '../../search-params.ts';
import { moveSandbox, setHold } from './actions.ts';
import { DeletedSandbox } from './deleted-sandbox.tsx';
import { FilesTab } from './files-tab.tsx';
import { LedgerTab } from './ledger-tab.tsx';
import { moveOffers } from './move-offers.ts';
import { RepairOptions } from './repair-options.tsx';
import { SettingsTab } from './settings-tab.tsx';
import { SharesTab } from './shares-tab.tsx';
import { SnapshotsTab } from './snapshots-tab.tsx';
import { TABS, tabAddress, tabOf } from './tab-names.ts';
import { TerminalTab } from './terminal-tab.tsx';
import { FaultNotice, InterruptedNotice, NotOfferedNotice, Title } from './title.tsx';
import { WhyHere } from './why-here.tsx';

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

function Block({ id, name, children }: { id: string; name: string; children: React.ReactNode }) {
  return (
    <section id={id} aria-labelledby={`${id}-name`} className="border-t border-rule-2 py-4 first:border-ink">
      <h2 id={`${id}-name`} className="part-name mb-2">
        {name}
      </h2>
      {children}
    </section>
  );
}

export default async function Sandbox({ params, searchParams }: Props) {
  const { id } = await params;
  const caller = await requireCaller(`/sandboxes/${id}`);
  if (!isInstanceId(id)) notFound();
  const instance = await readSandbox(id, `/sandboxes/${id}`);
  if (instance === null) notFound();
  if (instance === 'gone') return <DeletedSandbox id={id} />;
  const search = await searchParams;
  const tab = tabOf(search);
  const rendered = renderedAt();
  const isHeld = instance.hold_until !== null && instance.hold_until > rendered;
  const holdable = instance.next !== null || instance.keep_hot || isHeld || instance.state === 'active';
  return (
    <AsOf asOf={await ledgerSeq()} rendered={rendered}>
      <RememberVisit actor={caller.actor} id={id} name={instance.name} />
      <Title instance={instance} rendered={rendered} />
      <InterruptedNotice instance={instance} rendered={rendered}>
        <SettleForms instance={instance} caller={caller} />
      </InterruptedNotice>
      <FaultNotice instance={instance}>
        {instance.fault !== null && instance.fault !== 'error' && (
          <RepairOptions fault={instance.fault} instance={instance} caller={caller} />
        )}
      </FaultNotice>
      <NotOfferedNotice instance={instance} />
      <div className="grid gap-x-16 gap-y-6 pb-12 lg:grid-cols-[23rem_minmax(0,1fr)]">
        <div className="lg:col-start-2 lg:row-start-1">
          <Block id="why" name="Why it is here">
            <WhyHere caller={caller} instance={instance} />
            <WarmNote instance={instance} rendered={rendered} />
          </Block>
          <Block id="next" name="What happens next">
            <div className="flex flex-wrap items-start justify-between gap-x-10 gap-y-4">
              <IdleClock instance={instance} rendered={rendered} />
              {holdable && mayDo(caller, 'patchInstance') && (
                <HoldForm keepHot={instance.keep_hot} isHeld={isHeld} action={setHold.bind(null, id)} />
              )}
            </div>
          </Block>
          <Block id="moves" name="What may be done">
            <Moves id={id} offers={moveOffers(instance, caller)} action={moveSandbox.bind(null, id)} />
          </Block>
        </div>
        <div className="max-lg:border-t max-lg:border-rule-2 max-lg:pt-6 lg:col-start-1 lg:row-start-1 lg:pt-1">
          <LiveSandboxDiagram instance={instance} rendered={rendered} />
        </div>
      </div>
      <Tabs
        id="parts"
        label="Parts of this sandbox"
        tabs={TABS.map(({ name, key }) => ({ name, href: tabAddress(id, key), current: key === tab }))}
      />
      <div className="tabbed">
        {tab === 'files' && <FilesTab caller={caller} instance={instance} search={search} />}
        {tab === 'terminal' && <TerminalTab caller={caller} instance={instance} />}
        {tab === 'ledger' && (
          <LedgerTab caller={caller} id={id} cursor={singleValues(search).cursor} rendered={rendered} />
        )}
        {tab === 'snapshots' && <SnapshotsTab caller={caller} instance={instance} rendered={rendered} />}
        {tab === 'settings' && <SettingsTab caller={caller} instance={instance} rendered={rendered} />}
        {tab === 'shares' && <SharesTab caller={caller} instance={instance} search={search} rendered={rendered} />}
      </div>
    </AsOf>
  );
}
