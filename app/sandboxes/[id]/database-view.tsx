/** A file that is a SQLite database, as its tables: their list, and rows of one. Links only; text is inert. */
import Link from 'next/link';
import { type FilesPage, type FileView, fileAddress, type VolumeName } from '#components/files/file-address.ts';
import { type ActionOutcome, Outcome } from '#components/ui/outcome.tsx';
import { SCROLLABLE } from '#components/ui/scrollable.ts';
import type { DatabaseCell, DatabaseRows, DatabaseTable } from '#lib/contract/schema.ts';
import type { OpenedDatabase } from './volume-reading.ts';

const COLUMNS_NAMED = 12;

interface DatabaseFile {
  place: FilesPage;
  volume: VolumeName;
  path: string;
}

export function DatabaseView({
  database,
  ...file
}: DatabaseFile & {
  database: OpenedDatabase | ActionOutcome;
}) {
  if (!('listed' in database)) {
    return (
      <div className="px-4 py-3">
        <Outcome outcome={database} />
      </div>
    );
  }
  const { listed, tables, shown } = database;
  const address = (look: FileView) =>
    fileAddress(file.place, file.volume, file.path, { ...(tables === undefined ? {} : { tables }), ...look });
  const open = shown !== null && 'rows' in shown ? shown.name : null;
  return (
    <div className="grid gap-4 py-3">
      <p className="px-4 text-small text-ink-2">
        {listed.total === 0
          ? 'A SQLite database without tables.'
          : `A SQLite database: ${listed.total.toLocaleString('en')} ${listed.total === 1 ? 'table or view' : 'tables and views'}, read without waking anything.`}
        {listed.wal && ' It is in WAL mode: rows that are still in its log (the file “-wal” beside it) are not shown.'}
      </p>
      {listed.tables.length > 0 && (
        <div className="max-h-[20rem] overflow-auto px-4" {...SCROLLABLE}>
          <table className="ledger w-full">
            <thead>
              <tr>
                <th scope="col">Table</th>
                <th scope="col" className="text-right">
                  Rows
                </th>
                <th scope="col">Columns</th>
              </tr>
            </thead>
            <tbody>
              {listed.tables.map((table) => (
                <tr key={`${table.kind}${table.name}`}>
                  <td className="min-w-[12ch] font-mono text-[0.8125rem] [overflow-wrap:anywhere]">
                    {table.problem === null ? (
                      <Link
                        href={address({ table: table.name })}
                        prefetch={false}
                        scroll={false}
                        aria-current={table.name === open ? 'true' : undefined}
                        className={table.name === open ? 'font-[640] text-ink' : undefined}
                      >
                        {table.name === '' ? '(no name)' : table.name}
                      </Link>
                    ) : (
                      table.name
                    )}
                  </td>
                  <td className="text-right whitespace-nowrap">{rowsInWords(table)}</td>
                  <td className="text-small text-ink-2 [overflow-wrap:anywhere]">{columnsInWords(table)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <Pages
        label="Pages of the list of tables"
        first={tables === undefined ? null : fileAddress(file.place, file.volume, file.path)}
        next={listed.next === null ? null : fileAddress(file.place, file.volume, file.path, { tables: listed.next })}
        what="tables"
      />
      {shown !== null &&
        ('rows' in shown ? (
          <Rows table={shown} address={address} />
        ) : (
          <div className="px-4">
            <Outcome outcome={shown} />
          </div>
        ))}
    </div>
  );
}

function Rows({ table, address }: { table: DatabaseRows; address: (look: FileView) => string }) {
  const { name, columns, column_count, rows, offset, next } = table;
  return (
    <section aria-label={`Rows of ${name}`} className="grid gap-2 border-t border-rule pt-3">
      <h3 className="px-4 font-mono text-[0.8125rem] font-[560] [overflow-wrap:anywhere]">{name}</h3>
      <p className="px-4 text-small text-ink-2">
        {rows.length === 0
          ? offset === 0
            ? 'It has no rows.'
            : 'There are no more rows.'
          : `Rows ${(offset + 1).toLocaleString('en')} to ${(offset + rows.length).toLocaleString('en')}${table.row_count === null ? '' : ` of ${rowsInWords(table)}`}.`}
        {columns.length < column_count &&
          ` The first ${columns.length} of ${column_count.toLocaleString('en')} columns.`}
      </p>
      {columns.length > 0 && (
        <div className="max-h-[36rem] overflow-auto px-4" {...SCROLLABLE}>
          <table className="ledger !w-auto">
            <thead>
              <tr>
                {columns.map((column) => (
                  <th key={column.name} scope="col" className="font-mono">
                    {column.name} <span className="font-normal text-ink-3">{column.type}</span>
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map((row, index) => (
                <tr key={offset + index}>
                  {row.map((cell, column) => (
                    <td
                      key={columns[column]?.name}
                      className={`max-w-md font-mono text-[0.8125rem] whitespace-pre-wrap [overflow-wrap:anywhere] ${typeof cell === 'number' ? 'text-right' : ''}`}
                    >
                      <Cell cell={cell} />
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <Pages
        label={`Pages of ${name}`}
        first={offset === 0 ? null : address({ table: name })}
        next={next === null ? null : address({ table: name, rows: next })}
        what="rows"
      />
    </section>
  );
}

function Pages({
  label,
  first,
  next,
  what,
}: {
  label: string;
  first: string | null;
  next: string | null;
  what: 'tables' | 'rows';
}) {
  if (first === null && next === null) return null;
  return (
    <nav aria-label={label} className="flex gap-4 px-4 text-small">
      {first !== null && (
        <Link href={first} prefetch={false} scroll={false}>
          First {what}
        </Link>
      )}
      {next !== null && (
        <Link href={next} prefetch={false} scroll={false}>
          Next {what}
        </Link>
      )}
    </nav>
  );
}

/** A cell's value; a long text is cut, and a blob is its size with its first bytes. */
export function Cell({ cell }: { cell: DatabaseCell }) {
  if (cell === null) return <span className="text-ink-3">NULL</span>;
  if (typeof cell !== 'object') return String(cell);
  const size = <span className="text-ink-3">{counted(cell.bytes, 'byte')}</span>;
  if ('text' in cell) {
    return (
      <>
        {cell.text}… {size}
      </>
    );
  }
  return (
    <>
      {size} {cell.hex.slice(0, 32)}
      {cell.bytes > 16 && '…'}
    </>
  );
}

function counted(count: number, word: string): string {
  return `${count.toLocaleString('en')} ${word}${count === 1 ? '' : 's'}`;
}

function rowsInWords({ kind, row_count, more_rows }: DatabaseTable): string {
  if (row_count === null) return kind === 'table' ? '–' : kind;
  return `${more_rows ? 'more than ' : ''}${row_count.toLocaleString('en')}`;
}

function columnsInWords({ columns, column_count, kind, problem }: DatabaseTable): string {
  if (problem !== null) return problem;
  if (columns.length === 0) return kind === 'view' ? 'shown when it is opened' : '–';
  const named = columns.slice(0, COLUMNS_NAMED).map(({ name, type }) => (type === '' ? name : `${name} ${type}`));
  const more = column_count - named.length;
  return `${named.join(', ')}${more > 0 ? ` and ${more.toLocaleString('en')} more` : ''}`;
}
