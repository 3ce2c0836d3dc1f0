/** The scrubber: what it does, how far it is, and when it begins again. */
import Link from 'next/link';
import { lengthInWords } from '#components/ui/durations.ts';
import { Fact, FactList } from '#components/ui/fact-list.tsx';
import { RelativeTime } from '#components/ui/relative-time.tsx';
import type { Storage } from '#lib/contract/schema.ts';
import { comparedByPass } from './store-words.ts';

export function ScrubFacts({ scrub, rendered }: Pick<Storage, 'scrub'> & { rendered: number }) {
  const { walk: pass, last, next } = scrub;
  return (
    <div className="grid gap-5">
      <p className="max-w-3xl">
        Once a day the scrubber reads every sandbox at rest (suspended, frozen or archived), one file at a time, and
        wakes none. A file whose bytes are no longer what was filed gets a fault. Sandboxes that are awake or at fault
        are skipped, and so are copies. It uses a twentieth of one core, and continues after a restart.
      </p>
      <FactList>
        <Fact name="Now">
          {pass === null ? (
            'waiting'
          ) : (
            <>
              {comparedByPass(pass)}{' '}
              <span className="text-small text-ink-3">
                begun <RelativeTime at={pass.begun} rendered={rendered} />
              </span>
            </>
          )}
        </Fact>
        <Fact name="Last complete pass">
          {last === null ? (
            'none yet'
          ) : (
            <>
              {comparedByPass(last)}{' '}
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
