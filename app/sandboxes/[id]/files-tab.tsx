/** The tab of what is inside: the files, questions in SQL, and a shell. */
import { Greyed } from '#components/greyed.tsx';
import { Part } from '#components/part.tsx';
import { SqlBox } from '#components/sql-box.tsx';
import { Terminal } from '#components/terminal.tsx';
import { whyNot } from '#lib/api/access.ts';
import type { Caller } from '#lib/api/operations.ts';
import type { Instance } from '#lib/api/schema.ts';
import { blocks } from '#lib/lifecycle/words.ts';
import type { Search } from '../../search.ts';
import { run } from './actions.ts';
import { ask } from './ask.ts';
import { Inside } from './inside.tsx';

/** Why no command can run in it now, or null. */
function whyNoCommands({ state, fault }: Instance): string | null {
  if (blocks(fault)) return 'Its fault stops every command: wake it with force first.';
  return state === 'archived' ? 'It is archived, and a command does not revive it: revive it first.' : null;
}

/** What running a command does besides, or null. */
function wakes({ state, pending }: Instance): string | null {
  if (state === 'active' || pending === 'resume') return null;
  return state === 'created'
    ? 'Running a command wakes it for the first time.'
    : `It is ${state}: running a command wakes it.`;
}

export async function FilesTab({
  caller,
  instance,
  search,
  rendered,
}: {
  caller: Caller;
  instance: Instance;
  search: Search;
  rendered: number;
}) {
  const { id, tenant } = instance;
  const noQuery = whyNot(caller, 'query', { tenant });
  return (
    <>
      <Inside instance={instance} search={search} rendered={rendered} />
      <Part id="query" name="Query" note="SQL over all three volumes at once.">
        {noQuery === null ? <SqlBox action={ask.bind(null, id)} /> : <Greyed id="query" label="Ask" whyNot={noQuery} />}
      </Part>
      <Part
        id="run"
        name="Run"
        note="A shell over the volumes. JavaScript and Python are in it where the policy allows."
      >
        <Terminal
          id={id}
          action={run.bind(null, id)}
          blocked={whyNot(caller, 'exec', { tenant }) ?? whyNoCommands(instance)}
          wakes={wakes(instance)}
        />
      </Part>
    </>
  );
}
