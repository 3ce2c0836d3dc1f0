/** One file at two times: text by line, tables by row, images beside each other. */
import Link from 'next/link';
import { bytesAddress, type FilesPage, fileAddress, type VolumeName } from '#components/files/file-address.ts';
import { nameOf } from '#components/files/file-tree.ts';
import { sizeInWords } from '#components/ui/durations.ts';
import { Outcome } from '#components/ui/outcome.tsx';
import { SCROLLABLE } from '#components/ui/scrollable.ts';
import { DiffView } from '#components/workbook/diff-view.tsx';
import { diffSources } from '#components/workbook/source-diff.ts';
import { Cell } from '../database-view.tsx';
import type { FileSides, TableChange } from './file-sides.ts';
import type { RowChange } from './row-difference.ts';

/** Rows of a table that are shown. */
const ROWS_SHOWN = 100;

const SIGNS = { added: '+', removed: '−', changed: '±' } as const;

function RowCells({ change }: { change: RowChange }) {
  return change.row.map((cell, column) => {
    const was = change.kind === 'changed' && change.differs[column] === true ? change.before[column] : undefined;
    return (
      // Columns are told apart by their place alone.
      <td key={column} className="max-w-md font-mono text-[0.8125rem] whitespace-pre-wrap [overflow-wrap:anywhere]">
        {was !== undefined && (
          <>
            <del className="diff-removed">
              <Cell cell={was} />
            </del>{' '}
          </>
        )}
        {was === undefined ? (
          <Cell cell={cell} />
        ) : (
          <ins className="diff-added no-underline">
            <Cell cell={cell} />
          </ins>
        )}
      </td>
    );
  });
}

function TableRows({ table }: { table: TableChange }) {
  const { name, change, columns, rows, isCut, problem } = table;
  const counts = (['added', 'removed', 'changed'] as const)
    .map((kind) => [rows.filter((row) => row.kind === kind).length, kind] as const)
    .filter(([count]) => count > 0)
    .map(([count, kind]) => `${count} ${count === 1 ? 'row' : 'rows'} ${kind}`);
  return (
    <section
      aria-label={`What changed in the table ${name}`}
      className="grid gap-2 border-t border-rule px-4 py-3 first:border-0"
    >
      <h4 className="font-mono text-[0.8125rem] font-[560] [overflow-wrap:anywhere]">
        {name} {change !== 'kept' && <span className="font-sans font-normal text-ink-2">{change}</span>}
      </h4>
      <p className="text-small text-ink-2">
        {problem ?? (counts.length === 0 ? 'Its rows are the same.' : `${counts.join(', ')}.`)}
        {isCut && ' Only the first 500 rows of each time are compared.'}
      </p>
      {rows.length > 0 && (
        <div className="max-h-[28rem] overflow-auto" {...SCROLLABLE}>
          <table className="ledger !w-auto">
            <thead>
              <tr>
                <th scope="col">
                  <span className="sr-only">What happened to it</span>
                </th>
                {columns.map((column) => (
                  <th key={column} scope="col" className="font-mono">
                    {column}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.slice(0, ROWS_SHOWN).map((row, index) => (
                // Two rows may be the same.
                <tr key={index} className={row.kind === 'changed' ? undefined : `diff-${row.kind}`}>
                  <td className="font-mono text-[0.8125rem]">
                    <span aria-hidden="true">{SIGNS[row.kind]}</span>
                    <span className="sr-only">{row.kind}</span>
                  </td>
                  <RowCells change={row} />
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {rows.length > ROWS_SHOWN && (
        <p className="text-small text-ink-3">and {(rows.length - ROWS_SHOWN).toLocaleString('en')} more rows</p>
      )}
    </section>
  );
}

function Images({ pages, volume, path, sides }: { pages: Pages; volume: VolumeName; path: string; sides: FileSides }) {
  const shown = [
    ['Then', pages.before, sides.before],
    ['Later', pages.after, sides.after],
  ] as const;
  return (
    <div className="grid gap-4 p-4 sm:grid-cols-2">
      {shown.map(([name, page, size]) => (
        <div key={name} className="grid content-start gap-1">
          <p className="text-small text-ink-2">{name}</p>
          {size === null ? (
            <p className="text-ink-3">It was not there.</p>
          ) : (
            <img
              src={bytesAddress(page, volume, path)}
              alt={`What ${nameOf(path)} shows, ${name.toLowerCase()}`}
              className="max-h-[24rem] max-w-full object-contain"
            />
          )}
        </div>
      ))}
    </div>
  );
}

function Body(props: { pages: Pages; volume: VolumeName; path: string; sides: FileSides }) {
  const { sides } = props;
  switch (sides.kind) {
    case 'text':
      // The frame around it is that of the section.
      return (
        <div className="[&>div]:border-0 [&>p]:px-4 [&>p]:py-3">
          <DiffView hunks={diffSources(...sides.texts)} />
        </div>
      );
    case 'image':
      return <Images {...props} />;
    case 'tables':
      return (
        <>
          {sides.tables.map((table) => (
            <TableRows key={table.name} table={table} />
          ))}
          {sides.tables.length === 0 && <p className="px-4 py-3 text-ink-2">It has no tables.</p>}
          {sides.more > 0 && (
            <p className="px-4 py-2 text-small text-ink-3">and {sides.more.toLocaleString('en')} more tables</p>
          )}
        </>
      );
    case 'refused':
      return (
        <div className="px-4 py-3">
          <Outcome outcome={sides.refused} />
        </div>
      );
    case 'bytes':
      return <p className="px-4 py-3 text-ink-2">{sides.why}</p>;
  }
}

/** The files of both times, as pages show them. */
interface Pages {
  before: FilesPage;
  after: FilesPage;
}

const sizeOf = (bytes: number | null) => (bytes === null ? 'not there' : sizeInWords(bytes));

export function FileDifference({
  pages,
  volume,
  path,
  sides,
  id,
}: {
  pages: Pages;
  volume: VolumeName;
  path: string;
  sides: FileSides;
  id: string;
}) {
  return (
    <section aria-labelledby={id} className="min-w-0 rounded border border-rule-2 bg-sheet">
      <div className="flex flex-wrap items-baseline justify-between gap-x-6 gap-y-1 border-b border-rule px-4 py-2">
        <h3 id={id} className="min-w-0 font-mono text-[0.8125rem] font-[560] [overflow-wrap:anywhere]">
          {`/${volume}${path}`}
        </h3>
        <p className="flex flex-wrap gap-x-4 gap-y-2 text-small text-ink-3">
          {sides.kind !== 'refused' && (
            <span>
              {sizeOf(sides.before)} <span aria-hidden="true">→</span> <span className="sr-only">to</span>{' '}
              {sizeOf(sides.after)}
            </span>
          )}
          {sides.before !== null && (
            <Link href={fileAddress(pages.before, volume, path)} prefetch={false} className="text-ink">
              As it was
            </Link>
          )}
          {sides.after !== null && (
            <Link href={fileAddress(pages.after, volume, path)} prefetch={false} className="text-ink">
              As it became
            </Link>
          )}
        </p>
      </div>
      <Body pages={pages} volume={volume} path={path} sides={sides} />
    </section>
  );
}
