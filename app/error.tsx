'use client';
/** The error page: what to do when a page could not be rendered. */

export default function PageError({ error, retry }: { error: unknown; retry: () => void }) {
  // An error of the server carries its request's id. Other errors were refused earlier or never arrived: their own
  // message says why.
  const digest = error instanceof Error && 'digest' in error ? String(error.digest) : null;
  const refused = digest === null && error instanceof Error ? error.message : null;
  return (
    <div className="max-w-xl pt-12 pb-24" role="alert">
      <h1 className="headline">
        This page failed <span className="quiet">to load</span>
      </h1>
      <p className="mt-4 text-ink-2">
        {refused === null ? 'Nothing was changed by looking.' : refused} Try again; if it fails once more, the server’s
        log says why.
      </p>
      {digest !== null && (
        <p className="mt-2 text-small text-ink-3">
          Request <code>{digest}</code>
        </p>
      )}
      <p className="mt-6 flex gap-3">
        <button type="button" className="button button-ink" onClick={() => retry()}>
          Try again
        </button>
        <a href="/" className="button">
          Overview
        </a>
      </p>
    </div>
  );
}
