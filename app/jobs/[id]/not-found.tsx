/** No job has this id. */
import Link from 'next/link';

export default function NotFound() {
  return (
    <div className="max-w-xl pt-12 pb-24">
      <h1 className="headline">
        No such job <span className="quiet">under this id</span>
      </h1>
      <p className="mt-4 text-ink-2">There never was one, or it is about sandboxes that you may not see.</p>
      <p className="mt-6">
        <Link href="/jobs">All jobs</Link>
      </p>
    </div>
  );
}
