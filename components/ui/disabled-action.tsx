/** A disabled button with the reason, in words. */

export function DisabledAction({
  id,
  label,
  whyNot,
  quiet = false,
}: {
  id: string;
  label: string;
  whyNot: string;
  /** Draws it small, like the buttons beside it. */
  quiet?: boolean;
}) {
  return (
    <div className="flex flex-wrap items-center gap-x-4 gap-y-1">
      <button
        type="button"
        className={quiet ? 'button button-quiet' : 'button'}
        disabled
        aria-describedby={`${id}-why-not`}
      >
        {label}
      </button>
      <p className="text-small text-ink-3" id={`${id}-why-not`}>
        {whyNot}
      </p>
    </div>
  );
}
