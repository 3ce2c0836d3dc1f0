'use client';
/** One call as curl, command line and TypeScript, one of them shown, each to copy. */
import { useId, useState } from 'react';
import { curlText, type SampleCall, typeScriptText } from '#lib/client/call-text.ts';
import { commandText } from '#lib/client/command-lines.ts';
import { SCROLLABLE } from '../ui/scrollable.ts';
import { CopyText } from './copy-text.tsx';

const FORMS = ['curl', 'Command line', 'TypeScript'] as const;
type CallForm = (typeof FORMS)[number];

function textOf(form: CallForm, call: SampleCall, origin: string): string | null {
  if (form === 'curl') return curlText(call, origin);
  return form === 'TypeScript' ? typeScriptText(call, origin) : commandText(call);
}

/** `origin`: the server's address, as others reach it. */
export function CallTexts({ call, origin }: { call: SampleCall; origin: string }) {
  const [form, setForm] = useState<CallForm>('curl');
  const name = useId();
  const text = textOf(form, call, origin);
  return (
    <div className="min-w-0">
      <div className="flex flex-wrap items-center gap-2">
        <fieldset className="flex flex-wrap gap-1">
          <legend className="sr-only">Shown as</legend>
          {FORMS.map((each) => (
            <label
              key={each}
              className={`button button-quiet cursor-pointer has-focus-visible:outline-2 ${each === form ? '!border-ink' : ''}`}
            >
              <input
                type="radio"
                className="sr-only"
                name={name}
                checked={each === form}
                onChange={() => setForm(each)}
              />
              {each}
            </label>
          ))}
        </fieldset>
        {text !== null && <CopyText text={text} label={`Copy as ${form}`} />}
      </div>
      {text === null ? (
        <p className="mt-2 text-small text-ink-2">No command does exactly this call. curl and the client do.</p>
      ) : (
        <figure
          {...SCROLLABLE}
          aria-label={`The call as ${form}`}
          className="mt-2 max-h-72 overflow-auto rounded border border-rule-2 bg-sheet p-3 font-mono text-[0.8125rem] leading-relaxed"
        >
          <pre className="font-mono">{text}</pre>
        </figure>
      )}
    </div>
  );
}
