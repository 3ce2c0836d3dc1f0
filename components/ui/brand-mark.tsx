/** The sign of Winterdock: a quay, and three drawers beneath it. */
export function BrandMark({ size = 22 }: { size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 22 22" aria-hidden="true" focusable="false">
      <g stroke="currentColor" strokeWidth="1.4">
        <rect x="1" y="2" width="20" height="8" rx="2" fill="var(--active)" />
        <rect x="1" y="14" width="4.8" height="6" rx="1.2" fill="var(--suspended)" />
        <rect x="8.6" y="14" width="4.8" height="6" rx="1.2" fill="var(--frozen)" />
        <rect x="16.2" y="14" width="4.8" height="6" rx="1.2" fill="var(--archived)" />
      </g>
    </svg>
  );
}
