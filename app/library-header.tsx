/** What the library's pages share: their tabs and their first heading. */
import { Tabs } from '#components/ui/tabs.tsx';

const LIBRARY_PAGES = [
  ['Snapshots', '/snapshots'],
  ['Blueprints', '/blueprints'],
  ['Shares', '/shares'],
  ['Workbooks', '/workbooks'],
] as const;

export type LibraryPage = (typeof LIBRARY_PAGES)[number][0];

export function LibraryNav({ current }: { current: LibraryPage }) {
  return (
    <div className="pt-6">
      <Tabs label="Library" tabs={LIBRARY_PAGES.map(([name, href]) => ({ name, href, current: name === current }))} />
    </div>
  );
}

export function LibraryTitle({ name, says }: { name: string; says: string }) {
  return (
    <h1 className="headline pt-8 pb-8">
      {name} <span className="quiet">{says}</span>
    </h1>
  );
}
