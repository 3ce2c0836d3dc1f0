/** Which columns the list shows, in which order, and how dense its rows are. A plain form: each button saves. */

import { COLUMNS, DENSITIES, type ListSettings } from './list-settings.ts';
import { chooseColumns } from './list-settings-actions.ts';

export function ColumnForm({ settings: { columns, density } }: { settings: ListSettings }) {
  return (
    <details data-cover="" className="relative text-small max-md:hidden">
      <summary className="button button-quiet cursor-pointer">Columns</summary>
      <form
        action={chooseColumns}
        className="absolute right-0 z-10 mt-1 grid w-72 gap-3 rounded-[4px] border border-ink bg-sheet p-4"
        aria-label="Columns of the list"
      >
        <ol className="grid gap-1">
          {columns.map(({ name, shown }, at) => {
            const { title } = COLUMNS[name];
            return (
              <li key={name} className="flex items-center gap-2">
                <input type="hidden" name="order" value={name} />
                <label className="flex flex-1 items-center gap-2">
                  <input
                    type="checkbox"
                    className="size-4 flex-none accent-ink"
                    name="column"
                    value={name}
                    defaultChecked={shown}
                  />
                  {title}
                </label>
                <button
                  type="submit"
                  className="px-1.5 hover:bg-wash disabled:text-ink-3"
                  name="move"
                  value={`up:${name}`}
                  disabled={at === 0}
                  aria-label={`${title}: one place to the left`}
                >
                  ↑
                </button>
                <button
                  type="submit"
                  className="px-1.5 hover:bg-wash disabled:text-ink-3"
                  name="move"
                  value={`down:${name}`}
                  disabled={at === columns.length - 1}
                  aria-label={`${title}: one place to the right`}
                >
                  ↓
                </button>
              </li>
            );
          })}
        </ol>
        <fieldset className="flex gap-4">
          <legend className="sr-only">Density</legend>
          {DENSITIES.map((one) => (
            <label key={one} className="flex items-center gap-2">
              <input
                type="radio"
                className="size-4 flex-none accent-ink"
                name="density"
                value={one}
                defaultChecked={one === density}
              />
              {one}
            </label>
          ))}
        </fieldset>
        <button type="submit" className="button">
          Save
        </button>
      </form>
    </details>
  );
}
