/** The labels to set on many sandboxes. A plain GET form: it reloads the page with the dry run. */
import { Field } from '#components/ui/field.tsx';
import type { Selection } from '../../sandboxes/selection.ts';

export function LabelForm({ chosen: { of, labels } }: { chosen: Selection }) {
  return (
    <form action="/jobs/new" className="grid max-w-xl gap-3">
      <input type="hidden" name="verb" value="label" />
      {'ids' in of ? (
        of.ids.map((id) => <input key={id} type="hidden" name="id" value={id} />)
      ) : (
        <>
          <input type="hidden" name="all" value="1" />
          {Object.entries(of.filter).map(([name, value]) => (
            <input key={name} type="hidden" name={name} value={value} />
          ))}
        </>
      )}
      <Field form="labels" name="labels" title="Labels">
        {(props) => (
          <textarea
            {...props}
            className="input font-mono text-small"
            rows={4}
            required
            defaultValue={labels}
            placeholder={'env: prod\nold-label:'}
            spellCheck={false}
            autoCapitalize="none"
          />
        )}
      </Field>
      <div>
        <button type="submit" className="button">
          Show what it would do
        </button>
      </div>
    </form>
  );
}
