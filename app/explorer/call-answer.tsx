'use client';
/** What a call answered: status, time, the headers that matter, the text, and a link that saves all of it. */
import { useEffect, useState } from 'react';
import { SCROLLABLE } from '#components/ui/scrollable.ts';
import type { CallAnswer } from './send-call.ts';

/** The address of an answer in this browser, as long as it is shown. */
function useObjectUrl(blob: Blob): string | null {
  const [url, setUrl] = useState<string | null>(null);
  useEffect(() => {
    const made = URL.createObjectURL(blob);
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [blob]);
  return url;
}

export function AnswerView({ answer }: { answer: CallAnswer }) {
  const { status, tookMs, headers, text, bytes, blob, fileName } = answer;
  const url = useObjectUrl(blob);
  const ok = status < 400;
  return (
    <div className={`outcome grid min-w-0 gap-2 ${ok ? '' : 'outcome-bad'}`}>
      <p className="flex flex-wrap items-baseline gap-x-3">
        <strong className={ok ? 'font-[580] text-good-ink' : 'font-[580] text-fault-ink'}>{status}</strong>
        <span className="text-small text-ink-2">
          {tookMs < 10 ? tookMs.toFixed(1) : Math.round(tookMs)} ms · {bytes.toLocaleString('en')} bytes
        </span>
        {url !== null && bytes > 0 && (
          <a href={url} download={fileName} className="text-small">
            Save the answer
          </a>
        )}
      </p>
      {headers.length > 0 && (
        <p className="text-small text-ink-2 [overflow-wrap:anywhere]">
          {headers.map(([name, value]) => (
            <span key={name} className="block">
              <code>{name}</code>: {value}
            </span>
          ))}
        </p>
      )}
      {text === null && <p className="text-small text-ink-2">Bytes that are no text: save them to look at them.</p>}
      {text !== null && text !== '' && (
        <figure
          {...SCROLLABLE}
          aria-label="The answer"
          className="max-h-96 overflow-auto rounded border border-rule-2 bg-sheet p-3 font-mono text-[0.8125rem]"
        >
          <pre className="font-mono whitespace-pre-wrap [overflow-wrap:anywhere]">{text}</pre>
        </figure>
      )}
    </div>
  );
}
