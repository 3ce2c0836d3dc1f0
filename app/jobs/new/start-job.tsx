'use client';
/** The form that starts a job after its dry run. */
import { useActionState } from 'react';
import type { JobVerb } from '#lib/lifecycle/verb-plan.ts';
import { JOB_WORDS, sandboxesInWords } from '../../../components/jobs/job-words.ts';
import { Field } from '../../../components/ui/field.tsx';
import { type ActionOutcome, Outcome } from '../../../components/ui/outcome.tsx';
import { Submit } from '../../../components/ui/submit.tsx';

export type StartJobAction = (previous: ActionOutcome | null, form: FormData) => Promise<ActionOutcome>;

export function StartJob({ verb, will, action }: { verb: JobVerb; will: number; action: StartJobAction }) {
  const [outcome, submit] = useActionState(action, null);
  const needed = verb === 'revive';
  return (
    <form action={submit} className="grid max-w-xl gap-4">
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
              Type <code>{will}</code> to confirm
            </>
          }
        >
          {(props) => <input {...props} className="input font-mono" required inputMode="numeric" autoComplete="off" />}
        </Field>
      )}
      <div>
        <Submit className={`button ${verb === 'delete' ? 'button-fault' : 'button-ink'}`} doing="Starting…">
          {JOB_WORDS[verb].order} {sandboxesInWords(will)}
        </Submit>
      </div>
      <Outcome outcome={outcome} />
    </form>
  );
}
