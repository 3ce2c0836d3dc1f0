/** Archived sandboxes in rows: when, by whom and why each was archived. Cards on a narrow page. */
import Link from 'next/link';
import { type ActorNames, actorInWords } from '#components/ledger/event-words.ts';
import { StateMark } from '#components/sandbox/state-mark.tsx';
import { sizeInWords } from '#components/ui/durations.ts';
import { RelativeTime } from '#components/ui/relative-time.tsx';
import type { Event, Instance } from '#lib/contract/schema.ts';

const LABELS_SHOWN = 3;

export interface FiledSandbox {
  instance: Instance;
  /** The line that archived it; undefined when its month was dropped from the ledger. */
  line: Event | undefined;
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

function Row({ instance, line, names, rendered }: FiledSandbox & { names: ActorNames; rendered: number }) {
  const { id, name, tenant, state, fault, state_since, labels, bytes } = instance;
  return (
    <tr>
      <td className="whole md:w-[28%] md:max-w-80">
        <span className="flex items-baseline gap-2">
          <StateMark state={state} fault={fault} size={15} className="flex-none translate-y-[0.1875rem]" />
          <span className="min-w-0">
            <Link
              href={`/archive/${id}`}
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
          </span>
        </span>
      </td>
      <td className="whole">
        <RelativeTime at={state_since} rendered={rendered} />
        {line !== undefined && (
          <span className="text-ink-2">
            {' '}
            by {actorInWords(line, names).replace(/^(The|A|Somebody)\b/, (word) => word.toLowerCase())}
            {line.reason !== null && <span className="block text-small [overflow-wrap:anywhere]">“{line.reason}”</span>}
          </span>
        )}
      </td>
      <td className="left text-small max-md:order-5">
        <Link href={`/archive?tenant=${tenant}`} prefetch={false} className="font-mono text-[0.8125rem]">
          {tenant}
        </Link>
      </td>
      <td className="whole max-md:order-6">{Object.keys(labels).length > 0 && <Labels labels={labels} />}</td>
      <td className="figure right text-small text-ink-2 max-md:order-4">{bytes === null ? '' : sizeInWords(bytes)}</td>
    </tr>
  );
}

/** `rendered`: the server's time in epoch seconds. */
export function FiledTable({
  filed,
  names,
  rendered,
}: {
  filed: readonly FiledSandbox[];
  names: ActorNames;
  rendered: number;
}) {
  return (
    <table className="ledger ledger-cards">
      <thead>
        <tr>
          <th scope="col">Sandbox</th>
          <th scope="col">Filed away</th>
          <th scope="col">Tenant</th>
          <th scope="col">Labels</th>
          <th scope="col" className="figure">
            Size
          </th>
        </tr>
      </thead>
      <tbody>
        {filed.map(({ instance, line }) => (
          <Row key={instance.id} instance={instance} line={line} names={names} rendered={rendered} />
        ))}
      </tbody>
    </table>
  );
}
