'use client';
/**
 * Edits a small text file in place. Saving replaces exactly the version that was opened; a refusal keeps what was
 * typed.
 */
import Link from 'next/link';
import { useActionState, useEffect, useRef } from 'react';
import { type ActionOutcome, Outcome } from '../ui/outcome.tsx';
import { Submit } from '../ui/submit.tsx';
import { useSaveKey } from '../ui/use-save-key.ts';
import { useUnsavedQuestion } from '../ui/use-unsaved-question.ts';

export interface EditState {
  text: string;
  /** The version that saving replaces. */
  etag: string;
  /** A version that somebody else saved meanwhile. */
  newer: string | null;
  outcome: ActionOutcome | null;
}

export type EditAction = (previous: EditState, form: FormData) => Promise<EditState>;

export function FileEditor({
  title,
  text,
  etag,
  lineEnd,
  action,
  done,
}: {
  /** The file's path with its volume. */
  title: string;
  text: string;
  etag: string;
  lineEnd: '\n' | '\r\n';
  action: EditAction;
  /** Where Done leads: the page of the file. */
  done: string;
}) {
  const [state, submit] = useActionState(action, { text, etag, newer: null, outcome: null });
  const area = useRef<HTMLTextAreaElement>(null);
  const save = useRef<HTMLButtonElement>(null);
  const saved = useRef(text);
  if (state.outcome?.ok) saved.current = state.text;
  useUnsavedQuestion(() => area.current !== null && area.current.value !== saved.current);
  useSaveKey(save);
  useEffect(() => area.current?.focus({ preventScroll: true }), []);
  return (
    <form action={submit} className="min-w-0 rounded border border-rule-2 bg-sheet">
      <div className="border-b border-rule px-4 py-2">
        <label htmlFor="edit-text" className="text-[0.8125rem] font-[560] [overflow-wrap:anywhere]">
          <code>{title}</code>
        </label>
      </div>
      <input type="hidden" name="etag" value={state.etag} />
      {lineEnd === '\r\n' && <input type="hidden" name="windows" value="1" />}
      <textarea
        ref={area}
        id="edit-text"
        name="text"
        className="block min-h-[26rem] w-full resize-y bg-sheet px-4 py-3 font-mono text-[0.8125rem] leading-[1.55]"
        defaultValue={state.text}
        spellCheck={false}
        autoCapitalize="none"
        autoComplete="off"
      />
      <div className="grid gap-3 border-t border-rule px-4 py-3">
        <Outcome outcome={state.outcome} />
        <div className="flex flex-wrap items-center gap-3">
          <Submit ref={save} className="button button-ink" doing="Saving it…" name="over" value="">
            Save
          </Submit>
          {state.newer !== null && (
            <Submit className="button button-fault" doing="Saving it…" name="over" value={state.newer}>
              Save over the newer one
            </Submit>
          )}
          <Link href={done} prefetch={false} scroll={false} className="text-small">
            Back to the file
          </Link>
        </div>
      </div>
    </form>
  );
}
