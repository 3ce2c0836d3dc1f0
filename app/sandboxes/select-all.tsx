'use client';
/**
 * A checkbox that ticks every row of the page. It appears once scripts run; without them each row is ticked by itself.
 */
import { useEffect, useState } from 'react';

function boxes(form: string): HTMLInputElement[] {
  return [...document.querySelectorAll<HTMLInputElement>(`input[name="id"][form="${form}"]`)];
}

export function SelectAll({ form }: { form: string }) {
  const [ready, setReady] = useState(false);
  const [all, setAll] = useState(false);
  useEffect(() => {
    setReady(true);
    const look = () => {
      const every = boxes(form);
      setAll(every.length > 0 && every.every(({ checked }) => checked));
    };
    document.addEventListener('change', look);
    return () => document.removeEventListener('change', look);
  }, [form]);
  return (
    <>
      <span className="sr-only">Chosen</span>
      {ready && (
        <input
          type="checkbox"
          className="check"
          aria-label="Choose every row of this page"
          checked={all}
          onChange={(event) => {
            for (const box of boxes(form)) box.checked = event.target.checked;
            setAll(event.target.checked);
          }}
        />
      )}
    </>
  );
}
