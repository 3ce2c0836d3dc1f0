/** What differs between two states of a volume, by path. */
import Link from 'next/link';
import { sizeInWords } from '#components/ui/durations.ts';
import { LocalTime } from '#components/ui/local-time.tsx';
import { SCROLLABLE } from '#components/ui/scrollable.ts';
import type { Comparison, FileChange } from '#lib/contract/schema.ts';

function stateInWords(state: FileChange['now']) {
  if (state === null) return '–';
  return (
    <>
      {sizeInWords(state.size)}
      {state.mtime > 0 && (
        <span className="max-sm:hidden">
          , <LocalTime at={state.mtime} />
        </span>
      )}
    </>
  );
}

/** `address`: of the page that a path leads to, or null. `before` and `after` name the two states. */
export function ChangesTable({
  found,
  address,
  before,
  after,
}: {
  found: Comparison;
  address: (change: FileChange) => string | null;
  before: string;
  after: string;
}) {
  const { added, removed, changed, same, changes } = found;
  const all = added + removed + changed;
  return (
    <>
      <p role="status">
        {all === 0
          ? `Nothing differs: ${same.toLocaleString('en')} files are as they were.`
          : `${added} added, ${removed} removed, ${changed} changed; ${same.toLocaleString('en')} as they were.`}
      </p>
      {changes.length > 0 && (
        <div className="max-h-[36rem] overflow-auto" {...SCROLLABLE}>
          <table className="ledger cells w-full">
            <thead>
              <tr>
                <th scope="col">File</th>
                <th scope="col">Since then</th>
                <th scope="col">{before}</th>
                <th scope="col">{after}</th>
              </tr>
            </thead>
            <tbody>
              {changes.map((one) => {
                const href = address(one);
                return (
                  <tr key={one.path}>
                    <td className="min-w-[14ch] font-mono text-[0.8125rem] [overflow-wrap:anywhere]">
                      {href === null ? (
                        one.path
                      ) : (
                        <Link href={href} prefetch={false}>
                          {one.path}
                        </Link>
                      )}
                    </td>
                    <td>{one.change}</td>
                    <td>{stateInWords(one.before)}</td>
                    <td>{stateInWords(one.now)}</td>
                  </tr>
                );
              })}
            </tbody>
          </table>
        </div>
      )}
      {changes.length < all && (
        <p className="text-small text-ink-3">{`The first ${changes.length} of ${all.toLocaleString('en')}.`}</p>
      )}
    </>
  );
}
