'use client';
/** Shows the call of the button that has the focus or the pointer, as curl, command line and TypeScript, to copy. */
import { useEffect, useRef, useState } from 'react';
import { CallTexts } from './call-texts.tsx';
import { type ButtonCall, callOfButton } from './marked-call.ts';

export function CallPanel({ onClose }: { onClose: () => void }) {
  const panel = useRef<HTMLElement>(null);
  const [shown, setShown] = useState<ButtonCall | null>(() =>
    document.activeElement === null ? null : callOfButton(document.activeElement),
  );
  useEffect(() => {
    const look = ({ target }: Event) => {
      if (!(target instanceof Element) || panel.current?.contains(target) === true) return;
      const found = callOfButton(target);
      if (found !== null) setShown(found);
    };
    const input = () => {
      // What is typed into a form becomes part of its button's call.
      const active = document.activeElement;
      const submit = active?.closest('form')?.querySelector('[type="submit"]');
      if (submit !== null && submit !== undefined) setShown(callOfButton(submit));
    };
    document.addEventListener('focusin', look);
    document.addEventListener('pointerover', look);
    document.addEventListener('input', input);
    return () => {
      document.removeEventListener('focusin', look);
      document.removeEventListener('pointerover', look);
      document.removeEventListener('input', input);
    };
  }, []);
  return (
    <section ref={panel} className="call-panel" aria-label="The call of a button">
      <div className="page grid gap-2 py-3">
        <div className="flex items-baseline justify-between gap-4">
          <p className="min-w-0 truncate font-[560]" role="status">
            {shown === null ? 'Point at a button, or focus one: its call is shown here.' : shown.button}
          </p>
          <button type="button" className="button button-quiet flex-none" onClick={onClose}>
            Close <span className="sr-only">the panel of calls</span>
          </button>
        </div>
        {shown !== null && 'why' in shown && <p className="text-small text-ink-2">{shown.why}</p>}
        {shown !== null && 'call' in shown && <CallTexts call={shown.call} origin={window.location.origin} />}
      </div>
    </section>
  );
}
