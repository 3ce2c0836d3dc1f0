/**
 * The icon of a copy: a sealed card for a snapshot, a drawn sheet for a blueprint. Decorative: the name stands beside
 * it.
 */
export function CopyMark({
  kind,
  size = 16,
  x,
  y,
  className,
}: {
  kind: 'snapshot' | 'blueprint';
  /** Pixels, or units of the drawing that contains it. */
  size?: number;
  x?: number;
  y?: number;
  className?: string;
}) {
  return (
    <svg
      x={x}
      y={y}
      width={size}
      height={size}
      viewBox="0 0 16 16"
      aria-hidden="true"
      focusable="false"
      className={className}
    >
      {kind === 'snapshot' ? (
        <>
          <path
            d="M2 2h9.5L14 4.5V14H2z"
            fill="var(--workspace)"
            stroke="currentColor"
            strokeWidth="1.25"
            strokeLinejoin="round"
          />
          <path d="M5 2v3.5h5V2M4.5 14V9h7v5" fill="none" stroke="var(--on-colour)" strokeWidth="1.1" />
        </>
      ) : (
        <>
          <path
            d="M2.5 1.5H10l3.5 3.5v9.5h-11z"
            fill="var(--blueprint)"
            stroke="currentColor"
            strokeWidth="1.25"
            strokeLinejoin="round"
          />
          <path d="M5 8h6M5 11h6M8 6v7" fill="none" stroke="var(--on-colour)" strokeWidth="1" />
        </>
      )}
    </svg>
  );
}
