'use client';
/** How far the replica of a sandbox is, in words that go on while its page is open. */
import { lengthInWords } from '#components/ui/durations.ts';
import { useNow } from '#components/ui/use-now.ts';
import { recoveryInWords } from '#lib/contract/recovery-words.ts';
import type { Instance } from '#lib/contract/schema.ts';
import { useInstance } from './live-data.tsx';

/** A commit writes no ledger line, so that the stream says nothing of a lag. */
const LOOK_MS = 3000;

const pace = ({ recovery_point: { as } }: Instance) => (as === 'live' ? LOOK_MS : false);

/** `rendered`: the server's time in epoch seconds. */
export function RecoveryWords({ instance, rendered }: { instance: Instance; rendered: number }) {
  const row = useInstance(instance, rendered, pace);
  const now = useNow(rendered);
  return <span data-recovery={row.recovery_point.as}>{recoveryInWords(row, now, lengthInWords)}</span>;
}
