'use client';
/** An id that can be taken along with one click. Without JavaScript it is plain text, selected as a whole. */
import { useEffect, useState } from 'react';

/** `label` names the button where the text itself should not be read out: `Copy the key`. */
export function CopyId({ id, className, label }: { id: string; className?: string; label?: string }) {
  const [state, setState] = useState<'unknown' | 'refused' | 'able' | 'copied'>('unknown');

  useEffect(() => {
    setState(navigator.clipboard === undefined ? 'refused' : 'able');
  }, []);

  useEffect(() => {
    if (state !== 'copied') return;
    const timer = setTimeout(() => setState('able'), 2000);
    return () => clearTimeout(timer);
  }, [state]);

  return (
    <span className={`inline-flex max-w-full items-baseline gap-2 ${className ?? ''}`}>
      <code className="min-w-0 select-all [overflow-wrap:anywhere]">{id}</code>
      {state !== 'refused' && (
        // It has its place before the browser says that it can, so that nothing beside it moves.
        <button
          type="button"
          className={`button button-quiet !min-h-6 w-16 ${state === 'unknown' ? 'invisible' : ''}`}
          aria-label={label ?? `Copy the id ${id}`}
          onClick={() => {
            navigator.clipboard.writeText(id).then(
              () => setState('copied'),
              // Refused by the browser: the id is still there to be selected by hand.
              () => setState('refused'),
            );
          }}
        >
          <span aria-live="polite">{state === 'copied' ? 'Copied' : 'Copy'}</span>
        </button>
      )}
    </span>
  );
}
