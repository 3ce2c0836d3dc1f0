/** The search through a sandbox's files, by name or by content: a plain GET form. */
import Link from 'next/link';
import { type FilesPage, fileAddress } from '#components/files/file-address.ts';
import { KeptFields } from '#components/files/kept-fields.tsx';
import { type ActionOutcome, Outcome } from '#components/ui/outcome.tsx';
import type { FileQuery, SearchResults } from './volume-reading.ts';

export function SearchForm({ place, query }: { place: FilesPage; query: FileQuery }) {
  const { find, volume, path } = query;
  return (
    <search>
      <form action={`/sandboxes/${place.id}#inside`} className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <KeptFields place={place} />
        <input type="hidden" name="volume" value={volume} />
        {path !== '/' && <input type="hidden" name="path" value={path} />}
        <input
          className="input max-w-64 flex-1 basis-44"
          type="search"
          name="find"
          aria-label="Search the files"
          placeholder="Search the files"
          defaultValue={find?.text ?? ''}
          maxLength={500}
          required
          autoComplete="off"
        />
        <select className="input w-auto" name="in" aria-label="Where to search" defaultValue={find?.in ?? 'name'}>
          <option value="name">in names</option>
          <option value="content">in contents</option>
        </select>
        <label className="flex items-center gap-2 text-small">
          <input
            type="checkbox"
            className="size-4 flex-none accent-ink"
            name="all"
            value="1"
            defaultChecked={find?.everywhere ?? false}
          />
          in every volume
        </label>
        <button type="submit" className="button">
          Search
        </button>
      </form>
    </search>
  );
}

/** A text with the matches highlighted. */
function Marked({ text, wanted }: { text: string; wanted: string }) {
  const at = text.toLowerCase().indexOf(wanted.toLowerCase());
  if (at < 0) return text;
  return (
    <>
      {text.slice(0, at)}
      <mark>{text.slice(at, at + wanted.length)}</mark>
      {text.slice(at + wanted.length)}
    </>
  );
}

export function SearchHits({
  place,
  query,
  found,
}: {
  place: FilesPage;
  query: FileQuery;
  found: SearchResults | ActionOutcome;
}) {
  const { find, volume, path } = query;
  const wanted = find?.text ?? '';
  if (!('hits' in found)) return <Outcome outcome={found} />;
  const { hits, truncated } = found;
  return (
    <div className="min-w-0 rounded border border-rule-2 bg-sheet">
      <div className="flex flex-wrap items-baseline justify-between gap-x-6 gap-y-1 border-b border-rule px-4 py-2">
        <p role="status">
          {hits.length === 0
            ? `Nothing has “${wanted}” in its ${find?.in === 'content' ? 'contents' : 'name'}.`
            : `${hits.length.toLocaleString('en')} ${hits.length === 1 ? 'place' : 'places'} with “${wanted}”${truncated ? ', and there are more' : ''}.`}
        </p>
        <Link href={fileAddress(place, volume, path)} prefetch={false} scroll={false} className="text-small">
          End the search
        </Link>
      </div>
      <ul className="found max-h-[44rem] overflow-y-auto">
        {hits.map((hit) => (
          <li
            key={`${hit.volume}${hit.path}\0${hit.line ?? ''}`}
            className="border-b border-rule px-4 py-2 text-[0.8125rem] last:border-0"
          >
            <Link
              href={fileAddress(place, hit.volume, hit.path, hit.line === undefined ? {} : { line: hit.line })}
              prefetch={false}
              scroll={hit.line !== undefined}
              className="font-mono [overflow-wrap:anywhere]"
            >
              {find?.everywhere && `/${hit.volume}`}
              {hit.line === undefined ? <Marked text={hit.path} wanted={wanted} /> : `${hit.path}:${hit.line}`}
            </Link>
            {hit.text !== undefined && (
              <p className="mt-0.5 font-mono text-ink-2 [overflow-wrap:anywhere]">
                <Marked text={hit.text} wanted={wanted} />
              </p>
            )}
          </li>
        ))}
      </ul>
    </div>
  );
}
