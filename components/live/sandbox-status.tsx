'use client';
/** The live status of a sandbox: in a row, in its page's headline, in its diagram. */
import type { Instance } from '#lib/contract/schema.ts';
import { SandboxDiagram } from '../figures/state-diagram.tsx';
import { StateMark } from '../sandbox/state-mark.tsx';
import { headlineWord } from '../sandbox/state-words.ts';
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
      <StateMark state={row.state} fault={row.fault} size={15} className="flex-none translate-y-[0.1875rem]" />
      <span>
        <Headline instance={row} rendered={rendered} />
      </span>
    </span>
  );
}

/** The state mark alone. */
export function RowMark({ instance, rendered, size, className }: Props & { size: number; className: string }) {
  const row = useStreamedInstance(instance, rendered);
  return <StateMark state={row.state} fault={row.fault} size={size} className={className} />;
}

/** The headline of a page. */
export function TitleStatus({ instance, rendered }: Props) {
  const row = useStreamedInstance(instance, rendered);
  return (
    <span className="headline mt-1.5 block">
      <StateMark
        state={row.state}
        fault={row.fault}
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

/** The diagram of one sandbox. */
export function LiveSandboxDiagram({ instance, rendered }: Props) {
  const { state, ephemeral } = useStreamedInstance(instance, rendered);
  return <SandboxDiagram current={state} ephemeral={ephemeral} />;
}
