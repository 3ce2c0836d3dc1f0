'use client';
/** An id with a button that copies it. Without JavaScript it is plain text that one click selects whole. */
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
        // The button takes its room before the browser knows that it can copy, so that nothing beside it moves.
        <button
          type="button"
          className={`button button-quiet !min-h-6 w-16 ${state === 'unknown' ? 'invisible' : ''}`}
          aria-label={label ?? `Copy the id ${id}`}
          onClick={() => {
            navigator.clipboard.writeText(id).then(
              () => setState('copied'),
              // The browser refused: the id can still be selected by hand.
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
