/** What a tenant or the server takes while it takes it, and who takes the most. Reads for itself. */
import Link from 'next/link';
import { LoadCharts } from '#components/figures/load-charts.tsx';
import { sizeInWords } from '#components/ui/durations.ts';
import { PageSection } from '#components/ui/page-section.tsx';
import { axisMoment } from '#components/ui/zones.ts';
import type { Caller } from '#lib/auth/caller.ts';
import type { TopLoad } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { loadWindowOf } from './load-window.ts';
import type { SearchParams } from './search-params.ts';
import { visitorZone } from './zone.ts';

const SHARES_SHOWN = 5;
const figures = (count: number) => count.toLocaleString('en', { maximumFractionDigits: 1 });

function Shares({ top, tenant }: { top: TopLoad['top']; tenant: string | null }) {
  return (
    <table className="ledger mt-5">
      <caption className="sr-only">Who took the most processor time in this time, of the last hour</caption>
      <thead>
        <tr>
          <th scope="col">{tenant === null ? 'Tenant' : 'Sandbox'}</th>
          <th scope="col" className="text-right">
            Processor
          </th>
          <th scope="col" className="text-right">
            Memory
          </th>
          <th scope="col" className="text-right">
            Calls
          </th>
          <th scope="col" className="text-right max-sm:hidden">
            Network
          </th>
        </tr>
      </thead>
      <tbody>
        {top.map(({ name, cpu_s, memory_bytes, calls, bytes_in, bytes_out }) => (
          <tr key={name}>
            <td className="[overflow-wrap:anywhere]">
              <Link href={tenant === null ? `/tenants/${name}` : `/sandboxes/${name}?tab=time#usage`} prefetch={false}>
                {name}
              </Link>
            </td>
            <td className="text-right whitespace-nowrap">{figures(cpu_s)} s</td>
            <td className="text-right whitespace-nowrap">{sizeInWords(memory_bytes)}</td>
            <td className="text-right whitespace-nowrap">{figures(calls)}</td>
            <td className="text-right whitespace-nowrap max-sm:hidden">{sizeInWords(bytes_in + bytes_out)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** `tenant`: null: of the server. `path`: of the page. `rendered`: the server's time in epoch seconds. */
export async function LoadSection({
  caller,
  tenant,
  path,
  search,
  rendered,
}: {
  caller: Caller;
  tenant: string | null;
  path: string;
  search: SearchParams;
  rendered: number;
}) {
  const { operations } = getHost();
  const { shown, isLive, links } = loadWindowOf(search, path, rendered);
  const query = { from: shown.from, to: shown.to - 1, top: SHARES_SHOWN };
  const load = await (tenant === null
    ? operations.serverLoad(caller, query)
    : operations.tenantLoad(caller, tenant, query));
  const zone = await visitorZone();
  const since = load.samples_since > shown.from ? ` since ${axisMoment(load.samples_since, zone)}` : '';
  return (
    <PageSection
      id="load"
      name="Load"
      note={`${tenant === null ? 'All sandboxes' : 'All of its sandboxes'} that are awake, together.`}
    >
      <nav aria-label="Time of the load" className="mb-3">
        <ul className="flex flex-wrap gap-x-5 text-small">
          {links.map(({ name, href, isShown }) => (
            <li key={name}>
              <Link
                href={href}
                prefetch={false}
                scroll={false}
                aria-current={isShown ? 'true' : undefined}
                className="inline-block py-1 aria-[current=true]:font-[560] aria-[current=true]:no-underline"
              >
                {name}
              </Link>
            </li>
          ))}
        </ul>
      </nav>
      {load.points.length === 0 ? (
        <p className="text-ink-2">Nothing was awake in this time, or nothing was measured.</p>
      ) : (
        <LoadCharts
          load={load}
          shown={shown}
          bands={[]}
          path={tenant === null ? '/api/load' : `/api/tenants/${tenant}/load`}
          exported={tenant === null ? { name: 'exportServerLoad' } : { name: 'exportTenantLoad', path: { tenant } }}
          isLive={isLive}
          isGrowing={false}
          larger={`${path}?begin=BEGIN&end=END#load`}
        />
      )}
      {load.top.length > 0 && <Shares top={load.top} tenant={tenant} />}
      <p className="mt-3 text-small text-ink-2">
        {load.made_of === 'samples'
          ? `Samples${since}: this server has those of the last hour in memory, and loses them when it is restarted.`
          : load.made_of === 'minutes'
            ? 'By the minute, kept for a day on this server.'
            : 'By the hour.'}{' '}
        Nothing is drawn where nothing was awake.
      </p>
    </PageSection>
  );
}
