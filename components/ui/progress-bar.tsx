/** A native progress bar with its words beside it. */
export function ProgressBar({ label, value, max }: { label: string; value: number; max: number }) {
  return (
    <div className="flex items-center gap-4">
      <progress className="progress min-w-0 flex-1" aria-label={label} value={value} max={Math.max(1, max)} />
      <span className="flex-none text-small text-ink-2">
        {value.toLocaleString('en')} of {max.toLocaleString('en')}
      </span>
    </div>
  );
}
