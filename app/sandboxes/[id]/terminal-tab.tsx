/** The Terminal tab: the terminal, or why no command can run. */

import { RELEASE_MINUTES } from '#components/terminal/attachment-timer.ts';
import { Terminal } from '#components/terminal/terminal.tsx';
import { PageSection } from '#components/ui/page-section.tsx';
import type { Caller } from '#lib/auth/caller.ts';
import { whyNot } from '#lib/contract/access.ts';
import type { Instance } from '#lib/contract/schema.ts';
import { languagesOf } from '../policies.ts';
import { runCommand } from './exec-actions.ts';
import { wakeNote, whyUnusable } from './why-not.ts';

/** Why no command can run in it now, or null. */
function whyNoCommands(caller: Caller, instance: Instance): string | null {
  const { tenant, policy } = instance;
  const reason = whyNot(caller, 'exec', { tenant }) ?? whyUnusable('command', instance);
  if (reason !== null || languagesOf(policy).length > 0) return reason;
  return `Its policy “${policy}” has no shell: give it another one first.`;
}

export function TerminalTab({ caller, instance }: { caller: Caller; instance: Instance }) {
  const { id, state, policy } = instance;
  return (
    <PageSection
      id="terminal"
      name="Terminal"
      margin={false}
      note={`A shell over the volumes. While it is open and in use, the sandbox stays awake; after ${RELEASE_MINUTES} min without a key or output it may sleep again.`}
    >
      <Terminal
        id={id}
        person={caller.actor}
        state={state}
        action={runCommand.bind(null, id)}
        languages={languagesOf(policy)}
        blocked={whyNoCommands(caller, instance)}
        wakes={wakeNote('command', instance)}
      />
    </PageSection>
  );
}
