'use client';
/** The live status of a sandbox: in a row, in its page's headline, in its diagram. */
import type { Instance } from '#lib/contract/schema.ts';
import { SandboxDiagram } from '../figures/state-diagram.tsx';
import { StateMark } from '../sandbox/state-mark.tsx';
import { headlineWord } from '../sandbox/state-words.ts';
import { exactMoment, timeOfDay } from '../ui/durations.ts';
import { Headline, HeadlineDetail } from './headline.tsx';
import { useStreamedInstance } from './live-data.tsx';

interface Props {
  instance: Instance;
  /** The server's time in epoch seconds. */
  rendered: number;
}

/** Mark and headline on one line, for a row. */
export function RowStatus({ instance, rendered }: Props) {
  const row = useStreamedInstance(instance, rendered);
  return (
    <span className="inline-flex items-baseline gap-2">
      <StateMark
        state={row.state}
        fault={row.fault}
        warm={row.thermal === 'warm'}
        size={15}
        className="flex-none translate-y-[0.1875rem]"
      />
      <span>
        <Headline instance={row} rendered={rendered} />
      </span>
    </span>
  );
}

/** The state mark alone. */
export function RowMark({ instance, rendered, size, className }: Props & { size: number; className: string }) {
  const row = useStreamedInstance(instance, rendered);
  return (
    <StateMark state={row.state} fault={row.fault} warm={row.thermal === 'warm'} size={size} className={className} />
  );
}

/** The headline of a page. */
export function TitleStatus({ instance, rendered }: Props) {
  const row = useStreamedInstance(instance, rendered);
  return (
    <span className="headline mt-1.5 block">
      <StateMark
        state={row.state}
        fault={row.fault}
        warm={row.thermal === 'warm'}
        size={36}
        className="mr-3 inline-block h-[0.82em] w-[0.82em] align-[-0.07em]"
      />
      {headlineWord(row)}{' '}
      <span className="quiet quiet-half">
        <span className="dot">· </span>
        <HeadlineDetail instance={row} rendered={rendered} />
      </span>
    </span>
  );
}

/** That its process is paused, and what continues it; nothing while it is not. */
export function WarmNote({ instance, rendered }: Props) {
  const { warm_since: since } = useStreamedInstance(instance, rendered);
  if (since === null) return null;
  return (
    <p className="mt-1 max-w-2xl text-ink-2">
      Its process is paused in memory since{' '}
      <time dateTime={new Date(since * 1000).toISOString()} title={exactMoment(since)}>
        {timeOfDay(since)}
      </time>
      : it takes no processor time, and the next request continues it in a few milliseconds.
    </p>
  );
}

/** The diagram of one sandbox. */
export function LiveSandboxDiagram({ instance, rendered }: Props) {
  const { state, thermal, ephemeral } = useStreamedInstance(instance, rendered);
  return <SandboxDiagram current={state} temperature={thermal === 'warm' ? 'warm' : 'hot'} ephemeral={ephemeral} />;
}
