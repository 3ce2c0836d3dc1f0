/** No sandbox has this id, or it is deleted. */
import Link from 'next/link';

export default function NotFound() {
  return (
    <div className="max-w-xl pt-12 pb-24">
      <h1 className="headline">
        Nothing is filed <span className="quiet">under this id</span>
      </h1>
      <p className="mt-4 text-ink-2">
        Nobody registered a sandbox under it, or it was deleted for good. Look for a part of its name or one of its
        labels.
      </p>
      <form action="/archive" className="mt-6 flex gap-3">
        <label className="field flex-1">
          <span className="sr-only">Find in the archive</span>
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
        <Link href="/archive">The whole archive</Link>
      </p>
    </div>
  );
}
