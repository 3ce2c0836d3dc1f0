/** The page of a deleted sandbox: its snapshots and its ledger. */
import Link from 'next/link';
import { LedgerLines } from '#components/ledger/ledger-lines.tsx';
import { SnapshotTable } from '#components/sandbox/snapshot-table.tsx';
import { StateChip, TITLE } from '#components/sandbox/state-chip.tsx';
import { Breadcrumbs } from '#components/ui/breadcrumbs.tsx';
import { CopyId } from '#components/ui/copy-id.tsx';
import { PageSection } from '#components/ui/page-section.tsx';
import { RelativeTime } from '#components/ui/relative-time.tsx';
import type { InstanceId } from '#lib/base/ids.ts';
import { getHost } from '#lib/host/host.ts';
import { lineNames } from '../../actor-names.ts';
import { renderedAt, requireCaller } from '../../caller.ts';

const LINES_SHOWN = 100;
const SNAPSHOTS_SHOWN = 20;

export async function DeletedSandbox({ id }: { id: InstanceId }) {
  const caller = await requireCaller(`/sandboxes/${id}`);
  const { operations } = getHost();
  const [{ items, next }, snapshots] = await Promise.all([
    operations.events(caller, { instance: id, limit: LINES_SHOWN }),
    operations.listSnapshots(caller, { source: id, limit: SNAPSHOTS_SHOWN }),
  ]);
  const end = items.find((event) => event.to === 'deleted');
  const rendered = renderedAt();
  return (
    <>
      <header className="grid gap-2 pt-3 pb-8">
        <Breadcrumbs steps={[{ name: 'Sandboxes', href: '/sandboxes' }]} tight />
        <h1 className="flex flex-wrap items-center gap-x-3 gap-y-1.5">
          <span className={`${TITLE} line-through`}>{id}</span>{' '}
          <StateChip state="deleted" fault={null} warm={false}>
            Deleted{' '}
            {end !== undefined && (
              <span className="font-[420] text-ink-2">
                <span aria-hidden="true">·</span> <RelativeTime at={end.time} rendered={rendered} />
              </span>
            )}
          </StateChip>
        </h1>
        <p className="text-small">
          <CopyId id={id} />
        </p>
        <p className="max-w-xl text-ink-2">
          Its file is gone and cannot be brought back. This id is never used again, so whatever still names it can only
          mean what the ledger below tells of. <Link href="/sandboxes">All sandboxes</Link>
        </p>
      </header>
      {snapshots.items.length > 0 && (
        <PageSection id="snapshots" name="Snapshots" note="They outlive it: open one to restore it.">
          <SnapshotTable snapshots={snapshots.items} rendered={rendered} showSource={false} />
          {snapshots.next !== null && (
            <p className="mt-3 text-small">
              <Link href={`/snapshots?source=${id}`} prefetch={false}>
                All snapshots of it
              </Link>
            </p>
          )}
        </PageSection>
      )}
      <PageSection id="ledger" name="Ledger" note="What happened to it, newest first.">
        <LedgerLines events={items} names={await lineNames(items)} rendered={rendered} showInstance={false} />
        {next !== null && (
          <p className="mt-3 text-small">
            <Link href={`/audit?instance=${id}`} prefetch={false}>
              All of its lines
            </Link>
          </p>
        )}
      </PageSection>
    </>
  );
}
