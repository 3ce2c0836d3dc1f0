/** The fields of settings forms, each with a note or a complaint below. */
import type { ComponentProps, ReactNode } from 'react';

function Below({ id, note, error }: { id: string; note?: ReactNode; error?: string }) {
  if (error !== undefined) {
    return (
      <p id={id} className="complaint mt-1">
        {error}
      </p>
    );
  }
  return note === undefined ? null : (
    <p id={id} className="mt-1 text-small text-ink-3">
      {note}
    </p>
  );
}

interface Labelled {
  id: string;
  label: string;
  note?: ReactNode;
  error?: string;
}

export function InputField({ id, label, note, error, ...input }: Labelled & ComponentProps<'input'>) {
  return (
    <div className="block min-w-0">
      <label className="field-name" htmlFor={id}>
        {label}
      </label>
      <input
        id={id}
        className="input"
        aria-invalid={error !== undefined}
        aria-describedby={note === undefined && error === undefined ? undefined : `${id}-note`}
        {...input}
      />
      <Below id={`${id}-note`} note={note} error={error} />
    </div>
  );
}

export function SelectField({
  id,
  label,
  note,
  error,
  options,
  ...select
}: Labelled & ComponentProps<'select'> & { options: readonly { value: string; label: string }[] }) {
  return (
    <div className="block min-w-0">
      <label className="field-name" htmlFor={id}>
        {label}
      </label>
      <select
        id={id}
        className="input"
        aria-invalid={error !== undefined}
        aria-describedby={note === undefined && error === undefined ? undefined : `${id}-note`}
        {...select}
      >
        {options.map(({ value, label: says }) => (
          <option key={value} value={value}>
            {says}
          </option>
        ))}
      </select>
      <Below id={`${id}-note`} note={note} error={error} />
    </div>
  );
}
