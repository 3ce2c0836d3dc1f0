/** The object store: whether it can be used, what waits for it, and its local cache. */
import { QuotaMeter } from '#components/figures/quota-meter.tsx';
import { sizeInWords } from '#components/ui/durations.ts';
import { Fact, FactList } from '#components/ui/fact-list.tsx';
import { RelativeTime } from '#components/ui/relative-time.tsx';
import type { Storage } from '#lib/contract/schema.ts';
import { LeavingFacts } from './leaving-facts.tsx';
import { PlaceFacts } from './place-facts.tsx';
import { ackInWords, figures, uploadsInWords } from './store-words.ts';

export function StoreFacts({ store, rendered }: Pick<Storage, 'store'> & { rendered: number }) {
  if (store === null) {
    return (
      <p className="max-w-3xl text-ink-2">
        None: files at rest stay on this disk. <code>WB_COLD_URL</code> names one, such as a bucket or a folder on
        another disk; <code>docs/operations.md</code> says how.
      </p>
    );
  }
  const { away, lacks, uploads, cache, leaving } = store;
  return (
    <div className="grid gap-5">
      <FactList>
        <PlaceFacts url={store.url} away={away} rendered={rendered} />
        <Fact name="Sandboxes in it">{figures(store.rows)}</Fact>
        {leaving === null && (
          <Fact name="Uploads">
            {uploadsInWords(uploads)}
            {uploads.since !== null && (
              <span className="text-small text-ink-3">
                {' '}
                the oldest since <RelativeTime at={uploads.since} rendered={rendered} />
              </span>
            )}
          </Fact>
        )}
        {lacks !== null && lacks.length > 0 && (
          <Fact name="It does not keep" wide>
            {lacks.join('; ')}
          </Fact>
        )}
      </FactList>
      {leaving === null ? (
        <>
          <div className="max-w-80">
            <QuotaMeter name="Local cache" used={cache.bytes} limit={cache.limit_bytes} inWords={sizeInWords} />
          </div>
          <p className="max-w-3xl text-small text-ink-2">
            {ackInWords(store.ack)} A local copy stays as long as the cache has room: waking from it asks the store
            nothing.
          </p>
        </>
      ) : (
        <LeavingFacts leaving={leaving} rendered={rendered} />
      )}
    </div>
  );
}
