'use client';
/**
 * Choosing rows with scripts: a checkbox that ticks every row of the page, Shift for all rows between two clicks, and
 * the number of rows that are ticked. Without scripts each row is ticked by itself.
 */
import { useEffect, useState } from 'react';
import { sandboxesInWords } from '../../components/jobs/job-words.ts';

function boxes(form: string): HTMLInputElement[] {
  return [...document.querySelectorAll<HTMLInputElement>(`input[name="id"][form="${form}"]`)];
}

/** How many rows are ticked, of how many; null before scripts run. */
function useTicked(form: string): { ticked: number; of: number } | null {
  const [count, setCount] = useState<{ ticked: number; of: number } | null>(null);
  useEffect(() => {
    const look = () => {
      const all = boxes(form);
      setCount({ ticked: all.filter(({ checked }) => checked).length, of: all.length });
    };
    look();
    document.addEventListener('change', look);
    return () => document.removeEventListener('change', look);
  }, [form]);
  return count;
}

/** With Shift, a click gives every row since the last one what the clicked one has. */
function useRanges(form: string): void {
  useEffect(() => {
    let last: HTMLInputElement | null = null;
    const click = ({ target, shiftKey }: MouseEvent) => {
      if (!(target instanceof HTMLInputElement) || target.name !== 'id') return;
      // The form's own `id` is hidden by its fields of that name.
      if (target.getAttribute('form') !== form) return;
      const all = boxes(form);
      const [from, to] = [last === null ? -1 : all.indexOf(last), all.indexOf(target)];
      if (shiftKey && from >= 0) {
        for (const box of all.slice(Math.min(from, to), Math.max(from, to) + 1)) box.checked = target.checked;
      }
      last = target;
    };
    document.addEventListener('click', click);
    return () => document.removeEventListener('click', click);
  }, [form]);
}

export function SelectAll({ form }: { form: string }) {
  const count = useTicked(form);
  useRanges(form);
  return (
    <>
      <span className="sr-only">Chosen</span>
      {count !== null && (
        <input
          type="checkbox"
          className="size-4 flex-none accent-ink"
          aria-label="Choose every row of this page"
          checked={count.of > 0 && count.ticked === count.of}
          onChange={({ target }) => {
            for (const box of boxes(form)) box.checked = target.checked;
          }}
        />
      )}
    </>
  );
}

/** `3 sandboxes ticked`; how to tick them, while none is. */
export function TickedCount({ form }: { form: string }) {
  const count = useTicked(form);
  return (
    <span className="text-small text-ink-3" aria-live="polite">
      {count === null || count.ticked === 0 ? (
        'or the rows ticked below'
      ) : (
        <>
          or <span className="font-[540] text-ink">{sandboxesInWords(count.ticked)} ticked</span>
        </>
      )}
    </span>
  );
}
