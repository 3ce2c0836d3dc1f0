/** The Ledger tab: everything that happened to a sandbox, newest first, in pages. */

import { redirect } from 'next/navigation';
import { LedgerLines } from '#components/ledger/ledger-lines.tsx';
import { PageSection } from '#components/ui/page-section.tsx';
import { Pagination } from '#components/ui/pagination.tsx';
import type { Caller } from '#lib/auth/caller.ts';
import { isWinterdockError } from '#lib/base/errors.ts';
import type { InstanceId } from '#lib/base/ids.ts';
import { getHost } from '#lib/host/host.ts';
import { lineNames } from '../../actor-names.ts';
import { tabAddress } from './tab-names.ts';

const LINES_SHOWN = 50;

export async function LedgerTab({
  caller,
  id,
  cursor,
  rendered,
}: {
  caller: Caller;
  id: InstanceId;
  cursor: string | undefined;
  rendered: number;
}) {
  const page = await getHost()
    .operations.instanceEvents(caller, id, { limit: LINES_SHOWN, cursor })
    .catch((error: unknown) => {
      if (isWinterdockError(error) && error.code === 'validation' && cursor !== undefined) return null;
      throw error;
    });
  const first = tabAddress(id, 'ledger');
  if (page === null) redirect(first);
  const next =
    page.next === null ? null : `/sandboxes/${id}?${new URLSearchParams({ tab: 'ledger', cursor: page.next })}`;
  return (
    <PageSection id="ledger" name="Ledger" note="What happened to it, newest first. Nothing in it is ever changed.">
      <LedgerLines events={page.items} names={await lineNames(page.items)} rendered={rendered} showInstance={false} />
      <Pagination first={cursor === undefined ? null : first} next={next === null ? null : `${next}#parts`} />
    </PageSection>
  );
}
