/** In place of a past: why there is none, and what would make one. */
import Link from 'next/link';
import { EmptyState } from '#components/ui/empty-state.tsx';
import type { Caller } from '#lib/auth/caller.ts';
import { mayDo } from '#lib/contract/access.ts';
import type { Instance } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { tabAddress } from '../tab-names.ts';

export function NoPast({ caller, instance }: { caller: Caller; instance: Instance }) {
  const { id, tenant, replicate } = instance;
  const snapshots = (
    <Link href={tabAddress(id, 'snapshots')} prefetch={false}>
      Snapshots
    </Link>
  );
  if (getHost().config.store.replica === null) {
    return (
      <EmptyState>
        <p>This server has no replica, so that what a sandbox was is not kept: only now can be looked at.</p>
        <p className="mt-2 text-ink-2">
          <code>WB_REPLICA_URL</code> names one. {snapshots} keep a state that somebody asked for.
        </p>
      </EmptyState>
    );
  }
  if (replicate === 'off') {
    return (
      <EmptyState>
        <p>It is not replicated, so that only now can be looked at.</p>
        <p className="mt-2 text-ink-2">
          {mayDo(caller, 'patchInstance', { tenant }) ? (
            <>
              Its{' '}
              <Link href={tabAddress(id, 'settings')} prefetch={false}>
                settings
              </Link>{' '}
              say how far its replica may be behind.
            </>
          ) : (
            'Its settings, or its tenant’s, say whether it is.'
          )}{' '}
          {snapshots} keep a state that somebody asked for.
        </p>
      </EmptyState>
    );
  }
  return (
    <EmptyState>
      <p>The replica has nothing of it yet.</p>
      <p className="mt-2 text-ink-2">
        {replicate === 'filed'
          ? 'It is shipped each time that it comes to rest: once it was suspended, it has a first moment.'
          : 'What it commits is shipped within seconds: once something was written in it, it has a first moment.'}
      </p>
    </EmptyState>
  );
}
