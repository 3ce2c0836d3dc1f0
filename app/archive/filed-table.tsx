/**
 * Archived sandboxes in rows: when, by whom and why each was archived, what is inside, and the form that revives it.
 * Cards on a narrow page.
 */
import Link from 'next/link';
import { WithCall } from '#components/calls/with-call.tsx';
import { type ActorNames, actorInWords, quoted, withinSentence } from '#components/ledger/event-words.ts';
import { StateMark } from '#components/sandbox/state-mark.tsx';
import { sizeInWords } from '#components/ui/durations.ts';
import { RelativeTime } from '#components/ui/relative-time.tsx';
import type { Event, Instance } from '#lib/contract/schema.ts';
import { reviveAtDesk } from './actions.ts';
import type { Inside } from './inside.ts';
import { ReviveForm } from './revive-form.tsx';

const LABELS_SHOWN = 3;

/** What every row's form needs: whether the visitor may revive, and what was searched for. */
interface Desk {
  whyNot: (instance: Instance) => string | null;
  q: string;
}

export interface FiledSandbox {
  instance: Instance;
  /** The line that archived it; undefined when its month was dropped from the ledger. */
  line: Event | undefined;
  /** What is inside; null where it is not shown. */
  inside: Inside | null;
}

function Labels({ labels }: { labels: Instance['labels'] }) {
  const entries = Object.entries(labels);
  return (
    <span className="flex flex-wrap gap-1.5">
      {entries.slice(0, LABELS_SHOWN).map(([key, value]) => (
        <Link
          key={key}
          href={`/archive?label=${encodeURIComponent(`${key}:${value}`)}`}
          prefetch={false}
          className="pill max-w-52 hover:border-ink"
          title={`${key}: ${value}`}
        >
          {key}:{value}
        </Link>
      ))}
      {entries.length > LABELS_SHOWN && <span className="text-small text-ink-3">+{entries.length - LABELS_SHOWN}</span>}
    </span>
  );
}

function Row({
  instance,
  line,
  inside,
  names,
  rendered,
  desk,
}: FiledSandbox & { names: ActorNames; rendered: number; desk: Desk }) {
  const { id, name, tenant, state, fault, state_since, labels, bytes } = instance;
  return (
    <tr>
      <td className="max-md:col-span-full md:w-[28%] md:max-w-80">
        <span className="flex items-baseline gap-2">
          <StateMark state={state} fault={fault} size={15} className="flex-none translate-y-[0.1875rem]" />
          <span className="min-w-0">
            <Link
              href={`/sandboxes/${id}`}
              prefetch={false}
              className="line-clamp-2 font-[540] [overflow-wrap:anywhere]"
              title={name ?? undefined}
            >
              {name ?? id}
            </Link>
            {name !== null && (
              <code className="mt-0.5 block text-[0.75rem] text-ink-3 [overflow-wrap:anywhere]">{id}</code>
            )}
            {fault !== null && <span className="block text-small text-fault-ink">fault: {fault}</span>}
            {inside !== null && (
              <span className="mt-1 block text-small text-ink-2 [overflow-wrap:anywhere]">
                {inside.volumes}
                {inside.files.length > 0 && <code className="block text-ink-3">{inside.files.join('  ')}</code>}
              </span>
            )}
          </span>
        </span>
      </td>
      <td className="max-md:col-span-full lg:min-w-52">
        <RelativeTime at={state_since} rendered={rendered} />
        {line !== undefined && (
          <span className="text-ink-2">
            {' '}
            by {withinSentence(actorInWords(line, names))}
            {line.reason !== null && (
              <span className="block text-small [overflow-wrap:anywhere]">{quoted(line.reason)}</span>
            )}
          </span>
        )}
      </td>
      <td className="max-md:col-start-1 text-small max-md:order-5 md:min-w-28">
        <Link href={`/archive?tenant=${tenant}`} prefetch={false} className="font-mono text-[0.8125rem]">
          {tenant}
        </Link>
      </td>
      <td className="max-md:col-span-full max-md:order-6">
        {Object.keys(labels).length > 0 && <Labels labels={labels} />}
      </td>
      <td className="text-right whitespace-nowrap max-md:col-start-2 text-small text-ink-2 max-md:order-4">
        {bytes === null ? '' : sizeInWords(bytes)}
      </td>
      <td className="max-md:col-span-full max-md:order-7 md:text-right">
        {desk.whyNot(instance) === null && (
          <WithCall name="reviveInstance" path={{ id }} fields={{ reason: 'text' }}>
            <ReviveForm action={reviveAtDesk.bind(null, id)} name={name ?? id} q={desk.q} />
          </WithCall>
        )}
      </td>
    </tr>
  );
}

/** `rendered`: the server's time in epoch seconds. */
export function FiledTable({
  filed,
  names,
  rendered,
  desk,
}: {
  filed: readonly FiledSandbox[];
  names: ActorNames;
  rendered: number;
  desk: Desk;
}) {
  return (
    <table className="ledger ledger-cards">
      <thead>
        <tr>
          <th scope="col">Sandbox</th>
          <th scope="col">Filed away</th>
          <th scope="col">Tenant</th>
          <th scope="col">Labels</th>
          <th scope="col" className="text-right whitespace-nowrap">
            Size
          </th>
          <th scope="col">
            <span className="sr-only">Revive it</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {filed.map((one) => (
          <Row key={one.instance.id} {...one} names={names} rendered={rendered} desk={desk} />
        ))}
      </tbody>
    </table>
  );
}
