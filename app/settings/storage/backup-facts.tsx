/** The last backup, and how to make one. */
import Link from 'next/link';
import { Fact, FactList } from '#components/ui/fact-list.tsx';
import { RelativeTime } from '#components/ui/relative-time.tsx';
import type { Storage } from '#lib/contract/schema.ts';
import { backupInWords, wrongInWords } from './store-words.ts';

/** What a lost disk takes, by what there is elsewhere. */
function lossInWords({ store, replication }: Pick<Storage, 'store' | 'replication'>): string {
  if (replication !== null)
    return 'What sandboxes commit is replicated as far as was promised of each. The rest is lost with this disk, up to the last backup that lies on another one.';
  if (store !== null && store.leaving === null)
    return 'What is frozen or archived is in the object store. Everything else is lost with this disk, up to the last backup that lies on another one.';
  return 'Nothing replicates: what is lost with this disk is lost, up to the last backup that lies on another one.';
}

export function BackupFacts({
  backup,
  store,
  replication,
  rendered,
}: Pick<Storage, 'backup' | 'store' | 'replication'> & { rendered: number }) {
  return (
    <div className="grid gap-5">
      <FactList>
        <Fact name="Last one">{backup === null ? 'never' : <RelativeTime at={backup.time} rendered={rendered} />}</Fact>
        {backup !== null && (
          <>
            <Fact name="Holds">
              {backupInWords(backup)}{' '}
              {backup.wrong > 0 && <span className="text-fault-ink">{wrongInWords(backup.wrong)}</span>}
            </Fact>
            <Fact name="Key files">{backup.keys ? 'in it, encrypted' : 'not in it'}</Fact>
            <Fact name="Written to">
              <code className="text-[0.8125rem]">{backup.to}</code>
            </Fact>
          </>
        )}
      </FactList>
      <p className="max-w-3xl">
        {lossInWords({ store, replication })} To make one, on the machine of the server, while it runs or not:
      </p>
      <pre className="paper-log px-3 py-2">{'npm run backup -- /mnt/elsewhere/winterdock --with-keys'}</pre>
      <p className="max-w-3xl text-small text-ink-2">
        The server makes them by itself too: see{' '}
        <Link href="/settings/backups" prefetch={false}>
          Backups
        </Link>
        . The next one to the same folder copies only what changed. <code>npm run restore</code> brings back everything
        or one sandbox; <code>docs/operations.md</code> says how. What this page knows is that one was made, not whether
        it is still there: <code>npm run backup -- --verify</code> reads it.
      </p>
    </div>
  );
}
