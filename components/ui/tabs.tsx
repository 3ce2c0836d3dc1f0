/** Tabs as links; the URL says which one is current. Works without JavaScript. */
import Link from 'next/link';
import { ChosenTab } from './chosen-tab.tsx';
import { LinkPending } from './link-pending.tsx';

export interface Tab {
  name: string;
  href: string;
  current: boolean;
}

/** With `id`, an address that ends in it puts the chosen tab in view and gives it the focus. */
export function Tabs({ label, tabs, id }: { label: string; tabs: readonly Tab[]; id?: string }) {
  return (
    <>
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
            <LinkPending />
          </Link>
        ))}
      </nav>
      {id !== undefined && <ChosenTab id={id} current={tabs.find(({ current }) => current)?.name ?? ''} />}
    </>
  );
}
