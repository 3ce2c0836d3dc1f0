/**
 * One section of a page: its name and a note in the margin, its content beside it. Stacked where there is no room for a
 * margin.
 */
import type { ReactNode } from 'react';

export function PageSection({
  id,
  name,
  note,
  margin = true,
  children,
}: {
  id: string;
  name: string;
  note?: ReactNode;
  margin?: boolean;
  children: ReactNode;
}) {
  return (
    <section className={margin ? 'part part-margin' : 'part content-start'} aria-labelledby={`${id}-name`} id={id}>
      <div className={margin ? undefined : 'flex flex-wrap items-baseline gap-x-3'}>
        <h2 className="part-name" id={`${id}-name`}>
          {name}
        </h2>
        {note !== undefined && <p className={margin ? 'part-note mt-1' : 'part-note'}>{note}</p>}
      </div>
      <div>{children}</div>
    </section>
  );
}
