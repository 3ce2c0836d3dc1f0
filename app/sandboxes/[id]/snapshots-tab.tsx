/** The tab of copies: taking a snapshot, those there are, and what came from what. */
import Link from 'next/link';
import { LineageTree } from '#components/figures/lineage.tsx';
import { SnapshotTable } from '#components/sandbox/snapshot-table.tsx';
import { DisabledAction } from '#components/ui/disabled-action.tsx';
import { PageSection } from '#components/ui/page-section.tsx';
import type { Caller } from '#lib/auth/caller.ts';
import { mayDo, whyNot } from '#lib/contract/access.ts';
import type { Instance } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { takeSnapshot } from './snapshot-actions.ts';
import { SnapshotForm } from './snapshot-form.tsx';

const SHOWN = 20;

/** Why none can be taken now, or null: a role, or nothing to take. */
function whyNone(caller: Caller, { tenant, vfs_path, bytes, fault }: Instance): string | null {
  if (vfs_path === ':memory:') return 'It lives in its process only: there is no file to copy.';
  if (fault === 'missing' || fault === 'corrupt') return 'Its file is not sound: a snapshot of it would not be either.';
  if (vfs_path === null && bytes === null) return 'It has no file yet: wake it once first.';
  return whyNot(caller, 'takeSnapshot', { tenant });
}

export async function SnapshotsTab({
  caller,
  instance,
  rendered,
}: {
  caller: Caller;
  instance: Instance;
  rendered: number;
}) {
  const { id } = instance;
  const { operations } = getHost();
  const [{ items, next }, lineage] = await Promise.all([
    operations.listSnapshots(caller, { source: id, limit: SHOWN }),
    operations.instanceLineage(caller, id),
  ]);
  const none = whyNone(caller, instance);
  return (
    <>
      <PageSection
        id="take"
        name="Take one"
        note="A save file of workspace and memory as they are now. It keeps running, or sleeping, and the copy outlives it."
      >
        {none === null ? (
          <SnapshotForm action={takeSnapshot.bind(null, id)} />
        ) : (
          <DisabledAction id="take" label="Take a snapshot" whyNot={none} />
        )}
        {none === null && mayDo(caller, 'createBlueprint') && (
          <p className="mt-5 text-small text-ink-2">
            To make many like it for every tenant,{' '}
            <Link href={`/blueprints?from=${id}#make`} prefetch={false}>
              make a blueprint of its work
            </Link>
            .
          </p>
        )}
      </PageSection>
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
      <PageSection
        id="lineage"
        name="Lineage"
        note="What it came from, what came from it, and what each takes on disk of its own."
      >
        <LineageTree lineage={lineage} current={{ kind: 'instance', id }} />
      </PageSection>
    </>
  );
}
