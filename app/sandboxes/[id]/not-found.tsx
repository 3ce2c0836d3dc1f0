/** No sandbox has this id. */
import Link from 'next/link';

export default function NotFound() {
  return (
    <div className="max-w-xl pt-12 pb-24">
      <h1 className="headline">
        No such sandbox <span className="quiet">under this id</span>
      </h1>
      <p className="mt-4 text-ink-2">
        Nothing was ever registered under it: a deleted sandbox would still show its ledger here. Look for a part of its
        name or one of its labels instead.
      </p>
      <form action="/sandboxes" className="mt-6 flex gap-3">
        <label className="block min-w-0 flex-1">
          <span className="sr-only">Find a sandbox</span>
          <input
            className="input"
            name="q"
            placeholder="id, name, tenant or label"
            autoCapitalize="none"
            spellCheck={false}
          />
        </label>
        <button type="submit" className="button button-ink">
          Find
        </button>
      </form>
      <p className="mt-6">
        <Link href="/sandboxes">All sandboxes</Link>
      </p>
    </div>
  );
}
