/**
 * Keeps the keyboard where it was when the pressed button goes with what its form did: a row that was removed, a button
 * of the state before. An answer that stands elsewhere on the page (`data-answer`) goes first. Knows nothing of the
 * forms.
 */

/** Begins to watch the page's forms; the function it answers ends that. */
export function keepFocus(): () => void {
  /** What had the focus when a form was sent, and all that it stood in, innermost first. */
  let path: Element[] = [];
  const watch = new MutationObserver(() => {
    if (document.activeElement !== document.body || path[0]?.isConnected !== false) return;
    const near = document.querySelector('main [data-answer]') ?? path.find((element) => element.isConnected);
    forget();
    if (!(near instanceof HTMLElement) || !near.matches('main *')) return;
    near.tabIndex = -1;
    near.focus({ preventScroll: true });
  });
  const forget = () => {
    path = [];
    watch.disconnect();
  };
  const sent = () => {
    forget();
    for (let at = document.activeElement; at !== null && at !== document.body; at = at.parentElement) path.push(at);
    watch.observe(document.body, { childList: true, subtree: true });
  };
  const moved = ({ target }: FocusEvent) => {
    if (target !== path[0]) forget();
  };
  document.addEventListener('submit', sent, true);
  document.addEventListener('focusin', moved);
  return () => {
    forget();
    document.removeEventListener('submit', sent, true);
    document.removeEventListener('focusin', moved);
  };
}
