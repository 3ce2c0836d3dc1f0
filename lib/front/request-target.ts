/** Which request targets may reach a page: none that two layers could read as different addresses. Pure. */

/** What is wrong with a target, as one sentence; null when nothing is. `target` is as it was sent, query included. */
export function targetProblem(target: string): string | null {
  if (!target.startsWith('/')) return 'The address of a request begins with a slash.';
  const path = target.split(/[?#]/, 1)[0] ?? '/';
  for (const segment of path.slice(1).split('/')) {
    const problem = segmentProblem(segment);
    if (problem !== null) return problem;
  }
  return null;
}

function segmentProblem(sent: string): string | null {
  if (/[^\x21-\x7e]/.test(sent)) return 'An address is percent-encoded beyond ASCII.';
  let segment: string;
  try {
    segment = decodeURIComponent(sent);
  } catch {
    return 'The address is not valid percent-encoded UTF-8.';
  }
  if (segment === '.' || segment === '..') return 'An address has no . or .. segments.';
  // Some layers read a backslash or an encoded slash as a slash.
  if (/[/\\]/.test(segment)) return 'A segment of an address holds no slash or backslash.';
  if (/[\x00-\x1f\x7f]/.test(segment)) return 'A segment of an address holds no control characters.';
  return null;
}
