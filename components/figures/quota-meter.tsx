/** How much of a quota is used: a bar and words. Only words where there is no limit. */

const WIDTH = 1000;
const HEIGHT = 8;

/** `used` and `limit` in the same unit; `inWords` formats them. */
export function QuotaMeter({
  name,
  used,
  limit,
  inWords,
}: {
  name: string;
  used: number;
  limit: number | null;
  inWords: (amount: number) => string;
}) {
  const full = limit !== null && used >= limit;
  const share = limit === null ? 0 : limit === 0 ? 1 : Math.min(1, used / limit);
  return (
    <div className="grid content-start gap-1.5">
      <p className="text-small text-ink-3">{name}</p>
      <p className="text-[1.375rem] leading-tight tracking-[-0.015em]">
        {inWords(used)}{' '}
        <span className="text-small tracking-normal text-ink-2">
          {limit === null ? 'no limit' : `of ${inWords(limit)}`}
        </span>
      </p>
      {limit !== null && (
        <svg
          viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
          preserveAspectRatio="none"
          className="block h-2 w-full"
          aria-hidden="true"
          focusable="false"
        >
          <rect x={0} y={0} width={WIDTH} height={HEIGHT} fill="var(--wash)" />
          <rect x={0} y={0} width={WIDTH * share} height={HEIGHT} fill={full ? 'var(--fault)' : 'var(--ink-2)'} />
        </svg>
      )}
      {full && (
        <p className="text-small text-fault-ink">{used > limit ? 'Over the limit: it gets no more.' : 'Used up.'}</p>
      )}
    </div>
  );
}
