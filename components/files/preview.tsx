/** Shows a part of one file safely: text escaped, Markdown without HTML, images inert, binary data as hex. */

import Link from 'next/link';
import type { ReactNode } from 'react';
import { callMark } from '../calls/call-mark.ts';
import { sizeInWords } from '../ui/durations.ts';
import { LocalTime } from '../ui/local-time.tsx';
import { SCROLLABLE } from '../ui/scrollable.ts';
import { Code } from './code.tsx';
import { bytesAddress, type FilesPage, fileAddress, type VolumeName } from './file-address.ts';
import { nameOf } from './file-tree.ts';
import { FollowFile } from './follow-file.tsx';
import { JsonView } from './json-view.tsx';
import { LogTools, WRAPPING } from './log-tools.tsx';
import { Markdown } from './markdown.tsx';
import { type PreviewKind, partBefore, type TablePreview } from './preview-kind.ts';

export interface PreviewedPart {
  path: string;
  size: number;
  /** Epoch seconds. */
  mtime: number;
  /** The offset of the part. */
  from: number;
  /** The number of its first line, or null when it is unknown. */
  firstLine: number | null;
  /** The line to highlight. */
  marked: number | null;
  preview: PreviewKind;
}

function TableView({ head, rows, rowsThere, columnsThere }: TablePreview) {
  return (
    <>
      <div className="max-h-[44rem] overflow-auto px-4 py-3" {...SCROLLABLE}>
        <table className="ledger cells">
          <thead>
            <tr>
              {head.map((name, index) => (
                <th key={`${index}${name}`} scope="col">
                  {name === '' ? <span className="text-ink-3">–</span> : name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row, index) => (
              <tr key={`${index}${row[0]}`}>
                {row.map((cell, column) => (
                  <td key={`${column}${head[column]}`}>{cell}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p className="border-t border-rule px-4 py-2 text-small text-ink-3">
        {rows.length < rowsThere
          ? `The first ${rows.length} of ${rowsThere.toLocaleString('en')} rows`
          : `${rowsThere.toLocaleString('en')} ${rowsThere === 1 ? 'row' : 'rows'}`}
        {head.length < columnsThere && `, the first ${head.length} of ${columnsThere.toLocaleString('en')} columns`}.
      </p>
    </>
  );
}

function Body({
  place,
  volume,
  opened,
  tables,
}: {
  place: FilesPage;
  volume: VolumeName;
  opened: PreviewedPart;
  tables: ReactNode;
}) {
  const { path, preview, firstLine, marked } = opened;
  switch (preview.kind) {
    case 'database':
      return tables;
    case 'empty':
      return <p className="px-4 py-3 text-ink-3">The file is empty.</p>;
    case 'image':
      return (
        <img
          src={bytesAddress(place, volume, path)}
          alt={`What ${nameOf(path)} shows`}
          className="m-4 max-h-[36rem] max-w-[calc(100%-2rem)] object-contain"
        />
      );
    case 'hex':
      return (
        <pre className="max-h-[44rem] overflow-auto px-4 py-3 text-[0.8125rem] leading-[1.55]" {...SCROLLABLE}>
          {preview.rows.map(({ offset, hex, text }) => (
            <span key={offset} className="block">
              <span className="text-ink-3">{offset}</span> {hex.padEnd(47)} <span className="text-ink-2">{text}</span>
            </span>
          ))}
        </pre>
      );
    case 'json':
      return (
        <div className="json max-h-[44rem] overflow-auto px-4 py-3" {...SCROLLABLE}>
          <JsonView node={preview.root} />
        </div>
      );
    case 'table':
      return <TableView {...preview} />;
    case 'markdown':
      return <Markdown text={preview.text} place={place} volume={volume} path={path} />;
    case 'code':
      return <Code text={preview.text} language={preview.language} firstLine={firstLine} marked={marked} />;
  }
}

/** Which part of the file this is, with links to the others. */
function Parts({ place, volume, opened }: { place: FilesPage; volume: VolumeName; opened: PreviewedPart }) {
  const { path, size, from, preview } = opened;
  const end = from + preview.bytes;
  if (preview.kind === 'image' || preview.kind === 'database' || (from === 0 && end >= size)) return null;
  const part = (start: number) => fileAddress(place, volume, path, { from: start });
  return (
    <nav
      aria-label="Parts of the file"
      className="flex flex-wrap items-baseline justify-between gap-x-6 gap-y-1 border-t border-rule px-4 py-2 text-small text-ink-2"
    >
      <span>
        {from === 0
          ? `The first ${sizeInWords(end)} of ${sizeInWords(size)}.`
          : `Bytes ${from.toLocaleString('en')} to ${end.toLocaleString('en')} of ${size.toLocaleString('en')}.`}
      </span>
      <span className="flex gap-4">
        {from > 0 && (
          <Link href={part(partBefore(from, preview.kind))} prefetch={false} scroll={false}>
            Previous part
          </Link>
        )}
        {end < size && (
          <Link href={part(end)} prefetch={false} scroll={false}>
            Next part
          </Link>
        )}
      </span>
    </nav>
  );
}

/** `children`: the controls of the file. `tables`: what a database holds. */
export function Preview({
  place,
  volume,
  opened,
  tables,
  children,
}: {
  place: FilesPage;
  volume: VolumeName;
  opened: PreviewedPart;
  tables?: ReactNode;
  children?: ReactNode;
}) {
  const { path, size, mtime, preview, from } = opened;
  const source = preview.kind === 'code' ? preview.text : null;
  const unrendered = source !== null || preview.kind === 'hex';
  return (
    <figure className={`min-w-0 rounded border border-rule-2 bg-sheet ${source === null ? '' : WRAPPING}`}>
      <figcaption className="grid gap-2 border-b border-rule px-4 py-2">
        <div className="flex flex-wrap items-center justify-between gap-x-6 gap-y-1">
          <code className="min-w-0 text-[0.8125rem] font-[560] [overflow-wrap:anywhere]">{`/${volume}${path}`}</code>
          <span className="flex flex-wrap items-center gap-x-4 gap-y-1 text-small text-ink-3">
            <span>{sizeInWords(size)}</span>
            {mtime > 0 && <LocalTime at={mtime} />}
            {preview.twofold && (
              <Link
                href={fileAddress(place, volume, path, { source: !unrendered, from })}
                prefetch={false}
                scroll={false}
                className="text-ink"
              >
                {unrendered ? 'As it is meant' : preview.kind === 'database' ? 'Bytes' : 'Source'}
              </Link>
            )}
            <a
              href={bytesAddress(place, volume, path)}
              download={nameOf(path)}
              className="text-ink"
              {...callMark({
                name: 'getFile',
                path: { id: place.id, volume, path },
                ...(place.at === undefined ? {} : { query: { at: Number(place.at) } }),
              })}
            >
              Download
            </a>
          </span>
        </div>
        {children}
        {source !== null && (
          <LogTools place={place} volume={volume} path={path} size={size} lines={source.split('\n').length} />
        )}
      </figcaption>
      <Body place={place} volume={volume} opened={opened} tables={tables} />
      <Parts place={place} volume={volume} opened={opened} />
      {/* Each read of private files is a line of the ledger, and the past does not grow. */}
      {source !== null && volume !== 'memory' && place.at === undefined && (
        <FollowFile key={path} address={bytesAddress(place, volume, path)} name={nameOf(path)} size={size} />
      )}
    </figure>
  );
}
