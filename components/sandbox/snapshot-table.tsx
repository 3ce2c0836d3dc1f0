/** Snapshots in rows: name, sandbox, contents, and what was made from each. Cards on a narrow page. */
import Link from 'next/link';
import type { Snapshot } from '#lib/contract/schema.ts';
import { sizeInWords } from '../ui/durations.ts';
import { RelativeTime } from '../ui/relative-time.tsx';
import { VolumeNames } from '../ui/volume-names.tsx';
import { CopyMark } from './copy-mark.tsx';

function Who({ snapshot }: { snapshot: Snapshot }) {
  return (
    <span className="inline-flex items-baseline gap-2">
      <CopyMark kind="snapshot" size={15} className="flex-none translate-y-[0.1875rem]" />
      <span className="min-w-0">
        <Link
          href={`/snapshots/${snapshot.id}`}
          prefetch={false}
          className={`[overflow-wrap:anywhere] ${snapshot.tag === null ? 'font-mono text-[0.8125rem]' : 'font-[540]'}`}
        >
          {snapshot.tag ?? snapshot.id}
        </Link>
        {snapshot.tag !== null && (
          <code className="mt-0.5 block text-[0.75rem] text-ink-3 [overflow-wrap:anywhere]">{snapshot.id}</code>
        )}
      </span>
    </span>
  );
}

/** `rendered`: the server's time in epoch seconds. `showSource`: names the sandbox and its tenant in each row. */
export function SnapshotTable({
  snapshots,
  rendered,
  showSource = true,
}: {
  snapshots: readonly Snapshot[];
  rendered: number;
  showSource?: boolean;
}) {
  return (
    <table className="ledger ledger-cards">
      <thead>
        <tr>
          <th scope="col">Snapshot</th>
          {showSource && <th scope="col">Of the sandbox</th>}
          {showSource && <th scope="col">Tenant</th>}
          <th scope="col">Holds</th>
          <th scope="col" className="text-right whitespace-nowrap">
            Size
          </th>
          <th scope="col" className="text-right whitespace-nowrap">
            Made from it
          </th>
          <th scope="col" className="text-right whitespace-nowrap">
            Taken
          </th>
        </tr>
      </thead>
      <tbody>
        {snapshots.map((snapshot) => (
          <tr key={snapshot.id}>
            <td className="max-md:col-span-full md:w-[30%] md:max-w-96">
              <Who snapshot={snapshot} />
            </td>
            {showSource && (
              <td className="max-md:col-span-full text-small">
                <Link
                  href={`/sandboxes/${snapshot.source}`}
                  prefetch={false}
                  className="font-mono text-[0.8125rem] [overflow-wrap:anywhere]"
                >
                  {snapshot.source}
                </Link>
              </td>
            )}
            {showSource && (
              <td className="max-md:col-start-1 text-small">
                <Link
                  href={`/snapshots?tenant=${snapshot.tenant}`}
                  prefetch={false}
                  className="font-mono text-[0.8125rem]"
                >
                  {snapshot.tenant}
                </Link>
              </td>
            )}
            <td className="max-md:col-start-1 text-small text-ink-2">
              <VolumeNames volumes={snapshot.volumes} />
            </td>
            <td className="text-right whitespace-nowrap max-md:col-start-2 text-small text-ink-2">
              {sizeInWords(snapshot.bytes)}
            </td>
            <td className="text-right whitespace-nowrap max-md:col-start-1 text-small text-ink-2 max-md:!text-left">
              {snapshot.instances === 0 ? (
                <span className="text-ink-3 max-md:hidden">nothing yet</span>
              ) : (
                <>
                  {snapshot.instances.toLocaleString('en')} {snapshot.instances === 1 ? 'sandbox' : 'sandboxes'}
                  <span className="md:hidden"> made from it</span>
                </>
              )}
            </td>
            <td className="text-right whitespace-nowrap max-md:col-start-2 text-small text-ink-2 [&_time]:inline-block [&_time]:min-w-28">
              <RelativeTime at={snapshot.created} rendered={rendered} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
