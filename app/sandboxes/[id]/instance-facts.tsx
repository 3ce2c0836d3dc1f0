/** The rest of the sandbox's row: its settings and where its file is. */
import type { ReactNode } from 'react';
import { RecoveryWords } from '#components/live/recovery-words.tsx';
import { sizeInWords } from '#components/ui/durations.ts';
import { PageSection } from '#components/ui/page-section.tsx';
import { RelativeTime } from '#components/ui/relative-time.tsx';
import type { Instance } from '#lib/contract/schema.ts';

const PROCESS_WORDS: Readonly<Record<Instance['thermal'], string>> = {
  hot: 'hot: it runs',
  warm: 'warm: paused in memory',
  cold: 'cold: none',
};

function Entry({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="border-b border-rule pb-1.5">
      <dt className="text-small text-ink-3">{name}</dt>
      <dd className="[overflow-wrap:anywhere]">{children}</dd>
    </div>
  );
}

const UPLOAD_WORDS: Readonly<Record<Instance['upload'], string>> = {
  none: '',
  queued: 'its upload waits',
  running: 'its upload is on its way',
};

export function InstanceFacts({
  instance,
  rendered,
  pauseAfter,
  suspendAfter,
  freezeAfter,
  isAmongSeveral,
}: {
  instance: Instance;
  rendered: number;
  pauseAfter: string;
  suspendAfter: string;
  freezeAfter: string;
  /** Whether other servers use the registry too. */
  isAmongSeveral: boolean;
}) {
  const own = (value: number | null) => (value === null ? 'as for its tenant' : 'set for it');
  const { lineage } = instance;
  const origin = lineage.snapshot ?? lineage.blueprint ?? lineage.parent;
  return (
    <PageSection id="row" name="On file" note="Its row in the registry.">
      <dl className="grid grid-cols-2 gap-x-8 gap-y-3 sm:grid-cols-3 xl:grid-cols-4">
        <Entry name="File">
          <code className="text-[0.8125rem]">
            {instance.vfs_path ?? (origin === null ? 'none yet' : `made at its first wake, of ${origin}`)}
          </code>
        </Entry>
        <Entry name="Size">{instance.bytes === null ? 'nothing yet' : sizeInWords(instance.bytes)}</Entry>
        {(instance.stored !== null || instance.upload !== 'none') && (
          <Entry name="In the store">
            {instance.stored === null ? 'not yet' : <RelativeTime at={instance.stored.at} rendered={rendered} />}{' '}
            <span className="text-small text-ink-3">{UPLOAD_WORDS[instance.upload]}</span>
          </Entry>
        )}
        {isAmongSeveral && <Entry name="Host">{instance.host ?? 'none: any may wake it'}</Entry>}
        <Entry name="Policy">{instance.policy}</Entry>
        <Entry name="Process">{PROCESS_WORDS[instance.thermal]}</Entry>
        <Entry name="Pauses after">
          {pauseAfter} <span className="text-small text-ink-3">{own(instance.hot_to_warm_s)}</span>
        </Entry>
        <Entry name={instance.ephemeral ? 'Ends after' : 'Suspends after'}>
          {suspendAfter} <span className="text-small text-ink-3">{own(instance.idle_to_suspend_s)}</span>
        </Entry>
        {!instance.ephemeral && (
          <Entry name="Freezes after">
            {freezeAfter} <span className="text-small text-ink-3">{own(instance.idle_to_freeze_s)}</span>
          </Entry>
        )}
        <Entry name="Replica">
          <RecoveryWords instance={instance} rendered={rendered} />
        </Entry>
        <Entry name="Replicates">
          {instance.replicate === 'off' ? 'off' : instance.replicate}{' '}
          <span className="text-small text-ink-3">
            {instance.replicate_from_next_wake && 'from its next wake on, '}
            {instance.own_replicate === null
              ? 'as for its tenant'
              : instance.own_replicate === instance.replicate
                ? 'set for it'
                : `${instance.own_replicate} is set for it; this server has no replica`}
          </span>
        </Entry>
        <Entry name="Last active">
          <RelativeTime at={instance.updated} rendered={rendered} />
        </Entry>
        <Entry name="Registered">
          <RelativeTime at={instance.created} rendered={rendered} />
        </Entry>
        {instance.ephemeral && (
          <Entry name="Ephemeral">archived and deleted once idle, never suspended or frozen</Entry>
        )}
        {origin !== null && <Entry name="Made from">{origin}</Entry>}
        {instance.workbook !== null && <Entry name="Workbook">{instance.workbook}</Entry>}
      </dl>
    </PageSection>
  );
}
