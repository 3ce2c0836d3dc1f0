/** No tenant has this name. */
import Link from 'next/link';

export default function NotFound() {
  return (
    <div className="max-w-xl pt-12 pb-24">
      <h1 className="headline">
        No such tenant <span className="quiet">under this name</span>
      </h1>
      <p className="mt-4 text-ink-2">
        A tenant begins with its first sandbox, or with limits that an admin sets for it through the API.
      </p>
      <p className="mt-6">
        <Link href="/tenants">All tenants</Link>
      </p>
    </div>
  );
}
