/** The state of a settings form: what was typed, the complaints by field, and the outcome. */
import type { ActionOutcome } from '#components/ui/outcome.tsx';

export interface FormState<Field extends string> {
  values: Partial<Record<Field, string>>;
  errors: Partial<Record<Field, string>>;
  outcome: ActionOutcome | null;
  /** A link or a key, shown only this once. */
  secret: string | null;
}

export type FormAction<Field extends string> = (
  previous: FormState<Field>,
  form: FormData,
) => Promise<FormState<Field>>;

/** The state of a form that was not sent yet. */
export function blank<Field extends string>(values: Partial<Record<Field, string>> = {}): FormState<Field> {
  return { values, errors: {}, outcome: null, secret: null };
}
