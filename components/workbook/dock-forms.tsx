'use client';
/** The forms that dock a sandbox: to a workbook, to a newer version of it, to none. */
import { useActionState } from 'react';
import { Field } from '../ui/field.tsx';
import { type ActionOutcome, Outcome } from '../ui/outcome.tsx';
import { Submit } from '../ui/submit.tsx';

export type DockingAction = (previous: ActionOutcome | null, form: FormData) => Promise<ActionOutcome | null>;

export function ChooseWorkbook({
  workbooks,
  action,
}: {
  workbooks: readonly { id: string; title: string | null }[];
  action: DockingAction;
}) {
  const [outcome, submit] = useActionState(action, null);
  return (
    <form action={submit} className="grid max-w-2xl gap-3">
      <div className="grid items-start gap-x-4 gap-y-3 sm:grid-cols-[minmax(0,1fr)_auto]">
        <Field form="dock" name="workbook" title="Workbook" note="Its newest version, from the next start on">
          {(props) => (
            <select {...props} className="input">
              {workbooks.map(({ id, title }) => (
                <option key={id} value={id}>
                  {title === null ? id : `${id}: ${title}`}
                </option>
              ))}
            </select>
          )}
        </Field>
        <div className="sm:beside-fields">
          <Submit className="button button-ink" doing="Docking it…">
            Dock it
          </Submit>
        </div>
      </div>
      <Outcome outcome={outcome} />
    </form>
  );
}

export function UpgradeForm({
  version,
  breaking,
  action,
}: {
  version: number;
  breaking: boolean;
  action: DockingAction;
}) {
  const [outcome, submit] = useActionState(action, null);
  return (
    <form action={submit} className="grid gap-3">
      {breaking && (
        <label className="flex items-baseline gap-2.5">
          <input
            type="checkbox"
            className="size-4 flex-none accent-ink translate-y-0.5"
            name="accept"
            value="1"
            required
          />
          <span>I have read what breaks.</span>
        </label>
      )}
      <div>
        <Submit doing="Upgrading…">Upgrade to version {version}</Submit>
      </div>
      <Outcome outcome={outcome} />
    </form>
  );
}

export function UndockForm({ action }: { action: DockingAction }) {
  const [outcome, submit] = useActionState(action, null);
  return (
    <form action={submit} className="grid gap-2">
      <input type="hidden" name="undock" value="1" />
      <div>
        <Submit className="button button-quiet" doing="Undocking…">
          Undock
        </Submit>
      </div>
      <Outcome outcome={outcome} />
    </form>
  );
}
