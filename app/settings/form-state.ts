/** What a settings form is given back: what was typed, what is wrong and where, what became of it. */
import type { ActionOutcome } from '#components/ui/outcome.tsx';

export interface FormState<Field extends string> {
  values: Partial<Record<Field, string>>;
  errors: Partial<Record<Field, string>>;
  outcome: ActionOutcome | null;
  /** Shown this once: a link or a key. */
  secret: string | null;
}

export type FormAction<Field extends string> = (
  previous: FormState<Field>,
  form: FormData,
) => Promise<FormState<Field>>;

/** A form that nobody has sent yet. */
export function blank<Field extends string>(values: Partial<Record<Field, string>> = {}): FormState<Field> {
  return { values, errors: {}, outcome: null, secret: null };
}
