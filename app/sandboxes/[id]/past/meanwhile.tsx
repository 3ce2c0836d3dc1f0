/** What happened between two times: runs, calls by the hour, and the lines of the ledger. */
import Link from 'next/link';
import { LedgerLines } from '#components/ledger/ledger-lines.tsx';
import { runInWords } from '#components/terminal/run-words.ts';
import { LocalTime } from '#components/ui/local-time.tsx';
import { PageSection } from '#components/ui/page-section.tsx';
import type { Caller } from '#lib/auth/caller.ts';
import { mayDo } from '#lib/contract/access.ts';
import type { Instance, SandboxRun } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { lineNames } from '../../../actor-names.ts';
import { timeAddress } from '../time-window.ts';
import type { ComparedTimes } from './differences.tsx';

const LINES_SHOWN = 30;
/** Runs that are looked through for those of the time. */
const RUNS_LOOKED = 100;
const HOUR = 3600;

function Runs({ runs }: { runs: readonly SandboxRun[] }) {
  return (
    <ul className="mb-4">
      {runs.map((run) => (
        <li key={run.id} className="flex flex-wrap items-baseline justify-between gap-x-6 border-b border-rule py-2">
          <code className="line-clamp-2 min-w-0 text-[0.8125rem] [overflow-wrap:anywhere]">{run.command}</code>
          <span className="text-small text-ink-2">
            {runInWords(run)} · <LocalTime at={run.started ?? run.created} />
          </span>
        </li>
      ))}
    </ul>
  );
}

export async function Meanwhile({
  caller,
  instance,
  times,
  rendered,
}: {
  caller: Caller;
  instance: Instance;
  times: ComparedTimes;
  rendered: number;
}) {
  const { id, tenant } = instance;
  const { operations } = getHost();
  const from = Math.floor(times.thenMs / 1000);
  const to = Math.max(from, times.laterMs === null ? rendered : Math.floor(times.laterMs / 1000));
  const step = Math.max(1, Math.ceil((to - from) / HOUR / 500)) * HOUR;
  const [lines, usage, runs] = await Promise.all([
    operations.events(caller, { instance: id, since: from, until: to, limit: LINES_SHOWN }),
    operations.instanceUsage(caller, id, { from, to, step }),
    mayDo(caller, 'listRuns', { tenant }) ? operations.listRuns(caller, id, { limit: RUNS_LOOKED }) : null,
  ]);
  const begun = (runs?.items ?? []).filter((run) => run.created <= to && (run.ended ?? rendered) >= from);
  const { calls } = usage.total;
  const audit = new URLSearchParams({ instance: id, since: String(from), until: String(to) });
  return (
    <PageSection id="meanwhile" name="Meanwhile" note="The calls and the ledger lines of that time." margin={false}>
      <p className="mb-4">
        {calls === 0
          ? 'No call was counted in the hours around it.'
          : `${calls.toLocaleString('en', { maximumFractionDigits: 0 })} ${calls === 1 ? 'call or write' : 'calls and writes'} in the whole hours around it.`}{' '}
        <Link
          href={timeAddress(id, { shown: { from, to: Math.max(to, from + 60) }, isWhole: false, chosen: null })}
          prefetch={false}
        >
          What it took
        </Link>
      </p>
      {begun.length > 0 && <Runs runs={begun} />}
      {lines.items.length === 0 ? (
        <p className="text-ink-2">The ledger has no line of it meanwhile.</p>
      ) : (
        <LedgerLines
          events={lines.items}
          rendered={rendered}
          showInstance={false}
          names={await lineNames(lines.items)}
        />
      )}
      {lines.next !== null && (
        <p className="pt-2 text-small">
          <Link href={`/audit?${audit}`} prefetch={false}>
            All of them
          </Link>
        </p>
      )}
    </PageSection>
  );
}
