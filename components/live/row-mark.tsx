'use client';
/** The live mark of a sandbox's state, for lists that say the rest themselves. */
import type { Instance } from '#lib/contract/schema.ts';
import { StateMark } from '../sandbox/state-mark.tsx';
import { useStreamedInstance } from './live-data.tsx';

interface Props {
  instance: Instance;
  /** The server's time in epoch seconds. */
  rendered: number;
}

/** The state mark alone. */
export function RowMark({ instance, rendered, size, className }: Props & { size: number; className: string }) {
  const row = useStreamedInstance(instance, rendered);
  return (
    <StateMark state={row.state} fault={row.fault} warm={row.thermal === 'warm'} size={size} className={className} />
  );
}
