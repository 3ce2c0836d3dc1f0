'use client';
/**
 * The editor of a workbook, with its plan and its problems beside it as one types. Without JavaScript a button checks
 * the source. Saving replaces exactly the version that was opened.
 */
import { startTransition, useActionState, useCallback, useEffect, useRef, useState } from 'react';
import type { PlanProblem } from '#lib/contract/schema.ts';
import { type ActionOutcome, Outcome } from '../ui/outcome.tsx';
import { useSaveKey } from '../ui/use-save-key.ts';
import { useUnsavedQuestion } from '../ui/use-unsaved-question.ts';
import { checkInWords } from './check-words.ts';
import type { PlanDrawing } from './plan-drawing.ts';
import { PlanGraph } from './plan-graph.tsx';
import { Problems } from './problems.tsx';
import { SourceEditor, type SourceEditorHandle } from './source-editor.tsx';

/** What a source declares, as far as the page shows it. */
export interface SourceCheck {
  title: string | null;
  components: number;
  problems: PlanProblem[];
  /** Null when it has problems. */
  drawing: PlanDrawing | null;
}

/** What the check's address answers. */
export type CheckAnswer = { check: SourceCheck } | { refusal: { says: string; hint?: string } };

export interface EditorState {
  text: string;
  /** The version that saving replaces; 0: there must be none. */
  version: number;
  /** A version that somebody else saved meanwhile. */
  newer: number | null;
  check: SourceCheck;
  outcome: ActionOutcome | null;
}

export type SaveAction = (previous: EditorState, form: FormData) => Promise<EditorState>;

/** A source is checked when typing pauses for this long. */
const PAUSE_MS = 300;
const LOST: ActionOutcome = {
  ok: false,
  says: 'The source could not be checked: the server did not answer.',
  hint: 'It is checked again at the next change. What is typed stays here.',
};

/** Checks a text after each pause. Returns the last check, whether one is under way, and why there was none. */
function useLiveCheck(address: string, text: string, { text: given, check }: EditorState) {
  const [latest, setLatest] = useState({ text: given, check });
  const [refusal, setRefusal] = useState<ActionOutcome | null>(null);
  useEffect(() => {
    setLatest({ text: given, check });
    setRefusal(null);
  }, [given, check]);
  const isLatest = latest.text === text;
  useEffect(() => {
    if (isLatest) return;
    const stop = new AbortController();
    const timer = setTimeout(async () => {
      try {
        const response = await fetch(address, {
          method: 'POST',
          headers: { 'content-type': 'text/org' },
          body: text,
          signal: stop.signal,
        });
        const answer = (await response.json()) as CheckAnswer;
        if ('check' in answer) setLatest({ text, check: answer.check });
        setRefusal('check' in answer ? null : { ok: false, ...answer.refusal });
      } catch {
        if (!stop.signal.aborted) setRefusal(LOST);
      }
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [address, text, isLatest]);
  return { check: latest.check, refusal, checking: !isLatest && refusal === null };
}

/** The newest drawing, kept while the source has problems. */
function useLastDrawing({ drawing }: SourceCheck): PlanDrawing | null {
  const last = useRef(drawing);
  if (drawing !== null) last.current = drawing;
  return last.current;
}

export function WorkbookEditor({
  start,
  action,
  checkAddress,
}: {
  start: EditorState;
  action: SaveAction;
  /** Where a source is posted to be checked. */
  checkAddress: string;
}) {
  const [state, submit, saving] = useActionState(action, start);
  const [text, setText] = useState(state.text);
  const { check, refusal, checking } = useLiveCheck(checkAddress, text, state);
  const drawing = useLastDrawing(check);
  const editor = useRef<SourceEditorHandle>(null);
  const goTo = useCallback((line: number, column: number) => editor.current?.goTo(line, column), []);
  const isSaved = state.outcome?.ok === true ? text === state.text : text === start.text;
  const save = useRef<HTMLButtonElement>(null);
  useUnsavedQuestion(() => !isSaved);
  useSaveKey(save);
  return (
    <form
      action={submit}
      onSubmit={(event) => {
        // React empties a form that it submits itself: what is typed meanwhile would be lost.
        event.preventDefault();
        if (saving) return;
        const form = new FormData(event.currentTarget, (event.nativeEvent as SubmitEvent).submitter);
        startTransition(() => submit(form));
      }}
      className="grid items-start gap-x-8 gap-y-6 lg:grid-cols-[minmax(0,1.15fr)_minmax(0,1fr)]"
    >
      <input type="hidden" name="version" value={state.version} />
      <div className="grid min-w-0 gap-3">
        <label htmlFor="source-text" className="field-name !mb-0">
          Source, in org
        </label>
        <SourceEditor
          ref={editor}
          id="source-text"
          name="text"
          text={text}
          defaultText={state.text}
          badLines={check.problems.map(({ line }) => line)}
          describedBy="source-status"
          onText={setText}
        />
        <div className="flex flex-wrap items-center gap-3">
          <button ref={save} type="submit" className="button button-ink" name="do" value="save" aria-busy={saving}>
            {saving ? 'Saving it…' : 'Save'}
          </button>
          {state.newer !== null && (
            <button type="submit" className="button button-fault" name="over" value={state.newer}>
              Save over the newer one
            </button>
          )}
          <noscript>
            <button type="submit" className="button" name="do" value="check">
              Check it
            </button>
          </noscript>
          {state.version > 0 && <span className="text-small text-ink-3">version {state.version} was opened</span>}
        </div>
        <Outcome outcome={state.outcome} />
      </div>
      <section aria-label="Plan" className="grid min-w-0 gap-4">
        <p className="text-small text-ink-2" role="status" id="source-status">
          {checking ? 'Checking…' : checkInWords(check)}
        </p>
        <Outcome outcome={refusal} />
        <Problems problems={check.problems} hrefOf={() => '#source-text'} onLine={goTo} source={text} />
        {drawing !== null && (
          <div>
            {check.drawing === null && <p className="mb-2 text-small text-ink-3">The plan before the problems:</p>}
            <PlanGraph drawing={drawing} links={{ hrefOf: () => null }} />
          </div>
        )}
      </section>
    </form>
  );
}
