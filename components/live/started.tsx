'use client';
/** How many sandboxes of a new batch have started, live. */
import { useStartedCount } from './live-data.tsx';

/** `requestId`: of the call that made them. `ended`: no more will start. `problem`: why some did not. */
export function LiveStarted({
  requestId,
  started,
  total,
  ended,
  problem,
}: {
  requestId: string;
  started: number;
  total: number;
  ended: boolean;
  problem: string | null;
}) {
  const now = Math.min(total, useStartedCount(requestId, started));
  return (
    <div className="mb-5 max-w-2xl" role="status" aria-busy={!ended && now < total}>
      <p className="mb-2">
        {now.toLocaleString('en')} of {total.toLocaleString('en')} started
        {!ended && now < total && ', the others are on their way'}
        {ended && now < total && '; the others start at their first request'}.
      </p>
      <progress className="progress" aria-label="Started so far" max={total} value={now} />
      {problem !== null && ended && now < total && (
        <p className="mt-2 text-small text-fault-ink [overflow-wrap:anywhere]">{problem}</p>
      )}
    </div>
  );
}
