/** The Snapshots tab: take a snapshot, the snapshots there are, the way to its past, and the lineage. */

import Link from 'next/link';
import { WithCall } from '#components/calls/with-call.tsx';
import { SnapshotTable } from '#components/sandbox/snapshot-table.tsx';
import { DisabledAction } from '#components/ui/disabled-action.tsx';
import { PageSection } from '#components/ui/page-section.tsx';
import type { Caller } from '#lib/auth/caller.ts';
import type { InstanceId } from '#lib/base/ids.ts';
import { mayDo } from '#lib/contract/access.ts';
import type { Instance } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { LineageSection } from '../../lineage-section.tsx';
import { takeSnapshot } from './snapshot-actions.ts';
import { SnapshotForm } from './snapshot-form.tsx';
import { tabAddress } from './tab-names.ts';
import { whyNoCopy } from './use-refusals.ts';

const SHOWN = 20;

/** The way to what the replica has of it. Nothing without a replica of it. */
function Past({ instance: { id, replicate, recovery_point: point } }: { instance: Instance }) {
  if (replicate === 'off' && point.as === 'none') return null;
  return (
    <PageSection id="moments" name="From the replica" note="As it was at any moment that the replica keeps.">
      <p>
        <Link href={tabAddress(id, 'past')} prefetch={false}>
          Its past
        </Link>{' '}
        opens each moment: to look, to restore it, or to start a new sandbox from there.
      </p>
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
      <Past instance={instance} />
      <LineageSection
        caller={caller}
        current={{ kind: 'instance', id }}
        note="What it came from, what came from it, and what each takes on disk of its own."
      />
    </>
  );
}
