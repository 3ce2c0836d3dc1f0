/** Where to go after signing in: a path of this console and nothing else. Pure. */

/** `path` when it is an absolute path of this site, otherwise `/`. */
export function safePath(path: string): string {
  if (!path.startsWith('/') || !URL.canParse(path, 'http://console.invalid')) return '/';
  const { origin, pathname, search } = new URL(path, 'http://console.invalid');
  return origin === 'http://console.invalid' && !pathname.startsWith('/signin') && !pathname.startsWith('//')
    ? `${pathname}${search}`
    : '/';
}
