/** The first sandboxes of one outcome of a dry run: where each would go, or why nothing happens to it. */
import { Hops } from '#components/sandbox/hops.tsx';
import type { DryRun } from '#lib/contract/schema.ts';

/** Up to so many are unfolded at first. */
const OPEN_ROWS = 20;

/** `count`: how many there are in all. */
export function DryRunRows({ rows, count }: { rows: DryRun['rows']; count: number }) {
  if (rows.length === 0) return null;
  return (
    <details className="max-w-5xl pt-3" open={rows.length <= OPEN_ROWS}>
      <summary className="w-fit cursor-pointer py-1 text-small text-ink-2 underline decoration-rule-2 underline-offset-3">
        {count > rows.length
          ? `The first ${rows.length} of ${count.toLocaleString('en')}`
          : `Which ${count === 1 ? 'one' : count.toLocaleString('en')}`}
      </summary>
      <table className="ledger ledger-cards mt-2">
        <thead>
          <tr>
            <th scope="col">Sandbox</th>
            <th scope="col">Tenant</th>
            <th scope="col">What happens</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ id, name, tenant, state, hops, reason }) => (
            <tr key={id}>
              <td className="max-md:col-start-1">
                <a href={`/sandboxes/${id}`} className="[overflow-wrap:anywhere]">
                  {name ?? <code className="text-[0.8125rem]">{id}</code>}
                </a>
                {name !== null && <code className="ml-2 text-[0.75rem] text-ink-3">{id}</code>}
              </td>
              <td className="max-md:col-start-2 max-md:text-right font-mono text-[0.8125rem]">{tenant}</td>
              <td className="max-md:col-span-full text-small text-ink-2">
                {reason}
                {reason === null && state !== null && hops.length > 0 && <Hops from={state} hops={hops} />}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}
