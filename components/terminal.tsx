'use client';
/**
 * A place to run commands. A plain form whose answer is on the page; with JavaScript the output arrives while the command
 * runs. The directory is carried from one command to the next; variables are not.
 */
import { type FormEvent, type KeyboardEvent, useActionState, useEffect, useRef, useState } from 'react';
import { tookInWords } from './durations.ts';
import { runCommand } from './exec-stream.ts';
import { SCROLLS } from './scrolls.ts';
import { Submit } from './submit.tsx';

export interface Run {
  /** Distinguishes runs on one page. */
  key: string;
  command: string;
  cwd: string;
  output: { part: number; stream: 'stdout' | 'stderr'; text: string }[];
  end:
    | { exit_code: number; took_ms: number; timed_out: boolean; truncated: boolean }
    | { problem: string; hint?: string }
    | null;
  /** How it was found, and how long waking took. */
  woke: { found: string; took_ms: number } | null;
}

export interface TerminalState {
  runs: Run[];
  cwd: string;
}

export type ExecAction = (previous: TerminalState, form: FormData) => Promise<TerminalState>;

const KEPT = 50;
const START: TerminalState = { runs: [], cwd: '/workspace' };

function Ending({ run }: { run: Run }) {
  if (run.end === null) return <p className="text-ink-2">running…</p>;
  const woke =
    run.woke === null || run.woke.found === 'hot' ? 'it was awake' : `woke it in ${tookInWords(run.woke.took_ms)}`;
  if ('problem' in run.end) {
    return (
      <p className="text-fault-ink">
        {run.end.problem} {run.end.hint}
      </p>
    );
  }
  const { exit_code, took_ms, timed_out, truncated } = run.end;
  return (
    <p className="text-ink-3">
      <span className={exit_code === 0 ? 'text-good-ink' : 'text-fault-ink'}>
        {timed_out ? 'out of time, ' : ''}exit {exit_code}
      </span>{' '}
      · {tookInWords(took_ms)} · {woke}
      {truncated && ' · output cut'}
    </p>
  );
}

function Entry({ run }: { run: Run }) {
  return (
    <li className="border-b border-rule px-4 py-2.5 last:border-0">
      <p>
        <span className="text-ink-3">{run.cwd} $</span> <span className="font-[560]">{run.command}</span>
      </p>
      {run.output.map(({ part, stream, text }) => (
        <span key={part} className={stream === 'stderr' ? 'text-fault-ink' : undefined}>
          {text}
        </span>
      ))}
      <Ending run={run} />
    </li>
  );
}

/** Adds a chunk to a run, joined to the one before when it is of the same stream. */
function withOutput(run: Run, stream: 'stdout' | 'stderr', text: string): Run {
  const last = run.output.at(-1);
  if (last?.stream !== stream) return { ...run, output: [...run.output, { part: run.output.length, stream, text }] };
  return { ...run, output: [...run.output.slice(0, -1), { ...last, text: last.text + text }] };
}

/** `blocked`: why nothing can be run now; `wakes`: what running does besides. Both in a sentence, or null. */
export function Terminal({
  id,
  action,
  blocked,
  wakes,
}: {
  id: string;
  action: ExecAction;
  blocked: string | null;
  wakes: string | null;
}) {
  const [answered, submit] = useActionState(action, START);
  const [live, setLive] = useState<TerminalState>(answered);
  const [recalled, setRecalled] = useState(0);
  const running = useRef<AbortController>(null);
  const [busy, setBusy] = useState(false);
  const input = useRef<HTMLTextAreaElement>(null);
  const log = useRef<HTMLDivElement>(null);
  const newest = live.runs.at(-1);

  useEffect(() => {
    if (newest !== undefined) log.current?.scrollTo({ top: log.current.scrollHeight });
  }, [newest]);
  useEffect(() => () => running.current?.abort(), []);

  const change = (key: string, how: (run: Run) => Run) =>
    setLive((state) => ({ ...state, runs: state.runs.map((run) => (run.key === key ? how(run) : run)) }));

  const start = async (command: string) => {
    const key = crypto.randomUUID?.() ?? String(performance.now());
    const cwd = live.cwd;
    const stop = new AbortController();
    running.current = stop;
    setBusy(true);
    setRecalled(0);
    setLive((state) => ({
      ...state,
      runs: [...state.runs.slice(1 - KEPT), { key, command, cwd, output: [], end: null, woke: null }],
    }));
    const end = await runCommand(
      id,
      command,
      cwd,
      {
        onWoke: ({ woke, took_ms }) => change(key, (run) => ({ ...run, woke: { found: woke, took_ms } })),
        onOutput: (stream, text) => change(key, (run) => withOutput(run, stream, text)),
      },
      stop.signal,
    );
    running.current = null;
    setBusy(false);
    if ('exit' in end) setLive((state) => ({ ...state, cwd: end.exit.cwd }));
    change(key, (run) => ({
      ...run,
      end: 'exit' in end ? end.exit : { problem: end.problem.detail, hint: end.problem.hint },
    }));
  };

  const onSubmit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const command = input.current?.value ?? '';
    if (running.current !== null || command.trim() === '') return;
    if (input.current !== null) input.current.value = '';
    start(command);
  };

  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    const field = event.currentTarget;
    if (event.key === 'Enter' && !event.shiftKey && !event.nativeEvent.isComposing) {
      event.preventDefault();
      field.form?.requestSubmit();
    } else if ((event.key === 'ArrowUp' || event.key === 'ArrowDown') && !field.value.includes('\n')) {
      const next = Math.min(live.runs.length, Math.max(0, recalled + (event.key === 'ArrowUp' ? 1 : -1)));
      if (next === recalled) return;
      event.preventDefault();
      setRecalled(next);
      field.value = next === 0 ? '' : (live.runs.at(-next)?.command ?? '');
    }
  };

  return (
    <div className="grid gap-3">
      {live.runs.length > 0 && (
        <div className="paper-log max-h-[32rem] overflow-y-auto" ref={log} role="log" aria-label="Output" {...SCROLLS}>
          <ol>
            {live.runs.map((run) => (
              <Entry key={run.key} run={run} />
            ))}
          </ol>
        </div>
      )}
      <form action={submit} onSubmit={onSubmit} className="grid gap-2">
        <label className="field">
          <span className="field-name">
            Command, in <code>{live.cwd}</code>
          </span>
          <textarea
            ref={input}
            className="input min-h-[2.25rem] resize-none font-mono text-[0.875rem] [field-sizing:content]"
            name="command"
            rows={1}
            required
            disabled={blocked !== null}
            spellCheck={false}
            autoCapitalize="none"
            autoComplete="off"
            placeholder="ls -la"
            onKeyDown={onKeyDown}
          />
        </label>
        <input type="hidden" name="cwd" value={live.cwd} />
        <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
          {busy ? (
            <button type="button" className="button" onClick={() => running.current?.abort()}>
              Stop
            </button>
          ) : blocked !== null ? (
            <button type="button" className="button" disabled>
              Run
            </button>
          ) : (
            <Submit className="button button-ink" doing="Running…">
              Run
            </Submit>
          )}
          <p className="text-small text-ink-3">
            {blocked ?? wakes ?? 'Enter runs it, Shift + Enter makes a new line, ↑ brings back the one before.'}
          </p>
        </div>
      </form>
    </div>
  );
}
