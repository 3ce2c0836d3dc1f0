/** Which request targets may reach a page at all: nothing that another layer would read as another address. Pure. */

/**
 * How a path may not be spelt, in words; null when nothing is wrong with it. `target` is as it was sent, a query
 * included.
 */
export function whyNotTarget(target: string): string | null {
  if (!target.startsWith('/')) return 'The address of a request begins with a slash.';
  const path = target.split(/[?#]/, 1)[0] ?? '/';
  for (const segment of path.slice(1).split('/')) {
    const why = whyNotSegment(segment);
    if (why !== null) return why;
  }
  return null;
}

function whyNotSegment(sent: string): string | null {
  if (/[^\x21-\x7e]/.test(sent)) return 'An address is percent-encoded beyond ASCII.';
  let segment: string;
  try {
    segment = decodeURIComponent(sent);
  } catch {
    return 'The address is not valid percent-encoded UTF-8.';
  }
  if (segment === '.' || segment === '..') return 'An address has no . or .. segments.';
  // Some read a backslash as a slash, and an encoded slash as a plain one.
  if (/[/\\]/.test(segment)) return 'A segment of an address holds no slash or backslash.';
  if (/[\x00-\x1f\x7f]/.test(segment)) return 'A segment of an address holds no control characters.';
  return null;
}
