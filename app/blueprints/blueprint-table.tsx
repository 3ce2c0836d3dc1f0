/** Blueprints in rows. Cards on a narrow page. */
import Link from 'next/link';
import type { Blueprint } from '#lib/contract/schema.ts';
import { CopyMark } from '../../components/sandbox/copy-mark.tsx';
import { sizeInWords } from '../../components/ui/durations.ts';
import { RelativeTime } from '../../components/ui/relative-time.tsx';

function Origin({ source }: { source: string | null }) {
  if (source === null) return <span className="text-ink-3">an upload, or not yours to see</span>;
  return (
    <Link
      href={`/sandboxes/${source}`}
      prefetch={false}
      className="font-mono text-[0.8125rem] [overflow-wrap:anywhere]"
    >
      {source}
    </Link>
  );
}

/** `rendered`: the server's time in epoch seconds. */
export function BlueprintTable({ blueprints, rendered }: { blueprints: readonly Blueprint[]; rendered: number }) {
  return (
    <table className="ledger ledger-cards">
      <thead>
        <tr>
          <th scope="col">Blueprint</th>
          <th scope="col">Made of</th>
          <th scope="col" className="text-right whitespace-nowrap">
            Files
          </th>
          <th scope="col" className="text-right whitespace-nowrap">
            Size
          </th>
          <th scope="col" className="text-right whitespace-nowrap">
            Clones
          </th>
          <th scope="col" className="text-right whitespace-nowrap">
            Made
          </th>
        </tr>
      </thead>
      <tbody>
        {blueprints.map((blueprint) => {
          const files = blueprint.contents.reduce((sum, part) => sum + part.files, 0);
          return (
            <tr key={blueprint.name}>
              <td className="max-md:col-span-full md:w-[36%]">
                <span className="inline-flex items-baseline gap-2">
                  <CopyMark kind="blueprint" size={15} className="flex-none translate-y-[0.1875rem]" />
                  <Link
                    href={`/blueprints/${blueprint.name}`}
                    prefetch={false}
                    className="font-[540] [overflow-wrap:anywhere]"
                  >
                    {blueprint.name}
                  </Link>
                </span>
              </td>
              <td className="max-md:col-span-full text-small">
                <Origin source={blueprint.source} />
              </td>
              <td className="text-right whitespace-nowrap max-md:col-start-1 text-small text-ink-2 max-md:!text-left">
                {files.toLocaleString('en')}
                <span className="md:sr-only"> {files === 1 ? 'file' : 'files'}</span>
              </td>
              <td className="text-right whitespace-nowrap max-md:col-start-2 text-small text-ink-2">
                {sizeInWords(blueprint.bytes)}
              </td>
              <td className="text-right whitespace-nowrap max-md:col-start-1 text-small text-ink-2 max-md:!text-left">
                {blueprint.instances.toLocaleString('en')}
                <span className="md:sr-only"> {blueprint.instances === 1 ? 'clone' : 'clones'}</span>
              </td>
              <td className="text-right whitespace-nowrap max-md:col-start-2 text-small text-ink-2 [&_time]:inline-block [&_time]:min-w-28">
                <RelativeTime at={blueprint.created} rendered={rendered} />
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
