/** The rows of the list: each with its state, since when, and its next move. Cards on a narrow page. */
import Link from 'next/link';
import type { Instance } from '#lib/contract/schema.ts';
import { RowClock } from '../../components/figures/idle-clock.tsx';
import { RowStatus } from '../../components/live/sandbox-status.tsx';
import { sizeInWords } from '../../components/ui/durations.ts';
import { SelectAll } from './select-all.tsx';

const LABELS_SHOWN = 3;

function Labels({ labels }: { labels: Readonly<Record<string, string>> }) {
  const entries = Object.entries(labels);
  return (
    <span className="flex flex-wrap gap-1.5">
      {entries.slice(0, LABELS_SHOWN).map(([key, value]) => (
        <Link
          key={key}
          href={`/sandboxes?label=${encodeURIComponent(`${key}:${value}`)}`}
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

function Who({ instance }: { instance: Instance }) {
  return (
    <>
      <Link
        href={`/sandboxes/${instance.id}`}
        prefetch={false}
        className={`line-clamp-2 font-[540] [overflow-wrap:anywhere] ${instance.state === 'deleted' ? 'line-through' : ''}`}
        title={instance.name ?? undefined}
      >
        {instance.name ?? instance.id}
      </Link>
      {instance.name !== null && (
        <code className="mt-0.5 block text-[0.75rem] text-ink-3 [overflow-wrap:anywhere]">{instance.id}</code>
      )}
    </>
  );
}

/** `rendered`: the server's time in epoch seconds. `choose`: the id of the form that the rows' checkboxes belong to. */
export function SandboxTable({
  instances,
  rendered,
  choose,
}: {
  instances: readonly Instance[];
  rendered: number;
  choose?: string;
}) {
  return (
    <table className="ledger ledger-cards">
      <thead>
        <tr>
          {choose !== undefined && (
            <th scope="col" className="w-9">
              <SelectAll form={choose} />
            </th>
          )}
          <th scope="col">Sandbox</th>
          <th scope="col">Where it is</th>
          <th scope="col">Next, by itself</th>
          <th scope="col">Tenant</th>
          <th scope="col" className="md:max-lg:hidden">
            Labels
          </th>
          <th scope="col" className="figure">
            Size
          </th>
        </tr>
      </thead>
      <tbody>
        {instances.map((instance) => (
          <tr key={instance.id} className={instance.state === 'deleted' ? 'text-ink-3' : undefined}>
            {choose !== undefined && (
              <td className="right max-md:order-first md:w-9">
                <input
                  type="checkbox"
                  className="check translate-y-0.5"
                  name="id"
                  value={instance.id}
                  form={choose}
                  aria-label={`Choose ${instance.name ?? instance.id}`}
                />
              </td>
            )}
            <td className={`${choose === undefined ? 'whole' : 'left'} max-md:order-first md:w-[24%] md:max-w-80`}>
              <Who instance={instance} />
            </td>
            <td className="whole md:w-[27%]">
              <RowStatus instance={instance} rendered={rendered} />
            </td>
            <td className="left text-small max-md:order-3 md:whitespace-nowrap">
              <RowClock instance={instance} rendered={rendered} />
            </td>
            <td className="left text-small max-md:order-5 md:min-w-28">
              <Link
                href={`/sandboxes?tenant=${instance.tenant}`}
                prefetch={false}
                className="font-mono text-[0.8125rem]"
              >
                {instance.tenant}
              </Link>
            </td>
            <td className="whole max-md:order-6 md:max-lg:hidden">
              {Object.keys(instance.labels).length > 0 && <Labels labels={instance.labels} />}
            </td>
            <td className="figure right text-small text-ink-2 max-md:order-4">
              {instance.bytes === null ? '' : sizeInWords(instance.bytes)}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
