'use client';
/** The form that starts a job after its dry run. */
import { useActionState, useState } from 'react';
import type { JobVerb } from '#lib/lifecycle/job-verbs.ts';
import { JOB_WORDS, sandboxesInWords } from '../../../components/jobs/job-words.ts';
import { Field } from '../../../components/ui/field.tsx';
import { type ActionOutcome, Outcome } from '../../../components/ui/outcome.tsx';
import { Submit } from '../../../components/ui/submit.tsx';

export type StartJobAction = (previous: ActionOutcome | null, form: FormData) => Promise<ActionOutcome>;

/** `held`: how many more it would be, with those that are kept hot, held or shown in a terminal. */
export function StartJob({
  verb,
  will,
  held,
  action,
}: {
  verb: JobVerb;
  will: number;
  held: number;
  action: StartJobAction;
}) {
  const [outcome, submit] = useActionState(action, null);
  const [includes, setIncludes] = useState(false);
  const count = includes ? will + held : will;
  const needed = verb === 'revive';
  return (
    <form action={submit} className="grid max-w-xl gap-4">
      {held > 0 && (
        <label className="flex items-baseline gap-2">
          <input
            type="checkbox"
            className="size-4 flex-none accent-ink translate-y-0.5"
            name="include_held"
            value="1"
            required={will === 0}
            checked={includes}
            onChange={({ target }) => setIncludes(target.checked)}
          />
          Include {sandboxesInWords(held)} that {held === 1 ? 'is' : 'are'} kept hot, held or shown in a terminal
        </label>
      )}
      <Field
        form="start"
        name="reason"
        title={needed ? 'Reason, for the ledger' : 'Reason, for the ledger (it may stay empty)'}
      >
        {(props) => <input {...props} className="input" maxLength={1000} required={needed} autoComplete="off" />}
      </Field>
      {verb === 'delete' && (
        <Field
          form="start"
          name="confirm"
          title={
            <>
              Type <code>{count}</code> to confirm
            </>
          }
        >
          {(props) => <input {...props} className="input font-mono" required inputMode="numeric" autoComplete="off" />}
        </Field>
      )}
      <div>
        <Submit className={`button ${verb === 'delete' ? 'button-fault' : 'button-ink'}`} doing="Starting…">
          {JOB_WORDS[verb].order} {sandboxesInWords(count)}
        </Submit>
      </div>
      <Outcome outcome={outcome} />
    </form>
  );
}
