/** Tabs as links; the URL says which one is current. Works without JavaScript. */
import Link from 'next/link';

export interface Tab {
  name: string;
  href: string;
  current: boolean;
}

export function Tabs({ label, tabs, id }: { label: string; tabs: readonly Tab[]; id?: string }) {
  return (
    <nav aria-label={label} className="tabs" id={id}>
      {tabs.map(({ name, href, current }) => (
        <Link
          key={name}
          href={href}
          prefetch={false}
          scroll={false}
          aria-current={current ? 'page' : undefined}
          className="steady"
          data-name={name}
        >
          {name}
        </Link>
      ))}
    </nav>
  );
}
