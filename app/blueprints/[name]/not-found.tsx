/** No blueprint has this name. */
import Link from 'next/link';

export default function NotFound() {
  return (
    <div className="max-w-xl pt-12 pb-24">
      <h1 className="headline">
        No such blueprint <span className="quiet">under this name</span>
      </h1>
      <p className="mt-4 text-ink-2">
        It was deleted, is another tenant’s, or never was. Its clones, if there are any, are still there, with what they
        had.
      </p>
      <p className="mt-6">
        <Link href="/blueprints">All blueprints</Link>
      </p>
    </div>
  );
}
