/** The rows of the list, with the columns that the visitor chose. Cards on a narrow page. */
import Link from 'next/link';
import type { ReactNode } from 'react';
import type { Instance } from '#lib/contract/schema.ts';
import { RowClock, RowIdle } from '../../components/figures/idle-clock.tsx';
import { RowStatus } from '../../components/live/sandbox-status.tsx';
import { sizeInWords } from '../../components/ui/durations.ts';
import { LinkPending } from '../../components/ui/link-pending.tsx';
import { RelativeTime } from '../../components/ui/relative-time.tsx';
import { COLUMNS, type ColumnName, type Density } from './list-settings.ts';
import { SelectAll } from './select-rows.tsx';

const LABELS_SHOWN = 2;

function Labels({ labels }: { labels: Readonly<Record<string, string>> }) {
  const entries = Object.entries(labels);
  return (
    <span className="flex gap-1.5 max-md:flex-wrap">
      {entries.slice(0, LABELS_SHOWN).map(([key, value]) => (
        <Link
          key={key}
          href={`/sandboxes?label=${encodeURIComponent(`${key}:${value}`)}`}
          prefetch={false}
          className="pill max-w-52 hover:border-ink"
          title={`${key}: ${value}`}
        >
          {key}:{value}
        </Link>
      ))}
      {entries.length > LABELS_SHOWN && <span className="text-small text-ink-3">+{entries.length - LABELS_SHOWN}</span>}
    </span>
  );
}

/** `compact`: name and id on one line, both cut where there is no room. */
function Who({ instance, compact }: { instance: Instance; compact: boolean }) {
  return (
    <span className={compact ? 'md:flex md:min-w-0 md:items-baseline md:gap-2' : undefined}>
      <Link
        href={`/sandboxes/${instance.id}`}
        prefetch={false}
        className={`max-md:line-clamp-2 md:max-w-full md:truncate ${compact ? 'md:flex-none' : 'md:block'} font-[540] [overflow-wrap:anywhere] ${instance.state === 'deleted' ? 'line-through' : ''}`}
        title={instance.name ?? undefined}
      >
        {instance.name ?? instance.id}
        <LinkPending />
      </Link>
      {instance.name !== null && (
        <code
          className={`block text-[0.75rem] text-ink-3 max-md:mt-0.5 max-md:[overflow-wrap:anywhere] md:truncate ${compact ? 'md:min-w-0' : ''}`}
        >
          {instance.id}
        </code>
      )}
    </span>
  );
}

interface Column {
  /** Classes of its cells. On a narrow page a row is a card: `left`, `right` and `whole` are places in it. */
  className: string;
  headClassName?: string;
  /** `rendered`: the server's time in epoch seconds. */
  cell(instance: Instance, rendered: number): ReactNode;
}

const CELLS: Readonly<Record<ColumnName, Column>> = {
  where: {
    className: 'max-md:col-span-full xl:min-w-[17rem] cell-where',
    cell: (instance, rendered) => <RowStatus instance={instance} rendered={rendered} />,
  },
  idle: {
    className: 'max-md:col-start-2 max-md:text-right text-small text-ink-2 max-md:order-4 md:whitespace-nowrap',
    cell: (instance, rendered) => <RowIdle instance={instance} rendered={rendered} />,
  },
  next: {
    className: 'max-md:col-start-1 text-small max-md:order-3 md:whitespace-nowrap',
    cell: (instance, rendered) => <RowClock instance={instance} rendered={rendered} />,
  },
  tenant: {
    className: 'max-md:col-start-1 text-small max-md:order-5 md:min-w-28',
    cell: ({ tenant }) => (
      <Link href={`/sandboxes?tenant=${tenant}`} prefetch={false} className="font-mono text-[0.8125rem]">
        {tenant}
      </Link>
    ),
  },
  labels: {
    className: 'max-md:col-span-full max-md:order-6 md:max-lg:hidden cell-labels',
    headClassName: 'md:max-lg:hidden',
    cell: ({ labels }) => Object.keys(labels).length > 0 && <Labels labels={labels} />,
  },
  size: {
    className: 'text-right whitespace-nowrap max-md:col-start-2 text-small text-ink-2 max-md:order-5',
    headClassName: 'text-right whitespace-nowrap',
    cell: ({ bytes }) => (bytes === null ? '' : sizeInWords(bytes)),
  },
  process: {
    className: 'max-md:col-start-1 text-small text-ink-2 max-md:hidden',
    cell: ({ thermal }) => (thermal === 'cold' ? 'none' : thermal),
  },
  created: {
    className: 'max-md:col-start-1 text-small text-ink-2 max-md:hidden md:whitespace-nowrap',
    cell: ({ created }, rendered) => <RelativeTime at={created} rendered={rendered} />,
  },
  policy: { className: 'max-md:col-start-1 text-small text-ink-2 max-md:hidden', cell: ({ policy }) => policy },
  workbook: {
    className: 'max-md:col-start-1 text-small text-ink-2 max-md:hidden [overflow-wrap:anywhere]',
    cell: ({ workbook }) => workbook,
  },
  host: {
    className: 'max-md:col-start-1 text-small text-ink-2 max-md:order-6 [overflow-wrap:anywhere]',
    cell: ({ host }) =>
      host !== null && (
        <Link href={`/sandboxes?host=${encodeURIComponent(host)}`} prefetch={false}>
          {host}
        </Link>
      ),
  },
};

/**
 * `rendered`: the server's time in epoch seconds. `columns`: those beside the sandbox itself, in their order. `choose`:
 * the id of the form that the rows' checkboxes belong to.
 */
export function SandboxTable({
  instances,
  rendered,
  columns,
  density,
  choose,
}: {
  instances: readonly Instance[];
  rendered: number;
  columns: readonly ColumnName[];
  density: Density;
  choose?: string;
}) {
  return (
    <table className={`ledger ledger-cards list-rows ${density === 'compact' ? 'one-line' : ''}`}>
      <thead>
        <tr>
          {choose !== undefined && (
            <th scope="col" className="w-9">
              <SelectAll form={choose} />
            </th>
          )}
          <th scope="col">Sandbox</th>
          {columns.map((name) => (
            <th key={name} scope="col" className={CELLS[name].headClassName}>
              {COLUMNS[name].title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {instances.map((instance) => (
          <tr key={instance.id} className={instance.state === 'deleted' ? 'text-ink-3' : undefined}>
            {choose !== undefined && (
              <td className="max-md:col-start-2 max-md:text-right max-md:order-first md:w-9">
                <input
                  type="checkbox"
                  className="size-4 flex-none accent-ink translate-y-0.5"
                  name="id"
                  value={instance.id}
                  form={choose}
                  aria-label={`Choose ${instance.name ?? instance.id}`}
                />
              </td>
            )}
            <td
              className={`${choose === undefined ? 'max-md:col-span-full' : 'max-md:col-start-1'} max-md:order-first md:w-[22%] md:max-w-80 cell-who`}
            >
              <Who instance={instance} compact={density === 'compact'} />
            </td>
            {columns.map((name) => (
              <td key={name} className={CELLS[name].className}>
                {CELLS[name].cell(instance, rendered)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
