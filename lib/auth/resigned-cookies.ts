/**
 * While the secret of sessions is being rotated: signs anew the cookies that the one before signed. Pure; knows nothing
 * of sessions.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';

/** The end of a signed cookie's value: a dot, and HMAC with SHA-256 in base64. */
const SIGNATURE = /\.([A-Za-z0-9+/]{43}=)$/;

function signatureOf(value: string, secret: string): string {
  return createHmac('sha256', secret).update(value).digest('base64');
}

/** A `Cookie` header in which what `before` signed is signed by `secret`. Everything else stays as it is. */
export function resignedCookies(header: string, { secret, before }: { secret: string; before: string }): string {
  return header.split('; ').map(anew).join('; ');

  function anew(pair: string): string {
    const [name = '', text] = [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)];
    const signed = decoded(text);
    const given = SIGNATURE.exec(signed)?.[1];
    if (name === '' || given === undefined) return pair;
    const value = signed.slice(0, -given.length - 1);
    if (!timingSafeEqual(Buffer.from(given), Buffer.from(signatureOf(value, before)))) return pair;
    return `${name}=${encodeURIComponent(`${value}.${signatureOf(value, secret)}`)}`;
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // Not a cookie of ours: it stays as it is.
    return text;
  }
}
