/** The scrubber: what it does, how far it is, and when it begins again. */
import Link from 'next/link';
import { lengthInWords } from '#components/ui/durations.ts';
import { Fact, FactList } from '#components/ui/fact-list.tsx';
import { RelativeTime } from '#components/ui/relative-time.tsx';
import type { Storage } from '#lib/contract/schema.ts';
import { comparedByWalk } from './words.ts';

export function ScrubFacts({ scrub, rendered }: Pick<Storage, 'scrub'> & { rendered: number }) {
  const { walk, last, next } = scrub;
  return (
    <div className="grid gap-5">
      <p className="max-w-3xl">
        Once a day it goes through what rests (suspended, frozen and archived sandboxes), one file at a time, waking
        none: an archived one is expanded to nowhere. Bytes that are no longer what was filed become a fault. What is
        awake, at fault or a copy is left out. It takes a twentieth of one core, and goes on where it was after a
        restart.
      </p>
      <FactList>
        <Fact name="Now">
          {walk === null ? (
            'waiting'
          ) : (
            <>
              {comparedByWalk(walk)}{' '}
              <span className="text-small text-ink-3">
                begun <RelativeTime at={walk.begun} rendered={rendered} />
              </span>
            </>
          )}
        </Fact>
        <Fact name="Last whole walk">
          {last === null ? (
            'none yet'
          ) : (
            <>
              {comparedByWalk(last)}{' '}
              <span className="text-small text-ink-3">
                ended <RelativeTime at={last.ended} rendered={rendered} />
              </span>
            </>
          )}
        </Fact>
        {next !== null && (
          <Fact name="Next">{next > rendered ? `in ${lengthInWords(next - rendered)}` : 'about now'}</Fact>
        )}
      </FactList>
      <p className="text-small">
        <Link href="/sandboxes?fault=corrupt" prefetch={false}>
          What is corrupt now
        </Link>
      </p>
    </div>
  );
}
