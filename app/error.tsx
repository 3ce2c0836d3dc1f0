'use client';
/** A page that could not be rendered: what to do about it. */

export default function PageError({ error, retry }: { error: unknown; retry: () => void }) {
  const digest = error instanceof Error && 'digest' in error ? String(error.digest) : null;
  return (
    <div className="max-w-xl pt-12 pb-24" role="alert">
      <h1 className="headline">
        This page failed <span className="quiet">to load</span>
      </h1>
      <p className="mt-4 text-ink-2">
        Nothing was changed by looking. Try again; if it fails once more, the server’s log says why
        {digest !== null && (
          <>
            {' '}
            under <code>{digest}</code>
          </>
        )}
        .
      </p>
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
