/** Parts of a time as links over a figure: a part is chosen by a click, a tap or the keyboard, without JavaScript. */
import Link from 'next/link';

export interface SpanLink {
  href: string;
  /** What the part is, for those who do not see the figure. */
  label: string;
  isChosen: boolean;
}

export function SpanLinks({ label, spans }: { label: string; spans: readonly SpanLink[] }) {
  return (
    <nav aria-label={label} className="absolute inset-0">
      <ol className="flex h-full">
        {spans.map(({ href, label: says, isChosen }) => (
          <li key={href} className="min-w-6 flex-1">
            <Link
              href={href}
              prefetch={false}
              scroll={false}
              aria-label={says}
              title={says}
              aria-current={isChosen ? 'true' : undefined}
              className="block h-full border-x border-transparent hover:border-ink hover:bg-ink/5 aria-[current=true]:border-ink aria-[current=true]:bg-ink/10"
            />
          </li>
        ))}
      </ol>
    </nav>
  );
}
