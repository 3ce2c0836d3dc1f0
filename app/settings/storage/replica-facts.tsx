/** The replica of what sandboxes commit: where it is, whether it can be reached, and how far it is behind. */
import { QuotaMeter } from '#components/figures/quota-meter.tsx';
import { sizeInWords } from '#components/ui/durations.ts';
import { Fact, FactList } from '#components/ui/fact-list.tsx';
import { RelativeTime } from '#components/ui/relative-time.tsx';
import type { Storage } from '#lib/contract/schema.ts';
import { PlaceFacts } from './place-facts.tsx';
import { figures, lagInWords, monthInWords, promiseInWords, retentionInWords } from './store-words.ts';

export function ReplicaPlace({ replication, rendered }: Pick<Storage, 'replication'> & { rendered: number }) {
  if (replication === null) {
    return (
      <p className="max-w-3xl text-ink-2">
        None: what sandboxes commit is on this disk alone until it is filed or backed up. <code>WB_REPLICA_URL</code>{' '}
        names one, such as a bucket or a folder on another disk; <code>docs/store.md</code> says what it costs.
      </p>
    );
  }
  const { url, replicate, retention, month, away, spool, lag, waiting, requests, late } = replication;
  const { registry_gap: gap } = replication;
  return (
    <div className="grid gap-5">
      <FactList>
        <PlaceFacts url={url} away={away} rendered={rendered} />
        <Fact name="Largest lag">
          <span className={late === null ? '' : 'text-fault-ink'}>{lagInWords(lag)}</span>
        </Fact>
        <Fact name="Sandboxes behind">
          {figures(lag.behind)}, with {figures(lag.open)} awake and replicated
        </Fact>
        <Fact name="Registry">
          {lag.registry_s === 0 ? 'all that was committed is there' : `${lag.registry_s.toFixed(1)} s behind`}
          {gap !== null && (
            <span className="text-small text-ink-3">
              {' '}
              moments are missing up to <RelativeTime at={gap.at} rendered={rendered} />: {gap.why}
            </span>
          )}
        </Fact>
        <Fact name="At rest, not shipped yet">{figures(waiting)}</Fact>
        <Fact name="Requests since the start">
          {figures(requests.count)}
          {requests.shared && <span className="text-small text-ink-3"> with those of the object store</span>}
        </Fact>
        <Fact name="Written in a month">{monthInWords(month, sizeInWords)}</Fact>
        <Fact name="Kept">{retentionInWords(retention)}</Fact>
      </FactList>
      <div className="max-w-80">
        <QuotaMeter name="Spool" used={spool.bytes} limit={spool.limit_bytes} inWords={sizeInWords} />
      </div>
      <p className="max-w-3xl text-small text-ink-2">
        {promiseInWords(replicate)} A tenant, a blueprint or a sandbox may have its own setting. While the replica is
        away, what is committed waits in the spool on this disk. Nobody waits for it but who uses a sandbox with{' '}
        <code>sync</code>.
      </p>
    </div>
  );
}
