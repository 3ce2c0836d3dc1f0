'use client';
/** A text of several lines with a button that copies it. */
import { useEffect, useState } from 'react';

export function CopyText({ text, label }: { text: string; label: string }) {
  const [state, setState] = useState<'able' | 'copied' | 'refused'>('able');
  useEffect(() => {
    if (state !== 'copied') return;
    const timer = setTimeout(() => setState('able'), 2000);
    return () => clearTimeout(timer);
  }, [state]);
  return (
    <button
      type="button"
      className="button button-quiet w-20"
      aria-label={label}
      onClick={() => {
        if (navigator.clipboard === undefined) return setState('refused');
        navigator.clipboard.writeText(text).then(
          () => setState('copied'),
          // The browser refused: the text can still be selected by hand.
          () => setState('refused'),
        );
      }}
    >
      <span aria-live="polite">{state === 'copied' ? 'Copied' : state === 'refused' ? 'Refused' : 'Copy'}</span>
    </button>
  );
}
