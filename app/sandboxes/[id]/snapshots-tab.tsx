/** The Snapshots tab: take a snapshot, the snapshots and moments there are, and the lineage. */

import Link from 'next/link';
import { WithCall, WithCalls } from '#components/calls/with-call.tsx';
import { SnapshotTable } from '#components/sandbox/snapshot-table.tsx';
import { DisabledAction } from '#components/ui/disabled-action.tsx';
import { PageSection } from '#components/ui/page-section.tsx';
import type { Caller } from '#lib/auth/caller.ts';
import type { InstanceId } from '#lib/base/ids.ts';
import { mayDo, whyNot } from '#lib/contract/access.ts';
import type { Instance } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { LineageSection } from '../../lineage-section.tsx';
import { bringBack } from '../../moment-actions.ts';
import { MomentForm } from '../../moment-form.tsx';
import { takeSnapshot } from './snapshot-actions.ts';
import { SnapshotForm } from './snapshot-form.tsx';
import { whyNoCopy } from './why-not.ts';

const SHOWN = 20;

/** What the replica has of it, at any moment that it keeps. Nothing without a replica of it. */
function Moments({ caller, instance }: { caller: Caller; instance: Instance }) {
  const { id, tenant, recovery_point: point, replicate } = instance;
  if (replicate === 'off' && point.as === 'none') return null;
  const refusal =
    whyNot(caller, 'instanceFromMoment', { tenant }) ??
    (point.at === null ? 'The replica has nothing of it yet.' : null);
  return (
    <PageSection id="moments" name="From the replica" note="As it was at any moment that the replica keeps.">
      {refusal !== null || point.at === null ? (
        <DisabledAction id="moment" label="As a new sandbox" whyNot={refusal ?? ''} />
      ) : (
        <WithCalls
          by={{
            new: { name: 'instanceFromMoment', path: { id }, fields: { time: 'moment', name: 'text', reason: 'text' } },
            itself: { name: 'restoreInstance', path: { id }, fields: { time: 'moment', reason: 'text' } },
          }}
        >
          <MomentForm
            action={bringBack.bind(null, id)}
            isBound
            begin={new Date(point.at * 1000).toISOString().replace('.000', '')}
          />
        </WithCalls>
      )}
    </PageSection>
  );
}

/** The newest snapshots. */
async function Snapshots({ caller, id, rendered }: { caller: Caller; id: InstanceId; rendered: number }) {
  const { items, next } = await getHost().operations.listSnapshots(caller, { source: id, limit: SHOWN });
  return (
    <PageSection id="snapshots" name="Snapshots" note="Open one to restore it, once or a thousand times.">
      {items.length === 0 ? (
        <p className="text-ink-2">None has been taken of it yet.</p>
      ) : (
        <SnapshotTable snapshots={items} rendered={rendered} showSource={false} />
      )}
      {next !== null && (
        <p className="mt-3 text-small">
          <Link href={`/snapshots?source=${id}`} prefetch={false}>
            All snapshots of it
          </Link>
        </p>
      )}
    </PageSection>
  );
}

export function SnapshotsTab({ caller, instance, rendered }: { caller: Caller; instance: Instance; rendered: number }) {
  const { id } = instance;
  const refusal = whyNoCopy(caller, 'takeSnapshot', instance);
  return (
    <>
      <PageSection
        id="take"
        name="Take one"
        note="A save file of workspace and memory as they are now. It keeps running, or sleeping, and the copy outlives it."
      >
        {refusal === null ? (
          <WithCall name="takeSnapshot" path={{ id }} fields={{ tag: 'text' }}>
            <SnapshotForm action={takeSnapshot.bind(null, id)} />
          </WithCall>
        ) : (
          <DisabledAction id="take" label="Take a snapshot" whyNot={refusal} />
        )}
        {refusal === null && mayDo(caller, 'createBlueprint') && (
          <p className="mt-5 text-small text-ink-2">
            To make many like it for every tenant,{' '}
            <Link href={`/blueprints?from=${id}#make`} prefetch={false}>
              make a blueprint of its work
            </Link>
            .
          </p>
        )}
      </PageSection>
      <Snapshots caller={caller} id={id} rendered={rendered} />
      <Moments caller={caller} instance={instance} />
      <LineageSection
        caller={caller}
        current={{ kind: 'instance', id }}
        note="What it came from, what came from it, and what each takes on disk of its own."
      />
    </>
  );
}
