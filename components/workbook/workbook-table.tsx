/** Workbooks in rows: name, tenant, what each declares, and in how many sandboxes it is docked. */
import Link from 'next/link';
import type { Workbook } from '#lib/contract/schema.ts';
import { RelativeTime } from '../ui/relative-time.tsx';
import { workbookAddress } from './workbook-address.ts';

function declaresInWords({ components, problems }: Pick<Workbook, 'components' | 'problems'>): string {
  if (components === null) return problems === 1 ? 'one problem' : `${problems.toLocaleString('en')} problems`;
  return components === 1 ? 'one component' : `${components.toLocaleString('en')} components`;
}

/** `rendered`: the server's time in epoch seconds. */
export function WorkbookTable({ workbooks, rendered }: { workbooks: readonly Workbook[]; rendered: number }) {
  return (
    <table className="ledger ledger-cards">
      <thead>
        <tr>
          <th scope="col">Workbook</th>
          <th scope="col">Tenant</th>
          <th scope="col">Declares</th>
          <th scope="col" className="text-right whitespace-nowrap">
            Version
          </th>
          <th scope="col" className="text-right whitespace-nowrap">
            Docked in
          </th>
          <th scope="col" className="text-right whitespace-nowrap">
            Changed
          </th>
        </tr>
      </thead>
      <tbody>
        {workbooks.map((workbook) => {
          const { id, tenant, title, version, docked, problems, updated_at } = workbook;
          return (
            <tr key={`${tenant} ${id}`}>
              <td className="max-md:col-span-full md:w-[36%] md:max-w-96">
                <Link
                  href={workbookAddress(id, { tenant })}
                  prefetch={false}
                  className={`[overflow-wrap:anywhere] ${title === null ? 'font-mono text-[0.8125rem]' : 'font-[540]'}`}
                >
                  {title ?? id}
                </Link>
                {title !== null && (
                  <code className="mt-0.5 block text-[0.75rem] text-ink-3 [overflow-wrap:anywhere]">{id}</code>
                )}
              </td>
              <td className="max-md:col-start-1 text-small">
                <Link href={`/workbooks?tenant=${tenant}`} prefetch={false} className="font-mono text-[0.8125rem]">
                  {tenant}
                </Link>
              </td>
              <td className={`max-md:col-start-1 text-small ${problems > 0 ? 'text-fault-ink' : 'text-ink-2'}`}>
                {declaresInWords(workbook)}
              </td>
              <td className="text-right whitespace-nowrap max-md:col-start-2 text-small text-ink-2">
                <span className="md:hidden">version </span>
                {version}
              </td>
              <td className="text-right whitespace-nowrap max-md:col-start-1 text-small text-ink-2 max-md:!text-left">
                {docked === 0 ? (
                  <span className="text-ink-3 max-md:hidden">none</span>
                ) : (
                  <>
                    <span className="md:hidden">docked in </span>
                    {docked.toLocaleString('en')} {docked === 1 ? 'sandbox' : 'sandboxes'}
                  </>
                )}
              </td>
              <td className="text-right whitespace-nowrap max-md:col-start-2 text-small text-ink-2 [&_time]:inline-block [&_time]:min-w-28">
                <RelativeTime at={updated_at} rendered={rendered} />
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
