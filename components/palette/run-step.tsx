'use client';
/** Runs a command in a sandbox from the palette and shows its answer in place. Closing the palette stops it. */
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { createClient } from '#lib/client/client.ts';
import type { ExecAnswer } from '#lib/contract/schema.ts';
import { outputText } from '../terminal/output-text.ts';
import { Elapsed } from '../ui/elapsed.tsx';
import { SCROLLABLE } from '../ui/scrollable.ts';
import { KeyHints } from './chooser.tsx';

const api = createClient({ url: '', key: null, retries: 0 });

type RunState =
  | { is: 'idle' }
  | { is: 'running'; command: string }
  | { is: 'stopped'; command: string }
  | { is: 'done'; command: string; answer: ExecAnswer }
  | { is: 'failed'; command: string; says: string; hint: string | null };

function AnswerText({ command, answer }: { command: string; answer: ExecAnswer }) {
  const { exit_code, took_ms, timed_out, truncated, woke } = answer;
  const output = `${outputText(answer.stdout, answer.stdout_encoding)}${outputText(answer.stderr, answer.stderr_encoding)}`;
  return (
    <div className={`outcome mx-4 my-3 ${exit_code === 0 ? '' : 'outcome-bad'}`}>
      <p className="text-small text-ink-2">
        <code>{command}</code> · exit {exit_code} · {took_ms < 10 ? took_ms.toFixed(1) : Math.round(took_ms)} ms
        {woke !== 'hot' && ` · woke from ${woke}`}
        {timed_out && ' · ended by its time limit'}
        {truncated && ' · its output was cut'}
      </p>
      {output === '' ? (
        <p className="mt-1 text-small text-ink-3">It printed nothing.</p>
      ) : (
        <figure
          {...SCROLLABLE}
          aria-label="What it printed"
          className="mt-1 max-h-[45vh] overflow-auto font-mono text-[0.8125rem]"
        >
          <pre className="font-mono whitespace-pre-wrap [overflow-wrap:anywhere]">{output}</pre>
        </figure>
      )}
    </div>
  );
}

/** `command`: runs at once; empty: one is typed first. */
export function RunStep({
  id,
  name,
  command: first,
  onBack,
}: {
  id: string;
  name: string;
  command: string;
  onBack: () => void;
}) {
  const [typed, setTyped] = useState(first);
  const [run, setRun] = useState<RunState>({ is: 'idle' });
  const stop = useRef<AbortController | null>(null);
  const field = useRef<HTMLInputElement | null>(null);

  const start = async (command: string) => {
    if (command.trim() === '') return;
    stop.current?.abort();
    const mine = new AbortController();
    stop.current = mine;
    setRun({ is: 'running', command });
    try {
      const answer = await api.execInInstance(id, { command }, { signal: mine.signal });
      setRun({ is: 'done', command, answer });
    } catch (error) {
      if (stop.current === mine && mine.signal.aborted) setRun({ is: 'stopped', command });
      if (mine.signal.aborted) return;
      const { message, hint } = error as { message: string; hint?: string | null };
      setRun({ is: 'failed', command, says: message, hint: hint ?? null });
    }
  };
  const begin = useRef(start);
  useEffect(() => {
    void begin.current(first);
    return () => {
      stop.current?.abort();
      stop.current = null;
    };
  }, [first]);

  const submit = (event: FormEvent) => {
    event.preventDefault();
    void start(typed);
  };
  return (
    <form className="palette-body" aria-busy={run.is === 'running'} onSubmit={submit}>
      <input
        ref={(input) => {
          field.current = input;
          if (input !== null && document.activeElement !== input && run.is === 'idle') input.focus();
        }}
        className="palette-field font-mono"
        aria-label={`A command to run in ${name}`}
        placeholder={`A command to run in ${name}`}
        autoComplete="off"
        spellCheck={false}
        value={typed}
        onChange={({ target }) => setTyped(target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Backspace' || typed !== '') return;
          event.preventDefault();
          onBack();
        }}
      />
      <div aria-live="polite">
        {run.is === 'running' && (
          <p className="palette-says">
            Running <code>{run.command}</code>… <Elapsed />
          </p>
        )}
        {run.is === 'stopped' && (
          <p className="palette-says">
            <code>{run.command}</code> is stopped. What it had written by then is kept.
          </p>
        )}
        {run.is === 'done' && <AnswerText command={run.command} answer={run.answer} />}
        {run.is === 'failed' && (
          <p className="palette-says complaint">
            {run.says} {run.hint}
          </p>
        )}
      </div>
      {run.is === 'running' && (
        <p className="px-4 pb-3">
          <button
            type="button"
            className="button button-quiet"
            onClick={() => {
              stop.current?.abort();
              // The button goes, and the keyboard with it.
              field.current?.focus();
            }}
          >
            Stop
          </button>
        </p>
      )}
      <KeyHints>
        <kbd className="key">Enter</kbd> runs it · <kbd className="key">Backspace</kbd> goes back ·{' '}
        <kbd className="key">Esc</kbd> closes and stops it
      </KeyHints>
    </form>
  );
}
