'use client';
/**
 * A terminal as a plain form: it sends a command, and the page shows the output. It keeps the working directory, but no
 * variables.
 */
import { useActionState } from 'react';
import { useFormStatus } from 'react-dom';
import { Elapsed } from '../ui/elapsed.tsx';
import { SCROLLABLE } from '../ui/scrollable.ts';
import { Submit } from '../ui/submit.tsx';
import { endInWords, type RunEnd, type WakeResult, wakeInWords } from './run-words.ts';

export interface FormRun {
  /** Unique on the page. */
  key: string;
  command: string;
  cwd: string;
  output: { stream: 'stdout' | 'stderr'; text: string }[];
  end: RunEnd | { problem: string; hint?: string };
  woke: WakeResult | null;
}

export interface PlainState {
  runs: FormRun[];
  cwd: string;
}

export type ExecAction = (previous: PlainState, form: FormData) => Promise<PlainState>;

const START: PlainState = { runs: [], cwd: '/workspace' };

function Ending({ end }: Pick<FormRun, 'end'>) {
  if ('problem' in end) {
    return (
      <p className="text-fault-ink">
        × {end.problem} {end.hint}
      </p>
    );
  }
  return (
    <p className="text-ink-3">
      <span className={end.exit_code === 0 ? 'text-good-ink' : 'text-fault-ink'}>exit {end.exit_code}</span> ·{' '}
      {endInWords(end)}
    </p>
  );
}

function Entry({ run }: { run: FormRun }) {
  const woke = run.woke === null ? null : wakeInWords(run.woke);
  return (
    <li className="border-b border-rule py-2.5 last:border-0">
      <p>
        <span className="text-ink-3">{run.cwd} $</span> <span className="font-[560]">{run.command}</span>
      </p>
      {woke !== null && <p className="text-ink-3">↑ {woke}</p>}
      {run.output.map(({ stream, text }) =>
        stream === 'stderr' ? (
          <p key={stream} className="text-fault-ink">
            {text.replace(/\n$/, '').replace(/^/gm, '! ')}
          </p>
        ) : (
          <p key={stream}>{text.replace(/\n$/, '')}</p>
        ),
      )}
      <Ending end={run.end} />
    </li>
  );
}

/** What stands beside the button: `idle`, or while the command runs how long it has. */
function Progress({ idle }: { idle: string | null }) {
  return useFormStatus().pending ? (
    <>
      runs for <Elapsed />; it ends at its time limit at the latest
    </>
  ) : (
    idle
  );
}

/** `blocked`: why nothing can be run now. `wakes`: a note that running wakes the sandbox. Sentences, or null. */
export function PlainForm({
  action,
  blocked,
  wakes,
}: {
  action: ExecAction;
  blocked: string | null;
  wakes: string | null;
}) {
  const [{ runs, cwd }, submit] = useActionState(action, START);
  return (
    <div className="flex h-full flex-col gap-3 p-4">
      <div className="min-h-0 flex-1 overflow-y-auto" role="log" aria-label="Output" {...SCROLLABLE}>
        <ol className="paper-log border-0">
          {runs.map((run) => (
            <Entry key={run.key} run={run} />
          ))}
        </ol>
      </div>
      <form action={submit} className="grid gap-2">
        <label className="block min-w-0">
          <span className="field-name">
            Command, in <code>{cwd}</code>
          </span>
          <textarea
            className="input min-h-[2.25rem] resize-none font-mono text-[0.875rem] [field-sizing:content]"
            name="command"
            rows={1}
            required
            disabled={blocked !== null}
            spellCheck={false}
            autoCapitalize="none"
            autoComplete="off"
            placeholder="ls -la"
          />
        </label>
        <input type="hidden" name="cwd" value={cwd} />
        <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
          {blocked !== null ? (
            <button type="button" className="button" disabled>
              Run
            </button>
          ) : (
            <Submit className="button button-ink" doing="Running…">
              Run
            </Submit>
          )}
          <p className="text-small text-ink-3">
            <Progress idle={blocked ?? wakes} />
          </p>
        </div>
      </form>
    </div>
  );
}
