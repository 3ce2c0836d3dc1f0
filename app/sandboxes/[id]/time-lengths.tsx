/** Which length of a sandbox's life is shown: links to others, and to the time before and after. */
import Link from 'next/link';
import { LENGTHS, moved, ofLength, type Span, type TimeWindow } from './time-window.ts';

export function TimeLengths({
  window,
  life,
  address,
}: {
  window: TimeWindow;
  life: Span;
  address: (window: TimeWindow) => string;
}) {
  const length = window.shown.to - window.shown.from;
  const lengths = LENGTHS.filter(([, seconds]) => seconds < life.to - life.from);
  const [earlier, later] = [moved(window, -1, life), moved(window, 1, life)];
  const link = (name: string, to: TimeWindow, isCurrent: boolean) => (
    <li key={name}>
      <Link
        href={address(to)}
        prefetch={false}
        scroll={false}
        aria-current={isCurrent ? 'true' : undefined}
        className="inline-block py-1 aria-[current=true]:font-[560] aria-[current=true]:no-underline"
      >
        {name}
      </Link>
    </li>
  );
  return (
    <nav aria-label="Time shown" className="mb-3">
      <ul className="flex flex-wrap gap-x-5 text-small">
        {link('Whole life', { shown: life, isWhole: true, chosen: null }, window.isWhole)}
        {lengths
          .toReversed()
          .map(([name, seconds]) => link(name, ofLength(window, seconds, life), !window.isWhole && length === seconds))}
        {earlier !== null && link('Earlier', earlier, false)}
        {later !== null && link('Later', later, false)}
      </ul>
    </nav>
  );
}
