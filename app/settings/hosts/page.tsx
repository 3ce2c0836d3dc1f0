/** The hosts of the registry: which servers there are, what room each has, and whether it renews its lease. */
import Link from 'next/link';
import { sizeInWords } from '#components/ui/durations.ts';
import { PageSection } from '#components/ui/page-section.tsx';
import { RelativeTime } from '#components/ui/relative-time.tsx';
import { whyNot } from '#lib/contract/access.ts';
import type { HostAnswer } from '#lib/contract/schema/hosts.ts';
import { getHost } from '#lib/host/host.ts';
import { renderedAt, requireCaller } from '../../caller.ts';
import { NotAllowed } from '../not-allowed.tsx';
import { hostStateInWords, hostsInWords } from './host-words.ts';

export const dynamic = 'force-dynamic';
export const metadata = { title: 'Hosts' };

function Lease({ lease_ms: leaseMs }: HostAnswer) {
  if (leaseMs === null) return <span className="text-ink-3">needs none</span>;
  return <>{(leaseMs / 1000).toLocaleString('en')} s</>;
}

const counted = (n: number) => (n > 10_000 ? '10,000+' : n.toLocaleString('en'));

/** What it has, as links to the list. */
function Sandboxes({ name, sandboxes, awake }: HostAnswer) {
  if (sandboxes === 0) return <span className="text-ink-3">none</span>;
  const list = `/sandboxes?host=${encodeURIComponent(name)}`;
  return (
    <>
      <Link href={list} prefetch={false}>
        {counted(sandboxes)} {sandboxes === 1 ? 'sandbox' : 'sandboxes'}
      </Link>
      {awake > 0 && (
        <span className="block text-small">
          <Link href={`${list}&state=active`} prefetch={false}>
            {counted(awake)} awake
          </Link>
        </span>
      )}
    </>
  );
}

function Room({ capacity }: HostAnswer) {
  if (capacity === null) return <span className="text-ink-3">unknown</span>;
  return (
    <>
      {capacity.active.toLocaleString('en')} awake at most
      {capacity.memory_bytes !== null && (
        <span className="block text-small text-ink-3">{sizeInWords(capacity.memory_bytes)} of memory</span>
      )}
    </>
  );
}

function Hosts({ hosts, rendered }: { hosts: readonly HostAnswer[]; rendered: number }) {
  return (
    <table className="ledger ledger-cards">
      <thead>
        <tr>
          <th scope="col">Host</th>
          <th scope="col">State</th>
          <th scope="col">Sandboxes</th>
          <th scope="col">Room</th>
          <th scope="col">Lease</th>
          <th scope="col">Begun</th>
          <th scope="col">Labels</th>
        </tr>
      </thead>
      <tbody>
        {hosts.map((host) => {
          const state = hostStateInWords(host);
          const labels = Object.entries(host.labels);
          return (
            <tr key={host.name} id={`host-${host.name}`}>
              <td className="max-md:col-span-full [overflow-wrap:anywhere]">
                <span className="font-[560]">{host.name}</span>{' '}
                {host.version !== null && <span className="text-small text-ink-3">{host.version}</span>}
                <code className="block text-[0.8125rem] text-ink-3">{host.url ?? 'no address'}</code>
              </td>
              <td className={state.isBad ? 'max-md:col-span-full text-fault-ink' : 'max-md:col-span-full'}>
                {state.says}
                {host.dead && host.renewed !== null && (
                  <span className="block text-small">
                    last seen <RelativeTime at={host.renewed} rendered={rendered} />
                  </span>
                )}
              </td>
              <td className="max-md:col-start-1">
                <Sandboxes {...host} />
              </td>
              <td className="max-md:col-start-1">
                <Room {...host} />
              </td>
              <td className="max-md:col-start-1">
                <span className="md:hidden">lease </span>
                <Lease {...host} />
              </td>
              <td className="whitespace-nowrap max-md:col-start-1">
                <span className="md:hidden">begun </span>
                <RelativeTime at={host.since} rendered={rendered} />
                <span className="block text-small text-ink-3">term {host.term}</span>
              </td>
              <td className="max-md:col-span-full [overflow-wrap:anywhere]">
                {labels.length === 0 ? (
                  <span className="text-ink-3 max-md:hidden">none</span>
                ) : (
                  labels.map(([name, value]) => `${name}=${value}`).join(', ')
                )}
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

export default async function HostsPage() {
  const caller = await requireCaller('/settings/hosts');
  const why = whyNot(caller, 'listHosts');
  if (why !== null) return <NotAllowed title="Hosts" why={why} />;
  const hosts = await getHost().operations.listHosts(caller);
  const isAlone = hosts.every(({ lease_ms: leaseMs }) => leaseMs === null);
  return (
    <>
      <div className="pt-10 pb-10">
        <h1 className="headline">
          Hosts <span className="quiet">{hostsInWords(hosts)}</span>
        </h1>
        <p className="mt-4 max-w-[44rem] text-ink-2">
          {isAlone
            ? 'A host is a server of the registry. This registry is a file, which one server has at a time: there is no lease, and nobody else to lose a sandbox to.'
            : 'A host is a server of the registry. Each renews its lease three times in its length; one that does not stops what it runs, and the others take it for dead.'}
        </p>
      </div>
      <PageSection id="hosts" name="Servers" note="As each said of itself when it began.">
        <Hosts hosts={hosts} rendered={renderedAt()} />
      </PageSection>
    </>
  );
}
