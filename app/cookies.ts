/** Passes the auth library's `Set-Cookie` values on through Next, which has no raw header in a server action. */
import { cookies } from 'next/headers';

const SAME_SITE = ['lax', 'strict', 'none'] as const;

/** Sets each cookie as it was written, attributes included. */
export async function passOnCookies(setCookie: readonly string[]): Promise<void> {
  const jar = await cookies();
  for (const line of setCookie) {
    const [pair = '', ...attributes] = line.split(';').map((part) => part.trim());
    const cut = pair.indexOf('=');
    if (cut <= 0) continue;
    const given = new Map(
      attributes.map((attribute): [string, string] => {
        const at = attribute.indexOf('=');
        return at < 0 ? [attribute.toLowerCase(), ''] : [attribute.slice(0, at).toLowerCase(), attribute.slice(at + 1)];
      }),
    );
    const maxAge = given.get('max-age');
    const expires = given.get('expires');
    jar.set({
      name: pair.slice(0, cut),
      value: decodeURIComponent(pair.slice(cut + 1)),
      path: given.get('path') ?? '/',
      domain: given.get('domain'),
      httpOnly: given.has('httponly'),
      secure: given.has('secure'),
      sameSite: SAME_SITE.find((value) => value === given.get('samesite')?.toLowerCase()) ?? 'lax',
      ...(maxAge === undefined ? {} : { maxAge: Number(maxAge) }),
      ...(expires === undefined ? {} : { expires: new Date(expires) }),
    });
  }
}
