/** The Terminal tab: the terminal, or that the visitor's role opens none. */

import { WithCall } from '#components/calls/with-call.tsx';
import { Terminal } from '#components/terminal/terminal.tsx';
import { Outcome } from '#components/ui/outcome.tsx';
import { PageSection } from '#components/ui/page-section.tsx';
import type { Caller } from '#lib/auth/caller.ts';
import { roleRefusal } from '#lib/contract/access.ts';
import type { Instance } from '#lib/contract/schema.ts';
import { languagesOf } from '../policies.ts';
import { whyNoCommands } from './command-refusal.ts';
import { runCommand } from './exec-actions.ts';
import { RunsSection } from './runs-section.tsx';
import { wakeNote } from './use-refusals.ts';

const SHELL = 'A shell over the volumes. Scrollback, directory and what runs stay on the server.';
const NATIVE_SHELL =
  'Real programs over the volumes. Scrollback and what runs stay on the server; each line has a shell of its own, in /workspace.';

export function TerminalTab({ caller, instance, rendered }: { caller: Caller; instance: Instance; rendered: number }) {
  const { id, policy } = instance;
  const refusal = roleRefusal(caller, 'exec');
  if (refusal !== null) {
    return (
      <PageSection id="terminal" name="Terminal" margin={false}>
        <Outcome
          outcome={{ ok: false, says: refusal, hint: 'Commands are for operators and admins: ask one of them.' }}
        />
      </PageSection>
    );
  }
  return (
    <>
      <PageSection
        id="terminal"
        name="Terminal"
        margin={false}
        note={`${policy === 'native' ? NATIVE_SHELL : SHELL} While a terminal is shown and used, the sandbox stays awake; after 30 min without a line or output it may sleep again.`}
      >
        <WithCall name="execInInstance" path={{ id }} fields={{ command: 'text', cwd: 'text' }}>
          <Terminal
            id={id}
            person={caller.actor}
            action={runCommand.bind(null, id)}
            languages={languagesOf(policy)}
            blocked={whyNoCommands(caller, instance)}
            wakes={wakeNote('command', instance)}
          />
        </WithCall>
      </PageSection>
      <RunsSection caller={caller} id={id} rendered={rendered} />
    </>
  );
}
