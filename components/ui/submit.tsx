'use client';
/** A submit button with another label while its form runs. Meanwhile the form’s buttons do nothing, and say so. */
import type { ReactNode, Ref } from 'react';
import { useFormStatus } from 'react-dom';

export function Submit({
  children,
  doing,
  className = 'button',
  name,
  value,
  describedBy,
  ref,
}: {
  children: ReactNode;
  /** The label while the form runs. */
  doing: string;
  className?: string;
  name?: string;
  value?: string;
  describedBy?: string;
  ref?: Ref<HTMLButtonElement>;
}) {
  const { pending, data } = useFormStatus();
  const mine = pending && (name === undefined || data?.get(name) === value);
  return (
    <button
      ref={ref}
      type="submit"
      className={className}
      name={name}
      value={value}
      aria-busy={mine}
      aria-disabled={pending || undefined}
      aria-describedby={describedBy}
      onClick={(event) => {
        if (pending) event.preventDefault();
      }}
    >
      {mine ? doing : children}
    </button>
  );
}
