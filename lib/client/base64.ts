/** Base64 and bytes. Safe for the browser. */

/** Bytes that become characters at a time: as many as a call takes arguments, and whole groups of three. */
const PIECE = 3 * 8192;

/** Base64 of bytes, padded. */
export function toBase64(bytes: Uint8Array): string {
  const parts: string[] = [];
  for (let at = 0; at < bytes.length; at += PIECE) {
    parts.push(btoa(String.fromCharCode(...bytes.subarray(at, at + PIECE))));
  }
  return parts.join('');
}

/** The bytes of base64. Throws when it is none. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const characters = atob(text);
  const bytes = new Uint8Array(characters.length);
  for (let at = 0; at < bytes.length; at += 1) bytes[at] = characters.charCodeAt(at);
  return bytes;
}
