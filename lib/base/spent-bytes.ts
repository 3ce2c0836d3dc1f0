/**
 * Gives memory of bytes back before the garbage collector finds them. Large transfers need it: V8 counts buffers that
 * lie outside of its heap, and collects the whole heap again and again while hundreds of megabytes of them pass.
 */

/** Frees bytes that nobody reads again; they are empty afterwards. Leaves alone what is a part of larger memory. */
export function releaseBytes({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && byteLength === buffer.byteLength) buffer.transfer(0);
}
