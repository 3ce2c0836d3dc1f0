/** The hosts of the registry: which servers there are, what room each has, and whether it renews its lease. */
import Link from 'next/link';
import { WithCall } from '#components/calls/with-call.tsx';
import { AutoRefresh } from '#components/ui/auto-refresh.tsx';
import { DisabledAction } from '#components/ui/disabled-action.tsx';
import { sizeInWords } from '#components/ui/durations.ts';
import { PageSection } from '#components/ui/page-section.tsx';
import { ProgressBar } from '#components/ui/progress-bar.tsx';
import { RelativeTime } from '#components/ui/relative-time.tsx';
import type { Caller } from '#lib/auth/caller.ts';
import { whyNot } from '#lib/contract/access.ts';
import type { HostAnswer } from '#lib/contract/schema/hosts.ts';
import { getHost } from '#lib/host/host.ts';
import { hostAmongSeveral } from '#lib/hosts/needs-of-several.ts';
import { renderedAt, requireCaller } from '../../caller.ts';
import { ConfirmButton } from '../confirm-button.tsx';
import { NotAllowed } from '../not-allowed.tsx';
import { drainHost, stopDraining } from './actions.ts';
import { DrainForm } from './drain-form.tsx';
import { drainInWords, hostStateInWords, hostsInWords, whyNotDrained } from './host-words.ts';

/** How often the page is read anew while a host is being emptied. */
const LOOK_MS = 3000;

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

/** How far it is emptied, and what may be done about it. */
function Drain({ host, hosts, caller }: { host: HostAnswer; hosts: readonly HostAnswer[]; caller: Caller }) {
  const { name, draining, drain } = host;
  const against = whyNot(caller, 'drainHost') ?? whyNotDrained(host, hosts);
  const path = { name };
  return (
    <div className="grid justify-items-start gap-2">
      {draining && (
        <p className="text-small">
          {drainInWords(host)}{' '}
          {drain !== null && drain.state !== 'waiting' && (
            <Link href={`/jobs/${drain.job}`} prefetch={false}>
              {drain.state === 'running' ? 'Its job' : 'What stays, and why'}
            </Link>
          )}
        </p>
      )}
      {drain?.state === 'running' && (
        <div className="w-full max-w-64">
          <ProgressBar
            label={`How far ${name} is emptied`}
            value={drain.done + drain.failed + drain.skipped}
            max={drain.chosen}
          />
        </div>
      )}
      {draining && (
        <WithCall name="stopDraining" path={path}>
          <ConfirmButton
            action={stopDraining.bind(null, name)}
            button="Stop draining"
            doing="Stopping…"
            label={`the host ${name}`}
          />
        </WithCall>
      )}
      {against === null ? (
        <WithCall name="drainHost" path={path} fields={{ reason: 'text', include_held: 'true' }}>
          <DrainForm name={name} open={draining ? 'Once more…' : 'Drain…'} action={drainHost.bind(null, name)} />
        </WithCall>
      ) : (
        !draining && <DisabledAction id={`drain-${name}`} label="Drain…" whyNot={against} quiet />
      )}
    </div>
  );
}

function Hosts({
  hosts,
  caller,
  isAlone,
  rendered,
}: {
  hosts: readonly HostAnswer[];
  caller: Caller;
  isAlone: boolean;
  rendered: number;
}) {
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
          {!isAlone && <th scope="col">Emptying</th>}
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
              {!isAlone && (
                <td className="max-md:col-span-full md:min-w-56">
                  <Drain host={host} hosts={hosts} caller={caller} />
                </td>
              )}
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
  const isAmongSeveral = hostAmongSeveral(getHost().config) !== null;
  const isMoving = hosts.some(({ drain }) => drain?.state === 'waiting' || drain?.state === 'running');
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
      {isMoving && <AutoRefresh everyMs={LOOK_MS} />}
      <PageSection id="hosts" name="Servers" note="As each said of itself when it began.">
        <Hosts hosts={hosts} caller={caller} isAlone={!isAmongSeveral} rendered={renderedAt()} />
      </PageSection>
    </>
  );
}
