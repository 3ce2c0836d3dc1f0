/** The versions of a workbook: each can be read, compared with the one before, and made the newest again. */
import Link from 'next/link';
import { ActorName } from '#app/actor-name.tsx';
import { sizeInWords } from '#components/ui/durations.ts';
import { PageSection } from '#components/ui/page-section.tsx';
import { RelativeTime } from '#components/ui/relative-time.tsx';
import { DiffView } from '#components/workbook/diff-view.tsx';
import { diffSources } from '#components/workbook/source-diff.ts';
import { UpgradeList } from '#components/workbook/upgrade-list.tsx';
import { workbookAddress } from '#components/workbook/workbook-address.ts';
import type { Caller } from '#lib/auth/caller.ts';
import type { Workbook, WorkbookVersion } from '#lib/contract/schema.ts';
import { readUpgrade, readWorkbook } from './reading.ts';

interface Compared {
  from: number;
  to: number;
}

/** The comparison that the address asks for, or null. */
export function comparedIn(search: Readonly<Record<string, string>>): Compared | null {
  const [from, to] = [Number(search.from), Number(search.to)];
  return Number.isSafeInteger(from) && Number.isSafeInteger(to) && from > 0 && to > 0 ? { from, to } : null;
}

async function Comparison({ caller, workbook, compared }: { caller: Caller; workbook: Workbook; compared: Compared }) {
  const { id, tenant } = workbook;
  const { from, to } = compared;
  const [before, after, upgrade] = await Promise.all([
    readWorkbook(caller, id, { tenant, version: from }),
    readWorkbook(caller, id, { tenant, version: to }),
    readUpgrade(caller, id, { tenant, from, to }),
  ]);
  if (before === null || after === null) return <p className="mb-6">One of these versions is not there.</p>;
  return (
    <div className="mb-8 grid gap-4" id="comparison">
      <h3 className="font-[560]">
        From version {from} to version {to}
      </h3>
      {upgrade !== null && <UpgradeList changes={upgrade.changes} />}
      <DiffView hunks={diffSources(before.source, after.source)} />
    </div>
  );
}

export function VersionSection({
  caller,
  workbook,
  versions,
  next,
  compared,
  rendered,
}: {
  caller: Caller;
  workbook: Workbook;
  versions: readonly WorkbookVersion[];
  /** The address of older ones. */
  next: string | null;
  compared: Compared | null;
  rendered: number;
}) {
  const { id, tenant } = workbook;
  return (
    <PageSection id="versions" name="Versions" note="Each save is one. Sandboxes keep the one they are docked to.">
      {compared !== null && <Comparison caller={caller} workbook={workbook} compared={compared} />}
      <table className="ledger ledger-cards">
        <thead>
          <tr>
            <th scope="col">Version</th>
            <th scope="col">Declares</th>
            <th scope="col">By</th>
            <th scope="col" className="text-right whitespace-nowrap">
              Size
            </th>
            <th scope="col" className="text-right whitespace-nowrap">
              Saved
            </th>
            <th scope="col">
              <span className="sr-only">Compare</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {versions.map(({ version, components, problems, bytes, created_at, created_by }) => (
            <tr key={version}>
              <td className="max-md:col-start-1">
                <Link href={workbookAddress(id, { tenant, version })} prefetch={false} className="font-[540]">
                  Version {version}
                </Link>
              </td>
              <td className="max-md:col-span-full text-small text-ink-2">
                {components === null
                  ? `${problems.toLocaleString('en')} ${problems === 1 ? 'problem' : 'problems'}`
                  : `${components.toLocaleString('en')} ${components === 1 ? 'component' : 'components'}`}
              </td>
              <td className="max-md:col-start-1 text-small text-ink-2">
                <ActorName actor={created_by} />
              </td>
              <td className="text-right whitespace-nowrap max-md:col-start-2 text-small text-ink-2">
                {sizeInWords(bytes)}
              </td>
              <td className="text-right whitespace-nowrap max-md:col-start-2 text-small text-ink-2 [&_time]:inline-block [&_time]:min-w-28">
                <RelativeTime at={created_at} rendered={rendered} />
              </td>
              <td className="max-md:col-start-1 text-small">
                {version > 1 && (
                  <Link
                    href={workbookAddress(id, { tenant, from: version - 1, to: version, hash: 'versions' })}
                    prefetch={false}
                  >
                    What changed<span className="sr-only"> in version {version}</span>
                  </Link>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {next !== null && (
        <p className="mt-3 text-small">
          <Link href={next} prefetch={false}>
            Older ones
          </Link>
        </p>
      )}
    </PageSection>
  );
}
