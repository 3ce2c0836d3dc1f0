'use client';
/**
 * A slider through the moments that are listed, the oldest at its left: a step is a moment, however far apart they are.
 * It opens the one on which it rests. Without JavaScript the list below it does the same.
 */
import { useRouter } from 'next/navigation';
import { useEffect, useRef, useState, useSyncExternalStore } from 'react';

const never = () => () => {};

/** Milliseconds without a further step until the moment is opened. */
const PAUSE_MS = 400;

interface SliderMoment {
  href: string;
  /** When, and what it is. */
  says: string;
}

/** `open`: which of them is open; -1: none of them. */
export function MomentSlider({ moments, open }: { moments: readonly SliderMoment[]; open: number }) {
  const router = useRouter();
  const isScripted = useSyncExternalStore(
    never,
    () => true,
    () => false,
  );
  const last = moments.length - 1;
  const at = open === -1 ? last : open;
  const [chosen, setChosen] = useState(at);
  const seenKey = `${at} ${moments[0]?.href} ${moments[last]?.href}`;
  const [seen, setSeen] = useState(seenKey);
  if (seen !== seenKey) {
    setSeen(seenKey);
    setChosen(at);
  }
  const waiting = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(waiting.current), []);
  const says = moments[chosen]?.says ?? '';
  const go = (index: number) => {
    const to = moments[index];
    if (to !== undefined && index !== open) router.push(to.href, { scroll: false });
  };
  return (
    <div className="min-h-18 sm:min-h-12">
      {isScripted ? (
        <div className="grid gap-x-4 sm:grid-cols-[1fr_auto]">
          <label className="field-name" htmlFor="moment-slider">
            Step through them
          </label>
          <output className="field-name" htmlFor="moment-slider">
            {says}
            {open === -1 && chosen === at && ', not open'}
          </output>
          <input
            id="moment-slider"
            type="range"
            className="block w-full accent-ink sm:col-span-2"
            min={0}
            max={last}
            step={1}
            value={chosen}
            aria-valuetext={says}
            onChange={({ currentTarget }) => {
              const index = Number(currentTarget.value);
              setChosen(index);
              clearTimeout(waiting.current);
              waiting.current = setTimeout(() => go(index), PAUSE_MS);
            }}
          />
        </div>
      ) : (
        <p className="text-small text-ink-3">Each moment below is a link that opens it.</p>
      )}
    </div>
  );
}
