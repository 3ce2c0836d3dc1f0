/** The tab of the terminal: who may type into it, and what typing does besides. */

import { RELEASE_MINUTES } from '#components/terminal/attachment-timer.ts';
import { Terminal } from '#components/terminal/terminal.tsx';
import { PageSection } from '#components/ui/page-section.tsx';
import type { Caller } from '#lib/auth/caller.ts';
import { whyNot } from '#lib/contract/access.ts';
import type { Instance } from '#lib/contract/schema.ts';
import { isBlocking } from '#lib/lifecycle/words.ts';
import { languagesOf } from '../policies.ts';
import { runCommand } from './exec-actions.ts';

/** Why no command can run in it now, or null. */
function whyNoCommands({ state, fault, policy }: Instance): string | null {
  if (isBlocking(fault)) return 'Its fault stops every command. The ways out of it are above.';
  if (state === 'archived') return 'It is archived, and a command does not revive it: revive it first.';
  return languagesOf(policy).length === 0 ? `Its policy “${policy}” has no shell: give it another one first.` : null;
}

/** What running a command does besides, or null. */
function wakes({ state, pending }: Instance): string | null {
  if (state === 'active' || pending === 'resume') return null;
  return state === 'created'
    ? 'Running a command wakes it for the first time.'
    : `It is ${state}: running a command wakes it.`;
}

export function TerminalTab({ caller, instance }: { caller: Caller; instance: Instance }) {
  const { id, tenant, state, policy } = instance;
  return (
    <PageSection
      id="terminal"
      name="Terminal"
      margin={false}
      note={`A shell over the volumes. While it is open and used, nothing puts the sandbox to sleep; after ${RELEASE_MINUTES} min without a key or output it lets go.`}
    >
      <Terminal
        id={id}
        person={caller.actor}
        state={state}
        action={runCommand.bind(null, id)}
        languages={languagesOf(policy)}
        blocked={whyNot(caller, 'exec', { tenant }) ?? whyNoCommands(instance)}
        wakes={wakes(instance)}
      />
    </PageSection>
  );
}
