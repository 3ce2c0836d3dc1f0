/** The last runs of a sandbox: how they stand or ended, the end of their output, and a way to stop them. */
import { WithCall } from '#components/calls/with-call.tsx';
import { nameOfActor, withinSentence } from '#components/ledger/event-words.ts';
import { outputText } from '#components/terminal/output-text.ts';
import { runInWords } from '#components/terminal/run-words.ts';
import { StopRun } from '#components/terminal/stop-run.tsx';
import { AutoRefresh } from '#components/ui/auto-refresh.tsx';
import { PageSection } from '#components/ui/page-section.tsx';
import { RelativeTime } from '#components/ui/relative-time.tsx';
import { SCROLLABLE } from '#components/ui/scrollable.ts';
import type { Caller } from '#lib/auth/caller.ts';
import { isWinterdockError } from '#lib/base/errors.ts';
import type { InstanceId } from '#lib/base/ids.ts';
import type { SandboxRun } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { actorNames } from '../../actor-names.ts';
import { stopRun } from './run-actions.ts';

/** Runs that are looked through for those that no terminal shows. */
const LOOKED = 100;
const SHOWN = 8;
/** The end of a run's output that the page has, in bytes. */
const TAIL_BYTES = 4096;
const REFRESH_MS = 3000;
/** Sequences for a screen, and control characters but for tabs and line ends. */
const CONTROLS = /\x1b\[[0-9;?]*[ -/]*[@-~]|[\x00-\x08\x0b-\x1f\x7f-\x9f]/g;

/** The end of its output as text; null when there is none any more. */
async function tailOf(caller: Caller, id: InstanceId, run: SandboxRun): Promise<string | null> {
  const { output_start: start, output_bytes: end } = run;
  if (end <= start) return null;
  const from = Math.max(start, end - TAIL_BYTES);
  const output = await getHost()
    .operations.runOutput(caller, id, run.id)
    .catch((error: unknown) => {
      // Newer runs have taken its place since the list was read.
      if (isWinterdockError(error) && error.code === 'not_found') return null;
      throw error;
    });
  if (output === null) return null;
  const { pieces } = output.read(from, TAIL_BYTES);
  const text = pieces.map((piece) => outputText(piece.text, piece.encoding)).join('');
  return `${from > 0 ? '…' : ''}${text}`.replaceAll(CONTROLS, '');
}

async function Run({
  caller,
  id,
  run,
  rendered,
}: {
  caller: Caller;
  id: InstanceId;
  run: SandboxRun;
  rendered: number;
}) {
  const { command, state, created, started, ended, actor } = run;
  const isUnderWay = state === 'queued' || state === 'running';
  const tail = await tailOf(caller, id, run);
  const who = withinSentence(nameOfActor(actor, await actorNames([actor]), run.actor_name));
  return (
    <li className="grid gap-2 border-b border-rule py-3">
      <div className="flex flex-wrap items-start justify-between gap-x-6 gap-y-2">
        <div className="min-w-0">
          <code className="line-clamp-2 text-[0.8125rem] [overflow-wrap:anywhere]">{command}</code>
          <p className={`text-small ${state === 'failed' || state === 'lost' ? 'text-fault-ink' : 'text-ink-2'}`}>
            {runInWords(run)} · begun by {who} · <RelativeTime at={ended ?? started ?? created} rendered={rendered} />
          </p>
        </div>
        <WithCall name="stopRun" path={{ id, run: run.id }}>
          <StopRun command={command.slice(0, 80)} isUnderWay={isUnderWay} action={stopRun.bind(null, id, run.id)} />
        </WithCall>
      </div>
      {tail !== null && (
        <details>
          <summary className="button button-quiet w-fit">The end of its output</summary>
          <pre
            className="mt-2 max-h-64 overflow-auto border border-rule-2 bg-sheet p-3 text-[0.8125rem] leading-[1.5]"
            {...SCROLLABLE}
          >
            {tail}
          </pre>
        </details>
      )}
    </li>
  );
}

/** Nothing before the first run. The caller may run commands in it. */
export async function RunsSection({ caller, id, rendered }: { caller: Caller; id: InstanceId; rendered: number }) {
  const { items } = await getHost().operations.listRuns(caller, id, { limit: LOOKED });
  const shown = items.filter(({ terminal }) => terminal === null).slice(0, SHOWN);
  if (shown.length === 0) return null;
  const isUnderWay = shown.some(({ ended }) => ended === null);
  return (
    <PageSection
      id="runs"
      name="Runs"
      note="Commands that outlive their request, begun by the API, the command line or & in a script. The sandbox stays awake while one is under way."
    >
      <ul className="-mt-3">
        {shown.map((run) => (
          <Run key={run.id} caller={caller} id={id} run={run} rendered={rendered} />
        ))}
      </ul>
      {isUnderWay && <AutoRefresh everyMs={REFRESH_MS} />}
    </PageSection>
  );
}
