/** The field in which somebody types what they are about to remove. */
import { Field } from './field.tsx';

/** `form`: the name of the form that it stands in. `word`: what must be typed; the action compares it. */
export function ConfirmField({ form, word }: { form: string; word: string }) {
  return (
    <Field
      form={form}
      name="confirm"
      title={
        <>
          Type <code className="[overflow-wrap:anywhere]">{word}</code> to confirm
        </>
      }
    >
      {(props) => (
        <input
          {...props}
          className="input font-mono"
          required
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
        />
      )}
    </Field>
  );
}
