'use client';
/** The states of one sandbox, live: the strip, and the diagram that it opens. */
import type { Instance } from '#lib/contract/schema.ts';
import { SandboxDiagram } from '../figures/state-diagram.tsx';
import { StateStrip } from '../figures/state-strip.tsx';
import { useStreamedInstance } from './live-data.tsx';

interface Props {
  instance: Instance;
  /** The server's time in epoch seconds. */
  rendered: number;
}

/** The strip of states. */
export function LiveStateStrip({ instance, rendered }: Props) {
  const { state, thermal, fault, ephemeral } = useStreamedInstance(instance, rendered);
  return <StateStrip current={state} warm={thermal === 'warm'} fault={fault} ephemeral={ephemeral} />;
}

/** The diagram. */
export function LiveSandboxDiagram({ instance, rendered }: Props) {
  const { state, thermal, ephemeral } = useStreamedInstance(instance, rendered);
  return <SandboxDiagram current={state} temperature={thermal === 'warm' ? 'warm' : 'hot'} ephemeral={ephemeral} />;
}
