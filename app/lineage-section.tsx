/** The lineage of a sandbox, a snapshot or a blueprint. It reads beside the other sections of its page. */
import { LineageTree } from '#components/figures/lineage.tsx';
import { PageSection } from '#components/ui/page-section.tsx';
import type { Caller } from '#lib/auth/caller.ts';
import type { InstanceId } from '#lib/base/ids.ts';
import { getHost } from '#lib/host/host.ts';

type Subject = { kind: 'instance'; id: InstanceId } | { kind: 'snapshot' | 'blueprint'; id: string };

function readLineage(caller: Caller, { kind, id }: Subject) {
  const { operations } = getHost();
  if (kind === 'instance') return operations.instanceLineage(caller, id);
  return kind === 'snapshot' ? operations.snapshotLineage(caller, id) : operations.blueprintLineage(caller, id);
}

/** `current`: what the page is about. */
export async function LineageSection({ caller, current, note }: { caller: Caller; current: Subject; note: string }) {
  return (
    <PageSection id="lineage" name="Lineage" note={note}>
      <LineageTree lineage={await readLineage(caller, current)} current={current} />
    </PageSection>
  );
}
