/** Where a store is, and whether it can be used: the first facts of the object store and of the replica. */
import { Fact } from '#components/ui/fact-list.tsx';
import { RelativeTime } from '#components/ui/relative-time.tsx';
import type { Storage } from '#lib/contract/schema.ts';

type Place = Pick<NonNullable<Storage['store']>, 'url' | 'away'>;

export function PlaceFacts({ url, away, rendered }: Place & { rendered: number }) {
  return (
    <>
      <Fact name="Place">
        <code className="text-[0.8125rem]">{url}</code>
      </Fact>
      <Fact name="State">
        {away === null ? (
          'can be used'
        ) : (
          <span className="text-fault-ink">
            away since <RelativeTime at={away.since} rendered={rendered} />: {away.why}
          </span>
        )}
      </Fact>
    </>
  );
}
