/** No snapshot has this id. */
import Link from 'next/link';

export default function NotFound() {
  return (
    <div className="max-w-xl pt-12 pb-24">
      <h1 className="headline">
        No such snapshot <span className="quiet">under this id</span>
      </h1>
      <p className="mt-4 text-ink-2">
        It was deleted, is another tenant’s, or never was. Sandboxes that came from it are still there, with what they
        had.
      </p>
      <p className="mt-6">
        <Link href="/snapshots">All snapshots</Link>
      </p>
    </div>
  );
}
