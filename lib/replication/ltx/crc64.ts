/**
 * CRC-64/ISO, the checksum of LTX files, by a module of WebAssembly: its text is crc64.wat. In JavaScript alone it
 * would be the slowest part of all that is shipped. Pure.
 */

/** The module as it is compiled, in base64. */
export const CRC64_MODULE = [
  'AGFzbQEAAAABCwJgAABgA39/fgF+AwMCAAEFAwEAAgcaAwZtZW1vcnkCAARmaWxsAAAGdXBkYXRlAAEKjgQChgEDAX8BfgF/A0AgAK1CA4ghAU',
  'EIIQIDQCABQgGIQoCAgICAgICAWEIAIAFCAYN9g4UhASACQQFrIgINAAsgACABNwMAIABBCGoiAEGAEEkNAAsDQCAAQYAQaykDACEBIAAgAadB',
  '/wFxQQN0KQMAIAFCCIiFNwMAIABBCGoiAEGAgAJJDQALC4MDAQJ+AkADQCAAQRBqIAFLDQEgAiAAKQMAhSEDIAApAwghBCADp0H/AXFBA3QpA4',
  'DwASADQgiIp0H/AXFBA3QpA4DgAYUgA0IQiKdB/wFxQQN0KQOA0AGFIANCGIinQf8BcUEDdCkDgMABhSADQiCIp0H/AXFBA3QpA4CwAYUgA0Io',
  'iKdB/wFxQQN0KQOAoAGFIANCMIinQf8BcUEDdCkDgJABhSADQjiIp0H/AXFBA3QpA4CAAYUgBKdB/wFxQQN0KQOAcIUgBEIIiKdB/wFxQQN0KQ',
  'OAYIUgBEIQiKdB/wFxQQN0KQOAUIUgBEIYiKdB/wFxQQN0KQOAQIUgBEIgiKdB/wFxQQN0KQOAMIUgBEIoiKdB/wFxQQN0KQOAIIUgBEIwiKdB',
  '/wFxQQN0KQOAEIUgBEI4iKdB/wFxQQN0KQMAhSECIABBEGohAAwACwsCQANAIAAgAU8NASACpyAALQAAc0H/AXFBA3QpAwAgAkIIiIUhAiAAQQ',
  'FqIQAMAAsLIAIL',
].join('');

interface Compiled {
  memory: WebAssembly.Memory;
  fill(): void;
  update(at: number, end: number, crc: bigint): bigint;
}

/** Where its tables end, and bytes may lie. */
const BYTES_AT = 32_768;
const ALL_ONES = 0xffff_ffff_ffff_ffffn;

let compiled: Compiled | null = null;
let memory = new Uint8Array();

function load(): Compiled {
  if (compiled !== null) return compiled;
  const module = new WebAssembly.Module(Buffer.from(CRC64_MODULE, 'base64'));
  compiled = new WebAssembly.Instance(module).exports as unknown as Compiled;
  compiled.fill();
  memory = new Uint8Array(compiled.memory.buffer, BYTES_AT);
  return compiled;
}

export class Crc64 {
  #register = ALL_ONES;

  /** Takes in what follows the bytes of the calls before. */
  update(bytes: Uint8Array): void {
    const { update } = load();
    for (let at = 0; at < bytes.length; at += memory.length) {
      const piece = at === 0 && bytes.length <= memory.length ? bytes : bytes.subarray(at, at + memory.length);
      memory.set(piece);
      this.#register = update(BYTES_AT, BYTES_AT + piece.length, this.#register);
    }
  }

  /** The checksum of all bytes so far. */
  get value(): bigint {
    return BigInt.asUintN(64, ~this.#register);
  }
}
