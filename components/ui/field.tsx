/** One form field: its label, the control, and below it a note or the error about its value. */
import type { ReactNode } from 'react';

interface ControlProps {
  id: string;
  name: string;
  'aria-invalid': boolean | undefined;
  'aria-describedby': string | undefined;
}

/** `form` keeps ids apart where a page has several forms with a field of this name. */
export function Field({
  form,
  name,
  title,
  note,
  error,
  className = '',
  children,
}: {
  form: string;
  name: string;
  title: ReactNode;
  note?: ReactNode;
  error?: string;
  className?: string;
  children: (props: ControlProps) => ReactNode;
}) {
  const id = `field-${form}-${name}`;
  const message = error ?? note;
  return (
    <div className={`block min-w-0 ${className}`}>
      <label className="field-name" htmlFor={id}>
        {title}
      </label>
      {children({
        id,
        name,
        'aria-invalid': error === undefined ? undefined : true,
        'aria-describedby': message === undefined ? undefined : `${id}-note`,
      })}
      {message !== undefined && (
        <p id={`${id}-note`} className={error === undefined ? 'mt-1 text-small text-ink-3' : 'complaint mt-1'}>
          {message}
        </p>
      )}
    </div>
  );
}
